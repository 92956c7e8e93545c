"""What pages share: the frame, and data inside a page."""

from __future__ import annotations

import json
from html import escape
from typing import Any


def page(title: str, body: str, *, style: str, script: str = "", data: Any = None) -> str:
    """A page with all that it needs inside."""
    # "<" could end the element that the data stands in
    content = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c") if data is not None else ""
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="generator" content="aggmc">',
        f"<title>{escape(title)}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        body,
    ]
    if content:
        parts.append(f'<script type="application/json" id="data">{content}</script>')
    if script:
        parts.append(f"<script>{script}</script>")
    return "\n".join([*parts, "</body>", "</html>"]) + "\n"


def asset(name: str) -> str:
    """A file of this package."""
    from importlib.resources import files  # which takes a while to load

    return (files("aggmc.html") / name).read_text(encoding="utf-8")

"""A run as plain text, as a terminal shows it, and whole."""

from __future__ import annotations

from aggmc.trace.formats.document import Document
from aggmc.trace.views.common import Look
from aggmc.trace.views.steps import steps_view


def write(document: Document) -> str:
    """The text of a file."""
    return f"{document.model}: {document.title}\n{steps_view(document.trace, Look(full_run=True))}\n"

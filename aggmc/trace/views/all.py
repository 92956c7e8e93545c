"""The ways to show a run."""

from __future__ import annotations

from collections.abc import Callable

from aggmc.trace.trace import Trace
from aggmc.trace.views.common import Look
from aggmc.trace.views.lanes import lanes_view
from aggmc.trace.views.steps import steps_view
from aggmc.trace.views.table import table_view

VIEWS: dict[str, Callable[[Trace, Look], str]] = {"steps": steps_view, "table": table_view, "lanes": lanes_view}


def show(trace: Trace, view: str = "steps", look: Look | None = None) -> str:
    """A run as text."""
    return VIEWS[view](trace, look or Look())

"""The table of files that a graph can be drawn into."""

from __future__ import annotations

from collections.abc import Callable

from aggmc.errors import InputError, Location
from aggmc.html.graph import graph_page
from aggmc.trace.aggregates import AggregateGraph
from aggmc.trace.pictures import graph_picture, to_dot, to_svg

#: ending -> the text of a file, from a graph and the model's name
DRAWINGS: dict[str, Callable[[AggregateGraph, str], str]] = {
    ".svg": lambda graph, _: to_svg(graph_picture(graph)),
    ".dot": lambda graph, _: to_dot(graph_picture(graph)),
    ".html": graph_page,
}


def drawing_of(path: str) -> str:
    """The ending of a file name; raises InputError if it is none of the table."""
    for ending in DRAWINGS:
        if path.lower().endswith(ending):
            return ending
    raise InputError(f"the name of a drawing ends with one of {', '.join(DRAWINGS)}", Location(path))

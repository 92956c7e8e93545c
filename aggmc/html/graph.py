"""A page that shows the explored graph."""

from __future__ import annotations

from html import escape

from aggmc.html.page import asset, page
from aggmc.pictures.svg import STYLE, to_svg
from aggmc.trace.aggregates import AggregateGraph
from aggmc.trace.pictures import graph_picture, summary


def graph_page(graph: AggregateGraph, model: str) -> str:
    """The picture, and what it is of."""
    first, second = summary(graph).split("\n")[:2]
    drawn = to_svg(graph_picture(graph), within_page=True)
    body = (
        f'<header><h1>{escape(first)}</h1><p class="facts">{escape(model)}; {escape(second)}</p></header>'
        f'<main class="single"><section class="picture">{drawn}</section></main>'
    )
    return page(first, body, style=STYLE + asset("report.css"))

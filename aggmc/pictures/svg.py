"""A graph as SVG: by itself light or dark as the viewer prefers, or inside a page that sets the colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape  # not xml.sax: it takes a while to load

from aggmc.pictures.layout import Box, Drawing, Link, draw

CHARACTER = 6.7  # the width of one, in a fixed font of 11 points
LINE = 15.0
MARGIN = 14.0
_LIMIT = 44  # characters of a line

STYLE = """
.aggmc-graph { color-scheme: light dark; --ink: light-dark(#1b2733, #e4e9ee); --paper: light-dark(#ffffff, #161b21);
  --node: light-dark(#f1f4f8, #232b35); --line: light-dark(#5d6b7a, #93a1b0); --path: light-dark(#b3261e, #ff8a80);
  --now: light-dark(#ffd54f, #b28704); --mark: light-dark(#0b57d0, #8ab4f8); }
.aggmc-graph text { font: 11px ui-monospace, Menlo, Consolas, monospace; fill: var(--ink); text-anchor: middle; }
.aggmc-graph .edge text { paint-order: stroke; stroke: var(--paper); stroke-width: 4px; }
.aggmc-graph .node rect { fill: var(--node); stroke: var(--line); stroke-width: 1.2; }
.aggmc-graph .node.marked rect { stroke-width: 3; }
.aggmc-graph .node .head { font-weight: 700; }
.aggmc-graph .edge path { fill: none; stroke: var(--line); stroke-width: 1.2; }
.aggmc-graph .edge polygon { fill: var(--line); }
.aggmc-graph .edge .marks { fill: var(--mark); font-weight: 700; }
.aggmc-graph .path rect, .aggmc-graph .path path { stroke: var(--path); stroke-width: 2.2; }
.aggmc-graph .path polygon { fill: var(--path); }
.aggmc-graph .now rect { fill: var(--now); }
"""


@dataclass(frozen=True, slots=True)
class Node:
    """A node: lines of text, the first in bold; `path` and `marked` are drawn heavier."""

    name: str
    lines: tuple[str, ...]
    initial: bool = False
    path: bool = False
    marked: bool = False
    tooltip: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge between nodes, by number; `marks` stand below the label."""

    source: int
    target: int
    label: str = ""
    marks: str = ""
    path: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """What to draw."""

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def short(text: str) -> str:
    """A line that is not too long."""
    return text if len(text) <= _LIMIT else text[: _LIMIT - 1] + "…"


def to_svg(picture: Picture, *, within_page: bool = False) -> str:
    """The picture. Within a page, the page has `STYLE` once."""
    boxes = [
        Box(max([26.0, *(len(short(line)) * CHARACTER + 16 for line in node.lines)]), len(node.lines) * LINE + 10)
        for node in picture.nodes
    ]
    links = [Link(e.source, e.target, _label_box(e)) for e in picture.edges]
    drawing = draw(boxes, links, [i for i, node in enumerate(picture.nodes) if node.initial])
    width, height = drawing.width + 2 * MARGIN, drawing.height + 2 * MARGIN + 12
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="aggmc-graph" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img">'
    )
    parts = [head, f"<title>{escape(picture.title)}</title>"]
    if not within_page:
        parts += [f"<style>{STYLE}</style>", '<rect width="100%" height="100%" style="fill: var(--paper)"/>']
    parts.append(f'<g transform="translate({MARGIN:.0f},{MARGIN + 12:.0f})">')
    parts += _edges(picture.edges, drawing)
    parts += _nodes(picture.nodes, boxes, drawing)
    return "\n".join([*parts, "</g>", "</svg>"]) + "\n"


def _label_box(edge: Edge) -> Box:
    lines = [text for text in (short(edge.label), edge.marks) if text]
    return Box(max((len(line) * CHARACTER + 6 for line in lines), default=2.0), len(lines) * LINE)


def _edges(edges: Sequence[Edge], drawing: Drawing) -> list[str]:
    parts = []
    for i, (edge, points, (x, y)) in enumerate(zip(edges, drawing.edges, drawing.labels, strict=True)):
        kind = " path" if edge.path else ""
        parts.append(f'<g class="edge{kind}" id="e{i}">{_curve(points, edge.source == edge.target)}')
        lines = [(text, name) for text, name in ((short(edge.label), "label"), (edge.marks, "marks")) if text]
        top = y - (len(lines) - 1) * LINE / 2 + 4
        for n, (text, name) in enumerate(lines):
            parts.append(f'<text class="{name}" x="{x:.1f}" y="{top + n * LINE:.1f}">{escape(text)}</text>')
        parts.append("</g>")
    return parts


def _curve(points: Sequence[tuple[float, float]], loop: bool) -> str:
    (x, y), (end_x, end_y) = points[0], points[-1]
    if loop:
        middle_x, middle_y = points[1]
        path = f"M{x:.1f},{y:.1f} C{middle_x:.1f},{middle_y - 12:.1f} {middle_x:.1f},{middle_y + 12:.1f} "
        path += f"{end_x + 5:.1f},{end_y:.1f}"
        tip = [(end_x, end_y), (end_x + 8, end_y - 3.5), (end_x + 7, end_y + 4.5)]
    else:
        down = 1 if end_y > y else -1
        path = f"M{x:.1f},{y:.1f}"
        stops = [*points[1:-1], (end_x, end_y - 6 * down)]
        for next_x, next_y in stops:
            middle = (y + next_y) / 2
            path += f" C{x:.1f},{middle:.1f} {next_x:.1f},{middle:.1f} {next_x:.1f},{next_y:.1f}"
            x, y = next_x, next_y
        tip = [(end_x, end_y), (end_x - 4, end_y - 8 * down), (end_x + 4, end_y - 8 * down)]
    corners = " ".join(f"{a:.1f},{b:.1f}" for a, b in tip)
    return f'<path d="{path}"/><polygon points="{corners}"/>'


def _nodes(nodes: Sequence[Node], boxes: Sequence[Box], drawing: Drawing) -> list[str]:
    parts = []
    for node, box, (x, y) in zip(nodes, boxes, drawing.nodes, strict=True):
        classes = "node" + " path" * node.path + " marked" * node.marked
        left, top = x - box.width / 2, y - box.height / 2
        parts.append(f'<g class="{classes}" data-node="{escape(node.name)}">')
        if node.tooltip:
            parts.append(f"<title>{escape(node.tooltip)}</title>")
        if node.initial:
            parts.append(
                f'<g class="edge"><path d="M{x:.1f},{top - 18:.1f} L{x:.1f},{top - 6:.1f}"/>'
                f'<polygon points="{x:.1f},{top:.1f} {x - 4:.1f},{top - 8:.1f} {x + 4:.1f},{top - 8:.1f}"/></g>'
            )
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="7"/>'
        )
        for n, line in enumerate(node.lines):
            head = ' class="head"' if n == 0 else ""
            parts.append(f'<text{head} x="{x:.1f}" y="{top + 16 + n * LINE:.1f}">{escape(short(line))}</text>')
        parts.append("</g>")
    return parts


def to_dot(picture: Picture) -> str:
    """The picture as a Graphviz graph."""
    lines = [f"digraph {_quoted(picture.title)} {{", "  node [shape=box, style=rounded, fontname=monospace];"]
    for i, node in enumerate(picture.nodes):
        style = ", color=red, penwidth=2" if node.path else ""
        lines.append(f"  {i} [label={_quoted(chr(10).join(node.lines))}{style}];")
        if node.initial:
            lines += [f'  start{i} [shape=point, label=""];', f"  start{i} -> {i};"]
    for edge in picture.edges:
        text = "\n".join(t for t in (edge.label, edge.marks) if t)
        style = ", color=red, penwidth=2" if edge.path else ""
        lines.append(f"  {edge.source} -> {edge.target} [label={_quoted(text)}{style}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'

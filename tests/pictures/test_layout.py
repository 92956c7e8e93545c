"""Drawings: nothing overlaps, edges end at their nodes, and the same graph is drawn the same way."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ElementTree
from itertools import combinations

import pytest

from aggmc.ltl.formula import parse
from aggmc.ltl.translate import prepare
from aggmc.pictures.automata import automaton_picture
from aggmc.pictures.layout import Box, Drawing, Link, draw
from aggmc.pictures.svg import Edge, Node, Picture, to_dot, to_svg


def random_graph(seed: int) -> tuple[list[Box], list[Link]]:
    rng = random.Random(seed)
    count = rng.randrange(1, 30)
    boxes = [Box(rng.randrange(26, 120), rng.choice((25, 40, 55))) for _ in range(count)]
    links = []
    for _ in range(rng.randrange(2 * count + 1)):
        label = Box(rng.randrange(0, 80), rng.choice((0, 15, 30)))
        links.append(Link(rng.randrange(count), rng.randrange(count), label))
    return boxes, links


def overlap(a: tuple[float, float, Box], b: tuple[float, float, Box]) -> bool:
    return (
        abs(a[0] - b[0]) < (a[2].width + b[2].width) / 2 - 0.01
        and abs(a[1] - b[1]) < (a[2].height + b[2].height) / 2 - 0.01
    )


@pytest.mark.parametrize("seed", range(60))
def test_nothing_overlaps(seed: int) -> None:
    boxes, links = random_graph(seed)
    drawing = draw(boxes, links)
    placed = [(x, y, box) for (x, y), box in zip(drawing.nodes, boxes, strict=True)]
    labels = [
        (x, y, link.label)
        for (x, y), link in zip(drawing.labels, links, strict=True)
        if link.label.height and link.label.width and link.source != link.target
    ]
    for a, b in combinations(placed + labels, 2):
        assert not overlap(a, b)
    for x, y, box in placed:
        assert box.width / 2 - 0.01 <= x <= drawing.width - box.width / 2 + 0.01
        assert box.height / 2 - 0.01 <= y <= drawing.height - box.height / 2 + 0.01


@pytest.mark.parametrize("seed", range(60))
def test_edges_end_at_their_nodes(seed: int) -> None:
    boxes, links = random_graph(seed)
    drawing = draw(boxes, links)

    def touches(point: tuple[float, float], node: int) -> bool:
        (x, y), box = drawing.nodes[node], boxes[node]
        inside_x = abs(point[0] - x) <= box.width / 2 + 0.01
        inside_y = abs(point[1] - y) <= box.height / 2 + 0.01
        edge = abs(abs(point[1] - y) - box.height / 2) < 0.01 or abs(abs(point[0] - x) - box.width / 2) < 0.01
        return inside_x and inside_y and edge

    for link, points in zip(links, drawing.edges, strict=True):
        assert touches(points[0], link.source)
        assert touches(points[-1], link.target)


def test_layers_go_down() -> None:
    """A chain is straight; an edge back goes up."""
    drawing = draw([Box(30, 20)] * 3, [Link(0, 1, Box(0, 0)), Link(1, 2, Box(0, 0)), Link(2, 0, Box(0, 0))], [0])
    xs, ys = zip(*drawing.nodes, strict=True)
    assert ys[0] < ys[1] < ys[2]
    assert xs[0] == pytest.approx(xs[2], abs=40)
    back = drawing.edges[2]
    assert back[0][1] > back[-1][1]


def test_crossings_are_removed() -> None:
    """a→d, b→c drawn in the order c, d would cross."""
    label = Box(0, 0)
    links = [Link(0, 1, label), Link(0, 2, label), Link(1, 4, label), Link(2, 3, label)]
    drawing = draw([Box(30, 20)] * 5, links, [0])
    x = [place[0] for place in drawing.nodes]
    assert (x[1] < x[2]) == (x[4] < x[3])


def test_nothing_to_draw() -> None:
    assert draw([], []) == Drawing(0, 0, (), (), ())


@pytest.mark.parametrize("change_sets", [False, True])
@pytest.mark.parametrize("formula", ["G(a -> F b)", "a U (b U c)", 'F G "x < 3 && y > 2"', "0", "G F a & G F b"])
def test_automata_as_svg(formula: str, change_sets: bool) -> None:
    prop = prepare(parse(formula))
    automaton = prop.tgta() if change_sets else prop.tgba
    text = to_svg(automaton_picture(automaton))
    assert text == to_svg(automaton_picture(automaton))
    root = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    nodes = [g for g in root.iter(f"{space}g") if "node" in (g.get("class") or "").split()]
    assert [g.get("data-node") for g in nodes] == [str(q) for q in range(automaton.states)]
    edges = [g for g in root.iter(f"{space}g") if (g.get("id") or "").startswith("e")]
    assert len(edges) == sum(map(len, automaton.edges))
    assert not re.search(r"nan|inf\b", text)


def test_text_is_escaped() -> None:
    picture = Picture("a < b", (Node('n"1', ("x<1 & y>2",), True, tooltip='"<&>"'),), (Edge(0, 0, "<&>"),))
    root = ElementTree.fromstring(to_svg(picture))
    texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "x<1 & y>2" in texts and "<&>" in texts
    assert 'label="<&>"' in to_dot(picture)

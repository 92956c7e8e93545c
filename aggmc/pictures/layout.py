"""A layered drawing of a directed graph: K. Sugiyama, S. Tagawa, M. Toda, *Methods for Visual Understanding of
Hierarchical System Structures* (1981).

1. Edges that close a cycle of a depth-first search are turned round for the layout.
2. A node's layer is the length of the longest path to it. Between two layers there is one for the labels of edges.
3. An edge is a chain of points, one in each layer that it crosses; its label is one of them, with its width.
4. In each layer, points are ordered by the mean place of their neighbours, downwards and upwards in turn; the order
   with the fewest crossings is kept.
5. A point's place is as near to the mean of its neighbours as the distances in its layer allow: the least squares of
   this are what the pool-adjacent-violators algorithm computes.

The same graph gives the same drawing.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

GAP = 22.0  # between neighbours in a layer
LAYER_GAP = 16.0
SWEEPS = 12
PASSES = 8


@dataclass(frozen=True, slots=True)
class Box:
    """A node or a label: its size."""

    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Link:
    """An edge between two nodes, by number, with the size of its label."""

    source: int
    target: int
    label: Box


@dataclass(frozen=True, slots=True)
class Drawing:
    """Where everything is. A node's place is its middle; an edge goes through its points from source to target."""

    width: float
    height: float
    nodes: tuple[tuple[float, float], ...]
    edges: tuple[tuple[tuple[float, float], ...], ...]
    labels: tuple[tuple[float, float], ...]  # the middle of each edge's label


@dataclass(slots=True)
class _Point:
    """A node, a bend of an edge, or a label."""

    layer: int
    left: float  # what it takes at each side of its place
    right: float
    height: float
    before: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)
    x: float = 0.0


def draw(nodes: Sequence[Box], links: Sequence[Link], roots: Sequence[int] = ()) -> Drawing:
    """Lay out a graph; self-loops stand at the right of their nodes."""
    if not nodes:
        return Drawing(0, 0, (), (), ())
    loops: dict[int, list[int]] = defaultdict(list)
    for i, link in enumerate(links):
        if link.source == link.target:
            loops[link.source].append(i)
    forward = _acyclic(len(nodes), links, roots)
    layer = _layers(len(nodes), [forward[i] for i in sorted(forward)])
    points = []
    for n, box in enumerate(nodes):
        extra = max((links[i].label.width + 34 for i in loops[n]), default=0.0)  # self-loops stand at the right
        height = max(box.height, sum(max(links[i].label.height, 14) + 8 for i in loops[n]))
        points.append(_Point(2 * layer[n], box.width / 2, box.width / 2 + extra, height))
    chains: dict[int, list[int]] = {}
    for i, (upper, lower) in forward.items():
        chain = [upper]
        for depth in range(points[upper].layer + 1, points[lower].layer):
            label = links[i].label if depth == points[upper].layer + 1 else Box(2, 0)
            points.append(_Point(depth, label.width / 2, label.width / 2, label.height))
            chain.append(len(points) - 1)
        chain.append(lower)
        for a, b in pairwise(chain):
            points[a].after.append(b)
            points[b].before.append(a)
        chains[i] = chain
    rows = _ordered(points)
    _place(points, rows)
    return _drawing(nodes, links, points, rows, chains, loops)


def _acyclic(count: int, links: Sequence[Link], roots: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Each edge but the self-loops as (upper, lower): turned round where it would close a cycle."""
    out: list[list[int]] = [[] for _ in range(count)]
    for i, link in enumerate(links):
        if link.source != link.target:
            out[link.source].append(i)
    state = [0] * count  # 1: on the path, 2: done
    turned: dict[int, tuple[int, int]] = {}
    for root in [*roots, *range(count)]:
        if state[root]:
            continue
        state[root] = 1
        stack = [(root, iter(out[root]))]
        while stack:
            node, rest = stack[-1]
            i = next(rest, -1)
            if i < 0:
                state[node] = 2
                stack.pop()
                continue
            target = links[i].target
            turned[i] = (target, node) if state[target] == 1 else (node, target)
            if state[target] == 0:
                state[target] = 1
                stack.append((target, iter(out[target])))
    return turned


def _layers(count: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
    above: list[int] = [0] * count
    below: list[list[int]] = [[] for _ in range(count)]
    for upper, lower in pairs:
        below[upper].append(lower)
        above[lower] += 1
    layer = [0] * count
    queue = [n for n in range(count) if not above[n]]
    for node in queue:
        for target in below[node]:
            layer[target] = max(layer[target], layer[node] + 1)
            above[target] -= 1
            if not above[target]:
                queue.append(target)
    return layer


# --- the order in each layer ------------------------------------------------------------------------------------------


def _ordered(points: Sequence[_Point]) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in range(max(p.layer for p in points) + 1)]
    for i, point in enumerate(points):
        rows[point.layer].append(i)
    best, fewest = [list(row) for row in rows], _crossings(points, rows)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        for depth in range(1, len(rows)) if down else range(len(rows) - 2, -1, -1):
            fixed = {p: place for place, p in enumerate(rows[depth - 1 if down else depth + 1])}
            own = {p: place for place, p in enumerate(rows[depth])}

            def mean(p: int, down: bool = down, fixed: dict[int, int] = fixed, own: dict[int, int] = own) -> float:
                near = [fixed[q] for q in (points[p].before if down else points[p].after)]
                return sum(near) / len(near) if near else own[p]

            rows[depth].sort(key=mean)
        count = _crossings(points, rows)
        if count < fewest:
            best, fewest = [list(row) for row in rows], count
    return best


def _crossings(points: Sequence[_Point], rows: Sequence[Sequence[int]]) -> int:
    total = 0
    for depth in range(len(rows) - 1):
        place = {p: i for i, p in enumerate(rows[depth + 1])}
        seen: list[int] = []
        for p in rows[depth]:
            ends = sorted(place[q] for q in points[p].after)
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


# --- places -----------------------------------------------------------------------------------------------------------


def _place(points: list[_Point], rows: Sequence[Sequence[int]]) -> None:
    bends = {i for i, point in enumerate(points) if len(point.before) == len(point.after) == 1}
    for row in rows:
        x = 0.0
        for p in row:
            points[p].x = x + points[p].left
            x += points[p].left + points[p].right + GAP
    for turn in range(PASSES):
        for row in rows if turn % 2 == 0 else reversed(rows):
            wishes = []
            for p in row:
                near = points[p].before if turn % 2 == 0 else points[p].after
                if turn >= PASSES - 2 or not near:
                    near = points[p].before + points[p].after
                weights = [4.0 if p in bends and q in bends else 1.0 for q in near]  # long edges run straight
                total = sum(w * points[q].x for w, q in zip(weights, near, strict=True))
                wishes.append(total / sum(weights) if near else points[p].x)
            _settle(points, row, wishes)
    left = min(p.x - p.left for p in points)
    for point in points:
        point.x -= left


def _settle(points: list[_Point], row: Sequence[int], wishes: Sequence[float]) -> None:
    """The places nearest to the wishes that keep the order and the distances."""
    offset = [0.0]
    for a, b in pairwise(row):
        offset.append(offset[-1] + points[a].right + points[b].left + GAP)
    blocks: list[tuple[float, int]] = []  # sum of wishes without offsets, number of points
    for wish, shift in zip(wishes, offset, strict=True):
        total, count = wish - shift, 1
        while blocks and blocks[-1][0] / blocks[-1][1] >= total / count:
            last = blocks.pop()
            total, count = total + last[0], count + last[1]
        blocks.append((total, count))
    place = 0
    for total, count in blocks:
        for _ in range(count):
            points[row[place]].x = total / count + offset[place]
            place += 1


def _drawing(
    nodes: Sequence[Box],
    links: Sequence[Link],
    points: Sequence[_Point],
    rows: Sequence[Sequence[int]],
    chains: dict[int, list[int]],
    loops: dict[int, list[int]],
) -> Drawing:
    heights = [max((points[p].height for p in row), default=0.0) for row in rows]
    middle = []
    y = 0.0
    for height in heights:
        middle.append(y + height / 2)
        y += height + LAYER_GAP
    at = [(point.x, middle[point.layer]) for point in points]
    ports = _ports(nodes, chains, at)
    edges: list[tuple[tuple[float, float], ...]] = []
    labels: list[tuple[float, float]] = []
    for i, link in enumerate(links):
        if i not in chains:
            x, y0 = at[link.source]
            right = x + nodes[link.source].width / 2
            own = loops[link.source]
            step = points[link.source].height / len(own)
            row_y = y0 - points[link.source].height / 2 + step * (own.index(i) + 0.5)
            spread = min(9.0, nodes[link.source].height / 2 - 2)
            edge_y = max(y0 - nodes[link.source].height / 2 + 3, min(y0 + nodes[link.source].height / 2 - 3, row_y))
            edges.append(((right, edge_y - spread / 2), (right + 26, row_y), (right, edge_y + spread / 2)))
            labels.append((right + 30 + link.label.width / 2, row_y))
            continue
        chain = chains[i]
        labels.append(at[chain[1]])
        if chain[0] != link.source:
            chain = chain[::-1]
        down = at[chain[-1]][1] > at[chain[0]][1]
        way = [at[p] for p in chain]
        reach = nodes[link.source].height / 2 if down else -nodes[link.source].height / 2
        way[0] = (ports[i, link.source], way[0][1] + reach)
        reach = nodes[link.target].height / 2 if down else -nodes[link.target].height / 2
        way[-1] = (ports[i, link.target], way[-1][1] - reach)
        edges.append(tuple(way))
    width = max(p.x + p.right for p in points)
    return Drawing(width, max(y - LAYER_GAP, 0.0), tuple(at[: len(nodes)]), tuple(edges), tuple(labels))


def _ports(
    nodes: Sequence[Box], chains: dict[int, list[int]], at: Sequence[tuple[float, float]]
) -> dict[tuple[int, int], float]:
    """Where each edge meets each of its nodes: side by side, in the order in which the edges come."""
    ends: dict[tuple[int, bool], list[tuple[float, int]]] = defaultdict(list)
    for i, chain in chains.items():
        for node, near in ((chain[0], chain[1]), (chain[-1], chain[-2])):
            ends[node, node == chain[0]].append((at[near][0], i))
    found = {}
    for (node, _), own in ends.items():
        room = max(0.0, nodes[node].width - 16)
        step = min(12.0, room / (len(own) - 1)) if len(own) > 1 else 0.0
        for place, (_, i) in enumerate(sorted(own)):
            found[i, node] = at[node][0] + (place - (len(own) - 1) / 2) * step
    return found

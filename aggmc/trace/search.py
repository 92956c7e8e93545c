"""Shortest accepting lasso of a small explicit graph whose edges carry marks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from aggmc.ltl.automata import components

Node = TypeVar("Node", bound=Hashable)
Successors = Callable[[Node], Iterable[tuple[int, Node]]]  # marks and target of each edge


@dataclass(frozen=True, slots=True)
class Found(Generic[Node]):
    """The nodes of a run; after the last one it goes on at `loop`."""

    nodes: tuple[Node, ...]
    loop: int


def shortest_lasso(
    initial: Iterable[Node], successors: Successors[Node], full: int, effort: int = 200_000
) -> Found[Node] | None:
    """A lasso whose cycle carries all marks, or None: the shortest, if `effort` (edges followed) is enough.

    All of the graph is explored. The first lasso leads to the nearest node of an accepting component; then other heads
    are tried in the order of their distance, as long as one of them can be better.
    """
    starts = list(dict.fromkeys(initial))
    graph: dict[Node, list[tuple[int, Node]]] = {}
    came: dict[Node, Node | None] = dict.fromkeys(starts)
    distance = dict.fromkeys(starts, 0)
    queue = list(starts)
    for node in queue:
        graph[node] = list(successors(node))
        for _, target in graph[node]:
            if target not in came:
                came[target] = node
                distance[target] = distance[node] + 1
                queue.append(target)
    inner = _accepting(queue, graph, full)
    best: Found[Node] | None = None
    size = len(queue) * (full.bit_count() + 1) * 2 + 1
    for head in queue:
        if head not in inner:
            continue
        if best is not None and (distance[head] + 1 >= size or effort <= 0):
            break
        cycle, spent = _cycle(head, inner, full, size - distance[head] - 1)
        effort -= spent
        if cycle is not None:
            way: list[Node] = []
            before = came[head]
            while before is not None:
                way.append(before)
                before = came[before]
            way.reverse()
            best = Found((*way, *cycle), len(way))
            size = len(best.nodes)
    return best


def _accepting(
    nodes: list[Node], graph: dict[Node, list[tuple[int, Node]]], full: int
) -> dict[Node, list[tuple[int, Node]]]:
    """The nodes of accepting components, with the edges that stay in them."""
    number = {node: i for i, node in enumerate(nodes)}
    component = components([[number[target] for _, target in graph[node]] for node in nodes])
    marks: dict[int, int] = {}
    inner: dict[Node, list[tuple[int, Node]]] = {}
    for i, node in enumerate(nodes):
        inner[node] = [edge for edge in graph[node] if component[number[edge[1]]] == component[i]]
        for mask, _ in inner[node]:
            marks[component[i]] = marks.get(component[i], 0) | mask
    return {node: inner[node] for i, node in enumerate(nodes) if marks.get(component[i], -1) == full}


def _cycle(
    head: Node, edges: dict[Node, list[tuple[int, Node]]], full: int, bound: int
) -> tuple[list[Node] | None, int]:
    """A shortest cycle from the head with all marks, of at most `bound` steps; and the number of edges followed."""
    start = (head, 0)
    came: dict[tuple[Node, int], tuple[Node, int]] = {}
    layer = [start]
    spent = 0
    for _ in range(bound):
        following = []
        for place in layer:
            for marks, target in edges[place[0]]:
                spent += 1
                reached = (target, place[1] | marks)
                if reached == (head, full):
                    way = [place]
                    while way[-1] != start:
                        way.append(came[way[-1]])
                    return [node for node, _ in reversed(way)], spent
                if reached not in came and reached != start:
                    came[reached] = place
                    following.append(reached)
        if not following:
            break
        layer = following
    return None, spent

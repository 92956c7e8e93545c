"""ASCC, the amended algorithm of Couvreur: an on-the-fly search for an accepting component.

Gaiser and Schwoon, "Comparison of algorithms for checking emptiness on Büchi automata", Figure 2.

    Roots     `roots`: one entry per component on the search path
    Active    `active`: the nodes whose component is still open
    dfsnum    `number`
    A(s)      the figure has its marks on states; here they are on edges, so each root keeps the marks *inside* its
              component and, apart, those of the tree edge that entered it. Merging down to root r adds the closing
              edge's marks and the entering marks of all popped roots, except r's own.

Iterative; a violation is reported as soon as the explored part holds one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from aggmc.products.protocol import Edge, Product, Run

Node = TypeVar("Node", bound=Hashable)


@dataclass
class Effort:
    """What a search has done so far."""

    nodes: int = 0
    edges: int = 0


@dataclass
class _Root:
    number: int
    inside: int
    entering: int


@dataclass
class _Frame(Generic[Node]):
    node: Node
    edges: Iterator[Edge[Node]]
    entered_by: Edge[Node] | None


def search(
    product: Product[Node], effort: Effort | None = None, tick: Callable[[Effort], None] | None = None
) -> Run[Node] | None:
    """An accepting run of the product, or None if it has none."""
    return _Search(product, effort or Effort(), tick).run()


class _Search(Generic[Node]):
    def __init__(self, product: Product[Node], effort: Effort, tick: Callable[[Effort], None] | None) -> None:
        self.product = product
        self.effort = effort
        self.tick = tick
        self.full = (1 << product.marks) - 1
        self.number: dict[Node, int] = {}
        self.explored: dict[Node, list[Edge[Node]]] = {}  # of active nodes only: the edges seen so far
        self.active: list[Node] = []
        self.roots: list[_Root] = []
        self.path: list[_Frame[Node]] = []

    def run(self) -> Run[Node] | None:
        for start in self.product.initial():
            if start not in self.number:
                self._open(start, None)
                while self.path:
                    if self._advance():
                        return self._accepting_run()
        return None

    def _open(self, node: Node, edge: Edge[Node] | None) -> None:
        self.number[node] = len(self.number)
        self.explored[node] = []
        self.active.append(node)
        self.roots.append(_Root(self.number[node], 0, edge.marks if edge is not None else 0))
        self.path.append(_Frame(node, self.product.successors(node), edge))
        self.effort.nodes += 1
        if self.tick is not None:
            self.tick(self.effort)

    def _advance(self) -> bool:
        """Follow one edge of the last node of the path, or close that node; True if a component now accepts."""
        frame = self.path[-1]
        edge = next(frame.edges, None)
        if edge is None:
            self._close(frame.node)
            return False
        self.effort.edges += 1
        self.explored[frame.node].append(edge)
        if edge.target not in self.number:
            self._open(edge.target, edge)
            return False
        if edge.target in self.explored:
            return self._merge(edge)
        return False

    def _merge(self, edge: Edge[Node]) -> bool:
        marks = edge.marks
        goal = self.number[edge.target]
        while self.roots[-1].number > goal:
            popped = self.roots.pop()
            marks |= popped.inside | popped.entering
        self.roots[-1].inside |= marks
        return self.roots[-1].inside == self.full

    def _close(self, node: Node) -> None:
        self.path.pop()
        if self.roots[-1].number == self.number[node]:
            self.roots.pop()
            while True:
                done = self.active.pop()
                del self.explored[done]
                self.product.exhausted(done)
                if done == node:
                    break

    # -- the run -------------------------------------------------------------------------------------------------

    def _accepting_run(self) -> Run[Node]:
        first = self.roots[-1].number
        entrance = next(i for i, f in enumerate(self.path) if self.number[f.node] == first)
        head = self.path[entrance].node
        prefix = [f.entered_by for f in self.path[1 : entrance + 1] if f.entered_by is not None]
        component = {n for n in self.active if self.number[n] >= first}
        loop = self._self_loop(component)
        if loop is not None:
            prefix.extend(self._path(head, {loop.target}, component))
            cycle = [loop]
        else:
            cycle = self._round_trip(head, component)
        return Run(self.path[0].node, tuple(prefix), tuple(cycle))

    def _self_loop(self, component: Collection[Node]) -> Edge[Node] | None:
        """An edge that is an accepting cycle by itself: the simplest witness."""
        for node in self.active:
            if node in component:
                for edge in self.explored[node]:
                    if edge.target == node and edge.marks == self.full:
                        return edge
        return None

    def _round_trip(self, head: Node, component: Collection[Node]) -> list[Edge[Node]]:
        """A cycle through `head` that carries all marks."""
        cycle: list[Edge[Node]] = []
        here, seen = head, 0
        while seen != self.full:
            leg = self._path(here, None, component, lacking=self.full & ~seen)
            cycle.extend(leg)
            for edge in leg:
                seen |= edge.marks
            here = cycle[-1].target
        if here != head or not cycle:
            cycle.extend(self._path(here, {head}, component))
        return cycle

    def _path(
        self, start: Node, goals: Collection[Node] | None, component: Collection[Node], lacking: int = 0
    ) -> list[Edge[Node]]:
        """A shortest path in the component to a goal, or (goals is None) over an edge with a lacking mark."""
        if goals is not None and start in goals:
            return []
        came: dict[Node, tuple[Node, Edge[Node]] | None] = {start: None}
        queue = [start]
        for node in queue:
            for edge in self.explored[node]:
                target = edge.target
                if target not in component:
                    continue
                if (goals is not None and target in goals) or (goals is None and edge.marks & lacking):
                    path = [edge]
                    step = came[node]
                    while step is not None:
                        path.append(step[1])
                        step = came[step[0]]
                    return path[::-1]
                if target not in came:
                    came[target] = (node, edge)
                    queue.append(target)
        raise AssertionError("a strongly connected component has a path between any two of its nodes")

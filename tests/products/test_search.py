"""ASCC on plain graphs: random ones against components by networkx, and the hard ones by hand."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

import networkx  # type: ignore[import-untyped]
import pytest

from aggmc.emptiness.ascc import Effort, search
from aggmc.products.protocol import Edge, Run


class MarkedGraph:
    """A product given by lists."""

    def __init__(self, marks: int, initial: Sequence[int], edges: Mapping[int, Sequence[tuple[int, int]]]) -> None:
        self.marks = marks
        self._initial = initial
        self.edges = edges
        self.told: list[int] = []

    def initial(self) -> Sequence[int]:
        return self._initial

    def successors(self, node: int) -> Iterator[Edge[int]]:
        for marks, target in self.edges.get(node, ()):
            yield Edge(marks, target)

    def exhausted(self, node: int) -> None:
        self.told.append(node)


def accepting(graph: MarkedGraph) -> bool:
    """Whether a reachable component carries all marks on its inner edges."""
    directed = networkx.MultiDiGraph()
    directed.add_nodes_from(graph.initial())
    for source, out in graph.edges.items():
        directed.add_edges_from((source, target, {"marks": marks}) for marks, target in out)
    reached = set(graph.initial()).union(*(networkx.descendants(directed, s) for s in graph.initial()))
    for component in networkx.strongly_connected_components(directed.subgraph(reached)):
        inner = [m for _, _, m in directed.subgraph(component).edges(data="marks")]
        together = 0
        for marks in inner:
            together |= marks
        if inner and together == (1 << graph.marks) - 1:
            return True
    return False


def is_accepting_run(graph: MarkedGraph, run: Run[int]) -> bool:
    """A path from an initial node and a cycle of all marks, each edge one of the graph's."""
    here, marks = run.initial, 0
    for edge in (*run.prefix, *run.cycle):
        if (edge.marks, edge.target) not in graph.edges.get(here, ()):
            return False
        here = edge.target
    head = run.prefix[-1].target if run.prefix else run.initial
    for edge in run.cycle:
        marks |= edge.marks
    return run.initial in graph.initial() and here == head and bool(run.cycle) and marks == (1 << graph.marks) - 1


@pytest.mark.parametrize("seed", range(4))
def test_random_graphs(seed: int) -> None:
    rng = random.Random(seed)
    found = 0
    for _ in range(800):
        n, marks = rng.randint(1, 10), rng.randint(1, 3)
        chance = rng.choice((0.1, 0.3, 0.6))
        edges = {
            s: [
                (sum(1 << i for i in range(marks) if rng.random() < chance), rng.randrange(n))
                for _ in range(rng.choice((0, 1, 1, 2, 3)))
            ]
            for s in range(n)
        }
        graph = MarkedGraph(marks, rng.sample(range(n), rng.randint(1, min(n, 3))), edges)
        run = search(graph)
        assert (run is not None) == accepting(graph), (graph.initial(), edges)
        if run is not None:
            found += 1
            assert is_accepting_run(graph, run), (graph.initial(), edges, run)
    assert 100 < found < 700


def test_accepting_edge_into_a_cycle_that_is_not() -> None:
    assert search(MarkedGraph(1, [0], {0: [(1, 1)], 1: [(0, 2)], 2: [(0, 1)]})) is None
    assert search(MarkedGraph(1, [0], {0: [(1, 1)], 1: [(0, 1)]})) is None
    assert search(MarkedGraph(2, [0], {0: [(3, 1)], 1: [(1, 2)], 2: [(0, 1)]})) is None


def test_marks_on_a_tree_edge_inside_the_component() -> None:
    run = search(MarkedGraph(2, [0], {0: [(1, 1)], 1: [(0, 2)], 2: [(2, 0)]}))
    assert run is not None
    assert [e.marks for e in run.cycle] == [1, 0, 2]


def test_marks_of_two_components_do_not_add_up() -> None:
    assert search(MarkedGraph(2, [0], {0: [(1, 0), (0, 1)], 1: [(2, 1)]})) is None


@pytest.mark.parametrize("seed", range(2))
def test_no_accepting_run_follows_from_what_is_exhausted(seed: int) -> None:
    rng = random.Random(seed)
    told = 0
    for _ in range(800):
        n = rng.randint(2, 9)
        edges = {
            s: [(rng.randrange(4) & rng.randrange(4), rng.randrange(n)) for _ in range(rng.choice((0, 1, 2)))]
            for s in range(n)
        }
        graph = MarkedGraph(2, [0], edges)
        run = search(graph)
        assert not any(accepting(MarkedGraph(2, [node], edges)) for node in graph.told)
        assert len(set(graph.told)) == len(graph.told)
        told += run is not None and bool(graph.told)
    assert told > 5


def test_an_edge_back_into_a_closed_component() -> None:
    assert search(MarkedGraph(1, [0], {0: [(0, 1), (0, 2)], 1: [], 2: [(1, 1)]})) is None


def test_all_marks_self_loop_is_taken_alone() -> None:
    run = search(MarkedGraph(2, [0], {0: [(1, 1)], 1: [(3, 1), (2, 0)]}))
    assert run is not None
    assert [(e.marks, e.target) for e in run.cycle] == [(3, 1)]


def test_on_the_fly() -> None:
    """A violation at the beginning is found without the rest, and a million nodes need no recursion."""

    class Endless:
        marks = 1

        def initial(self) -> list[int]:
            return [0]

        def successors(self, node: int) -> Iterator[Edge[int]]:
            yield Edge(node % 5 // 4, max(node - 1, 0))
            yield Edge(0, node + 1)

        def exhausted(self, node: int) -> None:
            raise AssertionError(node)

    effort = Effort()
    assert search(Endless(), effort) is not None
    assert effort.nodes <= 10
    long = MarkedGraph(1, [0], {i: [(0, i + 1)] for i in range(200_000)})
    effort = Effort()
    assert search(long, effort) is None
    assert (effort.nodes, effort.edges) == (200_001, 200_000)


def test_nothing_initial() -> None:
    assert search(MarkedGraph(1, [], {})) is None

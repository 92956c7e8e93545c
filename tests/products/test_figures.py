"""Figures 1 and 2 of Ben Salem and Graiet: the exact nodes and arcs of every graph over the example structure.

The formula's automaton is that of `a U b`; the automaton of a property is that of its negation, so the property is
`!(a U b)`. Marks are part of an arc: (source, mark, target).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest

from aggmc.boolean import TRUE, and_, not_, prop
from aggmc.checker import METHODS, check
from aggmc.ltl.automata import TgbaEdge, TgtaEdge
from aggmc.ltl.formula import parse
from aggmc.ltl.translate import Property, prepare
from aggmc.model.core import Model
from aggmc.model.hoa import Structure, model_of
from aggmc.products.explicit import ExplicitKripke, ExplicitTgba, ExplicitTgta
from aggmc.products.slap import Settle, slap, slap_tgta
from aggmc.products.sog import ObservationGraph, Sog, SogTgta
from aggmc.symbolic.encode import Encoding
from aggmc.symbolic.kripke import SymbolicKripke

PROPERTY = "!(a U b)"
A, B, C = 1, 2, 4
S = frozenset  # of numbers of states
LOOP = S({0, 1, 2, 3})  # the aggregate A of the table
NAMES = tuple(f"s{i}" for i in range(8))


def kripke_structure(last: int) -> Structure:
    """K: s6 and s7 agree on {a, b}, either way."""
    labels = (A | C, A, A | C, A, A | B, A | C, last, last | C)
    successors = ((1, 4), (2,), (3,), (0,), (5,), (6,), (7,), (4,))
    return Structure(("a", "b", "c"), labels, successors, (0,), NAMES)


@pytest.fixture(params=[0, B], ids=["neither", "b"])
def model(request: pytest.FixtureRequest) -> Model:
    return model_of(kripke_structure(request.param))


@pytest.fixture
def automata() -> Property:
    return prepare(parse(PROPERTY))


@pytest.fixture
def kripke(model: Model) -> SymbolicKripke:
    return SymbolicKripke(Encoding(model), [model.frontend.proposition(p, quoted=False)[0].holds for p in ("a", "b")])


@pytest.fixture
def explicit(model: Model) -> ExplicitKripke:
    interpreter = model.frontend.interpreter()

    def valuation(state: tuple[int, ...]) -> int:
        return interpreter.holds("a", state) | interpreter.holds("b", state) << 1

    return ExplicitKripke(interpreter, valuation, stutter=True)


Arcs = set[tuple[Any, int, Any]]


def explored(product: Any) -> tuple[list[Any], list[Any], list[tuple[Any, int, Any]]]:
    """Initial nodes, nodes and arcs."""
    initial = list(product.initial())
    nodes = list(initial)
    arcs = []
    for node in nodes:
        for edge in product.successors(node):
            arcs.append((node, edge.marks, edge.target))
            if edge.target not in nodes:
                nodes.append(edge.target)
    return initial, nodes, arcs


def states_in(kripke: SymbolicKripke, states: Any) -> frozenset[int]:
    return S(s for s in range(8) if states & kripke.cube((s,)) != kripke.false)


def plain(product: Any) -> tuple[list[Any], list[Any], Arcs]:
    """An explicit product with its states as numbers."""

    def short(node: Any) -> tuple[int, int]:
        return node[0], node[1][0]

    initial, nodes, arcs = explored(product)
    assert len(arcs) == len(set(arcs))
    return [short(n) for n in initial], [short(n) for n in nodes], {(short(s), m, short(t)) for s, m, t in arcs}


def aggregates(kripke: SymbolicKripke, product: Any) -> tuple[list[Any], list[Any], Arcs]:
    """An aggregate product with its sets as sets of numbers."""

    def short(node: Any) -> tuple[int, frozenset[int] | None]:
        return node[0], None if node[-1] is None else states_in(kripke, node[-1])

    initial, nodes, arcs = explored(product)
    assert len(arcs) == len(set(arcs))
    return [short(n) for n in initial], [short(n) for n in nodes], {(short(s), m, short(t)) for s, m, t in arcs}


def path(mark: int, nodes: Iterable[Any]) -> Arcs:
    """The arcs along a path."""
    return {(s, mark, t) for s, t in pairwise(nodes)}


def test_figure_1a_tgba(automata: Property) -> None:
    a, b = prop(0), prop(1)
    tgba = automata.tgba
    assert tgba.propositions == ("a", "b")
    assert tgba.marks == 1
    assert tgba.initial == 0
    assert tgba.states == 2
    assert sorted(tgba.edges[0], key=lambda e: e.target) == [TgbaEdge(and_(a, not_(b)), 0, 0), TgbaEdge(b, 0, 1)]
    assert tgba.edges[1] == (TgbaEdge(TRUE, 1, 1),)


def test_figure_2a_tgta(automata: Property) -> None:
    tgta = automata.tgta()
    b_changes, all_changes = S({B, A | B}), S(range(4))
    assert tgta.states == 2
    assert tgta.marks == 1
    assert tgta.stuttering
    assert set(tgta.initial) == {(0, S({A})), (1, S({B, A | B}))}
    assert sorted(tgta.edges[0], key=lambda e: e.target) == [TgtaEdge(S({0}), 0, 0), TgtaEdge(b_changes, 0, 1)]
    assert tgta.edges[1] == (TgtaEdge(all_changes, 1, 1),)


def test_figure_1c_explicit_tgba(explicit: ExplicitKripke, automata: Property) -> None:
    initial, nodes, arcs = plain(ExplicitTgba(explicit, automata.tgba))
    assert initial == [(0, 0)]
    assert len(nodes) == 9
    assert arcs == (
        path(0, [(0, 0), (0, 1), (0, 2), (0, 3), (0, 0), (0, 4), (1, 5)])
        | path(1, [(1, 5), (1, 6), (1, 7), (1, 4), (1, 5)])
    )


def test_figure_2c_explicit_tgta(explicit: ExplicitKripke, automata: Property) -> None:
    initial, nodes, arcs = plain(ExplicitTgta(explicit, automata.tgta()))
    assert initial == [(0, 0)]
    assert len(nodes) == 8
    assert arcs == (
        path(0, [(0, 0), (0, 1), (0, 2), (0, 3), (0, 0), (1, 4)]) | path(1, [(1, 4), (1, 5), (1, 6), (1, 7), (1, 4)])
    )


def test_figure_2d_observation_graph(kripke: SymbolicKripke) -> None:
    """Definition 7: the aggregates, with a self-loop on each that contains a cycle."""
    graph = ObservationGraph(kripke)
    found = [aggregate for aggregate, _ in graph.initial()]
    assert [states_in(kripke, states) for _, states in found] == [LOOP]
    arcs = set()
    for aggregate in found:
        source = states_in(kripke, aggregate[1])
        if graph.is_divergent(aggregate):
            arcs.add((source, source))
        for target in graph.successors(aggregate):
            arcs.add((source, states_in(kripke, target[1])))
            if target not in found:
                found.append(target)
    assert [states_in(kripke, states) for _, states in found] == [LOOP, S({4}), S({5}), S({6, 7})]
    assert arcs == {
        (LOOP, LOOP),
        (LOOP, S({4})),
        (S({4}), S({5})),
        (S({5}), S({6, 7})),
        (S({6, 7}), S({4})),
    }


def test_figure_2e_sog_tgta(kripke: SymbolicKripke, automata: Property) -> None:
    expected = {((0, LOOP), 0, (1, S({4})))} | path(1, [(1, S({4})), (1, S({5})), (1, S({6, 7})), (1, S({4}))])
    figure = aggregates(kripke, SogTgta(kripke, automata.tgta(), idle_loops=True))
    assert figure[0] == [(0, LOOP)]
    assert set(figure[1]) == {(0, LOOP), (1, S({4})), (1, S({5})), (1, S({6, 7}))}
    assert len(figure[1]) == 4
    assert figure[2] == expected | {((0, LOOP), 0, (0, LOOP))}
    used = aggregates(kripke, SogTgta(kripke, automata.tgta()))
    assert (used[0], used[1], used[2]) == (figure[0], figure[1], expected)


def test_figure_2f_slap_tgta(kripke: SymbolicKripke, automata: Property) -> None:
    start, end = (0, LOOP), (1, S({4, 5, 6, 7}))
    assert aggregates(kripke, slap_tgta(kripke, automata.tgta())) == (
        [start],
        [start, end],
        {(start, 0, end), (end, 1, end)},
    )


def test_slap(kripke: SymbolicKripke, automata: Property) -> None:
    start, end = (0, LOOP | {4}), (1, S({4, 5, 6, 7}))
    assert aggregates(kripke, slap(kripke, automata.tgba)) == (
        [start],
        [start, end],
        {(start, 0, end), (end, 1, end)},
    )


@pytest.mark.parametrize("settle", [Settle.FST, Settle.FSA, Settle.PLUS])
def test_settled_at_once(kripke: SymbolicKripke, automata: Property, settle: Settle) -> None:
    """The last aggregate holds a cycle: it leads to the accepting node, whose only edge is its own."""
    end, accepting = (1, S({4, 5, 6, 7})), (1, None)
    for product, start in (
        (slap(kripke, automata.tgba, settle), (0, LOOP | {4})),
        (slap_tgta(kripke, automata.tgta(), settle), (0, LOOP)),
    ):
        arcs = {(start, 0, end), (end, 1, accepting), (accepting, 1, accepting)}
        assert aggregates(kripke, product) == ([start], [start, end, accepting], arcs)


def test_covered(kripke: SymbolicKripke, automata: Property) -> None:
    """The older SF: entered by an edge without marks, the second state absorbs nothing at first."""
    start, entered, end = (0, LOOP | {4}), (1, S({5})), (1, S({4, 5, 6, 7}))
    arcs = {(start, 0, entered), (entered, 1, end), (end, 1, end)}
    assert aggregates(kripke, slap(kripke, automata.tgba, absorb="covered")) == ([start], [start, entered, end], arcs)
    settled = slap(kripke, automata.tgba, Settle.FST, absorb="covered")
    assert aggregates(kripke, settled)[2] == {(start, 0, end), (end, 1, (1, None)), ((1, None), 1, (1, None))}


def test_sog(kripke: SymbolicKripke, automata: Property) -> None:
    """The paper draws no product of the SOG with the TGBA; section 3 of our design gives it."""
    initial, nodes, arcs = aggregates(kripke, Sog(kripke, automata.tgba))
    divergent = (0, None)
    assert initial == [(0, LOOP)]
    assert arcs == (
        {((0, LOOP), 0, divergent), (divergent, 0, divergent)}
        | path(0, [(0, LOOP), (0, S({4})), (1, S({5}))])
        | path(1, [(1, S({5})), (1, S({6, 7})), (1, S({4})), (1, S({5}))])
    )
    assert len(nodes) == 6


@pytest.mark.parametrize("product", METHODS)
def test_verdict(model: Model, product: str) -> None:
    verdict = check(model, PROPERTY, product)
    assert verdict.verdict == "violated"
    assert verdict.trace is not None
    visited = [verdict.trace.initial["state"], *(s.state["state"] for s in verdict.trace.prefix + verdict.trace.cycle)]
    assert visited[0] == "s0"
    assert {s.state["state"] for s in verdict.trace.cycle} == {"s4", "s5", "s6", "s7"}
    assert check(model, "F b | G(a & !b)", product).holds

"""The explored graph as data: what the search saw, and where the counterexample is in it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from generators import random_formula, random_structure

from aggmc.checker import METHODS, Checker, Options, ask
from aggmc.errors import UnsupportedError
from aggmc.model.hoa import model_of
from aggmc.model.load import load_model
from aggmc.trace.aggregates import AggregateGraph

MUTEX = Path(__file__).parents[2] / "models" / "mutex.dve"


def graph_of(formula: str, product: str, most: int = 150) -> AggregateGraph:
    model = load_model(MUTEX)
    graph = Checker(model, Options(graph=most)).ltl(ask(model, formula), product).graph
    assert graph is not None
    return graph


@pytest.mark.parametrize("product", METHODS)
def test_a_graph_that_holds_is_complete(product: str) -> None:
    model = load_model(MUTEX)
    verdict = Checker(model, Options(graph=1000)).ltl(ask(model, "G(P_0.wait -> F P_0.CS)"), product)
    graph = verdict.graph
    assert graph is not None
    assert graph.complete
    assert (graph.explored_nodes, graph.explored_edges) == (verdict.stats.aggregates, verdict.stats.edges)
    assert len(graph.nodes) == graph.explored_nodes
    assert graph.path == ()
    assert any(node.initial for node in graph.nodes)


@pytest.mark.parametrize("product", METHODS)
@pytest.mark.parametrize("seed", range(8))
def test_the_counterexample_is_in_the_graph(seed: int, product: str) -> None:
    """Each position is in a node; from one to the next there is an edge, or both are in the same node."""
    rng = random.Random(seed)
    seen = 0
    while seen < 3:
        structure = random_structure(rng)
        model = model_of(structure)
        formula = random_formula(rng, list(structure.propositions))
        try:
            verdict = Checker(model, Options(graph=10_000)).ltl(ask(model, formula), product)
        except UnsupportedError:
            continue
        if verdict.trace is None:
            continue
        seen += 1
        graph = verdict.graph
        assert graph is not None
        assert not graph.complete
        assert len(graph.path) == len(verdict.trace.states)
        assert all(graph.path), formula
        assert any(graph.nodes[n].initial for n in graph.path[0])
        pairs = {(e.source, e.target) for e in graph.edges}
        for i, here in enumerate(graph.path):
            j = i + 1 if i + 1 < len(graph.path) else len(verdict.trace.prefix)
            for node in here:
                assert any((node, n) in pairs or node == n for n in graph.path[j])
        assert {n for position in graph.path for n in position} == {
            n for n, node in enumerate(graph.nodes) if node.on_path
        }


def test_contents() -> None:
    """Of SOG: each aggregate has one valuation; the numbers of states are those of the model at most."""
    graph = graph_of("G(P_0.wait -> F P_0.CS)", "sog")
    for node in graph.nodes:
        assert "?" not in node.propositions
        if node.states is not None:
            assert 1 <= node.states <= 20
    explicit = graph_of("G(P_0.wait -> F P_0.CS)", "tgba")
    assert {node.states for node in explicit.nodes} == {1}


def test_no_more_nodes_than_wanted() -> None:
    graph = graph_of("G F P_0.CS", "tgba", most=3)
    assert len(graph.nodes) == 3 < graph.explored_nodes
    assert all(node.on_path for node in graph.nodes)
    assert all(e.source < 3 and e.target < 3 for e in graph.edges)


def test_no_graph_unless_asked_for() -> None:
    model = load_model(MUTEX)
    assert Checker(model).ltl(ask(model, "G F P_0.CS")).graph is None

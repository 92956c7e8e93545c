"""Shortened runs: never longer, still violations, and with enough effort as short as a search of all runs finds."""

from __future__ import annotations

import random
from collections import deque

import pytest
from generators import random_formula, random_structure

from aggmc.boolean import evaluate
from aggmc.checker import METHODS, SHORTENING, Checker, Options, ask
from aggmc.errors import UnsupportedError
from aggmc.ltl.formula import parse
from aggmc.ltl.translate import Property, prepare
from aggmc.model.core import Model
from aggmc.model.dve import load as load_dve
from aggmc.model.hoa import model_of
from aggmc.trace import shorten as shorten_module
from aggmc.trace.lasso import Lasso
from aggmc.trace.search import Found, shortest_lasso
from aggmc.trace.shorten import bad_prefix, normal


def product_graph(model: Model, prop: Property) -> tuple[list, dict]:
    """A ⊗ K, all of it, apart from the code under test."""
    run = model.frontend.interpreter()
    atoms = [a.text for a in prop.atoms]
    start = [(prop.tgba.initial, s) for s in run.initial_states()]
    graph: dict = {}
    queue = list(start)
    while queue:
        node = queue.pop()
        if node in graph:
            continue
        q, state = node
        letter = prop.valuation(sum(run.holds(a, state) << i for i, a in enumerate(atoms)))
        targets = [t for _, t in run.successors(state)] or [state]
        arcs = [e for e in prop.tgba.edges[q] if evaluate(e.label, letter)]
        graph[node] = [(e.marks, (e.target, t)) for t in targets for e in arcs]
        queue += [t for _, t in graph[node]]
    return start, graph


def least(start: list, graph: dict, full: int) -> int | None:
    """The least number of steps of an accepting lasso, by trying every head."""

    def distances(sources: list) -> dict:
        found = dict.fromkeys(sources, 0)
        queue = deque(sources)
        while queue:
            node = queue.popleft()
            for _, t in graph[node]:
                if t not in found:
                    found[t] = found[node] + 1
                    queue.append(t)
        return found

    best = None
    for head, d in distances(start).items():
        seen = {(head, 0): 0}
        queue = deque(seen)
        while queue:
            node, marks = queue.popleft()
            for m, t in graph[node]:
                key = (t, marks | m)
                if key == (head, full):
                    total = d + seen[node, marks] + 1
                    best = total if best is None else min(best, total)
                if key not in seen:
                    seen[key] = seen[node, marks] + 1
                    queue.append(key)
    return best


@pytest.mark.parametrize("product", METHODS)
@pytest.mark.parametrize("seed", range(25))
def test_shortest_is_as_short_as_can_be(seed: int, product: str) -> None:
    rng = random.Random(seed)
    checked = 0
    while checked < 2:
        structure = random_structure(rng)
        model = model_of(structure)
        formula = random_formula(rng, list(structure.propositions))
        prop = prepare(parse(formula))
        checker = Checker(model, Options(shorten="shortest"))
        try:
            verdict = checker.ltl(ask(model, formula), product)
        except UnsupportedError:
            continue
        if verdict.trace is None:
            continue
        checked += 1
        steps = len(verdict.trace.prefix) + len(verdict.trace.cycle)
        assert verdict.stats.found_steps is not None
        assert steps <= verdict.stats.found_steps
        if prop.tgba.automaton_class == "terminal" or prop.tgba.marks > shorten_module.MAX_MARKS:
            continue
        assert verdict.stats.shortest is True
        best = least(*product_graph(model, prop), prop.tgba.all_marks)
        assert best is not None
        assert steps <= best, formula


@pytest.mark.parametrize("product", ["slap-tgta", "sog", "tgba"])
@pytest.mark.parametrize("effort", [0, 30, 300, 3000])
def test_any_effort_gives_a_run(product: str, effort: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the effort ends in the middle of something, what is there is still a violation (the checker replays it)."""
    monkeypatch.setitem(SHORTENING, "bounded", (effort, effort))
    rng = random.Random(effort)
    violated = 0
    for _ in range(40):
        structure = random_structure(rng)
        model = model_of(structure)
        try:
            verdict = Checker(model).ltl(ask(model, random_formula(rng, list(structure.propositions))), product)
        except UnsupportedError:
            continue
        if verdict.trace is not None:
            violated += 1
            assert len(verdict.trace.prefix) + len(verdict.trace.cycle) <= (verdict.stats.found_steps or 0)
    assert violated > 5


# a goes round by b, c, d in 4 steps; or far away, after 6 steps, there is a cycle of one
DETOURS = """byte x;
process P {
  state a, b, c, d, e;
  init a;
  trans a -> b { guard x == 0; }, b -> c { guard x == 0; }, c -> d { guard x == 0; }, d -> a { guard x == 0; },
        a -> a { guard x < 6; effect x = x + 1; }, a -> e { guard x == 6; }, e -> e { };
}
system async;
"""


@pytest.mark.parametrize("product", METHODS)
def test_the_shorter_total_wins(product: str) -> None:
    model = load_dve(DETOURS, "detours.dve")
    trace = Checker(model, Options(shorten="shortest")).ltl(ask(model, 'F"x == 6" & !G F "P.e"'), product).trace
    assert trace is not None
    assert (len(trace.prefix), len(trace.cycle)) == (0, 4)


# the bad state is 2 steps away by s, 5 by t; only that by t can go on if dead states end runs
UNSAFE = """byte x;
process P {
  state a, s, bad, t, t2, t3, ugly, back;
  init a;
  trans a -> s { }, s -> bad { }, a -> t { }, t -> t2 { }, t2 -> t3 { }, t3 -> ugly { }, ugly -> back { },
        back -> ugly { }, back -> back { };
}
system async;
"""


@pytest.mark.parametrize("product", METHODS)
@pytest.mark.parametrize(("deadlock", "steps"), [("stutter", (2, 1)), ("ignore", (5, 1))])
def test_bad_prefixes(product: str, deadlock: str, steps: tuple[int, int]) -> None:
    model = load_dve(UNSAFE, "unsafe.dve")
    checker = Checker(model, Options(deadlock=deadlock))
    verdict = checker.ltl(ask(model, "G !(P.bad || P.ugly)"), product)
    assert verdict.trace is not None
    assert (len(verdict.trace.prefix), len(verdict.trace.cycle)) == steps


@pytest.mark.parametrize(
    ("formula", "letters", "expected"),
    [
        ("G!a", [0, 0, 1, 0], 3),
        ("G!a", [1], 1),
        ("G!a", [0, 0], None),
        ("Fa", [0, 0], None),
        ("G(a -> Xb)", [0, 1, 1, 2], 3),
        ("a", [0, 1], 1),
        ("0", [0], 0),
    ],
)
def test_how_many_letters_decide(formula: str, letters: list[int], expected: int | None) -> None:
    prop = prepare(parse(formula))
    assert bad_prefix(prop.tgba, [prop.valuation(letter) for letter in letters]) == expected


@pytest.mark.parametrize(
    ("states", "loop", "expected", "expected_loop"),
    [("0121", 2, "012", 1), ("01212", 1, "012", 1), ("000", 1, "0", 0), ("012", 0, "012", 0), ("0112", 2, "0112", 2)],
)
def test_normal_form(states: str, loop: int, expected: str, expected_loop: int) -> None:
    run = Found(tuple((0, (int(s),)) for s in states), loop)
    assert normal(run) == Lasso(tuple((int(s),) for s in expected), expected_loop)


def test_shortest_lasso_of_a_graph() -> None:
    """0 → 1 → 2 → 1 with mark 0 on 1→2 and mark 1 on a detour 2 → 3 → 1."""
    graph = {0: [(0, 1)], 1: [(1, 2)], 2: [(0, 1), (0, 3)], 3: [(2, 1)]}
    assert shortest_lasso([0], graph.__getitem__, 3) == Found((0, 1, 2, 3), 1)
    assert shortest_lasso([0], {0: [(0, 0), (0, 1)], 1: [(1, 0)]}.__getitem__, 1) == Found((0, 1), 0)
    assert shortest_lasso([0], graph.__getitem__, 7) is None

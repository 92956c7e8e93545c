"""A lasso is shown only after it was replayed; a corrupted one is refused."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest
from generators import random_formula, random_structure, small_dve

from aggmc.checker import METHODS, Checker, Options, ask, check
from aggmc.errors import InternalError, UnsupportedError
from aggmc.ltl.formula import parse
from aggmc.ltl.translate import prepare
from aggmc.model.core import Model
from aggmc.model.dve import load as load_dve
from aggmc.model.hoa import Structure, model_of
from aggmc.trace import trace as trace_module
from aggmc.trace.lasso import Lasso
from aggmc.trace.trace import replay

# 0 → 1 → 2 → 1, 2 → 3, 3 is dead; initial 0 and 2
KRIPKE = Structure(("a", "b"), (1, 0, 2, 1), ((1,), (2,), (1, 3), ()), (0, 2))
MODEL = model_of(KRIPKE)


def lasso(states: str, loop: int | None) -> Lasso:
    return Lasso(tuple((int(s),) for s in states), loop)


def replayed(run: Lasso, formula: str | None, *, stutter: bool = True) -> trace_module.Trace:
    prop = None if formula is None else prepare(parse(formula))
    return replay(MODEL, MODEL.frontend.interpreter(), run, prop, stutter=stutter)


@pytest.mark.parametrize(
    ("states", "loop", "formula"),
    [
        ("012", 1, "FGb"),
        ("012", 1, "!Fb"),
        ("21", 0, "G!b"),
        ("0121", 2, "FGb"),
        ("23", 1, "F(b & Xb)"),
        ("0123", 3, "FG!a"),
        ("01212", 1, "X(a | b)"),
        ("01", None, None),
        ("0", None, None),
        ("23", None, None),
    ],
)
def test_right_runs_are_accepted(states: str, loop: int | None, formula: str | None) -> None:
    found = replayed(lasso(states, loop), formula)
    visited = [found.initial["state"], *(s.state["state"] for s in (*found.prefix, *found.cycle))]
    expected = [int(s) for s in states]
    assert visited == expected + ([] if loop is None else [expected[loop]])
    assert len(found.prefix) == (len(states) - 1 if loop is None else loop)


def test_repeated_deadlock_is_a_step_without_event() -> None:
    found = replayed(lasso("23", 1), "F(b & Xb)")
    assert [s.event for s in found.prefix] == ["step"]
    assert [s.event for s in found.cycle] == [None]
    assert found.cycle[0].to_dict() == {"event": None, "partner": None, "state": {"state": 3}, "changes": {}}
    assert "the state is repeated" in found.to_text()


@pytest.mark.parametrize(
    ("states", "loop", "formula", "words"),
    [
        ("12", 0, "FGb", "initial state"),  # 1 is reachable, and not initial
        ("", None, None, "initial state"),
        ("02", 1, "FGb", "step 1 of"),
        ("0112", 1, "FGb", "step 2 of"),
        ("012", 0, "FGb", "step 3 of"),  # no step from 2 to 0: the cycle does not close
        ("012", 2, "FGb", "step 3 of"),  # 2 is not dead: it does not loop
        ("012", 3, "FGb", "no cycle"),
        ("012", -1, "FGb", "no cycle"),
        ("012", 17, "FGb", "no cycle"),
        ("012", None, "FGb", "infinite run"),
        ("012", 1, "Fb", "does not violate"),
        ("21", 0, "GFb", "does not violate"),
        ("23", 1, "FGa", "does not violate"),
        ("01", 1, None, "step 2 of"),
    ],
)
def test_corrupted_runs_are_refused(states: str, loop: int | None, formula: str | None, words: str) -> None:
    with pytest.raises(InternalError, match=words):
        replayed(lasso(states, loop), formula)


def test_dead_states_do_not_loop_under_ignore() -> None:
    replayed(lasso("23", 1), "F(b & Xb)")
    with pytest.raises(InternalError, match="step 2 of"):
        replayed(lasso("23", 1), "F(b & Xb)", stutter=False)


DVE = """byte x = 1;
channel {byte} c[0];
process P { state idle, busy; init idle;
  trans idle -> busy { guard x > 0; sync c!x + 1; },
        busy -> idle { effect x = 0; }; }
process Q { byte got; state q; init q; trans q -> q { sync c?got; effect x = got; }; }
system async;
"""


def dve_model() -> Model:
    return load_dve(DVE, "pq.dve")


@pytest.mark.parametrize("product", METHODS)
def test_what_a_trace_says(product: str) -> None:
    """Events, partners, lines and changes of each product's run."""
    verdict = check(dve_model(), 'G"P.idle" | G(P.busy -> G P.busy)', product)
    assert verdict.verdict == "violated"
    assert verdict.trace is not None
    data = json.loads(json.dumps(verdict.trace.to_dict()))
    steps = data["prefix"] + data["cycle"]
    assert data["initial"] == {"x": 1, "P": "idle", "Q": "q", "Q.got": 0}
    meeting, back = steps[:2]
    who = [{k: meeting[part][k] for k in ("process", "from", "to", "line")} for part in ("event", "partner")]
    assert who == [
        {"process": "P", "from": "idle", "to": "busy", "line": 4},
        {"process": "Q", "from": "q", "to": "q", "line": 6},
    ]
    assert meeting["changes"] == {"x": [1, 2], "P": ["idle", "busy"], "Q.got": [0, 2]}
    assert back["partner"] is None
    assert back["event"]["line"] == 5
    assert back["changes"] == {"x": [2, 0], "P": ["busy", "idle"]}
    assert steps[-1]["event"] is None  # x is 0: a deadlock
    text = verdict.trace.to_text()
    assert "P: idle -> busy (line 4)  with  Q: q -> q (line 6)" in text
    assert "x: 2 -> 0" in text


@pytest.mark.parametrize("product", METHODS)
def test_a_product_that_shows_nonsense_is_caught(product: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pipeline does replay: spoil what the extraction gives, and no verdict comes out."""
    from aggmc import checker

    def spoiled(right: Callable[..., Lasso]) -> Callable[..., Lasso]:
        def wrong(*args: object) -> Lasso:
            found = right(*args)
            return Lasso((*found.states[:-1], (0,)), found.loop)

        return wrong

    for name in ("aggregate_lasso", "explicit_lasso"):
        monkeypatch.setattr(checker, name, spoiled(getattr(checker, name)))
    with pytest.raises(InternalError, match="replay"):
        check(MODEL, "!Fb", product)


def test_without_a_trace_it_is_replayed_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from aggmc import checker

    assert check(MODEL, "!Fb", trace=False).trace is None
    monkeypatch.setattr(checker, "aggregate_lasso", lambda *_: lasso("02", 1))
    with pytest.raises(InternalError, match="replay"):
        check(MODEL, "!Fb", trace=False)


@pytest.mark.parametrize("seed", range(4))
def test_every_corruption_of_random_runs_is_judged_right(seed: int) -> None:
    """Replace a state or the loop of a run that was found: `replay` accepts exactly the runs that still are one."""
    rng = random.Random(seed)
    judged = [0, 0]
    while min(judged) < 20:
        structure = random_structure(rng)
        formula = random_formula(rng, structure.propositions)
        model = model_of(structure)
        prop = prepare(parse(formula))
        interpreter = model.frontend.interpreter()
        verdict = Checker(model, Options()).ltl(ask(model, formula), "slap")
        if verdict.trace is None:
            continue
        path = [verdict.trace.initial["state"], *(s.state["state"] for s in verdict.trace.prefix + verdict.trace.cycle)]
        states = [int(s) for s in path[:-1]]
        loop = len(verdict.trace.prefix)
        for _ in range(10):
            changed, at = list(states), rng.randrange(len(states))
            if rng.random() < 0.7:
                changed[at] = rng.randrange(len(structure.labels))
            new_loop = loop if rng.random() < 0.5 else rng.randrange(len(states))
            after = [*changed[1:], changed[new_loop]]
            steps = all(
                t in structure.successors[s] or (s == t and not structure.successors[s])
                for s, t in zip(changed, after, strict=True)
            )
            letters = [_atoms(structure, s, [a.text for a in prop.atoms]) for s in changed]
            is_run = steps and changed[0] in structure.initial
            is_run = is_run and prop.accepts_lasso(letters[:new_loop], letters[new_loop:])
            judged[is_run] += 1
            run = Lasso(tuple((s,) for s in changed), new_loop)
            if is_run:
                replay(model, interpreter, run, prop)
            else:
                with pytest.raises(InternalError, match="replay"):
                    replay(model, interpreter, run, prop)


def _atoms(structure: Structure, state: int, names: list[str]) -> int:
    return sum((structure.labels[state] >> structure.propositions.index(n) & 1) << i for i, n in enumerate(names))


@pytest.mark.parametrize("seed", range(3))
def test_changes_and_cycles(seed: int) -> None:
    """Of DVE runs: changes are the difference to the state before, and the cycle closes."""
    rng = random.Random(100 + seed)
    for _ in range(8):
        case, model = small_dve(rng, limit=100, errors=False)
        condition = rng.choice(case.conditions)
        for formula in (f'!F"{condition}"', f'!GF"{condition}"', f'!FG!"{condition}"'):
            for product in METHODS:
                try:
                    verdict = check(model, formula, product)
                except UnsupportedError:
                    continue
                if verdict.trace is None:
                    continue
                before = verdict.trace.initial
                for step in verdict.trace.prefix + verdict.trace.cycle:
                    assert step.changes == {k: (before[k], v) for k, v in step.state.items() if before[k] != v}
                    before = step.state
                start = verdict.trace.prefix[-1].state if verdict.trace.prefix else verdict.trace.initial
                assert before == start
                assert verdict.trace.cycle

"""Properties as automata: the same verdicts as the formulas that they came from, any acceptance, errors."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import spot

from aggmc.checker import METHODS, Checker, Options, ask, takes, understand
from aggmc.errors import InputError, UnsupportedError
from aggmc.ltl import given
from aggmc.ltl.translate import prepare
from aggmc.model.dve import load

MODEL = load(
    """byte x;
process P { state a, b, c; init a;
  trans a -> b { effect x = 1; }, b -> c { effect x = 2; }, c -> a { effect x = 0; }, b -> b { },
    c -> c { guard x == 9; };
}
system async;""",
    None,
)
ATOMS = ["P.a", "P.b", "x > 0", "x == 2"]


def generalized(f: Any) -> Any:
    return spot.translate(f, "GeneralizedBuchi")


def parity(f: Any) -> Any:
    return spot.translate(f, "parity", "deterministic")


def rabin(f: Any) -> Any:
    return spot.to_generalized_rabin(spot.translate(f, "generic", "deterministic"))


def co(f: Any) -> Any:
    """A Streett-like acceptance, from dualizing."""
    return spot.dualize(spot.translate(spot.formula.Not(f), "parity", "deterministic", "complete"))


ACCEPTANCES: list[Callable[[Any], Any]] = [generalized, parity, rabin, co]


def hoa(make: Callable[[Any], Any], formula: str) -> str:
    """The automaton of a formula over a0, a1, … with the model's propositions."""
    text = str(make(spot.formula(formula)).to_str("hoa"))
    for i, atom in enumerate(ATOMS):
        text = text.replace(f'"a{i}"', f'"{atom}"')
    return text


@pytest.mark.parametrize("make", ACCEPTANCES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("seed", range(12))
def test_as_the_formula(seed: int, make: Callable[[Any], Any]) -> None:
    rng = random.Random(seed)
    formula = str(next(iter(spot.randltl(4, seed=seed, tree_size=8, simplify=3, output="ltl"))))
    formula = formula.replace("p", "a")
    quoted = formula
    for i, atom in enumerate(ATOMS):
        quoted = quoted.replace(f"a{i}", f'"{atom}"')
    options = Options(deadlock=rng.choice(["stutter", "ignore"]))
    expected = Checker(MODEL, options).ltl(ask(MODEL, quoted)).verdict
    good = understand(MODEL, given.read(hoa(make, formula), "good.hoa", bad=False))
    bad = understand(MODEL, given.read(hoa(make, f"!({formula})"), "bad.hoa", bad=True))
    for question in (good, bad):
        prop = prepare(question.parsed)
        for product in METHODS:
            if takes(prop, product):
                found = Checker(MODEL, options).ltl(question, product)
                assert found.verdict == expected, (formula, product)
                assert (found.trace is not None) == (expected == "violated")


def test_stutter_invariance_is_seen() -> None:
    for formula, invariant in [("G(a0 -> F a1)", True), ("G(a0 -> X a1)", False)]:
        for bad in (True, False):
            assert prepare(given.read(hoa(generalized, formula), "x", bad=bad)).stutter_invariant == invariant


def test_alternation() -> None:
    text = """HOA: v1
States: 3
Start: 0
AP: 2 "P.a" "x > 0"
Acceptance: 1 Inf(0)
properties: univ-branch
--BODY--
State: 0 {0}
[0] 0&1
[!0] 0
State: 1
[1] 2
[!1] 1
State: 2 {0}
[t] 2
--END--
"""
    found = Checker(MODEL).ltl(understand(MODEL, given.read(text, "alt.hoa", bad=False)))
    assert found.verdict == Checker(MODEL).ltl(ask(MODEL, 'G(P.a -> X F "x > 0")')).verdict == "holds"


def test_bound_of_the_complement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given, "MOST_STATES", 3)
    text = hoa(generalized, "F G(a0 & X a1 & X X a2) | G F(a0 & X X a1 & X X X a3)")
    with pytest.raises(UnsupportedError, match="more than 3 states"):
        prepare(given.read(text, "x", bad=False))
    prepare(given.read(text, "x", bad=True))


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("", "no automaton", None),
        ("garbage\n", "no automaton in HOA", 1),
        (hoa(generalized, "G a0").replace("--END--", ""), "end of file", None),
        (hoa(generalized, "G a0") * 2, "more than one", None),
        (hoa(generalized, "G a0").replace('"P.a"', '"P.z"'), "has no state `z`|`z`", 4),
        (hoa(generalized, "G a0").replace("[0]", "[7]"), "AP number", None),
    ],
)
def test_errors(text: str, words: str, line: int | None) -> None:
    with pytest.raises(InputError, match=words) as caught:
        understand(MODEL, given.read(text, "wrong.hoa", bad=True))
    assert caught.value.location is not None and caught.value.location.file == "wrong.hoa"
    if line is not None:
        assert caught.value.location.line == line

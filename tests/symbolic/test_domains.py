"""Guessed domains: whatever a short simulation has missed, the verdict is that of all values."""

from __future__ import annotations

import random

import pytest

from aggmc.checker import METHODS, Checker, Options, ask
from aggmc.model.core import State
from aggmc.model.dve import load
from aggmc.symbolic import domains

_COUNTER = """
byte x; int far;
process P {
  state count, done;
  init count;
  trans
    count -> count { guard x < 70; effect x = x + 1; },
    count -> done { guard x == 70; effect far = 0 - x * 100, x = 255; },
    done -> count { guard far < -5000; effect far = x, x = 0; };
}
system async;
"""


def _sees_little(self: domains.Guess, start: list[State]) -> None:
    """Instead of the simulation: the states themselves and a step or two."""
    assert self._interpreter is not None
    rng = random.Random(0)
    for state in start:
        for _ in range(2):
            for seen, value in zip(self._seen, state, strict=True):
                seen.add(value)
            steps = self._interpreter.successors(state)
            if not steps:
                break
            state = rng.choice(steps)[1]


@pytest.mark.parametrize("engine", ["native", "python"])
@pytest.mark.parametrize("product", METHODS)
def test_values_that_the_simulation_has_missed(
    monkeypatch: pytest.MonkeyPatch, engine: str, product: str
) -> None:
    monkeypatch.setenv("AGGMC_ENGINE", engine)
    monkeypatch.setattr(domains.Guess, "_simulate", _sees_little)
    model = load(_COUNTER, None)
    for formula, expected in (
        ('G "x < 60"', "violated"),  # false only of values that have no code at first
        ('G "x <= 70 || P.done"', "holds"),
        ('F "far < 0"', "holds"),
        ('G F "x == 0"', "holds"),
        ('F G "far == 0"', "violated"),
        ('G("far == 255" -> F "far == -7000")', "holds"),
        ('G("x == 69" -> X "x == 70") && G "x != 71"', "holds"),
    ):
        method = METHODS[product]
        if method.stutter_invariant_only and "X" in formula:
            continue
        for reordering in (False, True):
            checker = Checker(model, Options(reordering=reordering))
            assert checker.ltl(ask(model, formula), product).verdict == expected, (formula, reordering)


@pytest.mark.parametrize("engine", ["native", "python"])
def test_a_simulation_that_is_cut_short(monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    monkeypatch.setenv("AGGMC_ENGINE", engine)
    monkeypatch.setattr(domains, "_MOST_STATES", 1)
    model = load(_COUNTER, None)
    checker = Checker(model)
    assert checker.ltl(ask(model, 'G "x < 60"')).verdict == "violated"
    reachable = checker.reachable
    assert checker.encoding.count(reachable) == 71 + 1 + 71

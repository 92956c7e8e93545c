"""What a Python program sees of aggmc beyond its answers."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Callable

import pytest

import aggmc
from aggmc.model.dve import load

_MODEL = """
byte x;
process P {
  state a; init a;
  assert a: 10 / x < 200;
  trans a -> a { guard x < 3; effect x = x + 1; }, a -> a { guard 3 / x == 1; effect x = 0; };
}
system async;
"""


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: aggmc.check(model, 'F P.a && X "x == 1"'),  # a step errs
        lambda model: aggmc.check(model, 'G "10 / x < 200"'),  # the proposition errs
        lambda model: aggmc.check(model, 'G "x < 2"'),
    ],
)
def test_nothing_is_left_when_a_check_has_ended(
    ask: Callable[[object], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A BDD that outlives its manager makes dd complain on stderr, and the manager's memory is lost."""
    complaints: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: complaints.append(found.exc_value))
    model = load(_MODEL, None)
    with contextlib.suppress(aggmc.ModelError):
        ask(model)
    gc.collect()
    assert complaints == []

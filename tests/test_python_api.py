"""What a Python program sees of aggmc beyond its answers."""

from __future__ import annotations

import contextlib
import gc
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import aggmc
from aggmc.model.dve import load

ROOT = Path(__file__).parents[1]
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


def test_the_first_check_leaves_nothing() -> None:
    """In a new process, as what is imported by the first check could keep its frames."""
    code = (
        "import gc, weakref, aggmc\n"
        "from aggmc.checker import Checker\n"
        "checker = Checker(aggmc.load_model('models/mutex.dve'))\n"
        "assert checker.reachable is not None\n"
        "encoding = weakref.ref(checker.encoding)\n"
        "del checker\n"
        "gc.collect()\n"
        "assert encoding() is None\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, timeout=60)


def test_a_check_leaves_nothing_for_the_garbage_collector() -> None:
    """A manager in a cycle would live on until Python looks for cycles: a thousand checks would take a gigabyte."""
    code = (
        "import gc, weakref, aggmc\n"
        "from aggmc.checker import Checker, ask\n"
        "model = aggmc.load_model('models/mutex.dve')\n"
        "gc.disable()\n"
        "checker = Checker(model)\n"
        "assert checker.ltl(ask(model, 'G F P_0.CS')).verdict == 'violated'\n"
        "encoding = weakref.ref(checker.encoding)\n"
        "del checker\n"
        "assert encoding() is None\n"
        "assert not any(type(o).__name__ == 'Arithmetic' for o in gc.get_objects())\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, timeout=60)

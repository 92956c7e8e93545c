"""The order of the variables changes as diagrams grow: with both engines, in the middle of closures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from engines import use

from aggmc.checker import Checker
from aggmc.model.load import load_model, model_of
from aggmc.symbolic import domains
from aggmc.symbolic.encode import Encoding
from aggmc.symbolic.kripke import SymbolicKripke
from aggmc.symbolic.steps import PythonSteps, steps_of

MODELS = Path(__file__).parents[2] / "models"


def _levels(encoding: Encoding) -> list[tuple[int, int]]:
    level_of = encoding.bdd.level_of_var
    return [(level_of(f"x{k}"), level_of(f"y{k}")) for k in range(encoding.bit_count)]


@pytest.mark.parametrize("engine", ["native", "python"])
@pytest.mark.parametrize("name", ["elevator", "lossy_channel", "readers_writers"])
def test_the_order_changes_and_the_states_do_not(name: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use(engine, monkeypatch)
    model = load_model(MODELS / f"{name}.dve")
    fixed = Encoding(model, reordering=False)
    expected = fixed.count(SymbolicKripke(fixed).reachable())
    orders = []
    for _ in range(2):
        encoding = Encoding(model, reordering=True)
        declared = _levels(encoding)
        kripke = SymbolicKripke(encoding)
        reachable = kripke.reachable()
        assert encoding.version > (1 if engine == "native" else 0), "sifted, on the native engine within the closure"
        assert encoding.count(reachable) == expected
        assert kripke.post(reachable) & ~reachable == encoding.false
        assert _levels(encoding) != declared
        orders.append(_levels(encoding))
    assert fixed.version == 0
    assert orders[0] == orders[1], "the same input, the same order"


def test_pairs_stay_together_on_the_native_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel is written for y right below its x, and its keys below all of them."""
    use("native", monkeypatch)
    encoding = Encoding(load_model(MODELS / "elevator.dve"), reordering=True)
    SymbolicKripke(encoding).reachable()
    assert encoding.version > 1
    assert encoding.in_pairs
    assert all(x % 2 == 0 and y == x + 1 < 2 * encoding.bit_count for x, y in _levels(encoding))
    assert not isinstance(steps_of(encoding, encoding.relations, "saturation"), PythonSteps)


def test_who_changes_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """By default the native engine does, unless the variables were listed."""
    model = load_model(MODELS / "mutex.dve")
    names = [v.name for v in model.variables]
    use("native", monkeypatch)
    assert Encoding(model).room() is not None
    assert Encoding(model, reordering=False).room() is None
    assert Encoding(model, order=names).room() is None
    assert Encoding(model, order=names, reordering=True).room() is not None
    use("python", monkeypatch)
    assert Encoding(model).room() is None
    assert Encoding(model, reordering=True).room() is not None


def test_an_order_is_kept_when_codes_are_guessed_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    use("native", monkeypatch)
    monkeypatch.setattr(domains, "_MOST_STATES", 50)  # the simulation sees small values only
    started: list[Any] = []
    usual = Encoding.__init__

    def watched(self: Encoding, *arguments: Any, **settings: Any) -> None:
        started.append(settings["order"])
        usual(self, *arguments, **settings)

    monkeypatch.setattr(Encoding, "__init__", watched)
    count = "process P{} {{ byte v; state a; init a; trans a -> a {{ guard v < 150; effect v = v + 1; }}; }}\n"
    checker = Checker(model_of(count.format(0) + count.format(1) + "system async;", "count.dve"))
    reachable = checker.reachable
    assert checker.encoding.count(reachable) == 151**2
    assert (started[0], len(started) > 1) == ("auto", True)
    assert sorted(started[-1]) == sorted(v.name for v in checker.model.variables)
    assert checker.encoding.room() is not None, "and it goes on changing"

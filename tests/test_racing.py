"""A race: who wins, what becomes of the others, and that a product that fails does not take the race down."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from faulty import (
    RIGHT,
    buggy,
    gone,
    greedy,
    hungry,
    killed,
    late,
    liar,
    no_children,
    put,
    stubborn,
    stuck,
)  # fmt: skip

import aggmc
from aggmc.checker import METHODS
from aggmc.errors import InputError, InternalError, ModelError, UnsupportedError
from aggmc.racing import DEFAULT, RaceVerdict

ROOT = Path(__file__).parents[1]
Patch = pytest.MonkeyPatch
HOLDS, VIOLATED = "G(P_0.wait -> F P_0.CS)", "G F P_0.CS"


@pytest.fixture(scope="module")
def mutex() -> Any:
    return aggmc.load_model(ROOT / "models" / "mutex.dve")


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    descriptors = len(os.listdir("/proc/self/fd"))
    yield
    assert no_children()
    assert len(os.listdir("/proc/self/fd")) == descriptors


def states(verdict: RaceVerdict) -> dict[str, str]:
    return {e.product: e.state for e in verdict.entrants}


# --- who wins ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("formula", "expected"), [(HOLDS, "holds"), (VIOLATED, "violated")])
def test_default(mutex: Any, formula: str, expected: str) -> None:
    found = aggmc.race(mutex, formula)
    assert found.verdict == expected
    assert found.product in DEFAULT
    assert tuple(e.product for e in found.entrants) == DEFAULT
    assert set(states(found).values()) <= {"answered", "stopped"}
    assert 0 < found.seconds < 60
    alone = aggmc.check(mutex, formula, product=found.product)
    assert found.stats.to_dict() == alone.stats.to_dict() | {"bdd_nodes": found.stats.bdd_nodes}
    assert found.trace == alone.trace  # it comes whole


@pytest.mark.parametrize("winner", METHODS)
def test_any_may_win(mutex: Any, monkeypatch: Patch, winner: str) -> None:
    put(monkeypatch, **{name: stubborn for name in METHODS if name != winner})
    found = aggmc.race(mutex, VIOLATED, tuple(METHODS))
    assert (found.verdict, found.product) == ("violated", winner)
    assert states(found) == {name: "answered" if name == winner else "stopped" for name in METHODS}
    assert found.trace is not None and found.trace.cycle
    dictionary = found.to_dict()
    assert list(dictionary)[-2:] == ["race", "trace"]
    (own,) = [e for e in dictionary["race"] if e["product"] == winner]
    assert own["verdict"] == "violated"
    assert own["aggregates"] == found.stats.aggregates
    assert own["memory"] > 1 << 20


def test_losers_are_stopped_at_once(mutex: Any, monkeypatch: Patch) -> None:
    put(monkeypatch, slap=stubborn)
    started = time.monotonic()
    assert aggmc.race(mutex, HOLDS).product == "slap-tgta"
    assert time.monotonic() - started < 10


def test_as_many_at_a_time_as_jobs(mutex: Any, monkeypatch: Patch) -> None:
    """With one at a time, the next one has its turn when the first has failed."""
    put(monkeypatch, slap=killed)
    found = aggmc.race(mutex, HOLDS, ("slap", "sog", "tgba"), jobs=1)
    assert states(found) == {"slap": "limit", "sog": "answered", "tgba": "waiting"}


def test_one_product(mutex: Any) -> None:
    assert aggmc.race(mutex, HOLDS, ["sog"]).product == "sog"
    assert aggmc.race(mutex, HOLDS, "sog").product == "sog"


@pytest.mark.parametrize(
    ("products", "options", "said"),
    [
        (("slag",), {}, "did you mean `slap`"),
        (("auto", "slap"), {}, "`auto` cannot race"),
        (("slap", "slap"), {}, "twice"),
        ((), {}, "nobody is in the race"),
        (DEFAULT, {"jobs": 0}, "at least 1"),
        (DEFAULT, {"timeout": -1.0}, "positive"),
        (DEFAULT, {"memory": "x"}, "no amount of memory"),
        (DEFAULT, {"deadlock": "x"}, "deadlock"),
    ],
)
def test_what_cannot_race(mutex: Any, products: tuple[str, ...], options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        aggmc.race(mutex, HOLDS, products, **options)


def test_formula_that_cannot_be_read(mutex: Any) -> None:
    with pytest.raises(InputError, match="CSS"):
        aggmc.race(mutex, "G P_0.CSS")


# --- those that fail --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "state", "reason"),
    [
        (killed, "limit", "SIGKILL"),
        (greedy, "limit", "out of memory"),
        (buggy, "failed", "internal error: KeyError: 'lost'"),
        (gone, "failed", "ended by itself, with status 3"),
        (stuck, "limit", "time limit of 1.5 s reached"),
    ],
)
def test_one_that_fails_takes_nobody_down(mutex: Any, monkeypatch: Patch, fault: Any, state: str, reason: str) -> None:
    put(monkeypatch, slap=fault, slap_tgta=late(RIGHT["slap-tgta"].build, 0.5 if fault is not stuck else 0.0))
    options: dict[str, Any] = {"timeout": 1.5, "cross_check": True} if fault is stuck else {}
    found = aggmc.race(mutex, VIOLATED, **options)
    assert (found.verdict, found.product) == ("violated", "slap-tgta")
    loser = found.entrants[0]
    assert loser.state == state
    assert loser.reason is not None and reason in loser.reason
    assert loser.verdict is None


def test_memory_limit(mutex: Any, monkeypatch: Patch) -> None:
    most = 300 + resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    put(monkeypatch, slap=hungry)
    found = aggmc.race(mutex, VIOLATED, memory=f"{most}M", cross_check=True)
    assert (found.verdict, found.product) == ("violated", "slap-tgta")
    assert found.entrants[0].reason == f"memory limit of {most} MB reached"
    assert found.entrants[0].memory > most << 20


def test_nobody_answers(mutex: Any, monkeypatch: Patch) -> None:
    put(monkeypatch, slap=killed, slap_tgta=stuck)
    found = aggmc.race(mutex, HOLDS, timeout=0.7)
    assert (found.verdict, found.product, found.trace) == ("unknown", None, None)
    assert found.reason is not None
    assert found.reason.startswith("slap: the working process was ended by SIGKILL")
    assert found.reason.endswith("; slap-tgta: time limit of 0.7 s reached")
    assert states(found) == {"slap": "limit", "slap-tgta": "limit"}


def test_fault_goes_before_a_limit(mutex: Any, monkeypatch: Patch) -> None:
    put(monkeypatch, slap=killed, slap_tgta=buggy)
    with pytest.raises(InternalError, match=r"^slap-tgta: KeyError: 'lost'"):
        aggmc.race(mutex, HOLDS)


def test_refused(mutex: Any) -> None:
    """A product that does not take the property leaves it to the others."""
    found = aggmc.race(mutex, "X P_0.CS", ("sog", "tgba"), cross_check=True)
    assert found.verdict == "violated"
    assert states(found) == {"sog": "refused", "tgba": "answered"}
    with pytest.raises(UnsupportedError, match="no product of the race takes the property"):
        aggmc.race(mutex, "X P_0.CS", ("sog", "sog-tgta"))


def test_refused_and_a_limit(mutex: Any, monkeypatch: Patch) -> None:
    put(monkeypatch, slap=killed)
    assert aggmc.race(mutex, "X P_0.CS", ("sog", "slap")).verdict == "unknown"


def test_error_of_the_model(tmp_path: Path, monkeypatch: Patch) -> None:
    """Who meets it first has won, too."""
    path = tmp_path / "model.dve"
    path.write_text(
        "byte x = 2, y;\nprocess P {\n  state a;\n  init a;\n  trans a -> a { guard x > 0; effect x = x - 1; },\n"
        "    a -> a { guard x == 0; effect y = 1 / x; };\n}\nsystem async;\n"
    )
    put(monkeypatch, slap=stuck)
    with pytest.raises(ModelError, match="zero") as caught:
        aggmc.race(aggmc.load_model(path), "G P.a")
    assert len(caught.value.trace.prefix) == 2


def test_interrupt(mutex: Any, monkeypatch: Patch) -> None:
    def interrupts(*_: object, **__: object) -> None:
        os.kill(os.getppid(), signal.SIGINT)
        stuck()

    put(monkeypatch, slap=stubborn, slap_tgta=interrupts)
    with pytest.raises(KeyboardInterrupt):
        aggmc.race(mutex, HOLDS)


# --- cross-check ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("formula", "expected"), [(HOLDS, "holds"), (VIOLATED, "violated"), ("X P_0.CS", "violated")])
def test_all_agree(mutex: Any, formula: str, expected: str) -> None:
    found = aggmc.race(mutex, formula, tuple(METHODS), cross_check=True)
    assert found.verdict == expected
    assert {e.verdict for e in found.entrants} <= {expected, None}
    answered = [e for e in found.entrants if e.state == "answered"]
    assert len(answered) >= 4
    assert min(answered, key=lambda e: e.ended or 0.0).product == found.product


def test_disagreement(mutex: Any, monkeypatch: Patch) -> None:
    put(monkeypatch, slap=liar)
    said = "^the products disagree: slap says `holds`; slap-tgta and tgba say `violated`, with a counterexample"
    with pytest.raises(InternalError, match=said):
        aggmc.race(mutex, VIOLATED, ("slap", "slap-tgta", "tgba"), cross_check=True)
    assert aggmc.race(mutex, HOLDS, cross_check=True).verdict == "holds"  # here it is right by chance


def test_without_cross_check_the_first_is_believed(mutex: Any, monkeypatch: Patch) -> None:
    """Which shows that the liar lies."""
    put(monkeypatch, slap=liar, slap_tgta=late(RIGHT["slap-tgta"].build, 20))
    assert aggmc.race(mutex, VIOLATED).verdict == "holds"


def test_fault_under_cross_check(mutex: Any, monkeypatch: Patch) -> None:
    put(monkeypatch, slap=buggy)
    with pytest.raises(InternalError, match="slap: KeyError"):
        aggmc.race(mutex, VIOLATED, cross_check=True)

"""The BEEM models: they are read, their state spaces have the known sizes, and lowering and interpreter agree."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import pytest
from dve_testing import assert_agree

from aggmc.bench.kernel import number_of_states, philosophers
from aggmc.model.core import Model, reachable
from aggmc.model.dve import load

BENCH = Path(__file__).parents[2].parent / "shared" / "bench"
MODELS = sorted(p.stem for p in (BENCH / "beem").glob("*.dve"))

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not MODELS, reason="the shared benchmark models are not here"),
]


def known() -> dict[str, dict[str, str]]:
    if not MODELS:
        return {}
    with (BENCH / "states.csv").open(encoding="utf-8") as file:
        return {row["model"]: row for row in csv.DictReader(file)}


def read(name: str) -> Model:
    path = BENCH / "beem" / f"{name}.dve"
    return load(path.read_text(encoding="utf-8", errors="replace"), str(path))


TINY = [name for name, row in known().items() if row["states"].isdigit() and int(row["states"]) <= 8000]


@pytest.mark.parametrize("name", MODELS)
def test_lowering_and_interpreter_agree(name: str) -> None:
    m = read(name)
    limit = 300 if name.startswith("plc") else 1500
    # evaluating events one by one is slow: a few states of each model are enough for it
    assert_agree(m, 10)
    assert assert_agree(m, limit, plain=False) > 0


@pytest.mark.parametrize("name", TINY)
def test_counts(name: str) -> None:
    row = known()[name]
    interpreter = read(name).frontend.interpreter()
    seen = set(interpreter.initial_states())
    queue = list(seen)
    transitions = deadlocks = 0
    for state in queue:
        steps = interpreter.successors(state)
        transitions += len(steps)
        deadlocks += not steps and interpreter.is_dead(state)
        for _, new in steps:
            if new not in seen:
                seen.add(new)
                queue.append(new)
    assert (len(seen), transitions, deadlocks) == (int(row["states"]), int(row["transitions"]), int(row["deadlocks"]))


def test_many_philosophers_are_read_fast() -> None:
    count = 1000
    start = time.process_time()
    m = load(philosophers(count), None)
    assert len(m.events) == 4 * count
    assert time.process_time() - start < 10  # about 0.6 s; the bound only finds quadratic faults


@pytest.mark.parametrize("count", [2, 3, 5])
def test_the_number_of_states_of_philosophers(count: int) -> None:
    """What the benchmark compares with."""
    assert len(set(reachable(load(philosophers(count), None).frontend.interpreter()))) == number_of_states(count)

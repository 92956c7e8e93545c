"""`aggmc simulate`: at random, by given choices, and by hand on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from cli_testing import DEAD, DIVIDES, MODELS, RING, Run, Write

MUTEX = MODELS / "mutex.dve"


def test_a_seed_gives_a_walk(run: Run, tmp_path: Path) -> None:
    first, again = (run("simulate", MUTEX, "--steps", "30", "--seed", "5") for _ in range(2))
    assert first == again
    assert first.code == 0
    assert first.out.count("\n") == 31
    others = {run("simulate", MUTEX, "--steps", "30", "--seed", str(s)).out for s in range(5)}
    assert len(others) == 5


@pytest.mark.parametrize("seed", range(5))
def test_walks_are_runs(run: Run, tmp_path: Path, seed: int) -> None:
    for ending in (".json", ".itf.json"):
        file = tmp_path / f"walk{ending}"
        model = MODELS / "lossy_channel.dve"
        run("simulate", model, "--steps", "25", "--seed", str(seed), "--trace", file)
        assert run("replay", model, file).code == 0
    found = run("simulate", model, "--steps", "25", "--seed", str(seed), "--format", "json").json
    assert list(found) == ["version", "model", "seed", "stopped", "trace"]
    assert len(found["trace"]["prefix"]) == 25
    assert found["stopped"] is None


def test_choices(run: Run) -> None:
    done = run("simulate", MUTEX, "--choose", "2,1", "--steps", "0")
    assert [line.split("(")[0].strip() for line in done.out.splitlines()[1:]] == [
        "1. P_1: NCS -> try",
        "2. P_0: NCS -> try",
    ]
    assert run("simulate", MUTEX, "--choose", "2,1").out == done.out  # no random step without --steps
    longer = run("simulate", MUTEX, "--choose", "2,1", "--steps", "3")
    assert longer.out.startswith(done.out)
    assert longer.out.count("\n") == done.out.count("\n") + 3


def test_several_initial_states(run: Run, write: Write) -> None:
    path = write(
        'HOA: v1\nStates: 3\nStart: 0\nStart: 1\nAP: 1 "a"\nAcceptance: 0 t\n--BODY--\n'
        "State: [0] 0\n2\nState: [!0] 1\n2\nState: [0] 2\n2\n--END--\n",
        "k.hoa",
    )
    assert run("simulate", path, "--choose", "2,1").out.splitlines()[0] == "  initially  state=1"
    assert {run("simulate", path, "--seed", str(s)).out.splitlines()[0] for s in range(9)} == {
        "  initially  state=0",
        "  initially  state=1",
    }


def test_the_end(run: Run, write: Write) -> None:
    done = run("simulate", write(DEAD), "--steps", "9")
    assert (done.code, done.err) == (0, "note: the walk ends after 1 steps: a deadlock is reached\n")
    done = run("simulate", write(DIVIDES), "--steps", "9")
    assert done.code == 0
    assert "the walk ends after 2 steps" in done.err and "division by zero" in done.err
    assert run("simulate", write(DEAD), "--format", "json").json["stopped"] == "a deadlock is reached"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--choose", "9"], "--choose: 9 is not among the 2 steps before step 1"),
        (["--choose", "1,0"], "--choose: 0 is not among"),
        (["--choose", "a"], "takes numbers"),
        (["--steps", "-1"], "greater than or equal to 0"),
        (["--trace", "x.foo"], "ends with one of"),
    ],
)
def test_bad_usage(run: Run, arguments: list[str], words: str) -> None:
    done = run("simulate", MUTEX, *arguments)
    assert done.code == 2
    assert words in done.err


def test_views(run: Run, write: Write) -> None:
    model = write(RING)
    assert "step  0   1   2   3" in run("simulate", model, "--steps", "3", "--table").out
    assert run("simulate", model, "--steps", "3", "--lanes").out.splitlines()[0].split() == ["P"]


def test_by_hand(tmp_path: Path) -> None:
    """On a terminal it asks."""
    ours, theirs = pty.openpty()
    file = tmp_path / "walk.json"
    arguments = ["simulate", str(MUTEX), "--trace", str(file)]
    program = subprocess.Popen(
        [sys.executable, "-m", "aggmc", *arguments], stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL
    )
    os.close(theirs)
    os.write(ours, b"2\n1\nnonsense\nu\nu\nu\n1\nr 3\ns\nt\nh\nq\n")
    said = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        said += part
    os.close(ours)
    assert program.wait(30) == 0
    text = said.decode()
    assert "step 1> " in text
    assert "`nonsense` is not understood" in text
    assert "this is the first state" in text
    assert file.read_text().count('"event": {') == 4

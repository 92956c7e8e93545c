"""`aggmc check --product race`: its options, what it prints, its exit codes, and processes that end in the middle."""

from __future__ import annotations

import os
import re
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_testing import ASSERTS, ENDLESS, MODELS, RING, Run, Write, alive, children, is_paragraph, program, wait_for
from faulty import RIGHT, buggy, hungry, killed, late, liar, put, stubborn, stuck
from terminal import Terminal, started

from aggmc.checker import METHODS

Patch = pytest.MonkeyPatch
NEVER = ("--ltl", 'G "v0 < 256"', "--race", "tgba,tgta")  # of ENDLESS
ENTRANT = [
    "product", "state", "verdict", "reason", "seconds", "ended", "processor", "aggregates", "bdd_nodes", "memory",
]  # fmt: skip


# --- options ----------------------------------------------------------------------------------------------------------


def test_default(run: Run, write: Write) -> None:
    done = run("check", write(RING), "--ltl", "G F P.a", "--product", "race")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "holds     G F P.a"
    assert re.match(r"  slap(-tgta)?; automaton of", lines[1])
    assert re.fullmatch(
        r"  race: (slap|slap-tgta) won after \d\.\d{3} s; (slap|slap-tgta) was stopped", lines[2]
    ), lines[2]
    assert len(lines) == 3


def test_a_list_implies_a_race(run: Run, write: Write, monkeypatch: Patch) -> None:
    put(monkeypatch, sog=stubborn, tgba=stubborn)
    model = write(RING)
    for extra in ([], ["--product", "race"], ["--jobs", "3"]):
        results = run("check", model, "--ltl", "G P.a", "--race", "sog, slap,tgba", *extra, "--format", "json").json
        (result,) = results["results"]
        assert (result["verdict"], result["product"]) == ("violated", "slap")
        assert [list(e) for e in result["race"]] == [ENTRANT] * 3
        assert [(e["product"], e["state"]) for e in result["race"]] == [
            ("sog", "stopped"),
            ("slap", "answered"),
            ("tgba", "stopped"),
        ]
        assert result["trace"]["cycle"]


def test_one_at_a_time(run: Run, write: Write, monkeypatch: Patch) -> None:
    put(monkeypatch, sog=killed)
    asked = ["check", write(RING), "--ltl", "G F P.a", "--race", "sog,slap,tgba", "--jobs", "1"]
    (result,) = run(*asked, "--format", "json").json["results"]
    assert [e["state"] for e in result["race"]] == ["limit", "answered", "waiting"]
    assert result["race"][2]["ended"] is None
    line = run(*asked).out.splitlines()[2]
    assert "sog gave up: the working process was ended by SIGKILL" in line
    assert line.endswith("; tgba had not started")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--race", "slag"], "product `slag` cannot race (did you mean `slap`"),
        (["--race", ""], "product `` cannot race"),
        (["--race", "auto"], "product `auto` cannot race"),
        (["--race", "slap,slap"], "product `slap` is twice in the race"),
        (["--race", "slap", "--product", "sog"], "--product sog and --race contradict each other"),
        (["--cross-check", "--product", "sog"], "--cross-check compares several products"),
        (["--jobs", "2"], "--jobs is for a race"),
        (["--product", "race", "--jobs", "0"], "at least 1"),
        (["--product", "rase"], "did you mean `race`"),
    ],
)
def test_bad_usage(run: Run, write: Write, arguments: list[str], said: str) -> None:
    done = run("check", write(RING), "--ltl", "G P.a", *arguments)
    assert (done.code, done.out) == (2, "")
    assert is_paragraph(done.err)
    assert said in done.err


def test_each_property_is_a_race(run: Run, write: Write) -> None:
    """Asserts and deadlocks are answered once."""
    asked = ["--ltl", "G P.a", "--ltl", "F P.b", "--deadlock", "error", "--product", "race"]
    results = run("check", write(ASSERTS), *asked, "--format", "json").json["results"]
    assert [(r["kind"], r["verdict"], "race" in r) for r in results] == [
        ("ltl", "violated", True),
        ("ltl", "holds", True),
        ("assert", "holds", False),
        ("assert", "violated", False),
        ("deadlock", "holds", False),
    ]


def test_models_of_the_project(run: Run) -> None:
    """Every product at once, waiting for all."""
    for path in sorted(MODELS.glob("*.dve")):
        arguments = [path, "--properties", path.with_suffix(".properties"), "--format", "json"]
        plain = run("check", *arguments).json["results"]
        raced = run("check", *arguments, "--race", "slap,slap-tgta", "--cross-check").json["results"]
        assert [(r["property"], r["verdict"]) for r in raced] == [(r["property"], r["verdict"]) for r in plain]


def test_stats(run: Run, write: Write) -> None:
    out = run("check", write(RING), "--ltl", "G F P.a", "--race", "slap,tgba", "--cross-check", "--stats").out
    assert re.search(r"^    slap +holds +\d\.\d{3} s +\d+ aggregates? +\d+ BDD nodes +\d+ MB$", out, re.M), out
    assert re.search(r"^    tgba +holds +\d\.\d{3} s +\d+ aggregates? +\d+ MB$", out, re.M), out
    assert re.search(r"answered \d\.\d{3} s later$", out, re.M), out


# --- faults -----------------------------------------------------------------------------------------------------------


def test_fault_of_a_loser_is_told(run: Run, write: Write, monkeypatch: Patch) -> None:
    put(monkeypatch, slap=buggy, slap_tgta=late(RIGHT["slap-tgta"].build, 0.5))
    done = run("check", write(RING), "--ltl", "G P.a", "--product", "race")
    assert done.code == 1
    assert done.err == "warning: slap failed in the race: internal error: KeyError: 'lost'\n"
    assert "slap failed: internal error: KeyError: 'lost'" in done.out


def test_limits(run: Run, write: Write, monkeypatch: Patch) -> None:
    most = 300 + resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    put(monkeypatch, slap=hungry, sog=stuck)
    limits = ["--timeout", "4", "--memory", f"{most}M"]
    asked = ["check", write(RING), "--ltl", "G P.a", *limits, "--format", "json"]
    done = run(*asked, "--race", "slap,sog")
    assert done.code == 3
    (result,) = done.json["results"]
    assert result["verdict"] == "unknown"
    reasons = [f"memory limit of {most} MB reached", "time limit of 4 s reached"]
    assert [e["reason"] for e in result["race"]] == reasons
    assert result["reason"] == f"slap: {reasons[0]}; sog: {reasons[1]}"
    assert "error" not in result
    done = run(*asked, "--race", "slap,sog,tgba", "--cross-check")
    assert done.code == 1
    assert [e["state"] for e in done.json["results"][0]["race"]] == ["limit", "limit", "answered"]


@pytest.mark.parametrize("output", ["text", "json"])
def test_disagreement(run: Run, write: Write, monkeypatch: Patch, output: str) -> None:
    put(monkeypatch, slap=liar)
    done = run("check", write(RING), "--ltl", "G P.a", "--ltl", "G F P.a", "--cross-check", "--format", output)
    assert done.code == 4
    assert is_paragraph(done.err)
    said = "internal error: the products disagree: slap says `holds`; slap-tgta says `violated`, with a counterexample"
    assert said in done.err
    if output == "text":
        assert done.out.startswith("unknown   G P.a\n")
        assert re.search(r"^    slap +holds ", done.out, re.M)
        assert re.search(r"^    slap-tgta +violated ", done.out, re.M)
        assert "  initially  x=0, P=a" in done.out  # the run that shows who is wrong
        assert "\nholds     G F P.a\n" in done.out
    else:
        first, second = done.json["results"]
        assert (first["verdict"], second["verdict"]) == ("unknown", "holds")
        assert [e["verdict"] for e in first["race"]] == ["holds", "violated"]
        assert said in done.json["error"]["message"]
        assert first["trace"]["cycle"]
    monkeypatch.undo()
    assert run("check", write(RING), "--ltl", "G P.a", "--cross-check").code == 1


def test_no_trace(run: Run, write: Write) -> None:
    done = run("check", write(RING), "--ltl", "G P.a", "--product", "race", "--no-trace", "--format", "json")
    assert done.code == 1
    assert "trace" not in done.json["results"][0]


def test_all_refuse(run: Run, write: Write) -> None:
    done = run("check", write(RING), "--ltl", "G(P.a -> X P.b)", "--race", "sog,sog-tgta")
    assert done.code == 2
    assert "no product of the race takes the property" in done.err
    assert "--ltl:1:1: " in done.err


# --- processes that end in the middle ---------------------------------------------------------------------------------


def two(pid: int) -> list[int]:
    wait_for(lambda: len(children(pid)) == 2)
    return children(pid)


def test_killed_worker(write: Write) -> None:
    """It is named; when the other one is killed, too, nobody is left to answer."""
    with started("check", write(ENDLESS), *NEVER, "--format", "json") as process:
        first, second = two(process.pid)
        os.kill(first, signal.SIGKILL)
        wait_for(lambda: not alive(first))
        assert alive(second) and process.poll() is None
        os.kill(second, signal.SIGSEGV)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (3, "")
    assert out.count('"state": "limit"') == 2
    assert "ended by SIGKILL" in out and "ended by SIGSEGV" in out


@pytest.mark.parametrize("whole_group", [True, False], ids=["group", "parent"])
def test_interrupt(write: Write, whole_group: bool) -> None:
    with started("check", write(ENDLESS), *NEVER) as process:
        workers = two(process.pid)
        (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, "", "")
    assert not any(map(alive, workers))
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_parent_that_is_killed(write: Write, number: int, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with started("check", write(ENDLESS), *NEVER, cwd=temporary) as process:
        workers = two(process.pid)
        process.send_signal(number)
        process.communicate(timeout=20)
    assert process.returncode == -number
    wait_for(lambda: not any(map(alive, workers)), 10)
    assert list(temporary.iterdir()) == []


def test_losers_are_gone_when_the_program_ends(write: Write) -> None:
    """In the same group of processes there is nobody left."""
    with started("check", write(ENDLESS), "--ltl", 'G "v0 < 256"', "--race", "tgba,slap,tgta") as process:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        assert "slap won" in out
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)


def test_silent_in_a_pipe(write: Write) -> None:
    done = program("check", write(ENDLESS), *NEVER, "--timeout", "1")
    assert (done.code, done.err) == (3, "")
    assert "\x1b" not in done.out


# --- a terminal -------------------------------------------------------------------------------------------------------


def test_rows_on_a_terminal(write: Write, terminal: Callable[..., Terminal]) -> None:
    asked = ["--ltl", "F P.a", *NEVER, "--timeout", "1.5"]
    one = terminal("check", write(ENDLESS), *asked, columns=100)
    row = r"(tgba|tgta) +\d\.\d s +\d+ +\d+ MB +searching: \d+ nodes"
    one.read(until=rf"{row}.*\r\n{row}.*\r\n2 of 2: ")
    one.read()
    assert one.process.wait(20) == 3
    heading = r"product.* time.*aggregates.*BDD nodes.*memory"
    assert re.search(heading, one.shown)
    left = one.shown[one.shown.rindex("\x1b[J") :]  # what was erased is above
    assert "searching" not in left
    assert "unknown" in left
    assert "\x1b[?25l" not in one.shown  # the cursor is never hidden


def test_summary_on_a_terminal(write: Write, tmp_path: Path, terminal: Callable[..., Terminal]) -> None:
    """Where the results go elsewhere."""
    with (tmp_path / "results").open("w") as file:
        arguments = ["check", write(RING), "--ltl", "G F P.a", "--product", "race", "--format", "json"]
        one = terminal(*arguments, stdout=file.fileno())
        assert re.search(r"race: slap(-tgta)? won after \d\.\d{3} s; slap(-tgta)? was stopped", one.read())
        assert one.process.wait(20) == 0


def test_interrupt_on_a_terminal(write: Write, terminal: Callable[..., Terminal]) -> None:
    one = terminal("check", write(ENDLESS), *NEVER)
    one.read(until="searching")
    (parent,) = children(one.process.pid)
    workers = two(parent)
    one.press(b"\x03")
    one.read()
    assert one.process.wait(20) == 130
    assert not any(map(alive, workers))
    assert one.shown.rstrip().endswith("\x1b[J")


def test_help_names_the_race(run: Run) -> None:
    text = run("check", "--help").out
    assert re.search(r"^ +race +slap and slap-tgta at once; the first verdict wins$", text, re.M)
    for option in ("--race", "--cross-check", "--jobs"):
        assert f"  {option}" in text, option
    assert max(map(len, text.splitlines())) <= 100


def test_every_product_may_race(run: Run, write: Write, monkeypatch: Patch) -> None:
    """What the table of products has is taken."""
    names: list[Any] = list(METHODS)
    done = run("check", write(RING), "--ltl", "G F P.a", "--race", ",".join(names), "--cross-check", "--format", "json")
    assert done.code == 0
    assert [e["verdict"] for e in done.json["results"][0]["race"]] == ["holds"] * len(names)

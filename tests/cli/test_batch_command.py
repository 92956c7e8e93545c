"""`aggmc batch`: what it prints and writes, its exit codes, going on after an interruption, and processes that end."""

from __future__ import annotations

import csv
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from cli_testing import (
    ASSERTS,
    DEAD,
    DIVIDES,
    ENDLESS,
    RING,
    Run,
    Write,
    alive,
    children,
    is_paragraph,
    program,
    wait_for,
)  # fmt: skip
from faulty import buggy, killed, liar, put
from terminal import Terminal, started

import aggmc.batch.runner as runner_module

SUITE = """
[[check]]
model = "ring.dve"
name = "always"
ltl = "G F P.a"
expected = "holds"

[[check]]
model = "ring.dve"
ltl = "G P.a"
expected = "violated"
"""
# the second one never ends
LONG = """
[[check]]
model = "ring.dve"
ltl = ["G F P.a", "F P.a"]

[[check]]
model = "endless.dve"
ltl = 'G "v0 < 256"'
product = "tgba"

[[check]]
model = "ring.dve"
ltl = "F P.c"
"""

Suite = Callable[..., Path]


@pytest.fixture(name="suite")
def suite_fixture(write: Write) -> Suite:
    def suite(text: str, name: str = "suite.toml") -> Path:
        models = {"ring": RING, "endless": ENDLESS, "asserts": ASSERTS, "dead": DEAD, "divides": DIVIDES}
        for model, content in models.items():
            write(content, f"{model}.dve")
        return write(text, name)

    return suite


def words(out: str) -> list[str]:
    return [line.split()[0] for line in out.splitlines() if line[:1].isalnum()]


# --- what it prints ---------------------------------------------------------------------------------------------------


def test_all_as_expected(run: Run, suite: Suite) -> None:
    path = suite(SUITE)
    done = run("batch", path, "--jobs", "1")
    assert (done.code, done.err) == (0, "")
    first, second, last = done.out.splitlines()
    assert first.startswith(f"holds     {path.parent}/ring.dve: always; slap-tgta, 0.")
    assert second.startswith(f"violated  {path.parent}/ring.dve: G P.a; slap-tgta, 0.")
    assert first.endswith(" s; as expected") and second.endswith(" s; as expected")
    assert last == "2 checks: 1 holds, 1 violated; 2 of 2 as expected"


@pytest.mark.parametrize(
    ("entries", "code", "summary"),
    [
        (["ltl = 'F P.a'"], 0, "1 check: 1 holds"),
        (["ltl = 'G P.a'"], 1, "1 check: 1 violated"),
        (["ltl = 'F P.a'\nexpected = 'violated'"], 1, "1 check: 1 holds; 0 of 1 as expected"),
        (["ltl = 'F P.q'", "ltl = 'G P.a'"], 2, "2 checks: 1 violated, 1 error"),
        (["ltl = 'X P.a'\nproduct = 'sog'"], 2, "1 check: 1 error"),
        (["ltl = 'F P.a'\ntimeout = 0.000001"], 3, "1 check: 1 unknown"),
        (["ltl = 'F P.a'\nmemory = 1", "ltl = 'G P.a'"], 1, "2 checks: 1 violated, 1 unknown"),
        (["asserts = true"], 2, "1 check: 1 error"),  # it has none
        (["deadlocks = true"], 0, "1 check: 1 holds"),
    ],
)
def test_exit_codes(run: Run, suite: Suite, entries: list[str], code: int, summary: str) -> None:
    done = run("batch", suite("".join(f"[[check]]\nmodel = 'ring.dve'\n{entry}\n" for entry in entries)))
    assert done.code == code
    assert summary in done.out.splitlines()


def test_other_questions(run: Run, suite: Suite) -> None:
    done = run("batch", suite("[[check]]\nmodel = ['asserts.dve', 'dead.dve']\nasserts = true\ndeadlocks = true\n"))
    assert done.code == 2  # dead.dve has no assert
    lines = [line for line in done.out.splitlines() if line[:1].isalpha()]
    told = {line[10:].rpartition("/")[2].partition(";")[0]: line.split()[0] for line in lines}
    assert told["asserts.dve: asserts"] == "violated"
    assert told["asserts.dve: no deadlock"] == "holds"
    assert told["dead.dve: no deadlock"] == "violated"
    assert next(word for name, word in told.items() if name.startswith("dead.dve: asserts")) == "error"


def test_faults(run: Run, suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, sog=buggy, tgba=killed, slap=liar)
    entry = "[[check]]\nmodel = 'ring.dve'\nltl = 'G P.a'\nproduct = ['sog', 'tgba', 'tgta']\n"
    race = "[[check]]\nmodel = 'ring.dve'\nltl = 'G P.a'\nrace = 'slap,tgta'\ncross_check = true\n"
    done = run("batch", suite(entry + race), "--jobs", "1")
    assert done.code == 4
    assert words(done.out) == ["fault", "unknown", "violated", "fault", "4"]
    assert "because: internal error: KeyError: 'lost'" in done.out
    assert "ended by SIGKILL" in done.out
    assert "the products disagree: slap says `holds`" in done.out
    monkeypatch.undo()  # faults are done again, a limit is not
    again = run("batch", suite(entry + race), "--jobs", "1")
    assert words(again.out) == ["violated", "violated", "4"]
    assert words(run("batch", suite(entry + race), "--retry").out) == ["violated", "4"]


def test_worker_that_is_killed(run: Run, suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that looks after a check, and not only the one that does it."""
    original = runner_module.work

    def work(check: Any, *arguments: Any) -> Any:
        if check.name == "always":
            killed()
        return original(check, *arguments)

    monkeypatch.setattr(runner_module, "work", work)
    done = run("batch", suite(SUITE), "--jobs", "1")
    assert done.code == 3
    assert words(done.out) == ["unknown", "violated", "2"]
    assert "because: the working process was ended by SIGKILL" in done.out


def test_bad_suite(run: Run, suite: Suite) -> None:
    path = suite("[[check]]\nmodel = 'ring.dve'\nltl = 'true'\nproduct = 'slag'\n")
    done = run("batch", path)
    assert (done.code, done.out) == (2, "")
    assert is_paragraph(done.err)
    assert f"{path}:4:1: `product` is one of" in done.err
    assert done.err.endswith("    product = 'slag'\n    ^\n")
    assert not path.with_name("suite.toml.journal").exists()
    wrong = (("--jobs", "0", "at least 1"), ("--timeout", "0", "positive"), ("--memory", "x", "memory"))
    for *extra, said in wrong:
        done = run("batch", suite(SUITE), *extra)
        assert done.code == 2
        assert is_paragraph(done.err)
        assert said in done.err


def test_nobody_reads(suite: Suite) -> None:
    import subprocess

    from cli_testing import command, environment

    arguments = command("batch", suite("[[check]]\nmodel = 'ring.dve'\nltl = ['F P.a', 'F P.b', 'F P.c']\n"))
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
    assert process.returncode == 3


# --- what it writes ---------------------------------------------------------------------------------------------------


FOUR = (
    "[[check]]\nmodel = 'ring.dve'\nname = 'a<b\"&\\u0001é'\nltl = 'G P.a'\n"
    "[[check]]\nmodel = 'divides.dve'\nltl = 'G P.a'\n"
    "[[check]]\nmodel = 'ring.dve'\nltl = 'F P.a'\nexpected = 'holds'\n"
    "[[check]]\nmodel = 'endless.dve'\nltl = 'G \"v0 < 256\"'\nproduct = 'tgba'\ntimeout = 1.5\n"
).replace("'a<b\"&\\u0001é'", '"a<b\\"&\\u0001é"')


def test_files(run: Run, suite: Suite, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("r.jsonl", "r.csv", "r.xml")]
    arguments = [a for option, file in zip(("--jsonl", "--csv", "--junit"), files, strict=True) for a in (option, file)]
    path = suite(FOUR)
    done = run("batch", path, *arguments, "--format", "json")
    assert done.code == 2
    expected = ["failed", "error", "passed", "unknown"]
    results = [json.loads(line) for line in files[0].read_text().splitlines()]
    assert done.json["results"] == results
    assert done.json["summary"] == {
        "checks": 4, "holds": 1, "violated": 1, "unknown": 1, "passed": 1, "failed": 1, "error": 1, "fault": 0,
    }  # fmt: skip
    assert [r["outcome"] for r in results] == expected
    assert results[0]["trace"]["cycle"]
    assert "division" in results[1]["error"]["message"] or "zero" in results[1]["error"]["message"]
    assert results[3]["reason"] == "time limit of 1.5 s reached"
    with files[1].open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["outcome"], r["verdict"], r["property"]) for r in rows] == [
        ("failed", "violated", "G P.a"),
        ("error", "unknown", "G P.a"),
        ("passed", "holds", "F P.a"),
        ("unknown", "unknown", 'G "v0 < 256"'),
    ]
    root = ElementTree.parse(files[2]).getroot()
    assert (root.tag, root.get("tests"), root.get("failures"), root.get("errors")) == ("testsuites", "4", "1", "2")
    models = [Path(group.get("name") or "").name for group in root]
    assert models == ["ring.dve", "divides.dve", "endless.dve"]
    assert [group.get("tests") for group in root] == ["2", "1", "1"]
    cases = [[(case.get("name"), [child.tag for child in case]) for case in group] for group in root]
    assert cases == [
        [('a<b"&\ufffdé', ["failure"]), ("F P.a", [])],
        [("G P.a", ["error"])],
        [('G "v0 < 256" [tgba]', ["error"])],
    ]
    failure = root[0][0][0]
    assert failure.get("message") == "violated, expected holds"
    assert "P: a -> b   x: 0 -> 1" in (failure.text or "")
    assert all(float(case.get("time") or -1) >= 0 for group in root for case in group)
    # from the journal, without anything being done, the same
    before = [file.read_bytes() for file in files]
    assert run("batch", path, *arguments, "--format", "json").code == 2
    assert [file.read_bytes() for file in files] == before
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith(".")) == []


def test_file_that_cannot_be_written(run: Run, suite: Suite, tmp_path: Path) -> None:
    for name, said in [("none/r.xml", "No such file or directory"), ("", "s a directory"), ("/dev/full", "No space")]:
        target = tmp_path / name
        done = run("batch", suite(SUITE), "--junit", target)
        assert done.code == 2
        assert is_paragraph(done.err.partition("\n")[2] if done.err.startswith("note") else done.err)
        assert said in done.err


def test_no_trace(run: Run, suite: Suite) -> None:
    path = suite(SUITE)
    results = run("batch", path, "--no-trace", "--format", "json").json["results"]
    assert not any("trace" in r for r in results)
    assert "trace" not in path.with_name("suite.toml.journal").read_text()
    assert "trace" in run("batch", path, "--format", "json").json["results"][1]


def test_results_do_not_depend_on_jobs(run: Run, suite: Suite) -> None:
    found = []
    for jobs in ("1", "3"):
        results = run("batch", suite(FOUR), "--jobs", jobs, "--fresh", "--format", "json").json["results"]
        for result in results:
            del result["seconds"]
        found.append(results)
    assert found[0] == found[1]


# --- going on ---------------------------------------------------------------------------------------------------------


def lines_of(journal: Path) -> int:
    return len(journal.read_text().splitlines()) - 1 if journal.exists() else 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_interrupted(run: Run, suite: Suite, number: int) -> None:
    """What was answered is in the journal; no process is left; a second run does the rest."""
    path = suite(LONG)
    journal = path.with_name("my.journal")
    with started("batch", path, "--jobs", "2", "--journal", journal) as process:
        wait_for(lambda: lines_of(journal) >= 3 and len(children(process.pid)) == 1)
        (supervisor,) = children(process.pid)
        wait_for(lambda: children(supervisor))
        (worker,) = children(supervisor)
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    wait_for(lambda: not alive(supervisor) and not alive(worker), 10)
    assert words(out) == ["holds"] * 3
    if number == signal.SIGINT:
        assert err == f"note: 3 of 4 results are in {journal}; the same command goes on\n"
    else:
        assert err == ""
    done = run("batch", path, "--journal", journal, "--timeout", "0.5")
    assert done.err == f"note: 3 of 4 results are in {journal}\n"
    assert done.code == 3
    assert words(done.out) == ["unknown", "4"]
    assert lines_of(journal) == 4


def test_one_more_time(run: Run, suite: Suite) -> None:
    """Nothing is done twice, but what has changed is."""
    path = suite(SUITE)
    assert words(run("batch", path).out)[-1] == "2"
    done = run("batch", path)
    assert (done.code, words(done.out)) == (0, ["2"])
    assert done.err == f"note: 2 of 2 results are in {path}.journal\n"
    path.write_text(SUITE.replace('name = "always"', 'name = "ever"').replace('"violated"', '"holds"'))
    done = run("batch", path)
    assert (done.code, words(done.out)) == (1, ["2"])  # names and expectations are not part of a result
    path.write_text(SUITE + "\n[[check]]\nmodel = 'ring.dve'\nltl = 'F P.c'\n")
    assert words(run("batch", path).out) == ["holds", "3"]
    (path.parent / "ring.dve").write_text(RING.replace("x = 1", "x = 7"))
    assert len(words(run("batch", path).out)) == 4
    assert len(words(run("batch", path, "--fresh").out)) == 4


def test_another_limit(run: Run, suite: Suite) -> None:
    path = suite("[[check]]\nmodel = 'endless.dve'\nltl = ['F P.a', 'G \"v0 < 256\"']\nproduct = 'tgba'\n")
    out = run("batch", path, "--timeout", "0.4").out
    assert sorted(words(out)) == ["2", "holds", "unknown"] or sorted(words(out)) == ["2", "unknown", "unknown"]
    assert words(run("batch", path, "--timeout", "0.4").out) == ["2"]
    again = words(run("batch", path, "--timeout", "0.8").out)
    assert again[-2:] == ["unknown", "2"]


def test_same_question_is_answered_once(run: Run, suite: Suite) -> None:
    path = suite(SUITE + SUITE)
    done = run("batch", path, "--format", "json")
    assert done.code == 0
    assert len({r["id"] for r in done.json["results"]}) == 4
    assert lines_of(path.with_name("suite.toml.journal")) == 2


def test_journal_in_use(run: Run, suite: Suite) -> None:
    path = suite(LONG)
    journal = path.with_name("suite.toml.journal")
    with started("batch", path, "--jobs", "4") as process:
        wait_for(lambda: lines_of(journal) >= 1)
        done = run("batch", path)
        assert (done.code, done.out) == (2, "")
        assert "another run is writing this journal" in done.err
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)


def test_foreign_journal(run: Run, suite: Suite) -> None:
    path = suite(SUITE)
    done = run("batch", path, "--journal", path)
    assert done.code == 2
    assert f"{path}:1: this is no journal" in done.err
    assert path.read_text() == SUITE


# --- a race in a suite; a terminal ------------------------------------------------------------------------------------


def test_race(suite: Suite) -> None:
    path = suite("[[check]]\nmodel = 'endless.dve'\nltl = 'G \"v0 < 256\"'\nrace = 'tgba,slap'\n")
    done = program("batch", path, "--format", "json")
    (result,) = done.json["results"]
    assert (done.code, result["verdict"], result["product"], result["asked"]) == (0, "holds", "slap", "tgba,slap")
    assert [e["state"] for e in result["race"]] == ["stopped", "answered"]


def test_interrupted_race(suite: Suite) -> None:
    path = suite("[[check]]\nmodel = 'endless.dve'\nltl = 'G \"v0 < 256\"'\nrace = 'tgba,tgta'\n")
    with started("batch", path) as process:
        wait_for(lambda: [c for s in children(process.pid) for c in children(s)])
        (supervisor,) = children(process.pid)
        wait_for(lambda: len(children(supervisor)) == 2)
        everybody = [supervisor, *children(supervisor)]
        os.kill(process.pid, signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode == 130
    wait_for(lambda: not any(map(alive, everybody)), 10)


def test_rows_on_a_terminal(suite: Suite, terminal: Callable[..., Terminal]) -> None:
    one = terminal("batch", suite(LONG), "--timeout", "2", "--jobs", "1", columns=120)
    one.read(until=r"endless\.dve.*searching: \d+ nodes.*\r\n2 of 4 checks done")
    one.read()
    assert one.process.wait(20) == 3
    left = one.shown[one.shown.rindex("\x1b[J") :]
    assert "searching" not in left


def test_silent_in_a_pipe(suite: Suite) -> None:
    done = program("batch", suite(LONG), "--timeout", "1")
    assert (done.code, done.err) == (3, "")

"""`aggmc replay`, and `--trace`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli_testing import ASSERTS, DEAD, DIVIDES, MODELS, RING, Run, Write

from aggmc.trace.formats.all import FORMATS


@pytest.mark.parametrize("ending", [".json", ".itf.json"])
def test_what_check_writes_is_right(run: Run, write: Write, tmp_path: Path, ending: str) -> None:
    model, file = write(RING), tmp_path / f"run{ending}"
    done = run("check", model, "--ltl", "F G P.a", "--trace", file)
    assert done.code == 1
    assert done.err == f"note: a run that violates F G P.a: {file}\n"
    done = run("replay", model, file)
    assert done.code == 0
    assert done.out.startswith(f"right  {file} is a run of the model and violates F G P.a\n")
    assert "P: a -> b (line 6)" in done.out
    assert run("replay", model, file, "--ltl", "G F P.a").code == 1
    found = run("replay", model, file, "--format", "json").json
    assert list(found) == [
        *("version", "model", "file", "property", "deadlock", "right", "complaint", "step", "violates", "trace")
    ]
    assert (found["right"], found["complaint"], found["violates"]) == (True, None, True)
    assert found["trace"]["cycle"]


def test_every_ending(run: Run, write: Write, tmp_path: Path) -> None:
    model = write(RING)
    for ending in FORMATS:
        file = tmp_path / f"run{ending}"
        run("check", model, "--ltl", "F G P.a", "--trace", file)
        assert file.read_text()
        again = tmp_path / f"again{ending}"
        assert run("replay", model, tmp_path / "run.itf.json", "--trace", again).code == 0
        if ending != ".itf.json":
            assert again.read_text() == file.read_text()


def test_several_runs(run: Run, write: Write, tmp_path: Path) -> None:
    file = tmp_path / "run.itf.json"
    run("check", write(RING), "--ltl", "F G P.a", "--ltl", "G F P.a", "--ltl", "G P.a", "--trace", file)
    assert sorted(os.listdir(tmp_path)) == sorted(["run-2.itf.json", "run.itf.json", *names(tmp_path)])
    first, second = (json.loads((tmp_path / n).read_text()) for n in ("run.itf.json", "run-2.itf.json"))
    assert [d["#meta"]["property"] for d in (first, second)] == ["F G P.a", "G P.a"]


def names(folder: Path) -> list[str]:
    return [n for n in os.listdir(folder) if not n.startswith("run")]


def test_asserts_deadlocks_and_errors(run: Run, write: Write, tmp_path: Path) -> None:
    for text, arguments, kind in [
        (ASSERTS, [], "assert"),
        (DEAD, ["--deadlock", "error"], "deadlock"),
        (DIVIDES, ["--ltl", "G F P.a"], "error"),
    ]:
        model, file = write(text), tmp_path / f"{kind}.json"
        run("check", model, *arguments, "--trace", file)
        assert json.loads(file.read_text())["kind"] == kind
        assert run("replay", model, file).code == 0, kind


def test_runs_that_do_not_lead_where_the_file_says(run: Run, write: Write, tmp_path: Path) -> None:
    file = tmp_path / "run.json"

    def replayed(text: str, change: dict[str, object], steps: int | None) -> str:
        model = write(text)
        run("check", model, *([] if text is ASSERTS else ["--ltl", "G F P.a"]), "--trace", file)
        content = {**json.loads(file.read_text()), **change}
        content["trace"]["prefix"] = content["trace"]["prefix"][:steps]
        file.write_text(json.dumps(content))
        done = run("replay", model, file)
        assert done.code == (0 if steps is None and not change else 1)
        return done.out

    assert replayed(ASSERTS, {}, None).startswith("right")
    assert "the assert `x != 2` holds in the last state" in replayed(ASSERTS, {}, 1)
    assert "the model has no assert `x == 5`" in replayed(ASSERTS, {"property": "x == 5"}, None)
    assert replayed(DIVIDES, {}, None).startswith("right")
    assert "in its last state nothing errs" in replayed(DIVIDES, {}, 1)


def test_an_unwritable_run_loses_no_result(run: Run, write: Write, tmp_path: Path) -> None:
    model, file = write(RING), tmp_path / "none" / "run.json"
    for option in ("--trace", "--html"):
        done = run("check", model, "--ltl", "F G P.a", "--ltl", "G F P.a", option, file, "--format", "json")
        assert done.code == 2
        assert [r["verdict"] for r in done.json["results"]] == ["violated", "holds"]
        assert done.json["error"]["file"] == str(file)
        assert done.err.count("cannot be written") == 1
        done = run("check", model, "--ltl", "F G P.a", "--ltl", "G F P.a", option, file)
        assert (done.code, "2 results: 1 violated, 1 holds" in done.out) == (2, True)


def test_wrong_runs(run: Run, write: Write, tmp_path: Path) -> None:
    model, file = write(RING), tmp_path / "run.json"
    run("check", model, "--ltl", "F G P.a", "--trace", file)
    file.write_text(file.read_text().replace('"x": 2', '"x": 7'))
    done = run("replay", model, file)
    assert done.code == 1
    assert done.out.startswith(f"wrong  {file}: step 2: `P: b -> c` (line 7) makes it otherwise: x is 7 in the file")
    found = run("replay", model, file, "--format", "json")
    assert found.code == 1
    assert (found.json["right"], found.json["step"], found.json["trace"]) == (False, 2, None)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "MODEL", "--ltl", "G P.a", "--trace", "x.jsn"], "ends with one of"),
        (["check", "MODEL", "--ltl", "G P.a", "--trace", "no/such/folder.json"], "cannot be written: No such file"),
        (["check", "MODEL", "--ltl", "G P.a", "--trace", "x.json", "--no-trace"], "--no-trace excludes"),
        (["check", "MODEL", "--ltl", "G P.a", "--table", "--lanes"], "exclude each other"),
        (["replay", "MODEL", "none.json"], "cannot be read"),
        (["replay", "MODEL", "MODEL"], "can be read ends with"),
    ],
)
def test_bad_usage(run: Run, write: Write, arguments: list[str], words: str) -> None:
    model = write(RING)
    done = run(*(model if a == "MODEL" else a for a in arguments))
    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err


def test_a_full_disk_leaves_the_old_file(run: Run, write: Write, tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text("old")
    tmp_path.chmod(0o500)
    try:
        if os.access(tmp_path, os.W_OK):
            pytest.skip("this user may write everywhere")
        assert run("check", MODELS / "mutex.dve", "--ltl", "G F P_0.CS", "--trace", file).code == 2
    finally:
        tmp_path.chmod(0o700)
    assert file.read_text() == "old"


def test_a_full_device(run: Run, write: Write) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    link = write("", "run.json")
    link.unlink()
    link.symlink_to("/dev/full")
    done = run("check", write(RING), "--ltl", "G P.a", "--trace", link)
    assert done.code == 2
    assert "cannot be written: No space left" in done.err

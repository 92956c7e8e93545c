"""The journal: what it keeps, when the program or the disk fails, and what an earlier result is good for."""

from __future__ import annotations

import json
import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aggmc.batch.journal import Journal
from aggmc.batch.suite import Check
from aggmc.batch.work import conclusive, key_of, outcome
from aggmc.errors import InputError, Location
from aggmc.limits import Limits


def record(verdict: str = "holds", failure: str | None = None, seconds: float | None = None) -> dict[str, Any]:
    return {"result": {"verdict": verdict}, "failure": failure, "limits": [seconds, None]}


CHECK = Check("id", "a.dve", "ltl", "G P.a", None, Location("suite.toml"))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path) as journal:
        journal.add("a", record())
        journal.add("b", record("unknown", seconds=3.0))
        with path.open() as file:  # at once
            assert len(file.readlines()) == 3
    with Journal(path) as journal:
        assert journal.records == {"a": record(), "b": record("unknown", seconds=3.0)}
        journal.add("b", record("violated"))
    with Journal(path) as journal:
        assert journal.records["b"] == record("violated")  # the last one counts
    with Journal(path, fresh=True) as journal:
        assert journal.records == {}


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_line_that_was_cut_off(tmp_path: Path, cut: int) -> None:
    """It is dropped, and the next result starts a line of its own."""
    path = tmp_path / "j"
    with Journal(path) as journal:
        journal.add("a", record())
        journal.add("b", record())
    data = path.read_bytes()
    path.write_bytes(data[:-cut])
    with Journal(path) as journal:
        assert set(journal.records) == {"a"}
        journal.add("c", record())
    with Journal(path) as journal:
        assert set(journal.records) == {"a", "c"}


def test_header_that_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_text('{"journ')
    with Journal(path) as journal:
        journal.add("a", record())
    with Journal(path) as journal:
        assert set(journal.records) == {"a"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("my notes\n", "j:1: this is no journal"),
        ('{"version": 1}\n', "j:1: this is no journal"),
        ('{"journal": "aggmc batch", "version": 2}\n', "j:1: this is no journal"),
        ('{"journal": "aggmc batch", "version": 1}\nx\n', "j:2: this line is no result"),
        ('{"journal": "aggmc batch", "version": 1}\n{"key": 3}\n', "j:2: this line is no result"),
        ('{"journal": "aggmc batch", "version": 1}\n[]\n', "j:2: this line is no result"),
    ],
)
def test_something_else(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "j"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        Journal(path)
    assert said in str(caught.value)
    assert path.read_text() == text  # it is not touched


def test_two_at_a_time(tmp_path: Path) -> None:
    with Journal(tmp_path / "j") as first:
        first.add("a", record())
        for fresh in (False, True):
            with pytest.raises(InputError, match="another run"):
                Journal(tmp_path / "j", fresh=fresh)
    with Journal(tmp_path / "j") as second:
        assert set(second.records) == {"a"}


def test_full_disk(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the journal cannot be written: No such file or directory"):
        Journal(tmp_path / "none" / "j")
    with pytest.raises(InputError, match="no regular file"):
        Journal("/dev/full")
    path = tmp_path / "j"
    with Journal(path) as journal:
        journal.add("a", record())
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 10, limit[1]))
        try:
            with pytest.raises(InputError, match="the journal cannot be written: File too large"):
                journal.add("b", record())
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert path.read_text().count("\n") == 2
    with Journal(path) as journal:
        assert set(journal.records) == {"a"}


# --- what an earlier result is good for -------------------------------------------------------------------------------


def test_key() -> None:
    """Whatever may change the verdict, or what is written of it."""
    same = [
        replace(CHECK, id="other"),
        replace(CHECK, name="other"),
        replace(CHECK, expected="violated"),
        replace(CHECK, limits=Limits(3)),
        replace(CHECK, model="elsewhere/a.dve"),
    ]
    other = [
        replace(CHECK, formula="G P.b"),
        replace(CHECK, kind="assert"),
        replace(CHECK, product="sog"),
        replace(CHECK, race=("sog", "slap")),
        replace(CHECK, cross_check=True),
        replace(CHECK, deadlock="ignore"),
        replace(CHECK, fixpoint="chaining"),
        replace(CHECK, absorb="entering"),
        replace(CHECK, reordering=True),
        replace(CHECK, trace=False),
    ]
    assert {key_of(c, "text") for c in same} == {key_of(CHECK, "text")}
    assert len({key_of(c, "text") for c in [CHECK, *other]} | {key_of(CHECK, "another")}) == len(other) + 2
    json.dumps(key_of(CHECK, "\udcff"))


@pytest.mark.parametrize(
    ("found", "limits", "counts"),
    [
        (record("holds", seconds=1.0), Limits(2.0), True),
        (record("violated"), Limits(2.0), True),
        (record("unknown", "error", 1.0), Limits(2.0), True),
        (record("unknown", None, 2.0), Limits(2.0), True),
        (record("unknown", None, 1.0), Limits(2.0), False),
        (record("unknown", None, 1.0), Limits(), False),
        (record("unknown", None, 2.0), Limits(2.0, 1 << 20), False),
        (record("unknown", "fault", 2.0), Limits(2.0), False),
    ],
)
def test_conclusive(found: dict[str, Any], limits: Limits, counts: bool) -> None:
    assert conclusive(found, replace(CHECK, limits=limits)) is counts


@pytest.mark.parametrize(
    ("found", "expected", "word"),
    [
        (record("holds"), None, "passed"),
        (record("holds"), "holds", "passed"),
        (record("holds"), "violated", "failed"),
        (record("violated"), "violated", "passed"),
        (record("violated"), None, "failed"),
        (record("unknown"), "holds", "unknown"),
        (record("unknown", "error"), None, "error"),
        (record("unknown", "fault"), "holds", "fault"),
    ],
)
def test_outcome(found: dict[str, Any], expected: str | None, word: str) -> None:
    assert outcome(replace(CHECK, expected=expected), found) == word

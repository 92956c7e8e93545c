"""`aggmc batch`: a suite from the command line; what is shown while it goes on, and at the end."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aggmc.batch.journal import Journal
from aggmc.batch.output import FORMATS, OUTCOMES, write_file
from aggmc.batch.runner import Backend, Keyed, Plan, carry_out, local, plan
from aggmc.batch.suite import Check, read_suite
from aggmc.batch.work import Record, described
from aggmc.errors import InputError
from aggmc.limits import Limits
from aggmc.live import LiveTable
from aggmc.pool import Lane
from aggmc.report import to_json

_WORDS = {"error": "error", "fault": "fault"}  # instead of the verdict, which is unknown


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for on the command line."""

    suite: str
    jobs: int | None
    cluster: str | None
    journal: str | None
    fresh: bool
    retry: bool
    limits: Limits
    trace: bool
    as_json: bool
    files: Mapping[str, str | None]  # by format


def run_suite(request: Request, emit: Callable[[str], bool], note: Callable[[str], None]) -> set[str]:
    """Do it, write the results, and give the outcomes of all checks (those missing count as unknown)."""
    if request.jobs is not None and request.jobs < 1:
        raise InputError(f"the number of jobs is at least 1, not {request.jobs}")
    checks = read_suite(request.suite, request.limits, trace=request.trace)
    table = LiveTable(sys.stderr, ("check", "time", ""))
    with Journal(request.journal or f"{request.suite}.journal", fresh=request.fresh) as journal:
        todo = plan(checks, journal, retry=request.retry)
        ready = todo.ready(journal)
        if ready:
            note(f"note: {ready} of {len(checks)} results are in {journal.path}")
        found = {check.id: journal.records[key] for key, check in todo.keyed if key in journal.records}
        for _, check in todo.todo:
            found.pop(check.id, None)
        try:
            read = _follow(request, todo, journal, found, table, emit)
        except BaseException:
            table.clear()
            if len(found) < len(checks):
                note(f"note: {len(found)} of {len(checks)} results are in {journal.path}; the same command goes on")
            raise
    results = [described(check, found[check.id]) for check in checks if check.id in found]
    for kind, path in request.files.items():
        if path is not None:
            write_file(path, FORMATS[kind](request.suite, results))
    if request.as_json:
        emit(to_json({"suite": request.suite, "results": results, "summary": _counts(results)}))
    elif read:
        emit(summary_text(results))
    return {result["outcome"] for result in results} | ({"unknown"} if len(results) < len(checks) else set())


def _follow(
    request: Request,
    todo: Plan,
    journal: Journal,
    found: dict[str, Record],
    table: LiveTable,
    emit: Callable[[str], bool],
) -> bool:
    """Take the results as they come; False if nobody reads them."""
    total = len(todo.keyed)

    def caption() -> str:
        return f"{len(found)} of {total} checks done"

    for check, record in carry_out(todo, journal, _backend(request, table, caption)):
        found[check.id] = record
        if not request.as_json:
            table.clear()
            if not emit(line_text(described(check, record))):
                return False
    table.clear()
    return True


def _backend(request: Request, table: LiveTable, caption: Callable[[], str]) -> Backend:
    if request.cluster is not None:
        if request.jobs is not None:
            raise InputError("--jobs is for this machine: a cluster has as many as its workers have threads")
        from aggmc.batch.cluster import cluster

        return cluster(request.cluster, _count_workers(table, caption) if table.active else None)
    return local(request.jobs or len(os.sched_getaffinity(0)), _watch(table, caption) if table.active else None)


def _watch(table: LiveTable, caption: Callable[[], str]) -> Callable[[Sequence[Keyed], Sequence[Lane[Record]]], None]:
    def watch(todo: Sequence[Keyed], lanes: Sequence[Lane[Record]]) -> None:
        if table.due:
            running = [lane for lane in lanes if lane.state == "running"]
            rows = [(_short(todo[lane.number][1]), f"{lane.seconds:.1f} s", str(lane.said or "")) for lane in running]
            table.show(rows, caption())

    return watch


def _count_workers(
    table: LiveTable, caption: Callable[[], str]
) -> Callable[[Callable[[], Mapping[str, int]]], None]:
    started = time.monotonic()

    def watch(threads: Callable[[], Mapping[str, int]]) -> None:
        if table.due:
            try:
                workers = str(len(threads()))
            except OSError:  # the scheduler does not answer
                workers = "?"
            row = ("on the cluster", f"{time.monotonic() - started:.1f} s", f"workers: {workers}")
            table.show([row], caption())

    return watch


def _short(check: Check) -> str:
    return check.id if len(check.id) <= 50 else f"…{check.id[-49:]}"


def line_text(result: Mapping[str, Any]) -> str:
    """A result in one line."""
    outcome = result["outcome"]
    parts = [f"{_WORDS.get(outcome, result['verdict']):<8}  {result['id']}"]
    if result["verdict"] != "unknown":
        by = f"{result['product']}, " if result["product"] else ""
        parts.append(f"{by}{result['seconds']:.3f} s")
        if result["expected"] is not None:
            parts.append("as expected" if outcome == "passed" else f"EXPECTED {result['expected']}")
    if result.get("reason"):
        parts.append(f"because: {result['reason']}")
    return "; ".join(parts)


def summary_text(results: Iterable[Mapping[str, Any]]) -> str:
    """How many there are of each kind, and those that did not pass."""
    results = list(results)
    counts = _counts(results)
    words = ("holds", "violated", "unknown", "error", "fault")
    told = ", ".join(f"{counts[word]} {word}" for word in words if counts[word])
    lines = [f"{counts['checks']} {'check' if len(results) == 1 else 'checks'}: {told}"]
    expected = sum(result["expected"] is not None for result in results)
    if expected:
        met = sum(result["expected"] is not None and result["outcome"] == "passed" for result in results)
        lines[0] += f"; {met} of {expected} as expected"
    lines += [f"  {word}: {result['id']}" for word in OUTCOMES[1:] for result in results if result["outcome"] == word]
    return "\n".join(lines)


def _counts(results: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    words = [_WORDS.get(result["outcome"], result["verdict"]) for result in results]
    outcomes = [result["outcome"] for result in results]
    counts = {"checks": len(results)}
    counts |= {word: words.count(word) for word in ("holds", "violated", "unknown")}
    return counts | {word: outcomes.count(word) for word in ("passed", "failed", "error", "fault")}

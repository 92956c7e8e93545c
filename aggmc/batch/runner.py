"""A suite, done: what the journal has already, and the rest by local processes or by a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from aggmc.batch.journal import Journal
from aggmc.batch.suite import Check
from aggmc.batch.work import Record, conclusive, failed, key_of, record_of, warm, work
from aggmc.limits import Limits, Report
from aggmc.model.load import read_text
from aggmc.pool import Lane, Pool

Keyed = tuple[str, Check]
Backend = Callable[[Sequence[Keyed]], Iterator[tuple[str, Record]]]  # the records, as they come, each once


@dataclass(frozen=True, slots=True)
class Plan:
    """The checks of a suite, each with its key, and those that are to be done."""

    keyed: tuple[Keyed, ...]
    todo: tuple[Keyed, ...]  # a question that is asked several times is answered once

    def ready(self, journal: Journal) -> int:
        """How many checks the journal answers."""
        missing = {key for key, _ in self.todo}
        return sum(key not in missing and key in journal.records for key, _ in self.keyed)


def plan(checks: Sequence[Check], journal: Journal, *, retry: bool = False) -> Plan:
    """What is to be done; raises InputError if a model cannot be read. `retry`: also what has no verdict yet."""
    text = cache(read_text)
    keyed = tuple((key_of(check, text(check.model)), check) for check in checks)
    todo: dict[str, Check] = {}
    for key, check in keyed:
        record = journal.records.get(key)
        unknown = record is not None and record["result"]["verdict"] == "unknown"
        if record is None or not conclusive(record, check) or (retry and unknown):
            todo.setdefault(key, check)
    return Plan(keyed, tuple(todo.items()))


def carry_out(plan: Plan, journal: Journal, backend: Backend) -> Iterator[tuple[Check, Record]]:
    """Do what is to be done; each result is in the journal before it is given, once for each check that it answers."""
    for key, record in backend(plan.todo):
        journal.add(key, record)
        for known, check in plan.keyed:
            if known == key:
                yield check, record


def local(jobs: int, watch: Callable[[Sequence[Keyed], Sequence[Lane[Record]]], None] | None = None) -> Backend:
    """By processes of this machine, so many checks at a time."""

    def backend(todo: Sequence[Keyed]) -> Iterator[tuple[str, Record]]:
        def task(check: Check) -> Callable[[Report | None], Record]:
            return lambda report: work(check, None, report)

        def look(lanes: Sequence[Lane[Record]]) -> None:
            assert watch is not None
            watch(todo, lanes)

        tasks = [task(check) for _, check in todo]
        warm(check.model for _, check in todo)
        # the limits are kept by the task itself, which works in processes of its own
        with Pool(tasks, Limits(), jobs, look if watch is not None else None) as pool:
            for lane in pool:
                key, check = todo[lane.number]
                result, lane.result = lane.result, None  # it may be large
                assert result is not None
                yield key, result if isinstance(result, dict) else record_of(check, failed(check, result))

    return backend

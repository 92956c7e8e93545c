"""What the benchmark programs share: tables as CSV files, and measured work in processes of its own.

Each measurement runs in a fresh child, so that its peak memory is its own and a limit ends just it. Seconds are those
of the processor, as in the tables of other tools: they hardly depend on what else the machine does. Results are written
as they come; a second run on the same file does only what is missing.
"""

from __future__ import annotations

import csv
import fcntl
import io
import math
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from aggmc.errors import AggmcError, InternalError, LimitReached
from aggmc.limits import Limits, run_tasks
from aggmc.model.load import LANGUAGES

Row = dict[str, str]
_PATIENCE = 4  # on a busy machine, so many seconds go by for one of the processor


@dataclass(frozen=True, slots=True)
class Measured:
    """The outcome of one piece of work: what it returned, or why it did not, and what it took."""

    values: Mapping[str, Any]
    failure: str  # "", "timeout", "memory", "error: …"
    seconds: float
    peak_mb: float


def measure(work: Callable[[], Mapping[str, Any]], limits: Limits) -> Measured:
    """Run in a child, under these limits (of processor time); `seconds` are its own, after imports."""
    for module in ("dd.cudd", "spot", *LANGUAGES.values()):
        import_module(module)
    seconds = limits.seconds

    def timed(_: int) -> tuple[Mapping[str, Any], float, float]:
        started = time.process_time()
        if seconds is not None:
            most = math.ceil(started + seconds)
            resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))
        values = work()
        spent = time.process_time() - started
        return values, spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    patient = Limits(None if seconds is None else _PATIENCE * seconds, limits.memory)
    for answer in run_tasks(lambda _: timed, 1, patient):
        if isinstance(answer, tuple):
            if seconds is not None and answer[1] > seconds:
                return Measured({}, "timeout", answer[1], answer[2])
            return Measured(answer[0], "", answer[1], answer[2])
        failure = _failure(answer)
        return Measured({}, failure, seconds or 0.0 if failure == "timeout" else 0.0, 0.0)
    raise InternalError("a measurement gave no answer")


def _failure(error: AggmcError | InternalError) -> str:
    if isinstance(error, LimitReached):
        return "timeout" if "time limit" in error.message or "SIGXCPU" in error.message else "memory"
    return f"error: {error}".split("\n")[0]


@dataclass(frozen=True, slots=True)
class Table:
    """A CSV file that several processes write rows to, each in one piece."""

    path: Path
    columns: tuple[str, ...]

    def rows(self) -> list[Row]:
        """What has been written so far."""
        return read_table(self.path) if self.path.exists() else []

    def append(self, row: Row) -> None:
        """Write a row, and before the first one the heading."""
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns)
        with self.path.open("ab", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if file.tell() == 0:
                writer.writeheader()
            writer.writerow(row)
            file.write(text.getvalue().encode())


def read_table(path: Path) -> list[Row]:
    """The rows of a CSV file with a heading."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def run_all(
    jobs: Iterable[tuple[Any, ...]],
    work: Callable[..., Row],
    out: Path,
    columns: Sequence[str],
    keys: Sequence[str],
    processes: int,
) -> Iterator[Row]:
    """Do what the file lacks, `processes` at a time; yields all rows, the old ones first.

    A job's first elements are the values of the `keys`.
    """
    old = read_table(out) if out.exists() else []
    done = {tuple(row[k] for k in keys) for row in old}
    yield from old
    missing = [job for job in jobs if tuple(map(str, job[: len(keys)])) not in done]
    with out.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        if not old:
            writer.writeheader()
        pool = ProcessPoolExecutor(processes)
        try:
            for future in as_completed([pool.submit(work, *job) for job in missing]):
                row = future.result()
                writer.writerow(row)
                file.flush()
                yield row
        finally:
            pool.shutdown(cancel_futures=True)


def number(text: str) -> float | None:
    """A table's cell as a number, or None where it is empty, `timeout` or `wrong`."""
    try:
        return float(text)
    except ValueError:
        return None


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive numbers; NaN if there are none."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan

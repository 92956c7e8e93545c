"""Several tasks at once: what comes of each, how many work at a time, and that none is left."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from faulty import buggy, gone, greedy, hungry, killed, no_children, stubborn, stuck

import aggmc.pool as pool_module
from aggmc.errors import InternalError, LimitReached
from aggmc.limits import Limits, Report
from aggmc.pool import Lane, Pool

MB = 1 << 20


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    descriptors = len(os.listdir("/proc/self/fd"))
    yield
    assert no_children()
    assert len(os.listdir("/proc/self/fd")) == descriptors


def run(*tasks: Callable[..., Any], jobs: int = 9, limits: Limits | list[Limits] | None = None) -> list[Any]:
    """The results, in the order of the tasks."""
    found: dict[int, Any] = {}
    with Pool(tasks, limits or Limits(), jobs) as pool:
        for lane in pool:
            assert lane.number not in found
            found[lane.number] = lane.result
    assert all(lane.state == "done" for lane in pool.lanes)
    return [found[i] for i in range(len(tasks))]


def value(x: Any) -> Callable[[Report | None], Any]:
    return lambda _: x


def test_results() -> None:
    pids = run(*[lambda _: os.getpid()] * 5, jobs=2)
    assert len({*pids, os.getpid()}) == 6
    assert run(value("b" * 1_000_000), value(None)) == ["b" * 1_000_000, None]
    assert run() == []


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_at_most_so_many_at_a_time(jobs: int) -> None:
    def interval(_: Report | None) -> tuple[float, float]:
        start = time.monotonic()
        time.sleep(0.15)
        return start, time.monotonic()

    def most() -> int:
        intervals = run(*[interval] * 5, jobs=jobs)
        return max(sum(a <= start < b for a, b in intervals) for start, _ in intervals)

    found = [most() for _ in range(6)]
    assert max(found) == jobs  # never more; fewer where the machine is busy


def test_all_that_may_go_wrong() -> None:
    results = run(killed, value(1), buggy, greedy, gone, value(2), jobs=2)
    assert [type(r) for r in results] == [LimitReached, int, InternalError, LimitReached, InternalError, int]
    assert "SIGKILL" in results[0].message
    assert "KeyError: 'lost'" in str(results[2])


def test_limits_of_each() -> None:
    limits = [Limits(seconds=0.2), Limits(), Limits(seconds=0.5)]
    started = time.monotonic()
    first, second, third = run(stuck, value(1), stubborn, limits=limits)
    assert time.monotonic() - started < 5
    assert first.message == "time limit of 0.2 s reached"
    assert second == 1
    assert third.message == "time limit of 0.5 s reached"


def test_time_counts_from_the_start_of_each() -> None:
    def some(_: Report | None) -> str:
        time.sleep(0.3)
        return "done"

    assert run(some, some, some, jobs=1, limits=Limits(seconds=0.8)) == ["done"] * 3


def test_memory() -> None:
    most = 300 + resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    with Pool([hungry, value(1)], Limits(memory=most * MB), 2) as pool:
        assert len(list(pool)) == 2
    failed = pool.lanes[0]
    assert isinstance(failed.result, LimitReached)
    assert failed.result.message == f"memory limit of {most} MB reached"
    assert failed.peak > most * MB
    assert pool.lanes[1].result == 1


def test_the_first_ends_the_others() -> None:
    with Pool([stuck, stubborn, value("first"), value("waits")], Limits(), 3) as pool:
        lane = next(iter(pool))
        assert lane.result == "first"
        others = [lane.worker.pid for lane in pool.lanes[:2] if lane.worker is not None]
        assert len(others) == 2
    assert [lane.state for lane in pool.lanes] == ["stopped", "stopped", "done", "waiting"]
    assert all(lane.seconds > 0 for lane in pool.lanes[:3])
    assert pool.lanes[0].peak > MB  # seen once, at the end
    for pid in others:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_interrupt() -> None:
    def interrupts(_: Report | None) -> None:
        os.kill(os.getppid(), signal.SIGINT)
        stuck()

    with pytest.raises(KeyboardInterrupt), Pool([stuck, interrupts], Limits(), 2) as pool:
        list(pool)


def test_no_process_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = count()
    original = pool_module.Worker

    def sometimes(job: Any) -> Any:
        if next(calls) == 1:
            raise OSError(11, "Resource temporarily unavailable")
        return original(job)

    monkeypatch.setattr(pool_module, "Worker", sometimes)
    results = run(value(1), value(2), value(3))
    assert results[0] == 1 and results[2] == 3
    assert isinstance(results[1], LimitReached)
    assert "no working process can be started" in results[1].message


def test_watch_sees_what_goes_on() -> None:
    def task(report: Report | None) -> str:
        assert report is not None
        for n in range(8):
            report(f"searching: {n}")
            time.sleep(0.1)
        return "done"

    seen: list[tuple[str, Any, bool]] = []

    def watch(lanes: Any) -> None:
        lane: Lane[str] = lanes[1]
        seen.append((lane.state, lane.said, lane.memory > MB and lane.seconds > 0))

    with Pool([value(1), task], Limits(), 1, watch) as pool:
        list(pool)
    assert [state for state, _, _ in seen][-1] == "done"
    texts = [said for state, said, _ in seen if state == "running" and said]
    assert len(set(texts)) >= 3
    assert any(full for state, _, full in seen if state == "running")
    assert run(lambda report: report is None) == [True]  # nobody looks


def test_many() -> None:
    assert run(*[value(i) for i in range(120)], jobs=4) == list(range(120))

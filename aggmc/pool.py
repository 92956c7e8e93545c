"""Several tasks at once, each in a child process of its own, under limits of its own.

    with Pool(tasks, limits, jobs=2) as pool:
        for lane in pool:               # in the order in which they end
            print(lane.number, lane.result)

A task whose child is killed, or reaches a limit, or fails, has the error as its result; the others go on. Leaving the
`with` ends all children that still work, so a race is: leave at the first answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from types import TracebackType
from typing import Any, Generic, Literal, TypeVar

from aggmc.errors import LimitReached
from aggmc.limits import POLL_SECONDS, Failure, Limits, Report, Worker, WorkerEnded, crash_of, serve, stop_all

Result = TypeVar("Result")
Task = Callable[[Report | None], Result]


@dataclass
class Lane(Generic[Result]):
    """A task, and what is known of it."""

    number: int
    limits: Limits
    state: Literal["waiting", "running", "done", "stopped"] = "waiting"
    result: Result | Failure | None = None  # once it is done
    said: Any = None  # its last report
    memory: int = 0  # resident, in bytes, when it was last looked at
    peak: int = 0
    started: float = 0.0
    ended: float = 0.0
    worker: Worker | None = None

    @property
    def seconds(self) -> float:
        """For how long it has worked."""
        if self.state == "waiting":
            return 0.0
        return (time.monotonic() if self.state == "running" else self.ended) - self.started

    def look(self) -> int:
        """The memory of its child now."""
        if self.worker is not None:
            self.memory = self.worker.memory()
            self.peak = max(self.peak, self.memory)
        return self.memory

    def leave(self, state: Literal["done", "stopped"], result: Result | Failure | None = None) -> None:
        """It works no more."""
        self.state, self.result, self.ended = state, result, time.monotonic()


Watch = Callable[[Sequence[Lane[Result]]], None]


class Pool(Generic[Result]):
    """Runs tasks, at most `jobs` of them at a time; `watch` sees all lanes several times a second."""

    def __init__(
        self,
        tasks: Sequence[Task[Result]],
        limits: Limits | Sequence[Limits],
        jobs: int,
        watch: Watch[Result] | None = None,
    ) -> None:
        each = [limits] * len(tasks) if isinstance(limits, Limits) else limits
        self.lanes: list[Lane[Result]] = [Lane(i, own) for i, own in enumerate(each)]
        self._tasks = tasks
        self._running: list[Lane[Result]] = []
        self._ending: list[Worker] = []  # of tasks that are done
        self._next = 0
        self._jobs = jobs
        self._watch = watch

    def __enter__(self) -> Pool[Result]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        running, self._running = self._running, []
        for lane in running:
            lane.look()
            lane.leave("stopped")
        stop_all([lane.worker for lane in running if lane.worker is not None] + self._ending)

    def __iter__(self) -> Iterator[Lane[Result]]:
        while True:
            yield from self._start()
            if not self._running:
                return
            wait([lane.worker.fileno() for lane in self._running if lane.worker is not None], self._patience())
            for lane in list(self._running):
                self._hear(lane)
                if lane.state == "done":
                    self._running.remove(lane)
                    yield lane
            stop_all(self._ending)
            self._ending.clear()
            if self._watch is not None:
                self._watch(self.lanes)

    def _patience(self) -> float:
        return min((lane.limits.patience(lane.started) for lane in self._running), default=POLL_SECONDS)

    def _start(self) -> Iterator[Lane[Result]]:
        """Start what there is room for; yields those that cannot be started."""
        while self._next < len(self.lanes) and len(self._running) < self._jobs:
            lane = self.lanes[self._next]
            self._next += 1
            self._fork(lane)
            if lane.state == "done":
                yield lane

    def _fork(self, lane: Lane[Result]) -> None:
        task = self._tasks[lane.number]

        def session(report: Report | None) -> Callable[[int], Result]:
            return lambda _: task(report)

        lane.started = time.monotonic()
        try:
            lane.worker = Worker(lambda send: serve(session, 0, 1, self._watch is not None, send))
            lane.state = "running"
            self._running.append(lane)
        except OSError as error:  # too many processes, or files, or no memory
            lane.leave("done", LimitReached(f"no working process can be started: {error.strerror or error}"))

    def _hear(self, lane: Lane[Result]) -> None:
        """Take what the child has sent; if that was no answer, see whether it has reached a limit."""
        worker = lane.worker
        assert worker is not None
        while lane.state == "running" and worker.wait(0):
            try:
                kind, content = worker.receive()
            except WorkerEnded as end:
                lane.leave("done", crash_of(end))
                break
            if kind == "tick":
                lane.said = content
            elif kind == "answer":
                lane.leave("done", content)
        if lane.state == "running":
            exceeded = lane.limits.exceeded(lane.started, lane.look)
            if self._watch is not None and lane.limits.memory is None:
                lane.look()
            if exceeded is not None:
                lane.leave("done", exceeded)
        if lane.state == "done":
            self._ending.append(worker)  # not waited for here: at the end of a race all end together

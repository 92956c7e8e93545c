"""Work in a child process, bounded in time and memory.

dd and Spot know no time limit and cannot be interrupted, and a fault in their C code ends the process. So the engines
work in a child that the parent watches and may kill at any moment:

    Worker      one child, which runs a job and sends messages; several can be watched at once (`fileno`)
    run_tasks   tasks 0 … n-1, one after another in one child; after a limit or a crash, a new child does the rest
    watched     the same limits for work in this process (reading a model), which is Python's and can be interrupted

Several tasks at once, each in a child of its own: `aggmc/pool.py`.

The child ignores Ctrl-C (the parent hears it, and ends the child) and dies with its parent. Where the system has no
memory left, it ends a child before the parent, which can still say what became of it.
"""

from __future__ import annotations

import _weakrefset
import ctypes
import math
import os
import re
import signal
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from types import FrameType, TracebackType
from typing import Any, Generic, Literal, TypeVar

from aggmc.errors import AggmcError, InputError, InternalError, LimitReached

Result = TypeVar("Result")
Send = Callable[[Any], None]
Tick = Callable[[str], None]
Report = Callable[[object], None]  # a Tick for anything; its text up to a `:` is the stage that a task has reached
Failure = AggmcError | InternalError

POLL_SECONDS = 0.1
TICK_SECONDS = 0.2  # a child reports its progress no more often
PR_SET_PDEATHSIG = 1
_OOM_SCORE = 500  # of 1000: the more, the sooner the system ends a process for lack of memory
_SIGNALS = {signal.SIGINT, signal.SIGTERM}  # which a program may turn into exceptions
_MIB = 1 << 20
_UNITS = {"": _MIB, "k": 1 << 10, "m": _MIB, "g": 1 << 30, "t": 1 << 40}
_NO_MEMORY = 12  # the exit status of a child that ran out of memory
_NULL_NODE = "is `NULL` pointer"  # what dd says when CUDD has no memory left


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a task may take, and how much memory (in bytes) its process may hold; None: no limit."""

    seconds: float | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        if self.seconds is not None and not (math.isfinite(self.seconds) and self.seconds > 0):
            raise InputError(f"a time limit is a positive number of seconds, not {self.seconds:g}")
        if self.memory is not None and self.memory <= 0:
            raise InputError("a memory limit is positive")

    def exceeded(self, started: float | None, memory: Callable[[], int]) -> LimitReached | None:
        """The limit that a task has reached which was started at this time, and holds this much memory."""
        if self.seconds is not None and started is not None and time.monotonic() - started >= self.seconds:
            return LimitReached(f"time limit of {self.seconds:g} s reached")
        if self.memory is not None and memory() > self.memory:
            return _memory_limit(self.memory)
        return None

    def patience(self, started: float | None) -> float:
        """For how many seconds one need not look at the task."""
        if self.seconds is None or started is None:
            return POLL_SECONDS
        return min(POLL_SECONDS, max(0.0, started + self.seconds - time.monotonic()))


def parse_memory(text: str) -> int:
    """Bytes: a number of MB, or with a unit, as in `500M` or `1.5G`."""
    match = re.fullmatch(r"\s*([0-9]{1,12}(?:\.[0-9]{1,12})?)\s*([kmgt]?)(?:i?b)?\s*", text, re.IGNORECASE)
    size = int(float(match[1]) * _UNITS[match[2].lower()]) if match else 0
    if size <= 0:
        raise InputError(f"`{text}` is no amount of memory: write a number of MB, or as in 500M or 2G")
    return size


# --- one child ------------------------------------------------------------------------------------------------------


class WorkerEnded(Exception):
    """The child is gone: with a signal, or an exit status."""

    def __init__(self, exit_status: int | None, signal_number: int | None) -> None:
        super().__init__(exit_status, signal_number)
        self.exit_status = exit_status
        self.signal_number = signal_number


class Worker:
    """A child process that runs `job(send)`; what it sends is received here. A context manager: it ends the child."""

    def __init__(self, job: Callable[[Send], None]) -> None:
        self._status: int | None = None
        self._connection, sender = Pipe(duplex=False)
        parent = os.getpid()
        # Ctrl-C between the fork and the first line of the child would end the child with a traceback
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            self.pid = os.fork()
        except OSError:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            self._connection.close()
            sender.close()
            raise
        if self.pid == 0:
            _be_child(job, sender, parent, blocked)
        sender.close()  # or the end of the child would not be seen here
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        except BaseException:  # Ctrl-C came meanwhile
            self.stop()
            raise

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def fileno(self) -> int:
        """For `multiprocessing.connection.wait` over several workers."""
        return self._connection.fileno()

    def wait(self, seconds: float) -> bool:
        """Whether a message, or the end, is there within this time."""
        return self._connection.poll(seconds)

    def receive(self) -> Any:
        """The next message; raises WorkerEnded if none will come."""
        try:
            return self._connection.recv()
        except (EOFError, OSError):  # OSError: killed in the middle of a message
            self._reap()
        assert self._status is not None
        code = os.waitstatus_to_exitcode(self._status)
        raise WorkerEnded(code, None) if code >= 0 else WorkerEnded(None, -code)

    def memory(self) -> int:
        """The resident memory of the child, in bytes; 0 if it is gone."""
        return _resident(self.pid)

    @property
    def ended(self) -> bool:
        """Whether the child is known to be gone."""
        return self._status is not None

    def stop(self) -> None:
        """End the child, whatever it is doing; a second Ctrl-C does not get in between."""
        stop_all([self])

    def _kill(self) -> None:
        if self._status is None:
            os.kill(self.pid, signal.SIGKILL)

    def _reap(self) -> None:
        if self._status is None:
            _, self._status = os.waitpid(self.pid, 0)


def stop_all(workers: Sequence[Worker]) -> None:
    """End children: all of them are told before the first one is waited for."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        for worker in workers:
            worker._kill()
        for worker in workers:
            worker._reap()
            worker._connection.close()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _be_child(job: Callable[[Send], None], connection: Connection, parent: int, mask: set[Any]) -> None:
    """Never returns: what the parent would do next (its `finally`, its tests) is not for the child."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == parent:  # else it died before the line above
            _offer_to_the_system()
            job(connection.send)
            status = 0
    except BrokenPipeError:
        pass  # nobody listens any more
    except MemoryError:  # not even for the message that says so
        status = _NO_MEMORY
    except BaseException:  # the parent says that the child ended by itself
        if os.environ.get("AGGMC_DEBUG"):
            traceback.print_exc()
    finally:
        os._exit(status)


def _offer_to_the_system() -> None:
    try:
        with open("/proc/self/oom_score_adj", "r+", encoding="ascii") as file:
            if int(file.read()) < _OOM_SCORE:  # only its owner's superior may lower it
                file.seek(0)
                file.write(str(_OOM_SCORE))
    except (OSError, ValueError):
        pass  # no such thing here: the system chooses


def _resident(pid: int | Literal["self"]) -> int:
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


# --- tasks ----------------------------------------------------------------------------------------------------------

# Makes what the tasks share (in the child) and returns what answers task number i.
Session = Callable[[Report | None], Callable[[int], Result]]


def run_tasks(
    session: Session[Result],
    count: int,
    limits: Limits | None = None,
    tick: Tick | None = None,
    *,
    clock: Literal["each", "all"] = "each",
) -> Generator[Result | Failure, None, None]:
    """The answers to the tasks 0 … count-1, in order; a task that fails gives its error, and the next one follows.

    The time limit is for each task, or for all of them together. A limit, lack of memory and a crash give
    `LimitReached`.
    """
    watch = _Watch[Result](count, limits or Limits(), tick, clock)
    done = 0
    while done < count:
        try:
            worker = Worker(lambda send, first=done: serve(session, first, count, tick is not None, send))  # type: ignore[misc]
        except OSError as error:  # too many processes, or files, or no memory
            done += 1
            yield LimitReached(f"no working process can be started: {error.strerror or error}")
            continue
        with worker:
            for answer in watch.answers(worker, done):
                done += 1
                yield answer
                if worker.ended or isinstance(answer, LimitReached):
                    break  # what the tasks share may be broken: a new child


@dataclass
class _Watch(Generic[Result]):
    count: int
    limits: Limits
    tick: Tick | None
    clock: str
    started: float | None = None
    said: str = ""

    def answers(self, worker: Worker, first: int) -> Iterator[Result | Failure]:
        for number in range(first, self.count):
            if self.clock == "each" or self.started is None:
                self.started = time.monotonic()
            yield self._answer(worker, number)

    def _answer(self, worker: Worker, number: int) -> Result | Failure:
        while True:
            exceeded = self._exceeded(worker)
            if exceeded is not None:
                worker.stop()
                return exceeded
            if self.tick is not None and self.said:
                self.tick(self.said)
            if not worker.wait(self.limits.patience(self.started)):
                continue
            try:
                kind, content = worker.receive()
            except WorkerEnded as end:
                return crash_of(end)
            if kind == "tick":
                self.said = content
            elif kind == "start":
                assert content == number
                if self.clock == "each":
                    self.started = time.monotonic()
            else:
                result: Result | Failure = content
                return result

    def _exceeded(self, worker: Worker) -> LimitReached | None:
        return self.limits.exceeded(self.started, worker.memory)


def _memory_limit(memory: int) -> LimitReached:
    return LimitReached(f"memory limit of {memory / _MIB:g} MB reached")


def crash_of(end: WorkerEnded) -> Failure:
    """What the end of a child means for its task."""
    if end.exit_status == _NO_MEMORY:
        return LimitReached("out of memory")
    if end.signal_number is None:
        return InternalError(f"the working process ended by itself, with status {end.exit_status}")
    name = _signal_name(end.signal_number)
    why = ", perhaps by the system for lack of memory" if end.signal_number == signal.SIGKILL else ""
    return LimitReached(f"the working process was ended by {name}{why}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # one of the real-time signals
        return f"signal {number}"


def serve(session: Session[Result], first: int, count: int, with_ticks: bool, send: Send) -> None:
    """Do tasks one after another, in the child."""
    answer: Callable[[int], Result] | None = None
    for number in range(first, count):
        send(("start", number))

        def work(number: int = number) -> None:
            nonlocal answer
            if answer is None:
                answer = session(_throttled(send) if with_ticks else None)
            send(("answer", answer(number)))  # which may fail, too: there may be no memory for the message

        failure = attempt(work)
        if failure is not None:
            if isinstance(failure, LimitReached):
                answer = None  # what the tasks share may hold all the memory, and sending needs some
            send(("answer", failure))


def _throttled(send: Send) -> Report:
    last = 0.0
    stage = ""

    def tick(text: object) -> None:
        nonlocal last, stage
        now = time.monotonic()
        here = str(text).partition(":")[0]
        if here != stage or now - last >= TICK_SECONDS:  # a new stage may be the last word for long
            last, stage = now, here
            send(("tick", text))

    return tick


def attempt(work: Callable[[], Result]) -> Result | Failure:
    """The result, or the error: out of memory or of stack is a limit; what nobody expected is our own fault."""
    try:
        return work()
    except (AggmcError, InternalError) as error:
        if isinstance(error, InternalError):
            error.add_note(traceback.format_exc())
        return error
    except MemoryError:
        return LimitReached("out of memory")
    except RecursionError:
        return LimitReached("the computation is nested too deeply")
    except Exception as error:
        if isinstance(error, ValueError) and _NULL_NODE in str(error):
            return LimitReached("the decision diagrams ran out of memory")
        internal = InternalError(f"{type(error).__name__}: {error}")
        internal.add_note(traceback.format_exc())
        return internal


# --- work in this process -------------------------------------------------------------------------------------------


_CALLBACKS = (weakref.__file__, _weakrefset.__file__)  # code that runs when objects die


@contextmanager
def watched(doing: str, limits: Limits, tick: Tick | None = None) -> Iterator[None]:
    """Bounds what is done here, and tells of it; LimitReached is raised in the middle of the work.

    For Python's own work only: while C code runs, nothing is noticed. Does nothing outside of the main thread.
    """
    bounded = limits.seconds is not None or limits.memory is not None
    if not (bounded or tick is not None) or threading.current_thread() is not threading.main_thread():
        yield
        return
    end = time.monotonic() + limits.seconds if limits.seconds is not None else math.inf

    def look(_: int, frame: FrameType | None) -> None:
        if tick is not None:
            tick(doing)
        while frame is not None:
            if frame.f_code.co_name == "__del__" or frame.f_code.co_filename in _CALLBACKS:
                return  # Python would print what is raised there, and go on
            frame = frame.f_back
        if time.monotonic() >= end:
            reached.append(LimitReached(f"time limit of {limits.seconds:g} s reached while {doing}"))
        elif limits.memory is not None and _resident("self") > limits.memory:
            reached.append(LimitReached(f"{_memory_limit(limits.memory).message} while {doing}"))
        if reached:
            raise reached[0]

    reached: list[LimitReached] = []
    before = signal.signal(signal.SIGALRM, look)
    try:
        # again and again: should the work swallow the exception, the next one comes
        signal.setitimer(signal.ITIMER_REAL, min(POLL_SECONDS, limits.seconds or POLL_SECONDS), POLL_SECONDS)
        yield
    except Exception:
        if reached:  # the work may have wrapped it in an exception of its own
            raise reached[0] from None
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

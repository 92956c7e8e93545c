"""Work in child processes: what becomes of a child that is killed, too slow, too large, or at fault."""

from __future__ import annotations

import ctypes
import errno
import faulthandler
import os
import resource
import signal
import struct
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from aggmc.errors import InputError, InternalError, LimitReached, Location, ModelError
from aggmc.limits import Failure, Limits, Tick, Worker, WorkerEnded, attempt, parse_memory, run_tasks, watched

MB = 1 << 20
Task = Callable[[], Any]


def outcomes(*tasks: Task, limits: Limits | None = None, **options: Any) -> list[Any]:
    """What comes of each task; a session that is made anew counts from 0 again."""

    def session(_: Tick | None) -> Callable[[int], Any]:
        done = count()
        return lambda number: (next(done), tasks[number]())

    return list(run_tasks(session, len(tasks), limits, **options))


def forever() -> None:
    while True:
        time.sleep(1)


def killed(number: int) -> Task:
    def kill() -> None:
        faulthandler.disable()  # pytest's: it would tell
        os.kill(os.getpid(), number)

    return kill


def no_children() -> bool:
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return True
    return False


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    descriptors = len(os.listdir("/proc/self/fd"))
    yield
    assert no_children()
    assert len(os.listdir("/proc/self/fd")) == descriptors


# --- what is answered -------------------------------------------------------------------------------------------------


def test_answers_in_order_from_one_child() -> None:
    found = outcomes(os.getpid, lambda: "b" * 1_000_000, os.getpid)
    assert [number for number, _ in found] == [0, 1, 2]
    assert found[0][1] == found[2][1] != os.getpid()
    assert found[1][1] == "b" * 1_000_000


def test_no_tasks() -> None:
    assert outcomes() == []


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (signal.SIGKILL, "ended by SIGKILL, perhaps by the system for lack of memory"),
        (signal.SIGSEGV, "ended by SIGSEGV"),
        (signal.SIGTERM, "ended by SIGTERM"),
        (signal.SIGRTMIN + 2, f"ended by signal {signal.SIGRTMIN + 2}"),
    ],
)
def test_killed(number: int, said: str) -> None:
    first, failed, last = outcomes(lambda: "a", killed(number), lambda: "c")
    assert first == (0, "a")
    assert isinstance(failed, LimitReached)
    assert failed.message.endswith(said)
    assert last == (0, "c")  # of a new child


def test_killed_in_the_middle_of_a_message() -> None:
    def job(send: Any) -> None:
        os.write(send.__self__.fileno(), struct.pack("!i", 1000) + b"no thousand bytes")
        os.kill(os.getpid(), signal.SIGKILL)

    with Worker(job) as worker, pytest.raises(WorkerEnded) as ended:
        worker.receive()
    assert ended.value.signal_number == signal.SIGKILL


def test_crash_in_c_code() -> None:
    def crash() -> None:
        faulthandler.disable()
        ctypes.string_at(0)

    failed, last = outcomes(crash, lambda: "b")
    assert isinstance(failed, LimitReached)
    assert "SIGSEGV" in failed.message
    assert last == (0, "b")


def test_time() -> None:
    started = time.monotonic()
    failed, last = outcomes(forever, lambda: "b", limits=Limits(seconds=0.3))
    assert 0.3 <= time.monotonic() - started < 5
    assert isinstance(failed, LimitReached)
    assert failed.message == "time limit of 0.3 s reached"
    assert last == (0, "b")


def test_time_where_nothing_can_be_interrupted() -> None:
    """C code that does not return, and a child that ignores what it can."""

    def stubborn() -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        ctypes.PyDLL(None).sleep(100)  # keeps the interpreter's lock

    failed, last = outcomes(stubborn, lambda: "b", limits=Limits(seconds=0.2))
    assert isinstance(failed, LimitReached)
    assert last == (0, "b")


def test_time_is_for_each_task() -> None:
    def some() -> str:
        time.sleep(0.25)
        return "done"

    assert [answer[1] for answer in outcomes(some, some, some, limits=Limits(seconds=0.6))] == ["done"] * 3
    *answered, last = outcomes(some, some, some, limits=Limits(seconds=0.6), clock="all")
    assert len(answered) == 2
    assert isinstance(last, LimitReached)


def test_time_of_the_session_counts() -> None:
    def session(_: Tick | None) -> Callable[[int], str]:
        forever()
        return lambda _: ""

    assert all(isinstance(a, LimitReached) for a in run_tasks(session, 2, Limits(seconds=0.2)))


def test_memory() -> None:
    def hungry() -> None:
        kept = []
        while True:
            kept.append(b"x" * MB)
            time.sleep(0.0005)

    # a child begins with what the tests before this one have left in memory
    most = 400 + resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    failed, last = outcomes(hungry, lambda: "b", limits=Limits(memory=most * MB))
    assert isinstance(failed, LimitReached)
    assert failed.message == f"memory limit of {most} MB reached"
    assert last == (0, "b")


def test_no_memory_even_to_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_works(work: Callable[[], object]) -> Failure | None:
        raise MemoryError

    monkeypatch.setattr("aggmc.limits.attempt", nothing_works)  # in the child
    (failed,) = run_tasks(lambda _: lambda _: "a", 1, Limits(seconds=20))
    assert isinstance(failed, LimitReached)
    assert failed.message == "out of memory"


def test_system_has_no_memory() -> None:
    def greedy() -> None:
        raise MemoryError

    def null() -> None:
        raise ValueError("`u.node` is `NULL` pointer.")  # what dd says

    for failed in outcomes(greedy, null):
        assert isinstance(failed, LimitReached)
        assert "memory" in failed.message


def test_no_memory_for_the_answer() -> None:
    class Huge:
        def __reduce__(self) -> Any:
            raise MemoryError

    failed, last = outcomes(Huge, lambda: "b")
    assert isinstance(failed, LimitReached)
    assert last == (0, "b")


def test_deep_recursion() -> None:
    def deep(n: int = 0) -> int:
        return deep(n + 1) + 1

    failed, last = outcomes(deep, lambda: "b")
    assert isinstance(failed, LimitReached)
    assert failed.message == "the computation is nested too deeply"
    assert last == (0, "b")


def test_unexpected_exception() -> None:
    def fault() -> None:
        raise KeyError("lost")

    failed, last = outcomes(fault, lambda: "b")
    assert isinstance(failed, InternalError)
    assert str(failed) == "KeyError: 'lost'"
    assert "in fault" in failed.__notes__[0]  # for AGGMC_DEBUG
    assert last == (1, "b")  # what the tasks share is kept


def test_internal_error() -> None:
    def fault() -> None:
        raise InternalError("replay: no")

    failed, _ = outcomes(fault, lambda: "b")
    assert isinstance(failed, InternalError)
    assert str(failed) == "replay: no"
    assert "in fault" in failed.__notes__[0]


def test_errors_of_the_input_come_whole() -> None:
    def wrong() -> None:
        error = ModelError("division by zero", Location("m.dve", 3, 4, "x / y"))
        error.trace = ["a run"]
        raise error

    (failed,) = outcomes(wrong)
    assert type(failed) is ModelError
    assert failed.location == Location("m.dve", 3, 4, "x / y")
    assert failed.trace == ["a run"]


@pytest.mark.parametrize("leave", [lambda: os._exit(3), lambda: sys.exit(3)], ids=["_exit", "SystemExit"])
def test_child_ends_by_itself(leave: Task, capfd: pytest.CaptureFixture[str]) -> None:
    failed, last = outcomes(leave, lambda: "b")
    assert isinstance(failed, InternalError)
    assert "ended by itself" in str(failed)
    assert last == (0, "b")
    assert capfd.readouterr() == ("", "")


def test_answer_that_cannot_be_sent(capfd: pytest.CaptureFixture[str]) -> None:
    failed, last = outcomes(lambda: lambda: 0, lambda: "b")
    assert isinstance(failed, InternalError)
    assert "pickle" in str(failed)
    assert last == (1, "b")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("what", ["fork", "pipe"])
def test_no_process_can_be_started(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    calls = count()
    original = getattr(os, what)

    def sometimes() -> Any:
        if next(calls) == 0:
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return original()

    monkeypatch.setattr(os, what, sometimes)
    failed, last = outcomes(lambda: "a", lambda: "b")
    assert isinstance(failed, LimitReached)
    assert failed.message == f"no working process can be started: {os.strerror(errno.EAGAIN)}"
    assert last == (0, "b")


def test_failures_of_every_task() -> None:
    tasks: list[Task] = [killed(signal.SIGKILL), lambda: os._exit(1), lambda: [][0], killed(signal.SIGKILL)]
    found = outcomes(*tasks)
    assert [type(answer) for answer in found] == [LimitReached, InternalError, InternalError, LimitReached]


# --- progress ---------------------------------------------------------------------------------------------------------


def test_ticks_reach_the_parent() -> None:
    said: list[str] = []

    def session(tick: Tick | None) -> Callable[[int], str]:
        assert tick is not None
        tick("reading")

        def answer(_: int) -> str:
            assert tick is not None
            for n in range(30):
                tick(f"searching: {n} nodes")
                time.sleep(0.02)
            return "done"

        return answer

    assert list(run_tasks(session, 1, None, said.append)) == ["done"]
    distinct = list(dict.fromkeys(said))
    assert distinct[0] == "reading"
    assert distinct[1] == "searching: 0 nodes"  # a new stage is told at once
    assert 2 < len(distinct) < 8  # and then not too often


def test_no_ticks_where_nobody_looks() -> None:
    def session(tick: Tick | None) -> Callable[[int], bool]:
        return lambda _: tick is None

    assert list(run_tasks(session, 1)) == [True]


def test_ticks_go_on_while_a_child_is_silent() -> None:
    """The line on the terminal shows the time, which passes."""
    said: list[str] = []

    def session(tick: Tick | None) -> Callable[[int], None]:
        assert tick is not None
        tick("long")
        return lambda _: time.sleep(0.5)

    list(run_tasks(session, 1, None, said.append))
    assert said.count("long") >= 3


# --- who ends whom ----------------------------------------------------------------------------------------------------


def test_generator_that_is_closed_ends_its_child() -> None:
    tasks = run_tasks(lambda _: lambda number: os.getpid() if number == 0 else forever(), 2)
    child = next(tasks)
    assert isinstance(child, int)
    os.kill(child, 0)
    tasks.close()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_worker_gives_its_messages_and_its_end() -> None:
    def job(send: Callable[[Any], None]) -> None:
        send("one")
        send("two")

    with Worker(job) as worker:
        assert worker.fileno() >= 0
        assert worker.wait(10)
        assert [worker.receive(), worker.receive()] == ["one", "two"]
        with pytest.raises(WorkerEnded) as ended:
            worker.receive()
        assert (ended.value.exit_status, ended.value.signal_number) == (0, None)
        assert worker.ended
        assert worker.memory() == 0


def test_memory_of_a_worker() -> None:
    with Worker(lambda send: forever()) as worker:
        assert worker.memory() > MB
        assert not worker.wait(0)
        assert not worker.ended


def test_interrupt_while_the_child_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C between the fork and the end of the constructor: nobody has the worker, and yet it is ended."""
    fork = os.fork

    def interrupted() -> int:
        pid = fork()
        signal.raise_signal(signal.SIGINT)  # blocked: it waits
        return pid

    monkeypatch.setattr(os, "fork", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Worker(lambda send: forever())
    assert no_children()


def test_child_ignores_the_interrupt() -> None:
    """Ctrl-C goes to the whole group; the parent decides."""
    (answer,) = outcomes(lambda: signal.raise_signal(signal.SIGINT) or "still here")
    assert answer == (0, "still here")


def test_child_does_what_its_parent_would_not(tmp_path: Path) -> None:
    """The child never returns to the code of the parent: its `finally`, its buffers."""
    code = """
        import sys
        from aggmc.limits import run_tasks
        sys.stdout.write("once ")
        try:
            print(list(run_tasks(lambda _: lambda n: sys.exit() if n else "a", 2))[0])
        finally:
            print("finally")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout == "once a\nfinally\n"


def gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state in ("Z", "X")


def test_parent_that_is_killed_leaves_no_child() -> None:
    code = """
        import os, time
        from aggmc.limits import run_tasks
        for answer in run_tasks(lambda _: lambda n: time.sleep(1000) if n else os.getpid(), 2):
            print(answer, flush=True)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert not gone(child)
        parent.kill()
    end = time.monotonic() + 10
    while not gone(child):
        assert time.monotonic() < end, "the child lives on"
        time.sleep(0.01)


def test_errors_of_attempt() -> None:
    def attempted(error: BaseException) -> Failure | None:
        def work() -> None:
            raise error

        return attempt(work)

    assert attempt(lambda: 7) == 7
    assert isinstance(attempted(ValueError("something else")), InternalError)
    assert isinstance(attempted(InputError("bad")), InputError)
    with pytest.raises(KeyboardInterrupt):
        attempted(KeyboardInterrupt())


# --- limits as they are written ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", MB),
        ("500", 500 * MB),
        ("500M", 500 * MB),
        ("500 mb", 500 * MB),
        ("500MiB", 500 * MB),
        ("2G", 2048 * MB),
        ("1.5g", 1536 * MB),
        ("4k", 4096),
        ("1T", 1 << 40),
        (" 3 ", 3 * MB),
        ("0.5", MB // 2),
    ],
)
def test_memory_as_it_is_written(text: str, size: int) -> None:
    assert parse_memory(text) == size


@pytest.mark.parametrize("text", ["", "0", "-1", "x", "1X", "1e3", "G", "0.0000001k", "9" * 400, "1 2", "١"])
def test_no_amount_of_memory(text: str) -> None:
    with pytest.raises(InputError, match="no amount of memory"):
        parse_memory(text)


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_no_time_limit(seconds: float) -> None:
    with pytest.raises(InputError, match="positive number of seconds"):
        Limits(seconds)


def test_no_memory_limit() -> None:
    with pytest.raises(InputError, match="positive"):
        Limits(memory=0)


# --- work in this process ---------------------------------------------------------------------------------------------


def busy(seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def test_watched_time() -> None:
    handler = signal.getsignal(signal.SIGALRM)
    started = time.monotonic()
    with pytest.raises(LimitReached, match=r"^time limit of 0\.2 s reached while reading$"), watched(
        "reading", Limits(seconds=0.2)
    ):
        busy()
    assert 0.2 <= time.monotonic() - started < 5
    assert signal.getsignal(signal.SIGALRM) is handler
    busy(0.3)  # and no alarm comes later


def test_watched_time_is_not_swallowed() -> None:
    swallowed = 0
    with watched("reading", Limits(seconds=0.15)):
        while swallowed < 2:
            try:
                busy()
            except LimitReached:
                swallowed += 1
    assert swallowed == 2


def test_watched_time_does_not_come_while_something_is_deleted() -> None:
    """Python would print a traceback, and go on."""

    class Slow:
        def __del__(self) -> None:
            busy(0.4)

    def work() -> None:
        Slow()
        busy()

    with pytest.raises(LimitReached), watched("reading", Limits(seconds=0.1)):
        work()


def test_watched_memory() -> None:
    with pytest.raises(LimitReached, match=r"^memory limit of 1 MB reached while reading$"), watched(
        "reading", Limits(memory=MB)
    ):
        busy()


def test_watched_work_in_time() -> None:
    said: list[str] = []
    with watched("reading", Limits(5.0, 1 << 40), said.append):
        busy(0.35)
    assert said
    assert set(said) == {"reading"}
    with watched("reading", Limits()):
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_watched_in_another_thread() -> None:
    done = []

    def work() -> None:
        with watched("reading", Limits(seconds=0.01)):
            busy(0.05)
        done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


def test_a_limit_that_the_work_wraps_is_a_limit() -> None:
    """Lark makes a VisitError of what is raised in its callbacks."""

    def work() -> None:
        try:
            while True:
                pass
        except LimitReached as error:
            raise ValueError("wrapped") from error

    with pytest.raises(LimitReached, match="while reading"), watched("reading", Limits(0.05)):
        work()

"""What goes to which stream, streams that fail, Ctrl-C, and the line of progress on a terminal."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from cli_testing import (
    ENDLESS,
    FOR_EVER,
    RING,
    Run,
    Write,
    alive,
    children,
    command,
    environment,
    is_paragraph,
    program,
    wait_for,
    without_times,
)
from terminal import Terminal, started

from aggmc.progress import Progress

BOTH = RING.replace("process P {", "process P {\n  byte b;")  # P.b: location and variable


# --- results and notes ------------------------------------------------------------------------------------------------


def test_results_to_stdout_and_notes_to_stderr(write: Write) -> None:
    done = program("check", write(BOTH), "--ltl", "G F P.b", "--ltl", "G P.a")
    assert done.code == 1
    assert done.out.startswith("holds     G F P.b\n")
    assert done.out.endswith("2 results: 1 violated, 1 holds\n")
    assert "warning" not in done.out
    assert done.err.startswith("warning: --ltl:1:5: `P.b` is read as the location")


def test_json_is_all_there_is_on_stdout(write: Write) -> None:
    done = program("check", write(BOTH), "--ltl", "G F P.b", "--format", "json")
    assert done.code == 0
    assert done.json["results"][0]["verdict"] == "holds"
    assert done.err.startswith("warning: ")


def test_silent_in_a_pipe(write: Write) -> None:
    """However long it takes."""
    done = program("check", write(ENDLESS), *FOR_EVER, "--timeout", "1")
    assert done.code == 3
    assert done.err == ""
    assert "\r" not in done.out


def test_script_and_module_are_the_same(write: Write) -> None:
    script = Path(sys.executable).with_name("aggmc")
    if not script.exists():
        pytest.skip("the script is not installed")
    done = subprocess.run(
        [script, "check", write(RING), "--ltl", "G P.a"], capture_output=True, text=True, env=environment(), check=False
    )
    assert done.returncode == 1
    assert without_times(done.stdout) == without_times(program("check", write(RING), "--ltl", "G P.a").out)


# --- streams that fail ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "{model}", "--ltl", "G F P.a"],
        ["check", "{model}", "--ltl", "G P.a", "--format", "json"],
        ["info", "{model}"],
        ["automaton", "G a", "--format", "hoa"],
        ["check", "--help"],
        ["--version"],
    ],
    ids=["check", "json", "info", "automaton", "help", "version"],
)
def test_full_disk(write: Write, arguments: list[str]) -> None:
    model = str(write(RING))
    with open("/dev/full", "w") as full:
        done = program(*(a.format(model=model) for a in arguments), stdout=full)
    assert done.code == 2
    error = done.err[done.err.index("error: ") :]
    assert is_paragraph(error)
    assert error == "error: standard output cannot be written: No space left on device\n"


def test_full_disk_for_the_notes(write: Write) -> None:
    with open("/dev/full", "w") as full:
        done = program("check", write(BOTH), "--ltl", "G F P.b", stderr=full)
    assert done.code == 0
    assert done.out.startswith("holds")


def closed(*numbers: int) -> Callable[[], None]:
    def close() -> None:
        for number in numbers:
            os.close(number)

    return close


def test_closed_stdout(write: Write) -> None:
    done = program("check", write(RING), "--ltl", "G F P.a", preexec_fn=closed(1))
    assert done.code == 2
    assert done.err == "error: standard output cannot be written: it is closed\n"


def test_closed_stderr(write: Write) -> None:
    """Notes are lost; they do not go to stdout instead."""
    done = program("check", write(BOTH), "--ltl", "G F P.b", "--format", "json", preexec_fn=closed(2))
    assert done.code == 0
    assert done.json["results"][0]["verdict"] == "holds"
    done = program("check", write(RING), "--ltl", "G F P.q", preexec_fn=closed(0, 2))
    assert (done.code, done.out) == (2, "")


def test_closed_streams_are_not_given_to_other_files(write: Write) -> None:
    """C code that complains on the number 2 would write into whatever is open there."""
    code = (
        "import os, sys; from aggmc.limits import Worker; from aggmc.cli.program import main\n"
        "init = Worker.__init__\n"
        "def watched(self, job): init(self, job); print(self.fileno())\n"
        "Worker.__init__ = watched\n"
        f"main(['check', {str(write(RING))!r}, '--ltl', 'G F P.a'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
        check=True,
        preexec_fn=closed(0, 2),
    )
    assert int(done.stdout.split("\n")[0]) > 2


def test_nobody_reads(write: Write) -> None:
    """As in `aggmc check … | head -1`: no message, and the rest is not worked out."""
    model = write(RING)
    arguments = command("check", model, *["--ltl", "G F P.a"] * 300)
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(5) == b"holds"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 3  # not all were answered


def test_names_that_a_terminal_cannot_show(tmp_path: Path) -> None:
    name = os.fsdecode("mödel-".encode() + b"\xff.dve")
    path = tmp_path / name
    path.write_text(RING.replace("a -> b", "a -> d"))
    done = program("check", path, "--ltl", "G P.a", env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    assert done.code == 2
    assert is_paragraph(done.err)
    assert r"m\xf6del-\udcff.dve:6" in done.err
    shown = program("check", path, "--ltl", "G P.a", "--format", "json", env={"PYTHONIOENCODING": "ascii"})
    assert shown.json["error"]["file"] == str(path)


# --- no memory --------------------------------------------------------------------------------------------------------


def bounded(megabytes: int) -> Callable[[], None]:
    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    return bound


@pytest.mark.parametrize("megabytes", [50, 52, 90])
def test_no_memory(write: Write, megabytes: int) -> None:
    """For the libraries, or for the work: a limit, and not a fault."""
    done = program("check", write(RING), "--ltl", "G F P.a", preexec_fn=bounded(megabytes))
    assert done.code == 3
    assert done.out == "" or done.out.startswith("unknown")
    assert "Traceback" not in done.err
    assert "out of memory" in done.err + done.out


def test_no_memory_for_the_search(write: Write) -> None:
    done = program("check", write(ENDLESS), *FOR_EVER, "--ltl", "F P.a", preexec_fn=bounded(220))
    assert done.code == 3
    assert "because: out of memory" in done.out
    assert "holds     F P.a" in done.out  # the next one is answered


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "out of memory"),
        (RecursionError(), "out of stack"),
        (OSError(12, "Cannot allocate memory"), "out of memory"),
        (ImportError("x.so: failed to map segment from shared object"), "out of memory"),
    ],
)
def test_no_memory_while_reading(
    run: Run, write: Write, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def load(_: str) -> None:
        raise error

    monkeypatch.setattr("aggmc.cli.options.load_model", load)
    done = run("check", write(RING), "--ltl", "G P.a")
    assert (done.code, done.out, done.err) == (3, "", f"error: {said}\n")


# --- Ctrl-C -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("whole_group", [True, False], ids=["group", "parent"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "{model}", *FOR_EVER],
        ["check", "{model}", *FOR_EVER, "--timeout", "100", "--memory", "50G", "--format", "json"],
    ],
    ids=["text", "json"],
)
def test_interrupt(write: Write, arguments: list[str], whole_group: bool) -> None:
    model = str(write(ENDLESS))
    with started(*(a.replace("{model}", model) for a in arguments)) as process:
        wait_for(lambda: children(process.pid))
        (child,) = children(process.pid)
        (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, "", "")
    assert not alive(child)
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_interrupt_keeps_what_was_answered(write: Write) -> None:
    with started("check", write(ENDLESS), "--ltl", "F P.a", *FOR_EVER) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "holds     F P.a\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err == ""
    assert "violated" not in out


def test_interrupt_of_info_and_automaton(run: Run, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the child it takes long; the parent gets the signal while it waits."""

    def long(*_: object) -> None:
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(100)

    monkeypatch.setattr("aggmc.info._states", long)
    monkeypatch.setattr("aggmc.run.prepare", long)
    for arguments in (["info", write(RING)], ["automaton", "G a"]):
        done = run(*arguments)
        assert done == (130, "", "")
        assert children(os.getpid()) == []


def test_interrupt_while_a_model_is_read(run: Run, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aggmc.cli.options.load_model", lambda _: signal.raise_signal(signal.SIGINT))
    assert run("check", write(RING), "--ltl", "G P.a", "--timeout", "10") == (130, "", "")
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_interrupt_at_any_time(write: Write) -> None:
    """Also while the modules are loaded."""
    for delay in (0.08, 0.16, 0.24):
        with started("check", write(ENDLESS), *FOR_EVER) as process:
            time.sleep(delay)
            os.killpg(process.pid, signal.SIGINT)
            _, err = process.communicate(timeout=20)
        if "__main__.py" in err or process.returncode == 130:  # else Python had not come to the program yet
            assert (process.returncode, err) == (130, "")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_parent_that_is_killed_leaves_no_child(write: Write, number: int) -> None:
    with started("check", write(ENDLESS), *FOR_EVER) as process:
        wait_for(lambda: children(process.pid))
        (child,) = children(process.pid)
        process.send_signal(number)
        process.communicate(timeout=20)
    assert process.returncode == -number
    wait_for(lambda: not alive(child), 10)


def test_child_that_is_killed(write: Write) -> None:
    with started("check", write(ENDLESS), *FOR_EVER, "--ltl", "F P.a") as process:
        wait_for(lambda: children(process.pid))
        os.kill(children(process.pid)[0], signal.SIGKILL)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 3
    assert err == ""
    assert "because: the working process was ended by SIGKILL" in out
    assert "holds     F P.a" in out


# --- a terminal -------------------------------------------------------------------------------------------------------


def test_progress_on_a_terminal(write: Write, terminal: Callable[..., Terminal]) -> None:
    one = terminal("check", write(ENDLESS), "--ltl", "F P.a", *FOR_EVER, "--timeout", "1.5")
    one.read(until=r"\r2 of 2: searching: \d+ nodes, \d+ edges \(\d+ s\)")
    one.read()
    assert one.process.wait(20) == 3
    screen = one.screen()
    assert not any("searching" in line for line in screen)  # it is erased
    assert [line.split()[0] for line in screen if line[:1].isalnum()] == ["holds", "unknown", "2"]


def test_interrupt_on_a_terminal(write: Write, terminal: Callable[..., Terminal]) -> None:
    """The key goes to parent and child."""
    one = terminal("check", write(ENDLESS), *FOR_EVER)
    one.read(until="searching")
    (parent,) = children(one.process.pid)
    (child,) = children(parent)
    one.press(b"\x03")
    one.read()
    assert one.process.wait(20) == 130
    assert not alive(child)
    assert [line for line in one.screen() if line.replace("^C", "").strip()] == []


def test_progress_where_results_go_to_a_file(
    write: Write, tmp_path: Path, terminal: Callable[..., Terminal]
) -> None:
    """It fits the terminal that it is shown on."""
    with (tmp_path / "results").open("w") as file:
        one = terminal("check", write(ENDLESS), *FOR_EVER, "--timeout", "1", columns=20, stdout=file.fileno())
    one.read()
    assert one.process.wait(20) == 3
    lines = [part for part in one.shown.split("\r") if part.strip()]
    assert lines
    assert all(len(line) < 20 for line in lines)
    assert (tmp_path / "results").read_text().startswith("unknown ")


def test_progress_while_a_model_is_read(write: Write, terminal: Callable[..., Terminal]) -> None:
    one = terminal("info", write(long_model()), "--timeout", "1")
    one.read(until="reading the model")
    one.read()
    assert one.process.wait(20) == 3
    assert [line for line in one.screen() if line] == ["error: time limit of 1 s reached while reading the model"]


def test_only_results_are_left_on_a_terminal(write: Write, terminal: Callable[..., Terminal]) -> None:
    one = terminal("check", write(RING), "--ltl", "G F P.a")
    one.read()
    assert one.process.wait(20) == 0
    left = [line.rstrip() for line in one.screen() if line.strip()]
    assert re.fullmatch(r"holds     G F P\.a\n  slap-tgta; .* \d\.\d{3} s", "\n".join(left))


def test_colours_on_a_terminal_only(write: Write, terminal: Callable[..., Terminal]) -> None:
    violated = ("check", write(RING), "--ltl", "G P.a")
    shown = []
    for colours in (True, False):
        one = terminal(*violated, colours=colours)
        one.read()
        assert one.process.wait(20) == 1
        shown.append(one.shown)
    coloured, plain = shown
    assert "\x1b[" in coloured
    assert "\x1b[" not in plain
    assert "\x1b[" not in program(*violated).out


def long_model() -> str:
    """Takes seconds to read."""
    steps = ",\n".join(f"  a -> a {{ guard x == {i % 250}; effect x = x + 1; }}" for i in range(40_000))
    return f"byte x;\nprocess P {{ state a; init a; trans\n{steps};\n}}\nsystem async;\n"


@pytest.mark.parametrize("arguments", [["info"], ["check", "--ltl", "G P.a"]], ids=["info", "check"])
@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (["--timeout", "0.2"], "time limit of 0.2 s reached while reading the model"),
        (["--memory", "1"], "memory limit of 1 MB reached while reading the model"),
    ],
    ids=["time", "memory"],
)
def test_limit_while_a_model_is_read(
    run: Run, write: Write, arguments: list[str], limit: list[str], said: str
) -> None:
    model = write(long_model())
    before = time.monotonic()
    done = run(*arguments, model, *limit, "--format", "json")
    assert time.monotonic() - before < 2
    assert done.code == 3
    assert done.json["error"]["message"] == said
    assert done.err == f"error: {said}\n"


class FakeTerminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_line(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("aggmc.progress.time.monotonic", lambda: now)
    stream = FakeTerminal()
    progress = Progress(stream)
    assert progress.active
    progress("too early")
    assert stream.getvalue() == ""
    now = 101.0
    progress("a long line")
    progress("too early")
    now = 102.0
    progress.prefix = "2 of 3: "
    progress("b")
    assert stream.getvalue() == "\ra long line (1 s)\r2 of 3: b (2 s)  "
    progress.clear()
    progress.clear()
    assert stream.getvalue().endswith("b (2 s)  \r               \r")


def test_progress_is_erased_whenever_the_interrupt_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(FakeTerminal):
        def flush(self) -> None:
            if self.getvalue() == "\rx (0 s)":
                raise KeyboardInterrupt

    monkeypatch.setattr("aggmc.progress._INTERVAL", 0.0)
    stream = Interrupted()
    progress = Progress(stream)
    with pytest.raises(KeyboardInterrupt):
        progress("x")
    progress.clear()
    assert stream.getvalue() == "\rx (0 s)\r       \r"


def test_progress_that_nobody_sees() -> None:
    for stream in (StringIO(), None):
        progress = Progress(stream)
        assert not progress.active
        progress("x")
        progress.clear()
        assert stream is None or stream.getvalue() == ""


def test_progress_on_a_terminal_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(FakeTerminal):
        def write(self, _: str) -> int:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr("aggmc.progress._INTERVAL", 0.0)
    progress = Progress(Gone())
    progress("x")
    assert not progress.active
    progress("x")
    progress.clear()


# --- the same again ---------------------------------------------------------------------------------------------------

PHILOSOPHERS = ["check", "models/philosophers.dve", "--properties", "models/philosophers.properties", "--stats"]
INVARIANT = ["check", "models/readers_writers.dve", "--ltl", "G(Writer.want -> F Writer.write)", "--stats"]


@pytest.mark.parametrize(
    "arguments",
    [
        [*PHILOSOPHERS, "--deadlock", "error"],
        [*PHILOSOPHERS, "--product", "slap", "--format", "json", "--fixpoint", "chaining"],
        [*PHILOSOPHERS, "--product", "tgta", "--format", "json"],
        [*INVARIANT, "--product", "sog", "--format", "json"],
        [*INVARIANT, "--product", "sog-tgta", "--reordering"],
        ["info", "models/elevator.dve", "--format", "json"],
        ["automaton", 'G("x > 1" -> F(b && X !c)) && G F a', "--tgta", "--format", "hoa"],
        ["check", "models/mutex.dve", "--ltl", "G F P_0.CSS"],
    ],
    ids=["text", "slap", "tgta", "sog", "sog-tgta", "info", "automaton", "error"],
)
def test_same_input_same_output(arguments: list[str]) -> None:
    root = Path(__file__).parents[2]
    runs = [program(*arguments, env={"PYTHONHASHSEED": seed}, cwd=root) for seed in ("1", "12345")]
    first, second = ((run.code, without_times(run.out), without_times(run.err)) for run in runs)
    assert first == second

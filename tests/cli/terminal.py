"""The program as a process of its own, while it works: in a group of its own, or in a terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cli_testing import children, command, environment


@contextmanager
def started(*arguments: str | Path, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """The program, in a group of processes of its own."""
    with subprocess.Popen(
        command(*arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        start_new_session=True,
        **options,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


# With the end of its first process a terminal loses what was not yet read: so the program is the second.
SHELL = ["sh", "-c", 'trap : INT; "$@"; code=$?; sleep 0.1; exit $code', "sh"]


class Terminal:
    """A pseudo-terminal with the program in it."""

    def __init__(
        self, arguments: list[str], columns: int = 80, stdout: int | None = None, *, colours: bool = False
    ) -> None:
        self.master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, columns))

        def take() -> None:
            os.setsid()
            import fcntl

            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            SHELL + arguments, stdin=slave, stdout=slave if stdout is None else stdout, stderr=slave, preexec_fn=take,
            env=environment(NO_COLOR="" if colours else "1", TERM="xterm"),
        )  # fmt: skip
        os.close(slave)
        self.shown = ""

    def read(self, seconds: float = 20.0, until: str | None = None) -> str:
        """Until it shows this, or ends."""
        end = time.monotonic() + seconds
        while until is None or re.search(until, self.shown) is None:
            ready, _, _ = select.select([self.master], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"nothing more is shown: {self.shown!r}"
            try:
                data = os.read(self.master, 65536)
            except OSError:  # how a terminal ends
                break
            if not data:
                break
            self.shown += data.decode()
        return self.shown

    def press(self, key: bytes) -> None:
        os.write(self.master, key)

    def screen(self) -> list[str]:
        """What a person sees at the end."""
        lines = []
        for text in self.shown.replace("\r\n", "\n").split("\n"):
            line = ""
            for part in text.split("\r"):
                line = part + line[len(part) :]
            lines.append(line.rstrip())
        return lines

    def close(self) -> None:
        for pid in children(self.process.pid):
            os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        os.close(self.master)


@pytest.fixture(name="terminal")
def terminal_fixture() -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def terminal(*arguments: str | Path, **options: Any) -> Terminal:
        opened.append(Terminal(command(*arguments), **options))
        return opened[-1]

    yield terminal
    for one in opened:
        one.close()

"""One line on a terminal that says what is being done."""

from __future__ import annotations

import os
import time
from typing import TextIO

_INTERVAL = 0.25


class Progress:
    """A line that is overwritten, and erased at the end; silent where the stream is no terminal."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream if stream is not None and stream.isatty() else None
        self._started = self._last = time.monotonic()
        self._shown = 0
        self.prefix = ""

    @property
    def active(self) -> bool:
        """Whether anybody sees it."""
        return self._stream is not None

    def __call__(self, text: str) -> None:
        """Show the text, if the last one has been there long enough."""
        now = time.monotonic()
        if self._stream is None or now - self._last < _INTERVAL:
            return
        self._last = now
        line = f"{self.prefix}{text} ({now - self._started:.0f} s)"
        line = line[: max(1, self._columns() - 1)]
        padded = line.ljust(self._shown)
        self._shown = len(padded)  # before it is written: Ctrl-C may come in between
        self._write("\r" + padded)
        self._shown = len(line)

    def clear(self) -> None:
        """Erase the line: something else is to be written."""
        if self._shown and self._stream is not None:
            self._write("\r" + " " * self._shown + "\r")
            self._shown = 0

    def _columns(self) -> int:
        """Of this terminal: standard output may be another one, or none."""
        assert self._stream is not None
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or 80  # 0 where nobody has told
        except OSError:
            return 80

    def _write(self, text: str) -> None:
        assert self._stream is not None
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:  # a terminal that has gone away is no reason to stop
            self._stream = None

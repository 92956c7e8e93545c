"""A table on a terminal that says what several processes are doing, drawn again and again in the same place."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any, Literal, TextIO

if TYPE_CHECKING:
    from rich.console import Console

_INTERVAL = 0.25
_UP = "\x1b[{}F\x1b[J"  # to the start of the line that many lines above; and erase what is below


class LiveTable:
    """Shown while there is something to see, and erased at the end; silent where the stream is no terminal.

    rich lays the table out. It does not draw it: it would hide the cursor, which a killed program cannot show again.
    """

    def __init__(self, stream: TextIO | None, headings: Sequence[str]) -> None:
        terminal = stream is not None and stream.isatty() and not _is_dumb()
        self._stream = stream if terminal else None
        self._headings = headings
        self._last = time.monotonic()
        self._lines = 0

    @property
    def active(self) -> bool:
        """Whether anybody sees it."""
        return self._stream is not None

    @property
    def due(self) -> bool:
        """Whether what was shown last has been there long enough."""
        return self.active and time.monotonic() - self._last >= _INTERVAL

    def show(self, rows: Sequence[Sequence[str]], caption: str = "") -> None:
        """Show these rows; numbers stand to the right."""
        if self._stream is None:
            return
        self._last = time.monotonic()
        text = self._drawn(rows, caption)
        erased = _UP.format(self._lines) if self._lines else ""
        self._lines = text.count("\n")  # before it is written: Ctrl-C may come in between
        self._write(erased + text)

    def say(self, text: str) -> None:
        """A line that stays, in place of the table."""
        self.clear()
        if self._stream is not None:
            self._write(text + "\n")

    def clear(self) -> None:
        """Erase the table: something else is to be written."""
        if self._lines and self._stream is not None:
            self._write(_UP.format(self._lines))
        self._lines = 0
        self._last = time.monotonic()

    def _drawn(self, rows: Sequence[Sequence[str]], caption: str) -> str:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for column, heading in enumerate(self._headings):
            numbers = all(row[column][:1].isdigit() or not row[column] for row in rows)
            last = column == len(self._headings) - 1  # it gives way where there is no room
            needed = 0 if last else max(map(len, [heading, *(row[column] for row in rows)]))
            justify: Literal["right", "left"] = "right" if numbers and not last else "left"
            table.add_column(heading, justify=justify, min_width=needed, no_wrap=True, overflow="ellipsis")
        console = _console(self._stream)
        room = max(1, console.size.height - 4)  # a table higher than the screen could not be erased
        for row in rows[:room]:
            table.add_row(*(Text(cell) for cell in row))
        with console.capture() as captured:
            console.print(table)
            if len(rows) > room:
                console.print(Text(f"and {len(rows) - room} more"))
            if caption:
                console.print(Text(caption), no_wrap=True, overflow="ellipsis")
        return captured.get()

    def _write(self, text: str) -> None:
        assert self._stream is not None
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:  # a terminal that has gone away is no reason to stop
            self._stream = None


def _console(stream: Any) -> Console:
    from rich.console import Console

    try:
        columns, lines = os.get_terminal_size(stream.fileno())  # of this terminal: standard output may be another one
    except (OSError, ValueError):
        columns, lines = 80, 24
    # it writes nowhere: what it would write is captured
    return Console(
        file=StringIO(), force_terminal=True, width=max(20, (columns or 80) - 1), height=lines or 24, highlight=False
    )


def _is_dumb() -> bool:
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")

"""Every error that aggmc raises on purpose.

    AggmcError                 something a person can act on; never a bug of ours
    ├── InputError             bad input or usage (exit 2), with file, line and column where there are any
    │   ├── ModelError         a run-time error of the model (division by zero, index out of range) that is reachable
    │   └── UnsupportedError   the chosen product cannot answer this property; says which can
    └── LimitReached           time or memory ran out (exit 3, verdict `unknown`)
    InternalError              our own fault (exit 4): a lasso that fails its replay, products that disagree
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a text: a file (or another name for the text), line and column counted from 1."""

    file: str | None = None
    line: int | None = None
    column: int | None = None
    text: str | None = None  # the whole source line, for the caret

    def __str__(self) -> str:
        parts = [self.file or "<text>"]
        if self.line is not None:
            parts.append(str(self.line))
            if self.column is not None:
                parts.append(str(self.column))
        return ":".join(parts)

    def caret(self) -> str:
        """The source line with a caret under the column, or nothing."""
        if self.text is None or self.column is None:
            return ""
        line = self.text.rstrip("\n")
        start = max(0, self.column - 60)  # a line of thousands of characters is shown around the column
        shown = line[start : start + 120]
        lead = "".join("\t" if c == "\t" else " " for c in shown[: self.column - 1 - start])
        return f"\n    {shown}\n    {lead}^"


class AggmcError(Exception):
    """The base of the errors that are shown to a user without a traceback."""

    def __init__(self, message: str, location: Location | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.location = location

    def __str__(self) -> str:
        if self.location is None:
            return self.message
        return f"{self.location}: {self.message}{self.location.caret()}"

    def __reduce__(self) -> tuple[object, ...]:  # errors cross process borders
        return (type(self), (self.message, self.location))

    def in_file(self, file: str) -> AggmcError:
        """This error, said of `file`, where it named no file."""
        location = self.location or Location()
        if location.file is None:
            self.location = replace(location, file=file)
        return self


class InputError(AggmcError):
    """Bad input or usage."""


class ModelError(InputError):
    """A run-time error of the model in a reachable state; `trace`, where there is one, is a run that leads there."""

    trace: Any = None

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.message, self.location), {"trace": self.trace})


class UnsupportedError(InputError):
    """The chosen product cannot answer this property."""


class LimitReached(AggmcError):
    """A time or memory limit was reached: the verdict is unknown."""


class InternalError(Exception):
    """A fault of aggmc itself; the message says what was being checked."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` (did you mean …?)`, or nothing if no known name is close."""
    close = get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f" (did you mean {' or '.join(f'`{c}`' for c in close)}?)" if close else ""

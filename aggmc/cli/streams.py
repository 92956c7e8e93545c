"""What goes to which stream: results to stdout, all else to stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from aggmc.errors import AggmcError, InputError

if TYPE_CHECKING:
    from aggmc.limits import Tick
    from aggmc.model.core import Warned
    from aggmc.progress import Progress

# a line of a file that is no text at all could tell a terminal things
_CONTROLS = {code: "?" for code in [*range(32), *range(127, 160)] if chr(code) not in "\t\n"}


def emit(text: str, end: str = "\n") -> bool:
    """Write to stdout; False if nobody reads it. Raises InputError where it cannot be written."""
    try:
        if sys.stdout is None:
            raise OSError("it is closed")
        sys.stdout.write(text + end)
        sys.stdout.flush()
    except BrokenPipeError:
        _silence()
        return False
    except OSError as error:
        _silence()
        raise unwritable(error) from None
    return True


def asked(prompt: str) -> str | None:
    """A line that a person types, in lower case; None at the end."""
    emit(prompt, end="")
    line = sys.stdin.readline() if sys.stdin is not None else ""
    if not line:
        emit("")
        return None
    return line.strip().lower()


def unwritable(error: OSError) -> InputError:
    """The error of a standard output that takes nothing."""
    return InputError(f"standard output cannot be written: {error.strerror or error}")


def _silence() -> None:
    """What is left in the buffer would fail again when the interpreter ends."""
    try:
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, sys.stdout.fileno())
        os.close(sink)
    except (OSError, AttributeError):
        pass  # no real file: nothing is written at the end


def open_streams() -> None:
    """Where a stream is closed, its number goes to nothing: or else to the next file, for C code to write into."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free


def note(text: str) -> None:
    """A line on stderr."""
    if sys.stderr is None:
        return  # `print` would take stdout instead
    try:
        print(text.translate(_CONTROLS), file=sys.stderr, flush=True)
    except OSError:
        pass  # there is no other place to say it


def tell(error: Exception) -> None:
    """An error on stderr."""
    from aggmc.report import error_text  # late: a page of help needs none of it

    note(error_text(error))
    if not isinstance(error, AggmcError) and os.environ.get("AGGMC_DEBUG"):
        for more in getattr(error, "__notes__", []):
            note(more.rstrip())


def warn(warnings: Iterable[Warned]) -> None:
    """Each warning once."""
    for text in dict.fromkeys(map(str, warnings)):
        note(f"warning: {text}")


def ticking(progress: Progress) -> Tick | None:
    """The progress, if anybody sees it."""
    return progress if progress.active else None

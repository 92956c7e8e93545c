"""Writing files: whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from aggmc.errors import InputError, Location


def write_text(path: str, text: str) -> None:
    """Write a file; raises InputError if that cannot be done, and then leaves what was there."""
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            if target.is_dir():
                raise IsADirectoryError(21, "it is a folder")
            with target.open("w", encoding="utf-8") as stream:  # a device or a pipe
                stream.write(text)
            return
        real = target.resolve()  # a link stays a link
        number, name = tempfile.mkstemp(prefix=f".{real.name[:100]}.", dir=real.parent)
        try:
            with os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace") as stream:
                stream.write(text)
            mode = real.stat().st_mode & 0o777 if real.exists() else 0o666 & ~_umask()
            os.chmod(name, mode)
            os.replace(name, real)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", Location(path)) from None


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask

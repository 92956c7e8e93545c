"""The journal of a batch: one result a line, written as it comes, from which a second run goes on.

The first line says what the file is. A line that was cut off (the program was killed, the disk was full) is dropped;
one program at a time writes to a journal.
"""

from __future__ import annotations

import fcntl
import json
import os
from types import TracebackType
from typing import Any

from aggmc.batch.work import Record
from aggmc.errors import InputError, Location

_HEADER = {"journal": "aggmc batch", "version": 1}


class Journal:
    """A journal that is open; `records` has what was in it, by key, and what was added."""

    def __init__(self, path: str | os.PathLike[str], *, fresh: bool = False) -> None:
        self.path = str(path)
        self.records: dict[str, Record] = {}
        if os.path.exists(path) and not os.path.isfile(path):  # reading a device might never end
            raise InputError("the journal is no regular file", Location(self.path))
        try:
            self._file = open(path, "a+b")  # noqa: SIM115 closed by `close`
        except OSError as error:
            raise self._unwritable(error) from None
        try:
            self._lock()
            if fresh:
                self._file.truncate(0)
            self._read()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, key: str, record: Record) -> None:
        """Write a result down; raises InputError if that cannot be done."""
        self._write({"key": key, **record})
        self.records[key] = record

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError("another run is writing this journal", Location(self.path)) from None
        except OSError:
            pass  # a file system without locks

    def _read(self) -> None:
        self._file.seek(0)
        whole = 0  # bytes of complete lines
        for number, line in enumerate(self._file, 1):
            if not line.endswith(b"\n"):
                break
            self._take(number, line)
            whole += len(line)
        if whole < os.fstat(self._file.fileno()).st_size:
            self._file.truncate(whole)
        if whole == 0:
            self._write(_HEADER)

    def _take(self, number: int, line: bytes) -> None:
        try:
            content = json.loads(line)
            if number == 1:
                if content != _HEADER:
                    raise ValueError
                return
            key = content.pop("key")
            if not isinstance(key, str) or content["result"]["verdict"] is None or "failure" not in content:
                raise ValueError
            content["limits"] = list(content["limits"])
        except (ValueError, KeyError, TypeError, AttributeError):
            what = "this is no journal of `aggmc batch`" if number == 1 else "this line is no result"
            raise InputError(f"{what}: name another file, or remove it", Location(self.path, number)) from None
        self.records[key] = content

    def _write(self, content: dict[str, Any]) -> None:
        line = json.dumps(content).encode() + b"\n"
        before = os.fstat(self._file.fileno()).st_size
        try:
            self._file.write(line)
            self._file.flush()
        except OSError as error:
            self._forget(before)
            raise self._unwritable(error) from None

    def _forget(self, size: int) -> None:
        """Take back half a line, as far as that is possible."""
        try:
            os.ftruncate(self._file.fileno(), size)
        except OSError:
            pass
        try:
            self._file.close()  # it would try to write the rest
        except OSError:
            pass

    def _unwritable(self, error: OSError) -> InputError:
        return InputError(f"the journal cannot be written: {error.strerror or error}", Location(self.path))

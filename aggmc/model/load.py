"""Reading a model file: the language is told by the name's ending, or else by the first word."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from aggmc.errors import InputError, Location
from aggmc.model.core import Model

#: ending -> the module whose `load(text, path)` reads it
LANGUAGES = {
    ".dve": "aggmc.model.dve",
    ".pnml": "aggmc.model.pnml",
    ".etf": "aggmc.model.etf",
    ".hoa": "aggmc.model.hoa",
}
MAX_BYTES = 64 * 1024 * 1024


def read_text(path: str | os.PathLike[str], *, limit: int = MAX_BYTES) -> str:
    """The text of an input file; raises InputError if there is none."""
    if not str(path):
        raise InputError("the name of the file is empty")
    file = Path(path)
    try:
        if not file.is_dir() and file.stat().st_size > limit:
            raise InputError(f"the file has {file.stat().st_size} bytes; at most {limit} are read", Location(str(path)))
        with file.open("rb") as stream:
            data = stream.read(limit + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", Location(str(path))) from None
    if len(data) > limit:
        raise InputError(f"the file has more than {limit} bytes", Location(str(path)))
    if b"\0" in data:
        raise InputError("this is a binary file", Location(str(path)))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")  # comments in old models
    return text.replace("\r\n", "\n").replace("\r", "\n")


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model: DVE (`.dve`), Petri nets (`.pnml`), tables (`.etf`) or a Kripke structure in HOA (`.hoa`).

    Raises `aggmc.InputError`, with line and column, if it cannot be read.
    """
    return model_of(read_text(path), str(path))


def model_of(text: str, path: str) -> Model:
    """As `load_model`, of a file that has been read; `path` tells its language, and stands in messages."""
    return _loader(path, text)(text, path)


def _loader(path: str, text: str) -> Callable[[str, str | None], Model]:
    ending = Path(path).suffix.lower()
    if ending not in LANGUAGES and text.lstrip().startswith("HOA:"):
        ending = ".hoa"
    if ending not in LANGUAGES:
        known = ", ".join(LANGUAGES)
        message = f"the language of the model is not known by its ending: it should be one of {known}"
        raise InputError(message, Location(path))
    load: Callable[[str, str | None], Model] = import_module(LANGUAGES[ending]).load
    return load

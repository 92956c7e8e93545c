"""The table of formats, by the ending of a file's name; the longest ending counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aggmc.errors import InputError, Location, did_you_mean
from aggmc.trace.formats import dot, itf, json_format, nusmv, text
from aggmc.trace.formats.document import Claim, Document


@dataclass(frozen=True, slots=True)
class Format:
    """How a format is written and, where it is, read."""

    help: str
    write: Callable[[Document], str]
    read: Callable[[str, str], Claim] | None = None


FORMATS: dict[str, Format] = {
    ".itf.json": Format("Informal Trace Format of Apalache and Quint", itf.write, itf.read),
    ".json": Format("everything that is known of the run", json_format.write, json_format.read),
    ".xml": Format("NuSMV's XML trace", nusmv.write),
    ".dot": Format("Graphviz", dot.write),
    ".txt": Format("text", text.write),
}


def ending_of(path: str, *, to_read: bool = False) -> str:
    """The ending of a file name that the table knows; raises InputError if there is none."""
    known = [ending for ending, form in FORMATS.items() if form.read is not None or not to_read]
    for ending in known:
        if path.lower().endswith(ending):
            return ending
    what = "a trace that can be read" if to_read else "a trace"
    dot_at = path.rfind(".")
    guess = did_you_mean(path[dot_at:], known) if dot_at >= 0 else ""
    raise InputError(f"the name of {what} ends with one of {', '.join(known)}{guess}", Location(path))


def write(path: str, document: Document) -> str:
    """The text of a file of this name."""
    return FORMATS[ending_of(path)].write(document)


def read(path: str, content: str) -> Claim:
    """What a file of this name says."""
    reader = FORMATS[ending_of(path, to_read=True)].read
    assert reader is not None
    return reader(content, path)

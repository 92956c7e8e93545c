"""Property files: one LTL property a line.

    # comments, and // comments
    mutex: G !(P_0.CS && P_1.CS)
    G F P_0.CS                      // the name is optional
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from aggmc.errors import Location
from aggmc.model.load import read_text

_COMMENT = re.compile(r'"(?:\\.|[^"\\])*(?:"|$)|(#|//)')
# `::` and `:=` are no end of a name, so that what is wrong is said of the formula
_NAME = re.compile(r"\s*([A-Za-z_][\w.-]*)\s*:(?![:=])")


@dataclass(frozen=True, slots=True)
class Written:
    """A property as a user wrote it, not yet read; `where` is the place of its first character.

    Where `automaton` says which runs it accepts, it is the text of an automaton and not a formula.
    """

    formula: str
    name: str | None
    where: Location
    automaton: Literal["good", "bad"] | None = None


def read_properties(path: str | os.PathLike[str]) -> list[Written]:
    """The properties of a file, in order; raises InputError if it cannot be read."""
    return list(_lines(read_text(path), str(path)))


def _lines(text: str, file: str) -> Iterator[Written]:
    for number, line in enumerate(text.split("\n"), 1):
        content = _without_comment(line)
        if not content.strip():
            continue
        name = _NAME.match(content)
        start = name.end() if name else 0
        formula = content[start:].strip()
        column = len(content) - len(content[start:].lstrip()) + 1 if formula else start + 1
        yield Written(formula, name[1] if name else None, Location(file, number, column, line))


def _without_comment(line: str) -> str:
    for match in _COMMENT.finditer(line):
        if match[1]:
            return line[: match.start()].rstrip()
    return line.rstrip()

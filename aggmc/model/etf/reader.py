"""Reading ETF: sections of lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from aggmc.errors import InputError, Location

_LARGEST = 2**31 - 1
_DECLARATION = re.compile(r"((?:\\.|[^\s:\\])+):((?:\\.|[^\s:\\])+)")
_PAIR = re.compile(r"(-?\d+)/(-?\d+)")
_NUMBER = re.compile(r"-?\d+")
_VALUE = re.compile(r'"([^"]*)"|#((?:[0-9A-Fa-f]{2})*)#|(\S+)')


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the state vector or of the edges; None where the file says `_`."""

    name: str | None
    sort: str | None


@dataclass(frozen=True, slots=True)
class Row:
    """A step: the values before and after in the columns that it touches, and the labels of the edge."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    labels: tuple[str | int, ...]


@dataclass(slots=True)
class Group:
    """Rows of one section that touch the same columns."""

    line: int
    columns: tuple[int, ...]
    rows: list[Row] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Map:
    """A state label: the value where the state has the given values (None: any)."""

    name: str
    sort: str
    line: int
    entries: tuple[tuple[tuple[int | None, ...], str | int], ...]


@dataclass(slots=True)
class Tables:
    """A whole file."""

    columns: list[Column] = field(default_factory=list)
    edges: list[Column] = field(default_factory=list)
    initial: list[tuple[int, ...]] = field(default_factory=list)
    sorts: dict[str, list[str]] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)
    sections: int = 0  # of steps
    maps: list[Map] = field(default_factory=list)


def read(text: str, path: str | None = None) -> Tables:
    """Read an ETF file."""
    return _Reader(text, path).tables()


class _Reader:
    def __init__(self, text: str, path: str | None) -> None:
        self.lines = text.split("\n")
        self.path = path
        self.at = 0  # index of the next line
        self.found = Tables()
        self.seen: set[str] = set()

    def error(self, message: str, column: int = 1, line: int | None = None) -> InputError:
        number = self.at if line is None else line
        shown = self.lines[number - 1] if 0 < number <= len(self.lines) else None
        return InputError(message, Location(self.path, number, column, shown))

    def next_line(self) -> str | None:
        """The next line that is not empty; None at the end."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            self.at += 1
            if line.strip():
                return line
        return None

    def tables(self) -> Tables:
        order = []
        while (line := self.next_line()) is not None:
            words = line.split()
            if words[0] != "begin" or len(words) < 2:
                raise self.error("a section should begin here, as in `begin state`")
            kind = words[1]
            order.append(kind)
            if len(order) < 3 and kind != ("state", "edge")[len(order) - 1]:
                missing = ("state", "edge")[len(order) - 1]
                raise self.error(f"`begin {missing}` should come here: state, then edge, then the other sections")
            self._section(kind, words[2:])
        for kind in ("state", "edge", "init"):
            if kind not in order:
                raise InputError(f"the section `{kind}` is missing", Location(self.path, max(self.at, 1)))
        if not self.found.initial:
            raise InputError("there is no initial state", Location(self.path))
        return self.found

    def _section(self, kind: str, rest: list[str]) -> None:
        readers: dict[str, Callable[[list[str]], None]] = {
            "state": self._state,
            "edge": self._edge,
            "init": self._init,
            "trans": self._trans,
            "map": self._map,
            "sort": self._sort,
        }
        if kind not in readers:
            raise self.error(f"the section `{kind}` is not known: it is one of {', '.join(readers)}", 7)
        if kind in ("state", "edge", "init"):
            if kind in self.seen:
                raise self.error(f"a second section `{kind}`")
            self.seen.add(kind)
        readers[kind](rest)

    def _entries(self, kind: str) -> list[tuple[int, str]]:
        """The lines up to the end of the section, with their numbers."""
        start = self.at
        result: list[tuple[int, str]] = []
        while (line := self.next_line()) is not None:
            words = line.split()
            if words[0] == "end" and len(words) > 1 and words[1] == kind:
                return result
            if words[0] == "begin" and len(words) > 1 and words[1] in ("trans", "map", "sort", "init"):
                raise self.error(f"`end {kind}` is missing before this line (the section began in line {start})")
            result.append((self.at, line))
        raise self.error(f"the file ends before `end {kind}`", line=start)

    # -- sections ------------------------------------------------------------------------------------------------

    def _declarations(self, kind: str) -> list[Column]:
        result = []
        for number, line in self._entries(kind):
            end = 0
            for match in re.finditer(r"(?:\\.|[^\s\\])+|\\", line):
                declared = _DECLARATION.fullmatch(match[0])
                if declared is None:
                    raise self.error("a column is written as name:sort", match.start() + 1, number)
                result.append(Column(_name(declared[1]), _name(declared[2])))
                end = match.end()
            assert not line[end:].strip()
        names = [c.name for c in result if c.name is not None]
        if len(set(names)) < len(names):
            twice = next(n for n in names if names.count(n) > 1)
            raise self.error(f"the column `{twice}` is declared twice")
        return result

    def _state(self, _: list[str]) -> None:
        self.found.columns = self._declarations("state")
        if not self.found.columns:
            raise self.error("the state has no column")

    def _edge(self, _: list[str]) -> None:
        self.found.edges = self._declarations("edge")

    def _init(self, _: list[str]) -> None:
        count = len(self.found.columns)
        for number, line in self._entries("init"):
            words = line.split()
            if len(words) != count:
                raise self.error(f"an initial state has {count} values, not {len(words)}", 1, number)
            self.found.initial.append(tuple(self._number(w, line, number) for w in words))

    def _trans(self, _: list[str]) -> None:
        self.found.sections += 1
        count, labels = len(self.found.columns), len(self.found.edges)
        groups: dict[tuple[int, ...], Group] = {}
        for number, line in self._entries("trans"):
            words = _words(line, count)
            if len(words) < count:
                raise self.error(f"a step has {count} columns, not {len(words)}", 1, number)
            touched: list[int] = []
            before: list[int] = []
            after: list[int] = []
            for k in range(count):
                if words[k] != "*":
                    pair = _PAIR.fullmatch(words[k])
                    if pair is None:
                        column = _column(line, words[k])
                        raise self.error("`*` or two numbers, as in 0/1, should stand here", column, number)
                    touched.append(k)
                    before.append(self._number(pair[1], line, number))
                    after.append(self._number(pair[2], line, number))
            if len(words) - count != labels:
                message = f"{labels} edge labels should follow the {count} columns, not {len(words) - count}"
                raise self.error(message, 1, number)
            columns = tuple(touched)
            group = groups.get(columns)
            if group is None:
                group = groups[columns] = Group(number, columns)
                self.found.groups.append(group)
            group.rows.append(Row(tuple(before), tuple(after), tuple(map(_label, words[count:]))))

    def _map(self, rest: list[str]) -> None:
        declared = _DECLARATION.fullmatch(rest[0]) if len(rest) == 1 else None
        if declared is None:
            raise self.error("a map is declared as name:sort")
        line_of_map, count = self.at, len(self.found.columns)
        entries = []
        for number, line in self._entries("map"):
            words = _words(line, count)
            if len(words) != count + 1:
                raise self.error(f"a map's entry has {count} values and a result, not {len(words)} words", 1, number)
            pattern = tuple(None if w == "*" else self._number(w, line, number) for w in words[:count])
            entries.append((pattern, _label(words[count])))
        name, sort = _unescaped(declared[1]), _unescaped(declared[2])
        self.found.maps.append(Map(name, sort, line_of_map, tuple(entries)))

    def _sort(self, rest: list[str]) -> None:
        if len(rest) != 1:
            raise self.error("a sort has one name")
        values = []
        for number, line in self._entries("sort"):
            match = _VALUE.fullmatch(line.strip())
            if match is None:
                raise self.error("a value is a word, a text in double quotes, or hexadecimal as #616263#", 1, number)
            values.append(str(_label(line.strip(), value=True)))
        name = _unescaped(rest[0])
        if name in self.found.sorts:
            raise self.error(f"a second section for the sort `{name}`")
        self.found.sorts[name] = values

    def _number(self, word: str, line: str, number: int) -> int:
        if not _NUMBER.fullmatch(word):
            raise self.error("a number should stand here", _column(line, word), number)
        if len(word) > 11 or abs(int(word)) > _LARGEST:
            raise self.error(f"this number is larger than {_LARGEST}", _column(line, word), number)
        return int(word)


def _column(line: str, word: str) -> int:
    return line.find(word) + 1


def _words(line: str, columns: int) -> list[str]:
    """The columns, which are words, and what follows, which may be quoted."""
    if '"' not in line:
        return line.split()
    words = line.split(None, columns)
    rest = words[columns] if len(words) > columns else ""
    return words[:columns] + [m[0] for m in _VALUE.finditer(rest)]


def _name(text: str) -> str | None:
    return None if text == "_" else _unescaped(text)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _label(word: str, *, value: bool = False) -> str | int:
    """A label or the value of a sort: a number names the value of that number, everything else is itself."""
    match = _VALUE.fullmatch(word)
    assert match is not None
    if match[1] is not None:
        return match[1]
    if match[2] is not None:
        return bytes.fromhex(match[2]).decode("latin-1")
    return word if value or not _NUMBER.fullmatch(word) or len(word) > 11 else int(word)

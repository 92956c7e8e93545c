"""The syntax tree of a DVE text: what was written, before any name is looked up."""

from __future__ import annotations

from dataclasses import dataclass

from aggmc.errors import Location

#: line and column, from 1
Position = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Source:
    """A text and the name of its file: turns positions into locations."""

    text: str
    path: str | None
    lines: tuple[str, ...]

    @staticmethod
    def of(text: str, path: str | None) -> Source:
        """The source for `text`."""
        return Source(text, path, tuple(text.split("\n")))  # not splitlines: lines are counted as the lexer does

    def location(self, at: Position) -> Location:
        """The location of a position, with its source line."""
        line, column = at
        shown = self.lines[line - 1] if 0 < line <= len(self.lines) else None
        return Location(self.path, line, column, shown)


@dataclass(frozen=True, slots=True)
class Number:
    """A literal; `true` and `false` are 1 and 0 that are known to be Boolean."""

    value: int
    at: Position
    boolean: bool = False


@dataclass(frozen=True, slots=True)
class Ref:
    """`name`, `name[index]`, `process.name`, `process->name`, `process->name[index]`."""

    process: str | None
    link: str | None  # "." or "->"
    name: str
    index: Expression | None
    at: Position

    def __str__(self) -> str:
        return f"{self.process or ''}{self.link or ''}{self.name}" + ("[…]" if self.index is not None else "")


@dataclass(frozen=True, slots=True)
class Unary:
    """`-e`, `~e` or `!e`."""

    op: str
    operand: Expression
    at: Position


@dataclass(frozen=True, slots=True)
class Binary:
    """Two operands; `op` is an arithmetic, bitwise or comparison operator or `imply`."""

    op: str
    left: Expression
    right: Expression
    at: Position


@dataclass(frozen=True, slots=True)
class Junction:
    """A chain of `&&` (op "and") or of `||` (op "or"), kept flat: generated models have chains of thousands."""

    op: str
    operands: tuple[Expression, ...]
    at: Position


Expression = Number | Ref | Unary | Binary | Junction


@dataclass(frozen=True, slots=True)
class Identifier:
    """A name where it stands."""

    name: str
    at: Position


@dataclass(frozen=True, slots=True)
class Declarator:
    """`name[size] = initial`, of a constant or a variable."""

    name: Identifier
    type: str
    is_const: bool
    size: Expression | None
    initial: Expression | tuple[Expression, ...] | None


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel; `types` is None where it was declared without, `size` None or 0 where it has no buffer."""

    name: Identifier
    types: tuple[str, ...] | None
    size: Expression | None


@dataclass(frozen=True, slots=True)
class Sync:
    """`sync channel!payload` or `sync channel?payload`."""

    channel: Identifier
    is_send: bool
    payload: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Assignment:
    """`target = value`; `x++` is read as `x = x + 1`."""

    target: Ref
    value: Expression
    at: Position


@dataclass(frozen=True, slots=True)
class Transition:
    """`source -> target { guard …; sync …; effect …; }`."""

    source: Identifier
    target: Identifier
    guards: tuple[Expression, ...]
    sync: Sync | None
    effects: tuple[Assignment, ...]
    at: Position


@dataclass(frozen=True, slots=True)
class Assertion:
    """`assert location: condition`."""

    location: Identifier
    condition: Expression
    text: str


@dataclass(frozen=True, slots=True)
class Process:
    """A process with what its clauses declare."""

    name: Identifier
    declarations: tuple[Declarator, ...]
    states: tuple[Identifier, ...]
    inits: tuple[Identifier, ...]
    commits: tuple[Identifier, ...]
    accepts: tuple[Identifier, ...]
    assertions: tuple[Assertion, ...]
    transitions: tuple[Transition, ...]


Item = Declarator | Channel | Process


@dataclass(frozen=True, slots=True)
class Module:
    """A whole model; `mixed` are the places where `&&` and `||` stand side by side without brackets."""

    source: Source
    items: tuple[Item, ...]
    is_sync: bool
    system_at: Position
    mixed: tuple[Position, ...]

"""A DVE model with every name looked up: what the lowering and the interpreter both read.

Variables are numbered flat, one for each scalar, array cell, process location and buffer cell. An *action* is what
may happen in one step; its number is the number of the core event that the lowering makes of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aggmc.model.core import State, Variable, Warned
from aggmc.model.dve.ast import Position, Source

#: type -> the values it holds
RANGES = {"byte": (0, 255), "int": (-32768, 32767)}

COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})


@dataclass(frozen=True, slots=True)
class Const:
    """A number; `boolean` if it was written as `true` or `false`."""

    value: int
    boolean: bool = False


@dataclass(frozen=True, slots=True)
class Var:
    """A variable, or an array cell with a constant index."""

    index: int


@dataclass(frozen=True, slots=True)
class Cell:
    """An array cell: the variable number `base` + value of `index`, which errs outside 0..`size`-1."""

    base: int
    size: int
    index: Node
    name: str
    at: Position


@dataclass(frozen=True, slots=True)
class At:
    """A process (by its location variable) is at a location."""

    variable: int
    location: int


@dataclass(frozen=True, slots=True)
class Unary:
    """`-`, `~` or `!`."""

    op: str
    operand: Node
    at: Position


@dataclass(frozen=True, slots=True)
class Binary:
    """An operator on two operands; `/`, `%`, `<<` and `>>` may err."""

    op: str
    left: Node
    right: Node
    at: Position


@dataclass(frozen=True, slots=True)
class Junction:
    """`and` or `or` of operands, evaluated from left to right only as far as needed."""

    op: str
    operands: tuple[Node, ...]


Node = Const | Var | Cell | At | Unary | Binary | Junction
Target = Var | Cell


def is_boolean(node: Node) -> bool:
    """The node's meaning is true or false, not a number."""
    match node:
        case At() | Junction():
            return True
        case Const():
            return node.boolean
        case Unary():
            return node.op == "!"
        case Binary():
            return node.op in COMPARISONS or node.op == "imply"
        case _:
            return False


@dataclass(frozen=True, slots=True)
class Assign:
    """`target := value`, cut to the target's type."""

    target: Target
    low: int
    high: int
    value: Node
    at: Position


@dataclass(frozen=True, slots=True)
class Receive:
    """A variable that takes a received value, cut to its type."""

    target: Target
    low: int
    high: int
    at: Position


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel; a buffered one owns `length` and the cells from `first` on (message by message)."""

    name: str
    types: tuple[str, ...] | None  # None: values pass as they are
    size: int
    length: int
    first: int

    @property
    def arity(self) -> int:
        """The number of values in a message of a typed channel."""
        return len(self.types or ())


@dataclass(frozen=True, slots=True)
class Sync:
    """What a transition does with its channel: sends `values` or receives into `targets`."""

    channel: Channel
    is_send: bool
    values: tuple[Node, ...]
    targets: tuple[Receive, ...]


@dataclass(frozen=True, slots=True)
class Transition:
    """A transition of process number `process`; `source` and `target` are location numbers."""

    process: int
    source: int
    target: int
    guards: tuple[Node, ...]
    sync: Sync | None
    effects: tuple[Assign, ...]
    at: Position


@dataclass(frozen=True, slots=True)
class Assertion:
    """`condition` must hold whenever the process is at the location."""

    process: int
    location: int
    condition: Node
    text: str
    at: Position


@dataclass(frozen=True, slots=True)
class Process:
    """A process: its location variable, locations, committed locations and transitions."""

    name: str
    variable: int
    locations: tuple[str, ...]
    committed: frozenset[int]
    transitions: tuple[Transition, ...]
    at: Position


@dataclass(frozen=True, slots=True)
class Action:
    """One step: a transition; a sender's and a receiver's; in a synchronous system one of each process.

    Guards are tested in the order of `transitions`.
    """

    transitions: tuple[Transition, ...]
    rendezvous: bool = False


@dataclass(frozen=True, slots=True)
class Symbol:
    """What a name of a scalar, an array or a constant stands for; `size` is None for no array."""

    name: str
    type: str
    size: int | None
    base: int = 0  # the first variable
    constants: tuple[int, ...] | None = None  # the value or values of a constant


@dataclass(frozen=True, slots=True)
class Scope:
    """The names of a model, for looking up propositions later."""

    globals: Mapping[str, Symbol]
    locals: Mapping[str, Mapping[str, Symbol]]  # process -> name -> symbol
    locations: Mapping[str, Mapping[str, int]]  # process -> location -> number
    location_variables: Mapping[str, int]
    channels: Mapping[str, Channel]


@dataclass(frozen=True, slots=True)
class Program:
    """A whole model, resolved."""

    source: Source
    variables: tuple[Variable, ...]
    initial: State
    processes: tuple[Process, ...]
    actions: tuple[Action, ...]
    is_sync: bool
    assertions: tuple[Assertion, ...]
    scope: Scope
    warnings: tuple[Warned, ...]
    committed_processes: tuple[tuple[int, Process], ...]  # those with committed locations, with their numbers

    def is_committed(self, transition: Transition) -> bool:
        """The transition leaves a committed location."""
        return transition.source in self.processes[transition.process].committed

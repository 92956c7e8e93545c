"""What a model is, whatever language it was written in.

A state is a tuple of integers, one per variable. A step is an event: it may fire where every *move*'s location
variable has its source value and the guard holds, and then all updates happen *at once* (ordered effects, rendezvous
and channels are composed by the front-end). An event given by a *table* lists its steps instead.

Where `error` holds, firing the event would be an error of the model (an index out of range, a division by zero):
there the step does not exist, and the state is no deadlock either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from aggmc.errors import Location
from aggmc.model.expr import FALSE, TRUE, Expr

State = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable with a finite domain [low, high]; `names` are shown instead of values where there are any."""

    name: str
    type: str  # "byte", "int", "location", "bool", …: for people
    low: int
    high: int
    names: tuple[str, ...] | None = None  # the name of value low + i
    tight: bool = False  # the domain is known to be small: no analysis is worth its time

    def show(self, value: int) -> int | str:
        """The value as a person reads it."""
        if self.names is not None and 0 <= value - self.low < len(self.names):
            return self.names[value - self.low]
        return value

    def read(self, shown: int | str) -> int:
        """The value that `show` shows so; raises ValueError if there is none."""
        if self.names is not None and shown in self.names:
            return self.low + self.names.index(str(shown))
        if not isinstance(shown, int) or self.show(shown) != shown:
            raise ValueError(f"{shown!r} is no value of {self.name}")
        return shown


@dataclass(frozen=True, slots=True)
class Move:
    """A change of a process's location in an event (source and target may be equal)."""

    variable: int
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Actor:
    """Who takes part in an event, as it is shown to a person."""

    process: str | None
    source: str | None
    target: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class Table:
    """Steps listed one by one: over `variables`, from the first values to the second."""

    variables: tuple[int, ...]
    rows: tuple[tuple[State, State], ...]

    @property
    def changing(self) -> tuple[bool, ...]:
        """For each of the variables whether some step changes it."""
        return tuple(any(old[k] != new[k] for old, new in self.rows) for k in range(len(self.variables)))


@dataclass(frozen=True, slots=True)
class Event:
    """A guarded command with simultaneous updates, or a table."""

    name: str
    location: Location
    actor: Actor
    partner: Actor | None = None  # the other side of a rendezvous
    moves: tuple[Move, ...] = ()
    guard: Expr = TRUE
    updates: tuple[tuple[int, Expr], ...] = ()
    error: Expr = FALSE
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Assertion:
    """An expression that must be true in every reachable state; `holds` is total, as all expressions are."""

    name: str
    text: str
    location: Location
    holds: Expr
    error: Expr = FALSE


@dataclass(frozen=True, slots=True)
class Proposition:
    """A Boolean expression of the model's language, as a property uses it."""

    text: str
    holds: Expr
    error: Expr = FALSE


@dataclass(frozen=True, slots=True)
class Warned:
    """Something worth saying about the input that is no error."""

    message: str
    location: Location | None = None

    def __str__(self) -> str:
        if self.location is None:
            return self.message
        return f"{self.location}: {self.message}{self.location.caret()}"


class Interpreter(Protocol):
    """Runs the model one state at a time: the oracle, the replayer and the explicit products.

    Where a front-end can, it runs the syntax tree and not the lowered events, so that a fault of the lowering is seen.
    """

    def initial_states(self) -> list[State]:
        """The initial states."""

    def successors(self, state: State) -> list[tuple[int, State]]:
        """(event index, next state) for every step, in the order of the events; steps that err are left out."""

    def is_dead(self, state: State) -> bool:
        """No step leaves the state, not even one that errs."""

    def check_errors(self, state: State) -> None:
        """Raise the ModelError, with its line, of the first step from this state that errs, if one does."""

    def holds(self, proposition: str, state: State) -> bool:
        """The value of a proposition, given as a property writes it; raises ModelError if it errs."""


class Frontend(Protocol):
    """What a language gives beside the lowered model."""

    def interpreter(self) -> Interpreter:
        """An interpreter of the model."""

    def proposition(self, text: str, *, quoted: bool) -> tuple[Proposition, Sequence[Warned]]:
        """What an atomic proposition means; raises InputError (with a column of `text`) if it means nothing."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model, lowered, with its front-end."""

    name: str
    language: str
    source: str  # the text it was read from
    variables: tuple[Variable, ...]
    initial: tuple[State, ...]
    events: tuple[Event, ...]
    frontend: Frontend
    processes: tuple[str, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    warnings: tuple[Warned, ...] = ()
    path: str | None = None
    index: Mapping[str, int] = field(default_factory=dict)  # variable name -> index

    def show_state(self, state: State) -> dict[str, int | str]:
        """A state as variable name -> value, as a person reads it."""
        return {v.name: v.show(x) for v, x in zip(self.variables, state, strict=True)}

    def read_state(self, shown: Mapping[str, int | str]) -> State:
        """The state that `show_state` shows so."""
        return tuple(v.read(shown[v.name]) for v in self.variables)


def reachable(interpreter: Interpreter) -> Iterator[State]:
    """Every reachable state, breadth first."""
    seen = dict.fromkeys(interpreter.initial_states())
    queue = list(seen)
    while queue:
        fresh: list[State] = []
        for state in queue:
            yield state
            for _, target in interpreter.successors(state):
                if target not in seen:
                    seen[target] = None
                    fresh.append(target)
        queue = fresh

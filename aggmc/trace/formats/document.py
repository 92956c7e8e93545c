"""A run with what it is a run of; and what a file claims about one."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field

from aggmc.trace.trace import Trace, Value

KINDS = ("ltl", "assert", "deadlock", "error", "simulation")


@dataclass(frozen=True, slots=True)
class Document:
    """What is written into a file."""

    trace: Trace
    model: str
    language: str
    kind: str  # one of KINDS
    property: str | None = None
    deadlock: str = "stutter"

    @builtins.property  # the plain name is a field here
    def title(self) -> str:
        """One line that says what the run shows."""
        match self.kind:
            case "ltl":
                return f"a run that violates {self.property}"
            case "assert":
                return f"a run to a failure of assert {self.property}"
            case "deadlock":
                return "a run to a deadlock"
            case "error":
                return "a run to an error of the model"
            case _:
                return "a simulated run"


@dataclass(frozen=True, slots=True)
class ClaimedStep:
    """What a file says of a step beside its states; None where it says nothing."""

    event: str | None = None
    deadlock: bool = False  # explicitly a repetition of a deadlock
    changes: Mapping[str, tuple[Value, Value]] | None = None
    actor: Mapping[str, Value | None] = field(default_factory=dict)  # process, from, to, line: what the file has of it
    partner: Mapping[str, Value | None] | None = None  # None: the file says nothing of a partner


@dataclass(frozen=True, slots=True)
class Claim:
    """What a file says: nothing of it is believed before it was replayed."""

    states: tuple[Mapping[str, Value], ...]  # one for each position
    loop: int | None  # where the last state goes on
    steps: tuple[ClaimedStep, ...] | None = None
    kind: str | None = None
    property: str | None = None
    deadlock: str | None = None
    propositions: Mapping[str, tuple[bool, ...]] = field(default_factory=dict)
    closing: Mapping[str, Value] | None = None  # the state after the last step of a cycle, where the file repeats it

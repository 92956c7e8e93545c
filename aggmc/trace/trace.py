"""Counterexamples as people and scripts read them, and their replay.

No lasso is shown before `replay` has run it: the interpreter must make every step, and Spot must find that the run
violates the property.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from aggmc.errors import InternalError
from aggmc.ltl.translate import Property
from aggmc.model.core import Actor, Interpreter, Model, State
from aggmc.trace.evidence import Evidence, evidence
from aggmc.trace.lasso import Lasso

Value = int | str


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a run; `event` is None where a deadlock is repeated. `actor` is the one that the event names."""

    event: str | None
    actor: Actor | None
    partner: Actor | None
    state: Mapping[str, Value]
    changes: Mapping[str, tuple[Value, Value]]

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON format."""
        event = None
        if self.event is not None and self.actor is not None:
            event = {"name": self.event, **describe(self.actor)}
        return {
            "event": event,
            "partner": describe(self.partner) if self.partner is not None else None,
            "state": dict(self.state),
            "changes": {name: list(pair) for name, pair in self.changes.items()},
        }


@dataclass(frozen=True, slots=True)
class Trace:
    """A run: from `initial` by `prefix`, then `cycle` for ever (empty if the run is finite)."""

    initial: Mapping[str, Value]
    prefix: tuple[Step, ...]
    cycle: tuple[Step, ...]
    evidence: Evidence | None = None

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON format."""
        return {
            "initial": dict(self.initial),
            "prefix": [s.to_dict() for s in self.prefix],
            "cycle": [s.to_dict() for s in self.cycle],
            **(self.evidence.to_dict() if self.evidence is not None else {}),
        }

    def to_text(self, view: str = "steps") -> str:
        """As `aggmc check` prints it; the views are `steps`, `table` and `lanes`."""
        # views know traces, and not the other way round
        return str(import_module("aggmc.trace.views.all").show(self, view))

    def _repr_html_(self) -> str:
        return str(import_module("aggmc.html.notebook").trace_cell(self))

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps, those of the cycle once."""
        return self.prefix + self.cycle

    @property
    def states(self) -> tuple[Mapping[str, Value], ...]:
        """The state at each position: of a lasso, the last step leads back to one of them."""
        found = (self.initial, *(step.state for step in self.steps))
        return found[:-1] if self.cycle else found

    def position(self, steps: int) -> int:
        """The position of the state after so many steps, at most once round the cycle."""
        return len(self.prefix) if self.cycle and steps == len(self.steps) else steps


def describe(actor: Actor) -> dict[str, Any]:
    """As in the JSON format."""
    return {"process": actor.process, "from": actor.source, "to": actor.target, "line": actor.line}


def replay(
    model: Model, interpreter: Interpreter, lasso: Lasso, prop: Property | None = None, *, stutter: bool = True
) -> Trace:
    """Run a lasso; raises InternalError if the interpreter or Spot refuses it."""
    states = lasso.states
    if not states or states[0] not in interpreter.initial_states():
        raise InternalError("replay: the run does not begin in an initial state")
    if lasso.loop is not None and not 0 <= lasso.loop < len(states):
        raise InternalError("replay: the run has no cycle")
    followed = list(states[1:]) + ([states[lasso.loop]] if lasso.loop is not None else [])
    steps = [
        _replayed(model, interpreter, old, new, number, stutter)
        for number, (old, new) in enumerate(zip(states, followed, strict=False), 1)
    ]
    said = None
    if prop is not None:
        if lasso.loop is None:
            raise InternalError("replay: a violation of an LTL property is an infinite run")
        letters = [_letter(prop, interpreter, s) for s in states]
        if not prop.accepts_lasso(letters[: lasso.loop], letters[lasso.loop :]):
            raise InternalError(f"replay: Spot says that the run found does not violate {prop.text}")
        said = evidence(prop, letters, lasso.loop)
    cut = len(steps) if lasso.loop is None else lasso.loop
    return Trace(model.show_state(states[0]), tuple(steps[:cut]), tuple(steps[cut:]), said)


def _letter(prop: Property, interpreter: Interpreter, state: State) -> int:
    return sum(interpreter.holds(atom.text, state) << i for i, atom in enumerate(prop.atoms))


def step_of(model: Model, event_number: int | None, old: State, new: State) -> Step:
    """A step as it is shown; without an event, a deadlock is repeated."""
    before, after = model.show_state(old), model.show_state(new)
    changes = {name: (before[name], after[name]) for name in after if before[name] != after[name]}
    if event_number is None:
        return Step(None, None, None, after, changes)
    event = model.events[event_number]
    return Step(event.name, event.actor, event.partner, after, changes)


def _replayed(model: Model, interpreter: Interpreter, old: State, new: State, number: int, stutter: bool) -> Step:
    for event_number, target in interpreter.successors(old):
        if target == new:
            return step_of(model, event_number, old, new)
    if old == new and stutter and interpreter.is_dead(old):
        return step_of(model, None, old, new)
    raise InternalError(f"replay: the model cannot make step {number} of the run that was found")

"""Is a run that a file claims a run of the model, and does it violate the property? If not, where it goes wrong.

Nothing that the file says is believed: values become states, each step is looked for by the interpreter, the property
is evaluated anew, and Spot judges the word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from aggmc.errors import InputError, ModelError, did_you_mean
from aggmc.ltl.formula import parse
from aggmc.ltl.translate import Property
from aggmc.model.core import Event, Interpreter, Model, State
from aggmc.model.expr import evaluate
from aggmc.trace.evidence import evidence
from aggmc.trace.formats.document import Claim, ClaimedStep
from aggmc.trace.lasso import Lasso
from aggmc.trace.shorten import bad_prefix
from aggmc.trace.trace import Trace, Value, describe, replay

_SHOWN = 4  # differences that a complaint names


@dataclass(frozen=True, slots=True)
class Rechecked:
    """What was found; `complaint` is None if the run is right, and shows what it should."""

    complaint: str | None
    step: int | None = None  # the step that is wrong; 0 speaks of the first state
    trace: Trace | None = None  # if it is a run of the model
    violates: bool | None = None  # the property, if there is one

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON format."""
        return {
            "right": self.complaint is None,
            "complaint": self.complaint,
            "step": self.step,
            "violates": self.violates,
            "trace": self.trace.to_dict() if self.trace is not None else None,
        }


class _Wrong(Exception):
    def __init__(self, step: int | None, message: str) -> None:
        super().__init__(message)
        self.step = step
        self.message = message


def recheck(model: Model, claim: Claim, prop: Property | None = None, *, stutter: bool = True) -> Rechecked:
    """Judge a claim."""
    interpreter = model.frontend.interpreter()
    trace = None
    violates = None
    try:
        states = [_state(model, values, i) for i, values in enumerate(claim.states)]
        _initial(model, interpreter, states[0])
        _steps(model, interpreter, claim, states, stutter)
        trace = replay(model, interpreter, Lasso(tuple(states), claim.loop), stutter=stutter)
        if prop is not None:
            letters = [sum(interpreter.holds(a.text, s) << i for i, a in enumerate(prop.atoms)) for s in states]
            _propositions(claim, prop, letters)
            violates = _violates(prop, letters, claim.loop)
            if claim.loop is not None and violates:
                trace = Trace(trace.initial, trace.prefix, trace.cycle, evidence(prop, letters, claim.loop))
            if not violates:
                what = "satisfies" if claim.loop is not None else "is finite, and does not decide"
                raise _Wrong(None, f"the run {what} {prop.text}")
        else:
            _ends(model, interpreter, claim, states[-1], len(states) - 1)
    except _Wrong as wrong:
        return Rechecked(wrong.message, wrong.step, trace, violates)
    return Rechecked(None, None, trace, violates)


def _ends(model: Model, interpreter: Interpreter, claim: Claim, last: State, position: int) -> None:
    """Whether the last state is what a file without a formula says that the run leads to."""
    match claim.kind:
        case "deadlock":
            if not interpreter.is_dead(last):
                raise _Wrong(position, "the file says that the run ends in a deadlock; its last state has a step")
        case "assert":
            meant = [a for a in model.assertions if claim.property in (a.text, a.name)]
            if not meant:
                raise _Wrong(None, f"the model has no assert `{claim.property}`")
            if all(evaluate(a.holds, last) for a in meant):
                raise _Wrong(position, f"the assert `{claim.property}` holds in the last state")
        case "error":
            if not any(evaluate(a.error, last) for a in model.assertions):
                _errs(interpreter, claim, last, position)


def _errs(interpreter: Interpreter, claim: Claim, last: State, position: int) -> None:
    try:
        interpreter.check_errors(last)
        for atom in parse(claim.property).atoms if claim.property is not None else ():
            interpreter.holds(atom.text, last)
    except ModelError:
        return
    except InputError:  # an assert's text: looked at before
        pass
    raise _Wrong(position, "the file says that the run ends in an error of the model; in its last state nothing errs")


def _at(step: int) -> str:
    return "the first state" if step == 0 else f"the state after step {step}"


def _state(model: Model, values: Mapping[str, Value], position: int) -> State:
    names = {v.name: v for v in model.variables}
    for name in values:
        if name not in names:
            raise _Wrong(position, f"{_at(position)}: the model has no variable `{name}`{did_you_mean(name, names)}")
    found = []
    for variable in model.variables:
        if variable.name not in values:
            raise _Wrong(position, f"{_at(position)}: the value of `{variable.name}` is missing")
        value = values[variable.name]
        if variable.names is not None and value in variable.names:
            found.append(variable.low + variable.names.index(str(value)))
        elif variable.names is not None and not (isinstance(value, int) and variable.show(value) == value):
            guess = did_you_mean(str(value), variable.names)
            raise _Wrong(position, f"{_at(position)}: `{value}` is no value of `{variable.name}`{guess}")
        elif not isinstance(value, int) or not variable.low <= value <= variable.high:
            raise _Wrong(
                position,
                f"{_at(position)}: {value!r} is no value of `{variable.name}`, "
                f"which has {variable.low} to {variable.high}",
            )
        else:
            found.append(value)
    return tuple(found)


def _initial(model: Model, interpreter: Interpreter, state: State) -> None:
    known = interpreter.initial_states()
    if state not in known:
        near = min(known, key=lambda other: _distance(state, other))
        raise _Wrong(0, f"the run does not begin in an initial state: {_differences(model, state, near, 'at first')}")


def _steps(model: Model, interpreter: Interpreter, claim: Claim, states: list[State], stutter: bool) -> None:
    def told(number: int) -> ClaimedStep:
        return claim.steps[number - 1] if claim.steps is not None and number <= len(claim.steps) else ClaimedStep()

    for number, (old, new) in enumerate(pairwise(states), 1):
        _step(model, interpreter, old, new, number, told(number), stutter)
    if claim.loop is not None:
        count, closing = len(states), states[claim.loop]
        said = _state(model, claim.closing, count) if claim.closing is not None else closing
        if said != closing:
            difference = _differences(model, said, closing, "where it should lead to")
            raise _Wrong(count, f"the cycle is not closed: its last step leads elsewhere: {difference}")
        _step(model, interpreter, states[-1], closing, count, told(count), stutter)


def _step(
    model: Model, interpreter: Interpreter, old: State, new: State, number: int, told: ClaimedStep, stutter: bool
) -> None:
    enabled = interpreter.successors(old)
    fitting = [event for event, target in enabled if target == new]
    if not fitting:
        if old == new and stutter and interpreter.is_dead(old):
            if told.event is not None:
                raise _Wrong(number, f"step {number}: the state is a deadlock; `{told.event}` cannot fire")
            return
        raise _Wrong(number, f"step {number}: {_no_step(model, interpreter, old, new, enabled, told, stutter)}")
    names = [model.events[event].name for event in fitting]
    if told.deadlock:
        raise _Wrong(number, f"step {number}: the file says that a deadlock is repeated; `{names[0]}` can fire there")
    if told.event is not None and told.event not in names:
        raise _Wrong(number, f"step {number}: it is made by `{names[0]}`, and not by `{told.event}`")
    if not any(_told_rightly(model.events[event], told) for event in fitting):
        shown = told.event or names[0]
        raise _Wrong(number, f"step {number}: `{shown}` has another actor (process, locations, line) or partner")
    if told.changes is not None:
        before, after = model.show_state(old), model.show_state(new)
        real = {name: (before[name], after[name]) for name in after if before[name] != after[name]}
        for name in [*real, *told.changes]:
            if real.get(name) != told.changes.get(name):
                raise _Wrong(number, f"step {number}: `changes` does not fit the states, at `{name}`")


def _told_rightly(event: Event, told: ClaimedStep) -> bool:
    """Whether the event is the one that the file describes."""
    if told.event is not None and event.name != told.event:
        return False
    pairs = [(told.actor, event.actor), *([(told.partner, event.partner)] if told.partner is not None else [])]
    return all(
        actor is not None and all(describe(actor)[name] == value for name, value in said.items())
        for said, actor in pairs
    )


def _no_step(
    model: Model,
    interpreter: Interpreter,
    old: State,
    new: State,
    enabled: Sequence[tuple[int, State]],
    told: ClaimedStep,
    stutter: bool,
) -> str:
    if not enabled:
        if not interpreter.is_dead(old):
            return "every step from there is an error of the model"
        why = "nothing else can follow" if stutter else "no run goes on there"
        return f"no event can fire, the state before it is a deadlock: {why}"
    named = [(event, target) for event, target in enabled if model.events[event].name == told.event]
    event, near = min(named or enabled, key=lambda pair: _distance(new, pair[1]))
    name = model.events[event].name
    line = model.events[event].actor.line
    where = f" (line {line})" if line is not None else ""
    said = "`" + name + "`" + where if named else f"no event leads there; the nearest is `{name}`{where}, which"
    verb = "makes it otherwise" if named else "makes it so"
    return f"{said} {verb}: {_differences(model, new, near, 'by the event')}"


def _distance(a: State, b: State) -> int:
    return sum(x != y for x, y in zip(a, b, strict=True))


def _differences(model: Model, said: State, real: State, where: str) -> str:
    """The variables in which a state of the file differs from one of the model."""
    found = [
        f"{v.name} is {v.show(x)} in the file and {v.show(y)} {where}"
        for v, x, y in zip(model.variables, said, real, strict=True)
        if x != y
    ]
    more = f", and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more


def _propositions(claim: Claim, prop: Property, letters: Sequence[int]) -> None:
    for i, atom in enumerate(prop.atoms):
        row = claim.propositions.get(atom.text)
        if row is None:
            continue
        for position, letter in enumerate(letters):
            value = bool(letter >> i & 1)
            if position >= len(row) or row[position] != value:
                said = f"the proposition {atom.text} is {str(value).lower()} in {_at(position)}"
                raise _Wrong(position, f"{said}; the file says otherwise")


def _violates(prop: Property, letters: Sequence[int], loop: int | None) -> bool:
    if loop is None:
        return bad_prefix(prop.tgba, [prop.valuation(letter) for letter in letters]) is not None
    return prop.accepts_lasso(letters[:loop], letters[loop:])

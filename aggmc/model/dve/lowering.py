"""Resolved program to core model: ordered effects become simultaneous updates, errors become expressions.

A *symbolic state* maps variables to expressions over the old state. Running effects on it in order, by substitution,
gives the updates; what may go wrong on the way is collected beside it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from aggmc.model import core
from aggmc.model.core import Actor, Event, Model, Move
from aggmc.model.dve.program import (
    RANGES,
    Action,
    Assign,
    At,
    Binary,
    Cell,
    Channel,
    Const,
    Junction,
    Node,
    Program,
    Receive,
    Target,
    Transition,
    Unary,
    Var,
)
from aggmc.model.expr import FALSE, TRUE, Expr, const, make, truth, var

#: The value of an expression, and the condition under which computing it errs.
Lowered = tuple[Expr, Expr]

_UNARY = {"-": "neg", "~": "bitnot", "!": "not"}


def lower(program: Program, frontend: core.Frontend) -> Model:
    """The core model of a program; event number i is action number i."""
    source = program.source
    return Model(
        name=Path(source.path).stem if source.path else "model",
        language="dve",
        source=source.text,
        variables=program.variables,
        initial=(program.initial,),
        events=tuple([_event(program, action) for action in program.actions]),
        frontend=frontend,
        processes=tuple(p.name for p in program.processes),
        assertions=tuple(_assertions(program)),
        warnings=program.warnings,
        path=source.path,
        index={v.name: i for i, v in enumerate(program.variables)},
    )


class SymbolicState:
    """The values of the variables as expressions over the old state."""

    def __init__(self, known: dict[int, Expr] | None = None) -> None:
        self.values: dict[int, Expr] = known or {}

    def read(self, index: int) -> Expr:
        """The present value of a variable."""
        value = self.values.get(index)
        return var(index) if value is None else value

    def value(self, node: Node) -> Lowered:
        """The value of an expression here, and when computing it errs."""
        match node:
            case Const():
                return const(node.value), FALSE
            case Var():
                return self.read(node.index), FALSE
            case Cell():
                index, error = self.value(node.index)
                cells = [self.read(node.base + i) for i in range(node.size)]
                return make("select", index, *cells), make("or", error, _outside(index, 0, node.size - 1))
            case At():
                return make("==", self.read(node.variable), const(node.location)), FALSE
            case Unary():
                operand, error = self.value(node.operand)
                return make(_UNARY[node.op], operand), error
            case Binary():
                return self._binary(node)
            case Junction():
                return self._junction(node.op, node.operands)

    def _binary(self, node: Binary) -> Lowered:
        left, left_error = self.value(node.left)
        right, right_error = self.value(node.right)
        if node.op == "imply":
            # the right side is only looked at where the left one holds
            return make("or", make("not", left), right), make("or", left_error, make("and", left, right_error))
        error = make("or", left_error, right_error)
        if node.op in ("/", "%"):
            error = make("or", error, make("==", right, FALSE))
        elif node.op in ("<<", ">>"):
            error = make("or", error, _outside(right, 0, 31))
        return make(node.op, left, right), error

    def _junction(self, op: str, operands: Iterable[Node]) -> Lowered:
        """`and` or `or`, where an operand can only err if those before it did not decide."""
        parts = [self.value(operand) for operand in operands]
        failing = FALSE
        for value, error in reversed(parts):
            if failing != FALSE:
                failing = make("and", value if op == "and" else make("not", value), failing)
            failing = make("or", error, failing)
        return make(op, *(value for value, _ in parts)), failing

    def condition(self, nodes: Iterable[Node]) -> Lowered:
        """The conjunction of guards, from left to right."""
        value, error = self._junction("and", nodes)
        return truth(value), error

    def write(self, target: Target, value: Expr, low: int, high: int) -> Expr:
        """Assign, cut to the range; returns when the target's index errs."""
        cut = make("wrap", value, const(low), const(high))
        if isinstance(target, Var):
            self.values[target.index] = cut
            return FALSE
        index, error = self.value(target.index)
        for i in range(target.size):
            cell = target.base + i
            self.values[cell] = make("ite", make("==", index, const(i)), cut, self.read(cell))
        return make("or", error, _outside(index, 0, target.size - 1))

    def assign(self, effect: Assign) -> Expr:
        """Run one effect; returns when it errs."""
        value, error = self.value(effect.value)
        return make("or", error, self.write(effect.target, value, effect.low, effect.high))


def _outside(e: Expr, low: int, high: int) -> Expr:
    return make("or", make("<", e, const(low)), make(">", e, const(high)))


def _event(program: Program, action: Action) -> Event:
    transitions = action.transitions
    moves = tuple(Move(program.processes[t.process].variable, t.source, t.target) for t in transitions)
    # The sources are known where the event is looked at, so tests of these locations fold away.
    old = SymbolicState({m.variable: const(m.source) for m in moves})
    enabled, error = old.condition(g for t in transitions for g in t.guards)
    ready = _channel_ready(transitions[0], old)
    new = SymbolicState(dict(old.values))
    sent = [] if transitions[0].sync is None else [old.value(v) for v in transitions[0].sync.values]
    failures = [failure for _, failure in sent]
    for move in moves:
        new.values[move.variable] = const(move.target)
    failures += _communicate(action, [value for value, _ in sent], new)
    # After a rendezvous the receiver's effects run first.
    for t in reversed(transitions) if action.rendezvous else transitions:
        failures += [new.assign(effect) for effect in t.effects]
    may_run = _priority(program, action)
    error = make("and", may_run, make("or", error, make("and", enabled, ready, make("or", *failures))))
    locations = {m.variable for m in moves}
    updates = tuple([(i, value) for i, value in sorted(new.values.items()) if i not in locations and value != var(i)])
    first = transitions[0]
    return Event(
        name=_name(program, action),
        location=program.source.location(first.at),
        actor=_actor(program, first),
        partner=_actor(program, transitions[1]) if action.rendezvous else None,
        moves=moves,
        guard=make("and", enabled, ready, may_run),
        updates=updates,
        error=error,
    )


def _priority(program: Program, action: Action) -> Expr:
    """Commit priority: the event is committed, or no process is (the event's own are not, then)."""
    if program.is_committed(action.transitions[0]):
        return TRUE
    taking_part = {t.process for t in action.transitions}
    return make(
        "and",
        *(
            make("!=", var(process.variable), const(location))
            for number, process in program.committed_processes
            if number not in taking_part
            for location in sorted(process.committed)
        ),
    )


def _channel_ready(t: Transition, state: SymbolicState) -> Expr:
    """A buffered channel has room for what is sent, or something to receive."""
    if t.sync is None or t.sync.channel.size == 0:
        return TRUE
    channel = t.sync.channel
    length = state.read(channel.length)
    return make("<", length, const(channel.size)) if t.sync.is_send else make(">", length, FALSE)


def _communicate(action: Action, sent: list[Expr], state: SymbolicState) -> list[Expr]:
    """Pass the message; returns what errs on the way, in order."""
    sync = action.transitions[0].sync
    if sync is None:
        return []
    channel = sync.channel
    if channel.types is not None:
        sent = [_cut(value, type_name) for value, type_name in zip(sent, channel.types, strict=False)]
    if action.rendezvous:
        receiver = action.transitions[1].sync
        assert receiver is not None
        return _receive(receiver.targets, sent, state)
    if sync.is_send:
        _push(channel, sent, state)
        return []
    return _receive(sync.targets, _pop(channel, state), state)


def _cut(value: Expr, type_name: str) -> Expr:
    low, high = RANGES[type_name]
    return make("wrap", value, const(low), const(high))


def _receive(targets: Iterable[Receive], values: Iterable[Expr], state: SymbolicState) -> list[Expr]:
    return [state.write(t.target, value, t.low, t.high) for t, value in zip(targets, values, strict=True)]


def _push(channel: Channel, values: list[Expr], state: SymbolicState) -> None:
    length = state.read(channel.length)
    for place in range(channel.size):
        here = make("==", length, const(place))
        for j, value in enumerate(values):
            cell = channel.first + place * channel.arity + j
            state.values[cell] = make("ite", here, value, state.read(cell))
    state.values[channel.length] = make("+", length, TRUE)


def _pop(channel: Channel, state: SymbolicState) -> list[Expr]:
    cells = range(channel.first, channel.first + channel.size * channel.arity)
    values = [state.read(cell) for cell in cells]
    # What was popped is no part of the state: the freed cells are 0, so equal contents are equal states.
    for cell, value in zip(cells, [*values[channel.arity :], *[FALSE] * channel.arity], strict=True):
        state.values[cell] = value
    state.values[channel.length] = make("-", state.read(channel.length), TRUE)
    return values[: channel.arity]


def _assertions(program: Program) -> Iterable[core.Assertion]:
    for a in program.assertions:
        process = program.processes[a.process]
        value, error = SymbolicState().value(a.condition)
        elsewhere = make("!=", var(process.variable), const(a.location))
        yield core.Assertion(
            name=f"{process.name}.{process.locations[a.location]}",
            text=a.text,
            location=program.source.location(a.at),
            holds=make("or", elsewhere, value),
            error=make("and", make("not", elsewhere), error),
        )


def _actor(program: Program, t: Transition) -> Actor:
    process = program.processes[t.process]
    return Actor(process.name, process.locations[t.source], process.locations[t.target], t.at[0])


def _name(program: Program, action: Action) -> str:
    """`P: a -> b`, with the channel where there is one."""
    parts = []
    for t in action.transitions:
        actor = _actor(program, t)
        channel = "" if t.sync is None else f" ({t.sync.channel.name}{'!' if t.sync.is_send else '?'})"
        parts.append(f"{actor.process}: {actor.source} -> {actor.target}{channel}")
    return ", ".join(parts)

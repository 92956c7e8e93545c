"""A net as a model: a place is a variable, a transition an event.

The bound of a place is its domain. Where invariants give it, a step that would exceed it cannot be (the guard says so,
which changes no reachable state). Where they give none, the domain ends at `UNKNOWN_BOUND` (at 1 if the file says that
the net is safe), and a step beyond it is an *error of the model*: no `holds` is said while one is reachable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from aggmc.errors import InputError, Location, ModelError, did_you_mean
from aggmc.model.conditions import Place as Spot
from aggmc.model.conditions import Term, condition
from aggmc.model.core import Actor, Event, Interpreter, Model, Proposition, State, Variable, Warned
from aggmc.model.expr import FALSE, Expr, const, make, var
from aggmc.model.interpreter import CoreInterpreter
from aggmc.model.pnml.bounds import constant_places, place_bounds, semiflows
from aggmc.model.pnml.net import Net, Transition

UNKNOWN_BOUND = 1023
_MOST_TOKENS = 2**31 - 1


def model_of(net: Net, text: str = "", path: str | None = None) -> Model:
    """A net as a model."""
    inferred = place_bounds(net, semiflows(net))
    bounds = [_domain(net, p, bound, path) for p, bound in enumerate(inferred)]
    checked = frozenset(p for p, bound in enumerate(inferred) if bound is None)
    constant = constant_places(net)
    variables = tuple(
        Variable(place.name, "place", place.initial if p in constant else 0, bounds[p], tight=inferred[p] is not None)
        for p, place in enumerate(net.places)
    )
    frontend = NetFrontend(net, tuple(bounds), checked)
    model = Model(
        name=net.name,
        language="pnml",
        source=text,
        variables=variables,
        initial=(net.initial,),
        events=tuple(_event(t, bounds, checked) for t in net.transitions),
        frontend=frontend,
        path=path,
        warnings=_warnings(net, checked),
        index={place.name: i for i, place in enumerate(net.places)},
    )
    frontend.model = model
    return model


def _domain(net: Net, p: int, bound: int | None, path: str | None) -> int:
    place = net.places[p]
    if bound is not None:
        if bound > _MOST_TOKENS:
            message = f"place `{place.name}` can hold {bound} tokens; at most {_MOST_TOKENS} are supported"
            raise InputError(message, place.location)
        return bound
    return max(place.initial, 1 if net.said_safe else UNKNOWN_BOUND)


def _warnings(net: Net, checked: frozenset[int]) -> tuple[Warned, ...]:
    if net.said_safe:
        over = next((p for p in net.places if p.initial > 1), None)
        if over is not None:
            return (Warned(f"the file says that the net is safe, but `{over.name}` begins with {over.initial} tokens"),)
    return ()


def enabled(transition: Transition) -> Expr:
    """Where a transition can fire."""
    return make("and", *(make(">=", var(p), const(w)) for p, w in transition.inputs))


def _event(t: Transition, bounds: Sequence[int], checked: frozenset[int]) -> Event:
    room, exceeded, updates = [], [], []
    needs = dict(t.inputs)
    for p, d in t.effect:
        if d > 0:
            fits = make("<=", var(p), const(bounds[p] - d))
            if p in checked:
                exceeded.append(make("not", fits))
            else:
                room.append(fits)
        # where only one value is possible before the step, the value after it is known
        only = bounds[p] - d if d > 0 and bounds[p] - d == needs.get(p, 0) else None
        if d < 0 and needs[p] == bounds[p]:
            only = bounds[p]
        updates.append((p, const(only + d) if only is not None else _moved(p, d)))
    guard = make("and", enabled(t), *room)
    error = make("and", guard, make("or", *exceeded)) if exceeded else FALSE
    return Event(
        name=t.name,
        location=t.location,
        actor=Actor(None, None, None, t.location.line),
        guard=guard,
        updates=tuple(updates),
        error=error,
    )


def _moved(p: int, d: int) -> Expr:
    return make("+", var(p), const(d)) if d > 0 else make("-", var(p), const(-d))


class Pointing(Protocol):
    """What knows its place in a text."""

    def error(self, message: str) -> InputError:
        """An error that points there."""


class NetFrontend:
    """The front-end of one net (a `core.Frontend`, and the scope of its propositions)."""

    model: Model

    def __init__(self, net: Net, bounds: tuple[int, ...], checked: frozenset[int]) -> None:
        self.net = net
        self.bounds = bounds
        self.checked = checked  # places whose bound is not proved: exceeding it is an error
        self._defined: dict[str, Expr] = {}
        self._names: dict[Expr, str] = {}

    def interpreter(self) -> Interpreter:
        """An interpreter of the net itself."""
        return NetInterpreter(self.model, self)

    def proposition(self, text: str, *, quoted: bool) -> tuple[Proposition, Sequence[Warned]]:
        """A condition over places and transitions; a place alone says that it has a token."""
        if text in self._defined:
            return Proposition(text, self._defined[text]), ()
        if not quoted and text not in self.net.place_groups:
            if text in self.net.transition_groups:
                raise InputError(f'`{text}` is a transition: write "fireable({text})"', Location(None, 1, 1))
            known = did_you_mean(text, self.net.place_groups)
            raise InputError(f"`{text}` is no place{known}", Location(None, 1, 1))
        if text in self.net.place_groups:
            return Proposition(text, make(">=", self._tokens(text), const(1))), ()
        return Proposition(text, condition(text, self)), ()

    def name(self, name: str, place: Spot) -> Term:
        """The tokens of a place."""
        if name not in self.net.place_groups:
            if name in self.net.transition_groups:
                raise place.error(f"`{name}` is a transition: write fireable({name})")
            raise place.error(f"`{name}` is no place{did_you_mean(name, self.net.place_groups)}")
        tokens = self._tokens(name)
        return Term(tokens, marked=make(">=", tokens, const(1)))

    def call(self, function: str, arguments: Sequence[tuple[str, Spot]], place: Spot) -> Term:
        """`fireable(t, …)`: one of the transitions can fire. `tokens(p, …)`: all tokens of the places."""
        if function == "fireable":
            return Term(self.fireable(arguments), is_condition=True)
        if function == "tokens":
            return Term(total([self.name(name, at).expr for name, at in arguments]))
        raise place.error(f"`{function}` is no function: there are fireable(…) and tokens(…)")

    # -- for readers of properties in other forms ----------------------------------------------------------------

    def define(self, expr: Expr) -> str:
        """A short proposition that means this condition."""
        name = self._names.get(expr)
        if name is None:
            name = self._names[expr] = f"@{len(self._names)}"
            self._defined[name] = expr
        return name

    def fireable(self, transitions: Sequence[tuple[str, Pointing]]) -> Expr:
        """One of the named transitions can fire; raises the error of what has a name that means nothing."""
        found: list[int] = []
        for name, at in transitions:
            group = self.net.transition_groups.get(name)
            if group is None:
                raise at.error(f"`{name}` is no transition{did_you_mean(name, self.net.transition_groups)}")
            found += group
        return self.some_enabled(found)

    def some_enabled(self, transitions: Iterable[int]) -> Expr:
        """One of the transitions can fire."""
        return make("or", *(enabled(self.net.transitions[t]) for t in transitions))

    def place_group(self, name: str, at: Pointing) -> tuple[int, ...]:
        """The places that a name stands for."""
        group = self.net.place_groups.get(name)
        if group is None:
            raise at.error(f"`{name}` is no place{did_you_mean(name, self.net.place_groups)}")
        return group

    def tokens(self, places: Iterable[int]) -> list[Expr]:
        """The numbers of tokens of places."""
        return [var(p) for p in places]

    def _tokens(self, name: str) -> Expr:
        return total([var(p) for p in self.net.place_groups[name]])


def total(parts: Sequence[Expr]) -> Expr:
    """A sum, balanced, so that it is not deep."""
    found = list(parts) or [const(0)]
    while len(found) > 1:
        pairs = [make("+", a, b) for a, b in zip(found[::2], found[1::2], strict=False)]
        found = pairs + found[len(pairs) * 2 :]
    return found[0]


class NetInterpreter(CoreInterpreter):
    """Fires the transitions of the net, not the events that it was lowered to."""

    def __init__(self, model: Model, frontend: NetFrontend) -> None:
        super().__init__(model)
        self._frontend = frontend
        self._compiled = [
            (n, t.inputs, t.effect, tuple((p, d) for p, d in t.effect if d > 0 and p in frontend.checked))
            for n, t in enumerate(frontend.net.transitions)
        ]

    def successors(self, state: State) -> list[tuple[int, State]]:
        """(transition, next marking) for every step that stays within the bounds."""
        result = []
        bounds = self._frontend.bounds
        for n, inputs, effect, watched in self._compiled:
            if all(state[p] >= w for p, w in inputs) and all(state[p] + d <= bounds[p] for p, d in watched):
                after = list(state)
                for p, d in effect:
                    after[p] += d
                result.append((n, tuple(after)))
        return result

    def is_dead(self, state: State) -> bool:
        """No transition can fire."""
        return not any(all(state[p] >= w for p, w in inputs) for _, inputs, _, _ in self._compiled)

    def check_errors(self, state: State) -> None:
        """Raise the ModelError of the first transition that leads beyond a bound."""
        net, bounds = self._frontend.net, self._frontend.bounds
        for n, inputs, _, watched in self._compiled:
            if all(state[p] >= w for p, w in inputs):
                for p, d in watched:
                    if state[p] + d > bounds[p]:
                        name, transition = net.places[p].name, net.transitions[n]
                        why = "the file says that the net is safe" if net.said_safe else "the net may be unbounded"
                        message = f"transition `{transition.name}` puts more than {bounds[p]} tokens on `{name}`: {why}"
                        raise ModelError(message, transition.location)

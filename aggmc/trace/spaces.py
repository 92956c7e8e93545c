"""Sets of states for the search of short runs: decision diagrams, or plain sets with the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from aggmc.boolean import Bool, evaluate
from aggmc.model.core import State
from aggmc.symbolic.kripke import From, SymbolicKripke

States = Any  # with &, | and ==


class Exhausted(Exception):
    """The effort that was allowed is spent."""


class Space(Protocol):
    """Sets of states of a model that is labelled by the propositions of a property."""

    none: States
    initial: States

    def post(self, states: States, label: Bool) -> States:
        """The successors of those states that satisfy the label."""

    def pre(self, states: States, label: Bool, within: States) -> States:
        """Those states of `within` that satisfy the label and have a successor in the set."""

    def minus(self, states: States, others: States) -> States:
        """The difference."""

    def some(self, states: States) -> State:
        """A state of a set that is not empty."""

    def only(self, state: State) -> States:
        """The set of just this state."""

    def halves(self, states: States) -> tuple[States, States]:
        """Two disjoint parts of a set of at least two states, neither of them empty."""


class SymbolicSpace:
    """Decision diagrams. Effort is counted in nodes of operands: the same on each machine."""

    def __init__(self, kripke: SymbolicKripke, effort: int) -> None:
        self._kripke = kripke
        self._effort = effort
        self.none: States = kripke.false
        self.initial: States = kripke.initial

    def _spend(self, states: States) -> None:
        self._effort -= len(states) + 20 + len(self._kripke.encoding.relations)
        if self._effort < 0:
            raise Exhausted

    def post(self, states: States, label: Bool) -> States:
        """The successors of those states that satisfy the label."""
        self._spend(states)
        return self._kripke.successors(states, From(label))

    def pre(self, states: States, label: Bool, within: States) -> States:
        """Those states of `within` that satisfy the label and have a successor in the set."""
        return self._kripke.predecessors(states, From(label), within)

    def minus(self, states: States, others: States) -> States:
        """The difference."""
        return states & ~others

    def some(self, states: States) -> State:
        """A state of a set that is not empty."""
        return self._kripke.some_state(states)

    def only(self, state: State) -> States:
        """The set of just this state."""
        return self._kripke.cube(state)

    def halves(self, states: States) -> tuple[States, States]:
        """Split by a bit in which two states differ."""
        first = self._kripke.some_state(states)
        second = self._kripke.some_state(states & ~self._kripke.cube(first))
        variable = next(v for v, (a, b) in enumerate(zip(first, second, strict=True)) if a != b)
        part = states & self._kripke.encoding.test(variable, first[variable])
        return part, states & ~part


class ExplicitSpace:
    """Plain sets. Effort is counted in states whose successors are asked for."""

    def __init__(
        self,
        initial: Iterable[State],
        successors: Callable[[State], Iterable[State]],
        valuation: Callable[[State], int],
        effort: int,
    ) -> None:
        self._successors = successors
        self._valuation = valuation
        self._known: dict[State, frozenset[State]] = {}
        self._effort = effort
        self.none: States = frozenset()
        self.initial: States = frozenset(initial)

    def _after(self, state: State) -> frozenset[State]:
        found = self._known.get(state)
        if found is None:
            found = self._known[state] = frozenset(self._successors(state))
        return found

    def post(self, states: States, label: Bool) -> States:
        """The successors of those states that satisfy the label."""
        self._effort -= len(states)
        if self._effort < 0:
            raise Exhausted
        found: set[State] = set()
        for state in states:
            if evaluate(label, self._valuation(state)):
                found |= self._after(state)
        return frozenset(found)

    def pre(self, states: States, label: Bool, within: States) -> States:
        """Those states of `within` that satisfy the label and have a successor in the set."""
        return frozenset(
            s for s in within if evaluate(label, self._valuation(s)) and not self._after(s).isdisjoint(states)
        )

    def minus(self, states: States, others: States) -> States:
        """The difference."""
        return states - others

    def some(self, states: States) -> State:
        """The least state."""
        found: State = min(states)
        return found

    def only(self, state: State) -> States:
        """The set of just this state."""
        return frozenset((state,))

    def halves(self, states: States) -> tuple[States, States]:
        """The lower and the upper half."""
        ordered = sorted(states)
        middle = len(ordered) // 2
        return frozenset(ordered[:middle]), frozenset(ordered[middle:])

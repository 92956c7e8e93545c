"""Lists of relations as one operator: images, preimages, closures, and what a fair cycle leads to.

Two engines do the work: the native kernel (`_kernel.c`), and Python over dd's nodes, which is always there. They give
the same sets; the tests run on both.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any, Protocol

from aggmc.symbolic.bitvector import Bdd
from aggmc.symbolic.images import Images
from aggmc.symbolic.relation import Relation
from aggmc.symbolic.saturation import Saturation

if TYPE_CHECKING:
    from aggmc.symbolic.encode import Encoding


class Steps(Protocol):
    """What a list of relations does to sets of states."""

    def image(self, states: Bdd) -> Bdd:
        """The successors."""

    def preimage(self, states: Bdd) -> Bdd:
        """The predecessors."""

    def closure(self, states: Bdd) -> Bdd:
        """The least superset that no step leaves."""

    def closure_up_to(self, states: Bdd, most: int) -> tuple[Bdd, bool]:
        """The closure and True; or, once it has more than `most` nodes, what was found of it so far, and False."""

    def hull(self, states: Bdd, demands: Sequence[Demand]) -> Bdd:
        """See `fair_hull`."""


#: A kind of step that must be taken again and again: by one of these events from one of the sources, or by resting in
#: one of the loops (dead states, which have a step to themselves). The events are among those of the hull.
Demand = tuple[Any, Bdd, Bdd]  # steps, sources, loops


def steps_of(encoding: Encoding, relations: Sequence[Relation], fixpoint: str) -> Steps:
    """The operator of these relations, valid while the order of the variables does not change."""
    kernel = encoding.kernel
    if kernel is None or not encoding.in_pairs:
        return PythonSteps(encoding, relations, fixpoint)
    native: Steps = kernel.steps(relations)
    if fixpoint == "saturation":
        return native
    return _Chained(native, PythonSteps(encoding, relations, fixpoint), encoding.true)


class PythonSteps:
    """The operator by dd's functions."""

    def __init__(self, encoding: Encoding, relations: Sequence[Relation], fixpoint: str) -> None:
        self._encoding = encoding
        self._relations = relations
        self._images = Images(encoding)
        self._fixpoint = fixpoint
        self._saturation: Saturation | None = None

    def image(self, states: Bdd) -> Bdd:
        """The successors."""
        result = self._encoding.false
        if states != result:
            for r in self._relations:
                result = result | self._images.image(states, r)
        return result

    def preimage(self, states: Bdd) -> Bdd:
        """The predecessors."""
        result = self._encoding.false
        if states != result:
            for r in self._relations:
                result = result | self._images.preimage(states, r)
        return result

    def closure(self, states: Bdd) -> Bdd:
        """The least superset that no step leaves."""
        if self._fixpoint == "chaining":
            return self._chaining(states)
        if self._saturation is None:
            self._saturation = Saturation(self._encoding, self._relations)
        return self._saturation.close(states)

    def closure_up_to(self, states: Bdd, most: int) -> tuple[Bdd, bool]:
        """The closure: it is not interrupted."""
        return self.closure(states), True

    def _chaining(self, states: Bdd) -> Bdd:
        """By firing one relation after the other on all that is known so far."""
        while True:
            before = states
            for r in self._relations:
                states = states | self._images.image(states, r)
            if states == before:
                return states

    def hull(self, states: Bdd, demands: Sequence[Demand]) -> Bdd:
        """See `fair_hull`."""
        return fair_hull(self, states, demands, self._encoding.true)


class _Chained:
    """The native engine, with chaining for closures."""

    def __init__(self, native: Steps, python: PythonSteps, true: Bdd) -> None:
        self.image = native.image
        self.preimage = native.preimage
        self.closure = python.closure
        self.closure_up_to = python.closure_up_to
        self._true = true

    def hull(self, states: Bdd, demands: Sequence[Demand]) -> Bdd:
        """See `fair_hull`."""
        return fair_hull(self, states, demands, self._true)


def fair_hull(inside: Steps, states: Bdd, demands: Sequence[Demand], true: Bdd) -> Bdd:
    """The greatest Z ⊆ states such that every state of Z is reached inside Z from each demanded kind of step inside Z.

    Empty if and only if no cycle inside the set meets all demands; every state of Z can be reached from such a cycle.
    (Going back from a state of Z never ends, and meets all demands again and again.) The native engine does the same.
    """
    false = ~true
    closed: bool | None = None
    unchanged = 0
    for steps, sources, loops in cycle(demands):
        if unchanged == len(demands) or states == false:
            break
        reached = states & (steps.image(states & sources) | loops)
        # steps of every kind, from everywhere: what they reach leads to nothing else in the set
        if reached not in (states, false) and not (steps is inside and sources == true):
            if closed is None:
                closed = inside.image(states) & ~states == false
            # the targets of steps from a closed set, and their closure, are closed parts of it
            reached = inside.closure(reached) if closed else _spread(inside, reached, states, false)
        unchanged = unchanged + 1 if reached == states else 0
        states = reached
    return states


def _spread(steps: Steps, states: Bdd, within: Bdd, false: Bdd) -> Bdd:
    """What the states reach by steps inside a set that holds them."""
    front = states
    while front != false:
        front = steps.image(front) & within & ~states
        states = states | front
    return states

"""Lists of relations as one operator: images, preimages, closures, and what an infinite path stays in.

Two engines do the work: the native kernel (`_kernel.c`), and Python over dd's nodes, which is always there. They give
the same sets; the tests run on both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

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

    def trap(self, states: Bdd, loops: Bdd) -> Bdd:
        """The greatest Z ⊆ states with Z = Z ∩ (image(Z) ∪ loops): empty unless an infinite path stays in the set."""


def steps_of(encoding: Encoding, relations: Sequence[Relation], fixpoint: str) -> Steps:
    """The operator of these relations, valid while the order of the variables does not change."""
    kernel = encoding.kernel
    if kernel is None or not encoding.in_declared_order:
        return PythonSteps(encoding, relations, fixpoint)
    native: Steps = kernel.steps(relations)
    return native if fixpoint == "saturation" else _Chained(native, PythonSteps(encoding, relations, fixpoint))


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

    def _chaining(self, states: Bdd) -> Bdd:
        """By firing one relation after the other on all that is known so far."""
        while True:
            before = states
            for r in self._relations:
                states = states | self._images.image(states, r)
            if states == before:
                return states

    def trap(self, states: Bdd, loops: Bdd) -> Bdd:
        """The greatest Z ⊆ states with Z = Z ∩ (image(Z) ∪ loops)."""
        while True:
            kept = states & (self.image(states) | loops)
            if kept == states:
                return states
            states = kept


class _Chained:
    """The native engine, with chaining for closures."""

    def __init__(self, native: Steps, python: PythonSteps) -> None:
        self.image = native.image
        self.preimage = native.preimage
        self.trap = native.trap
        self.closure = python.closure

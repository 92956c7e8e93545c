"""One step of one relation, forwards and backwards, by CUDD's own `and_exists` on the touched bits only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aggmc.symbolic.bitvector import Bdd
from aggmc.symbolic.cudd import cudd
from aggmc.symbolic.relation import Relation

if TYPE_CHECKING:
    from aggmc.symbolic.encode import Encoding


class Images:
    """Images on the bits of an encoding."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding
        self._and_exists = cudd().and_exists
        self._bits: dict[tuple[int, ...], tuple[Bdd, tuple[str, ...], tuple[str, ...]]] = {}

    def image(self, states: Bdd, relation: Relation) -> Bdd:
        """The successors of a set. The second product renames y to x, on the written bits only."""
        if not relation.writes:
            return states & relation.bdd
        identity, current, following = self._renaming(relation.writes)
        return self._and_exists(self._and_exists(states, relation.bdd, current), identity, following)

    def preimage(self, states: Bdd, relation: Relation) -> Bdd:
        """The predecessors of a set."""
        if not relation.writes:
            return states & relation.bdd
        identity, current, following = self._renaming(relation.writes)
        return self._and_exists(self._and_exists(states, identity, current), relation.bdd, following)

    def _renaming(self, writes: tuple[int, ...]) -> tuple[Bdd, tuple[str, ...], tuple[str, ...]]:
        """x_k ↔ y_k for these bits, and the names of both."""
        found = self._bits.get(writes)
        if found is None:
            identity = self._encoding.true
            for k in reversed(writes):
                identity = identity & ~self._encoding.arithmetic.xor(self._encoding.x[k], self._encoding.y[k])
            found = identity, tuple(f"x{k}" for k in writes), tuple(f"y{k}" for k in writes)
            self._bits[writes] = found
        return found

"""One step of one relation, forwards and backwards, by CUDD's own `and_exists` on the touched bits only."""

from __future__ import annotations

from dd.cudd import and_exists

from aggmc.symbolic.bitvector import Bdd
from aggmc.symbolic.encode import Relation


def image(states: Bdd, relation: Relation) -> Bdd:
    """The successors of a set. The second product renames y to x, on the written bits only."""
    if not relation.writes:
        return states & relation.bdd
    following = and_exists(states, relation.bdd, relation.current)
    return and_exists(following, relation.identity, relation.following)


def preimage(states: Bdd, relation: Relation) -> Bdd:
    """The predecessors of a set."""
    if not relation.writes:
        return states & relation.bdd
    following = and_exists(states, relation.identity, relation.current)
    return and_exists(following, relation.bdd, relation.following)

"""A relation: steps over the few variables that they touch."""

from __future__ import annotations

from dataclasses import dataclass

from aggmc.symbolic.bitvector import Bdd


@dataclass(frozen=True, eq=False, slots=True)
class Relation:
    """`bdd` is over x for what is read and y for what is written; y = x is implied for every other bit."""

    bdd: Bdd
    writes: tuple[int, ...]  # bits, in the order of their levels
    variables: frozenset[int]  # the variables of the model that are written

"""A place/transition net: what every net, coloured or not, becomes before it is lowered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aggmc.errors import Location

Arcs = tuple[tuple[int, int], ...]  # (place, weight), sorted by place, each place once


@dataclass(frozen=True, slots=True)
class Place:
    """A place, with its tokens at the start."""

    name: str
    initial: int
    location: Location


@dataclass(frozen=True, slots=True)
class Transition:
    """A transition: tokens taken from `inputs`, and put on `outputs`."""

    name: str
    inputs: Arcs
    outputs: Arcs
    location: Location

    @property
    def effect(self) -> Arcs:
        """The change of each place that changes."""
        change = dict(self.outputs)
        for p, weight in self.inputs:
            change[p] = change.get(p, 0) - weight
        return tuple((p, d) for p, d in sorted(change.items()) if d)


@dataclass(frozen=True, slots=True)
class Net:
    """A net. The groups are what a name stands for: several places of the unfolded net where it was coloured."""

    name: str
    places: tuple[Place, ...]
    transitions: tuple[Transition, ...]
    place_groups: Mapping[str, tuple[int, ...]]
    transition_groups: Mapping[str, tuple[int, ...]]
    said_safe: bool = False  # the file says that no place ever has two tokens
    coloured: bool = False

    @property
    def initial(self) -> tuple[int, ...]:
        """The marking at the start."""
        return tuple(p.initial for p in self.places)


def arcs(weights: Mapping[int, int]) -> Arcs:
    """Arcs in their normal form."""
    return tuple(sorted((p, w) for p, w in weights.items() if w))

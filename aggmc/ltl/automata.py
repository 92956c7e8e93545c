"""The two kinds of property automata, as plain data.

Source: A.-E. Ben Salem and M. Graiet, *Combining Explicit and Symbolic LTL Model Checking Using Generalized Testing
Automata*, Definitions 1 (TGBA) and 4 (TGTA).

    Q              the numbers of the states, 0 … `states`-1
    I              `Tgba.initial` (one state: Spot gives no more), `Tgta.initial`
    U : I → 𝔹(AP)  the second component of each initial arc of a `Tgta`, as a set of valuations
    F              the numbers 0 … `marks`-1; a subset of F is a bit mask, `all_marks` is F itself
    δ              `edges[q]`: for a TGBA each with a Boolean `label` over the propositions; for a TGTA each with the
                   set of its change-sets (Definition 4 writes that set as a Boolean formula)
    SF(q)          Definition 8: `self_label(q)` of a TGBA, `self_changes(q)` of a TGTA

Deviations: F is never empty, as in the paper, and an acceptance set that no edge carries makes the language empty.
With `stuttering=False` a `Tgta` need not satisfy the stuttering normalization of Definition 4: it is the plain
change-set automaton, which reads ℓ(i) ⊕ ℓ(i+1) as a TGTA does, and recognizes any ω-regular language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

from aggmc.boolean import FALSE, Bool, or_


def drawn(automaton: object) -> str:
    """The picture, for notebooks; who draws knows automata, and not the other way round."""
    svg, automata = import_module("aggmc.pictures.svg"), import_module("aggmc.pictures.automata")
    return str(svg.to_svg(automata.automaton_picture(automaton)))


@dataclass(frozen=True, slots=True)
class TgbaEdge:
    """An edge that may be taken in a valuation that satisfies `label`."""

    label: Bool
    marks: int
    target: int


@dataclass(frozen=True, slots=True)
class Tgba:
    """A transition-based generalized Büchi automaton."""

    propositions: tuple[str, ...]
    initial: int
    edges: tuple[tuple[TgbaEdge, ...], ...]
    marks: int
    automaton_class: str = "general"  # or "weak" or "terminal"

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.edges)

    def _repr_svg_(self) -> str:
        return drawn(self)

    @property
    def all_marks(self) -> int:
        """The set of all marks."""
        return (1 << self.marks) - 1

    def self_loops(self, state: int) -> tuple[TgbaEdge, ...]:
        """The edges from the state to itself."""
        return tuple(edge for edge in self.edges[state] if edge.target == state)

    def self_label(self, state: int) -> Bool:
        """SF(q): the disjunction of the labels of the self-loops."""
        return or_(FALSE, *(edge.label for edge in self.self_loops(state)))


@dataclass(frozen=True, slots=True)
class TgtaEdge:
    """An edge that may be taken when exactly the propositions of one of the `changes` change their values."""

    changes: frozenset[int]
    marks: int
    target: int


@dataclass(frozen=True, slots=True)
class Tgta:
    """A transition-based generalized testing automaton, or a plain change-set automaton."""

    propositions: tuple[str, ...]
    initial: tuple[tuple[int, frozenset[int]], ...]
    edges: tuple[tuple[TgtaEdge, ...], ...]
    marks: int
    stuttering: bool = True
    automaton_class: str = "general"  # or "weak"; "terminal" only where no run can leave acceptance again

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.edges)

    def _repr_svg_(self) -> str:
        return drawn(self)

    @property
    def all_marks(self) -> int:
        """The set of all marks."""
        return (1 << self.marks) - 1

    def self_loops(self, state: int) -> tuple[TgtaEdge, ...]:
        """The edges from the state to itself."""
        return tuple(edge for edge in self.edges[state] if edge.target == state)

    def self_changes(self, state: int) -> frozenset[int]:
        """SF(q): the union of the change-sets of the self-loops."""
        return frozenset().union(*(edge.changes for edge in self.self_loops(state)))


class MarkedEdge(Protocol):
    """What the graph algorithms need of an edge."""

    @property
    def marks(self) -> int:
        """The acceptance sets, a bit mask."""

    @property
    def target(self) -> int:
        """The state it leads to."""


def components(successors: Sequence[Sequence[int]]) -> list[int]:
    """The strongly connected component of each state, numbered so that edges lead to equal or smaller numbers.

    Tarjan's algorithm, without recursion.
    """
    n = len(successors)
    component = [-1] * n
    order = [-1] * n
    low = [0] * n
    stack: list[int] = []
    counter = found = 0
    for root in range(n):
        if order[root] >= 0:
            continue
        work = [(root, iter(successors[root]))]
        order[root] = low[root] = counter
        counter += 1
        stack.append(root)
        while work:
            state, rest = work[-1]
            for target in rest:
                if order[target] < 0:
                    order[target] = low[target] = counter
                    counter += 1
                    stack.append(target)
                    work.append((target, iter(successors[target])))
                    break
                if component[target] < 0 and order[target] < low[state]:
                    low[state] = order[target]
            else:
                work.pop()
                if work and low[state] < low[work[-1][0]]:
                    low[work[-1][0]] = low[state]
                if low[state] == order[state]:
                    while True:
                        member = stack.pop()
                        component[member] = found
                        if member == state:
                            break
                    found += 1
    return component


def accepting_components(edges: Sequence[Sequence[MarkedEdge]], all_marks: int) -> tuple[list[int], list[bool]]:
    """The component of each state; and of each component, whether it has a cycle that carries all marks."""
    component = components([[edge.target for edge in out] for out in edges])
    inner = [-1] * (max(component, default=-1) + 1)  # -1: no inner edge
    for state, out in enumerate(edges):
        for edge in out:
            number = component[state]
            if component[edge.target] == number:
                inner[number] = max(inner[number], 0) | edge.marks
    return component, [marks == all_marks for marks in inner]


def useful(component: Sequence[int], accepting: Sequence[bool], edges: Sequence[Sequence[MarkedEdge]]) -> list[bool]:
    """Which states reach an accepting component; uses that edges lead to equal or smaller component numbers."""
    good = list(accepting)
    for state in sorted(range(len(edges)), key=lambda s: component[s]):
        number = component[state]
        if not good[number] and any(good[component[edge.target]] for edge in edges[state]):
            good[number] = True
    return [good[number] for number in component]

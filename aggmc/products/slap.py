"""SLAP, the self-loop aggregation product, over a TGBA or a TGTA.

Duret-Lutz, Klai, Poitrenaud, Thierry-Mieg, ATVA 2011; Ben Salem and Graiet, Definitions 8 (SLAP) and 9 (SLAP-TGTA).

    (q, a)            a node: automaton state, set of states
    SF(q)             the union of the self-loop labels of q: `_inner[q]`
    FReach, Reach⊕    `kripke.closure`
    FSucc, Succ⊕      `kripke.successors`

For each edge q −φ,M→ q' but the self-loops without marks: (q', Reach(Succ(a, φ), SF(q'))).
Deviation: initial states are merged, one initial aggregate per initial automaton state; same verdict.
Over a plain change-set automaton the same product is right for all of LTL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from aggmc.boolean import FALSE
from aggmc.ltl.automata import Tgba, Tgta
from aggmc.products.protocol import Edge, StateSet
from aggmc.symbolic.kripke import Changing, From, Step, SymbolicKripke

SlapNode = tuple[int, Any]  # automaton state, BDD: the BDD itself is part of the key and so stays alive


@dataclass(frozen=True, slots=True)
class _Arc:
    step: Step
    marks: int
    target: int


class SelfLoopProduct:
    """SLAP over any automaton, given as arcs labelled by kinds of steps."""

    def __init__(
        self,
        kripke: SymbolicKripke,
        *,
        marks: int,
        initial: Sequence[tuple[int, StateSet]],
        arcs: Sequence[Sequence[_Arc]],
        inner: Sequence[Step | None],
    ) -> None:
        self.marks = marks
        self._kripke = kripke
        self._initial = initial
        self._inner = inner
        self._arcs = [promising_first(list(out), arcs, marks, q) for q, out in enumerate(arcs)]
        self._entries: dict[SlapNode, StateSet] = {}

    def initial(self) -> Iterator[SlapNode]:
        """One aggregate per initial automaton state."""
        for q, states in self._initial:
            if states != self._kripke.false:
                node = (q, self._kripke.closure(states, self._inner[q]))
                self._entries[node] = states
                yield node

    def successors(self, node: SlapNode) -> Iterator[Edge[SlapNode]]:
        """Definition 8 or 9."""
        q, states = node
        for arc in self._arcs[q]:
            reached = self._kripke.successors(states, arc.step)
            if reached != self._kripke.false:
                closed = self._kripke.closure(reached, self._inner[arc.target])
                yield Edge(arc.marks, (arc.target, closed), arc.step)

    def aggregate(self, node: SlapNode) -> StateSet:
        """The states of a node."""
        return node[1]

    def inside(self, node: SlapNode) -> Step | None:
        """The self-loop steps of the automaton state."""
        return self._inner[node[0]]

    def entry(self, node: SlapNode) -> StateSet:
        """The initial states of an initial node."""
        return self._entries[node]


def promising_first(out: list[_Arc], arcs: Sequence[Sequence[_Arc]], marks: int, source: int) -> list[_Arc]:
    """The arcs without unmarked self-loops; those into states whose self-loops carry all marks come first."""
    full = (1 << marks) - 1

    def loops(q: int) -> int:
        together = 0
        for arc in arcs[q]:
            if arc.target == q:
                together |= arc.marks
        return together

    kept = [arc for arc in out if arc.target != source or arc.marks]
    return sorted(kept, key=lambda arc: loops(arc.target) != full)


def slap(kripke: SymbolicKripke, automaton: Tgba) -> SelfLoopProduct:
    """SLAP (any LTL)."""
    labels = [automaton.self_label(q) for q in range(automaton.states)]
    return SelfLoopProduct(
        kripke,
        marks=automaton.marks,
        initial=[(automaton.initial, kripke.initial)],
        arcs=[[_Arc(From(e.label), e.marks, e.target) for e in out] for out in automaton.edges],
        inner=[None if label == FALSE else From(label) for label in labels],
    )


def slap_tgta(kripke: SymbolicKripke, automaton: Tgta) -> SelfLoopProduct:
    """SLAP-TGTA, over a TGTA (stutter-invariant properties) or a plain change-set automaton (any LTL)."""
    letters = dict(kripke.split(kripke.initial))
    initial = []
    for q, valuations in automaton.initial:
        states = kripke.false
        for mask in sorted(valuations):
            states = states | letters.get(mask, kripke.false)
        initial.append((q, states))
    changes = [automaton.self_changes(q) for q in range(automaton.states)]
    return SelfLoopProduct(
        kripke,
        marks=automaton.marks,
        initial=initial,
        arcs=[[_Arc(Changing(e.changes), e.marks, e.target) for e in out] for out in automaton.edges],
        inner=[Changing(c) if c else None for c in changes],
    )

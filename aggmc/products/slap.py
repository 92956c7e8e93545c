"""SLAP, the self-loop aggregation product, over a TGBA or a TGTA; and its kin, which settle self-loops at once.

Duret-Lutz, Klai, Poitrenaud, Thierry-Mieg, ATVA 2011; Ben Salem and Graiet, Definitions 8 (SLAP) and 9 (SLAP-TGTA).

    (q, a)            a node: automaton state, set of states
    SF(q)             the union of the self-loop labels of q: `_State.inner`
    FReach, Reach⊕    `kripke.closure`
    FSucc, Succ⊕      `kripke.successors`

For each edge q −φ,M→ q' but the self-loops without marks: (q', Reach(Succ(a, φ), SF(q'))).
Deviation: initial states are merged, one initial aggregate per initial automaton state; same verdict.
Over a plain change-set automaton the same product is right for all of LTL.

An accepting self-loop is unrolled by SLAP: each round leaves a smaller aggregate, as many as the longest path inside
it. The kin (`Settle`) ask once whether the aggregate holds a *fair cycle*: one of self-loops of q that carry all marks
together. If so, an edge with all marks leads to an absorbing accepting node, (q, None). If not:

    FST     asks only where q has nothing but self-loops; then nothing follows
    FSA     asks wherever the self-loops of q carry all marks together; goes on as SLAP where q has other edges
    PLUS    as FSA; and where q is alone in its component, only other edges than self-loops are followed (ours)

`absorb="covered"` takes the older definition of SF: when an edge with marks M enters q, only the self-loops whose marks
are in M are absorbed (initially, the unmarked ones). Where an aggregate is asked for a fair cycle, or self-loops are
not followed, all are absorbed all the same: the product would be wrong otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from aggmc.boolean import FALSE, or_
from aggmc.ltl.automata import Tgba, Tgta, components
from aggmc.products.protocol import Edge, StateSet
from aggmc.symbolic.kripke import Changing, From, Step, SymbolicKripke

SlapNode = tuple[int, Any]  # automaton state, BDD (itself part of the key, and so kept alive; None: accepting)


class Settle(Enum):
    """Which aggregates are asked for a fair cycle; see above."""

    NONE = "none"
    FST = "fst"
    FSA = "fsa"
    PLUS = "plus"


@dataclass(frozen=True, slots=True)
class _Arc:
    step: Step
    marks: int
    target: int


@dataclass(frozen=True, slots=True)
class _State:
    """What the product knows of an automaton state."""

    arcs: tuple[_Arc, ...]  # in the order in which they are followed
    loops: tuple[_Arc, ...]
    inner: Step | None  # SF(q)
    fair: tuple[Step, ...] | None  # the kinds of self-loops that a fair cycle needs; None: not asked for one
    settled: bool  # its aggregates absorb all self-loops in any case


class SelfLoopProduct:
    """SLAP over any automaton, given as arcs labelled by kinds of steps."""

    def __init__(
        self,
        kripke: SymbolicKripke,
        *,
        marks: int,
        initial: Sequence[tuple[int, StateSet]],
        arcs: Sequence[Sequence[_Arc]],
        settle: Settle = Settle.NONE,
        absorb: str = "all",
    ) -> None:
        self.marks = marks
        self._full = (1 << marks) - 1
        self._kripke = kripke
        self._initial = initial
        self._covered = absorb == "covered"
        component = components([[arc.target for arc in out] for out in arcs])
        alone = [component.count(c) == 1 for c in component]
        self._states = [self._state(q, arcs, alone[q], settle) for q in range(len(arcs))]
        self._entries: dict[SlapNode, StateSet] = {}
        self._barren: dict[int, StateSet] = {}  # the aggregates without a fair cycle, united

    def _state(self, q: int, arcs: Sequence[Sequence[_Arc]], alone: bool, settle: Settle) -> _State:
        loops = tuple(arc for arc in arcs[q] if arc.target == q)
        followed = promising_first(list(arcs[q]), arcs, self.marks, q)
        only_loops = len(loops) == len(arcs[q])
        asked = settle is not Settle.NONE and (only_loops or settle is not Settle.FST) and _marks(loops) == self._full
        left_out = settle is not Settle.NONE and (only_loops or (alone and settle is Settle.PLUS))
        if left_out:
            followed = [arc for arc in followed if arc.target != q]
        fair = _recurring(self._kripke, loops, self.marks) if asked else None
        return _State(tuple(followed), loops, _together(loops), fair, asked or left_out)

    def initial(self) -> Iterator[SlapNode]:
        """One aggregate per initial automaton state."""
        for q, states in self._initial:
            if states != self._kripke.false:
                node = (q, self._kripke.closure(states, self._absorbed(q, 0)))
                self._entries[node] = states
                yield node

    def successors(self, node: SlapNode) -> Iterator[Edge[SlapNode]]:
        """Definition 8 or 9; before, where it is asked for, the edge to the accepting node."""
        q, states = node
        if states is None or self._accepts(q, states):
            yield Edge(self._full, (q, None))
            return
        for arc in self._states[q].arcs:
            reached = self._kripke.successors(states, arc.step)
            if reached != self._kripke.false:
                closed = self._kripke.closure(reached, self._absorbed(arc.target, arc.marks))
                yield Edge(arc.marks, (arc.target, closed), arc.step)

    def _absorbed(self, q: int, marks: int) -> Step | None:
        """The self-loops that an aggregate absorbs when it is entered with these marks."""
        state = self._states[q]
        if self._covered and not state.settled:
            return _together(loop for loop in state.loops if not loop.marks & ~marks)
        return state.inner

    def _accepts(self, q: int, states: StateSet) -> bool:
        """Whether a run can stay in the aggregate for ever and is accepted.

        Aggregates that are asked are closed under the steps of the cycle: one that meets a part known to be barren
        lies in that part.
        """
        state = self._states[q]
        if state.fair is None:
            return False
        barren = self._barren.get(q, self._kripke.false)
        if states | barren == barren:
            return False
        if self._kripke.has_fair_cycle(states, state.inner, state.fair):
            return True
        self._barren[q] = barren | states
        return False

    def aggregate(self, node: SlapNode) -> StateSet:
        """The states of a node."""
        return node[1]

    def inside(self, node: SlapNode) -> Step | None:
        """The self-loop steps of the automaton state: those that were absorbed are among them."""
        return self._states[node[0]].inner

    def fair(self, node: SlapNode) -> Sequence[Step]:
        """The kinds of self-loops that must recur."""
        return self._states[node[0]].fair or ()

    def entry(self, node: SlapNode) -> StateSet:
        """The initial states of an initial node."""
        return self._entries[node]


def _marks(arcs: Iterable[_Arc]) -> int:
    together = 0
    for arc in arcs:
        together |= arc.marks
    return together


def promising_first(out: list[_Arc], arcs: Sequence[Sequence[_Arc]], marks: int, source: int) -> list[_Arc]:
    """The arcs without unmarked self-loops; those into states whose self-loops carry all marks come first."""
    full = (1 << marks) - 1

    def loops(q: int) -> int:
        return _marks(arc for arc in arcs[q] if arc.target == q)

    kept = [arc for arc in out if arc.target != source or arc.marks]
    return sorted(kept, key=lambda arc: loops(arc.target) != full)


def _together(loops: Iterable[_Arc]) -> Step | None:
    """The steps of any of these self-loops; None if there are none."""
    steps = [loop.step for loop in loops]
    changes = [s.changes for s in steps if isinstance(s, Changing)]
    labels = [s.label for s in steps if isinstance(s, From)]
    if changes:
        return Changing(frozenset().union(*changes))
    return From(or_(FALSE, *labels)) if labels else None


def _recurring(kripke: SymbolicKripke, loops: Sequence[_Arc], marks: int) -> tuple[Step, ...]:
    """For each mark the steps of the self-loops that carry it; without those that follow from another."""
    kinds: list[Step] = []
    for i in range(marks):
        step = _together(loop for loop in loops if loop.marks >> i & 1)
        assert step is not None
        if not any(_implies(kripke, kind, step) for kind in kinds):
            kinds = [kind for kind in kinds if not _implies(kripke, step, kind)] + [step]
    return tuple(kinds)


def _implies(kripke: SymbolicKripke, special: Step, general: Step) -> bool:
    match special, general:
        case Changing(some), Changing(more):
            return some <= more
        case From(some_label), From(more_label):
            return bool(kripke.label(some_label) & ~kripke.label(more_label) == kripke.false)
        case _:
            return False


def slap(
    kripke: SymbolicKripke, automaton: Tgba, settle: Settle = Settle.NONE, *, absorb: str = "all"
) -> SelfLoopProduct:
    """SLAP (any LTL)."""
    return SelfLoopProduct(
        kripke,
        marks=automaton.marks,
        initial=[(automaton.initial, kripke.initial)],
        arcs=[[_Arc(From(e.label), e.marks, e.target) for e in out] for out in automaton.edges],
        settle=settle,
        absorb=absorb,
    )


def slap_tgta(
    kripke: SymbolicKripke, automaton: Tgta, settle: Settle = Settle.NONE, *, absorb: str = "all"
) -> SelfLoopProduct:
    """SLAP-TGTA, over a TGTA (stutter-invariant properties) or a plain change-set automaton (any LTL)."""
    letters = dict(kripke.split(kripke.initial))
    initial = []
    for q, valuations in automaton.initial:
        states = kripke.false
        for mask in sorted(valuations):
            states = states | letters.get(mask, kripke.false)
        initial.append((q, states))
    return SelfLoopProduct(
        kripke,
        marks=automaton.marks,
        initial=initial,
        arcs=[[_Arc(Changing(e.changes), e.marks, e.target) for e in out] for out in automaton.edges],
        settle=settle,
        absorb=absorb,
    )

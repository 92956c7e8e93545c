"""The symbolic observation graph, and its products with a TGBA (SOG) and a TGTA (SOG-TGTA).

Klai and Poitrenaud 2008; Ben Salem and Graiet, Definition 7 (SOG-TGTA). For stutter-invariant properties only.

    a with label ℓ    an aggregate: closed under steps into ℓ
    divergent         a holds an infinite path, or (under `stutter`) a dead state

SOG: a divergent aggregate also leads to an absorbing node labelled ℓ. SOG-TGTA: it has a self-loop instead, since a
TGTA reads stuttering on self-loops only. Deviations: initial states are merged, one aggregate per valuation; and an
unmarked self-loop of a product node, which no verdict depends on, is left out (Figure 2e has one; `idle_loops=True`
keeps it), so that most aggregates are never tested for divergence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aggmc.boolean import Bool, and_, evaluate, not_, prop
from aggmc.ltl.automata import Tgba, Tgta
from aggmc.products.protocol import Edge, StateSet
from aggmc.symbolic.kripke import Into, SymbolicKripke

Aggregate = tuple[int, Any]  # valuation, BDD
SogNode = tuple[int, int, Any]  # automaton state, valuation, BDD (None: the divergent node of that valuation)


class ObservationGraph:
    """The aggregates, each computed once."""

    def __init__(self, kripke: SymbolicKripke) -> None:
        self.kripke = kripke
        self._successors: dict[Aggregate, list[Aggregate]] = {}
        self._divergent: dict[Aggregate, bool] = {}
        self._steps: dict[int, Into] = {}

    def into(self, valuation: int) -> Into:
        """The steps into a valuation."""
        if valuation not in self._steps:
            self._steps[valuation] = Into(_minterm(valuation, len(self.kripke.propositions)))
        return self._steps[valuation]

    def initial(self) -> Iterator[tuple[Aggregate, StateSet]]:
        """The initial aggregates, each with its initial states."""
        for valuation, states in self.kripke.split(self.kripke.initial):
            yield (valuation, self.kripke.closure(states, self.into(valuation))), states

    def successors(self, aggregate: Aggregate) -> list[Aggregate]:
        """The aggregates of other valuations that one step leads to."""
        found = self._successors.get(aggregate)
        if found is None:
            valuation, states = aggregate
            outside = self.kripke.post(states) & ~self.kripke.label(self.into(valuation).label)
            found = [
                (other, self.kripke.closure(part, self.into(other))) for other, part in self.kripke.split(outside)
            ]
            self._successors[aggregate] = found
        return found

    def is_divergent(self, aggregate: Aggregate) -> bool:
        """An infinite run stays in the aggregate."""
        found = self._divergent.get(aggregate)
        if found is None:
            valuation, states = aggregate
            found = self.kripke.has_fair_cycle(states, self.into(valuation))
            self._divergent[aggregate] = found
        return found


def _minterm(valuation: int, count: int) -> Bool:
    return and_(*(prop(i) if (valuation >> i) & 1 else not_(prop(i)) for i in range(count)))


class _SogProduct:
    def __init__(self, kripke: SymbolicKripke, marks: int) -> None:
        self.marks = marks
        self.graph = ObservationGraph(kripke)
        self._entries: dict[SogNode, StateSet] = {}

    def aggregate(self, node: SogNode) -> StateSet:
        """The states of a node."""
        return node[2]

    def inside(self, node: SogNode) -> Into:
        """Steps that do not change the valuation."""
        return self.graph.into(node[1])

    def fair(self, node: SogNode) -> tuple[Into, ...]:
        """Of a divergent node: any cycle will do."""
        return (self.graph.into(node[1]),)

    def entry(self, node: SogNode) -> StateSet:
        """The initial states of an initial node."""
        return self._entries[node]


class Sog(_SogProduct):
    """The product of the SOG with a TGBA."""

    def __init__(self, kripke: SymbolicKripke, automaton: Tgba) -> None:
        super().__init__(kripke, automaton.marks)
        self._automaton = automaton

    def initial(self) -> Iterator[SogNode]:
        """The initial aggregates, in the initial state."""
        for (valuation, states), entry in self.graph.initial():
            node = (self._automaton.initial, valuation, states)
            self._entries[node] = entry
            yield node

    def successors(self, node: SogNode) -> Iterator[Edge[SogNode]]:
        """Automaton edges that the valuation satisfies, with every successor of the aggregate."""
        q, valuation, states = node
        arcs = [e for e in self._automaton.edges[q] if evaluate(e.label, valuation)]
        if not arcs:
            return
        if states is None:
            for arc in arcs:
                yield Edge(arc.marks, (arc.target, valuation, None))
            return
        aggregate = (valuation, states)
        if self.graph.is_divergent(aggregate):
            for arc in arcs:
                yield Edge(arc.marks, (arc.target, valuation, None))
        for other, closed in self.graph.successors(aggregate):
            for arc in arcs:
                yield Edge(arc.marks, (arc.target, other, closed), self.graph.into(other))


class SogTgta(_SogProduct):
    """The product of the SOG with self-loops and a TGTA."""

    def __init__(self, kripke: SymbolicKripke, automaton: Tgta, *, idle_loops: bool = False) -> None:
        super().__init__(kripke, automaton.marks)
        self._automaton = automaton
        self._idle_loops = idle_loops

    def initial(self) -> Iterator[SogNode]:
        """The initial aggregates whose valuation an initial arc admits."""
        for (valuation, states), entry in self.graph.initial():
            for q, admitted in self._automaton.initial:
                if valuation in admitted:
                    node = (q, valuation, states)
                    self._entries[node] = entry
                    yield node

    def successors(self, node: SogNode) -> Iterator[Edge[SogNode]]:
        """Self-loops on divergent aggregates, then the change-sets of the steps that leave."""
        q, valuation, states = node
        arcs = self._automaton.edges[q]
        stuttering = [
            arc for arc in arcs if 0 in arc.changes and (arc.marks or arc.target != q or self._idle_loops)
        ]
        if stuttering and self.graph.is_divergent((valuation, states)):
            for arc in stuttering:
                yield Edge(arc.marks, (arc.target, valuation, states))
        for other, closed in self.graph.successors((valuation, states)):
            for arc in arcs:
                if valuation ^ other in arc.changes:
                    yield Edge(arc.marks, (arc.target, other, closed), self.graph.into(other))

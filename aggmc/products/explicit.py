"""The explicit products, state by state: the baseline that all others are compared with.

Ben Salem and Graiet, Definitions 3 (TGBA ⊗ K) and 5 (TGTA ⊗ K).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from aggmc.boolean import evaluate
from aggmc.ltl.automata import Tgba, Tgta
from aggmc.model.core import Interpreter, State
from aggmc.products.protocol import Edge

ExplicitNode = tuple[int, State]


class ExplicitKripke:
    """The model state by state, labelled with valuations."""

    def __init__(self, interpreter: Interpreter, valuation: Callable[[State], int], *, stutter: bool) -> None:
        self._interpreter = interpreter
        self._stutter = stutter
        self.valuation = valuation
        self._last: tuple[State, list[State]] | None = None

    def initial(self) -> list[State]:
        """The initial states, each once."""
        return list(dict.fromkeys(self._interpreter.initial_states()))

    def successors(self, state: State) -> list[State]:
        """The successors, each once; a dead state's is itself under `stutter`."""
        if self._last is not None and self._last[0] == state:  # automaton states share a state's successors
            return self._last[1]
        found = list(dict.fromkeys(target for _, target in self._interpreter.successors(state)))
        if not found and self._stutter and self._interpreter.is_dead(state):
            found = [state]
        self._last = (state, found)
        return found


class ExplicitTgba:
    """TGBA ⊗ K."""

    def __init__(self, kripke: ExplicitKripke, automaton: Tgba) -> None:
        self.marks = automaton.marks
        self._kripke = kripke
        self._automaton = automaton
        self._arcs: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def initial(self) -> Iterator[ExplicitNode]:
        """The initial state with each initial state of the model."""
        for state in self._kripke.initial():
            yield self._automaton.initial, state

    def successors(self, node: ExplicitNode) -> Iterator[Edge[ExplicitNode]]:
        """Definition 3."""
        q, state = node
        key = (q, self._kripke.valuation(state))
        arcs = self._arcs.get(key)
        if arcs is None:
            edges = self._automaton.edges[q]
            arcs = self._arcs[key] = [(e.marks, e.target) for e in edges if evaluate(e.label, key[1])]
        if arcs:
            for target in self._kripke.successors(state):
                for marks, q2 in arcs:
                    yield Edge(marks, (q2, target))

    def exhausted(self, node: ExplicitNode) -> None:
        """Nothing is gained from that here."""

    def state(self, node: ExplicitNode) -> State:
        """The model's state."""
        return node[1]


class ExplicitTgta:
    """TGTA ⊗ K, or the plain change-set automaton ⊗ K."""

    def __init__(self, kripke: ExplicitKripke, automaton: Tgta) -> None:
        self.marks = automaton.marks
        self._kripke = kripke
        self._automaton = automaton
        self._arcs: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def initial(self) -> Iterator[ExplicitNode]:
        """Each initial state of the model with the initial arcs that admit its valuation."""
        for state in self._kripke.initial():
            valuation = self._kripke.valuation(state)
            for q, admitted in self._automaton.initial:
                if valuation in admitted:
                    yield q, state

    def successors(self, node: ExplicitNode) -> Iterator[Edge[ExplicitNode]]:
        """Definition 5."""
        q, state = node
        valuation = self._kripke.valuation(state)
        for target in self._kripke.successors(state):
            key = (q, valuation ^ self._kripke.valuation(target))
            arcs = self._arcs.get(key)
            if arcs is None:
                edges = self._automaton.edges[q]
                arcs = self._arcs[key] = [(e.marks, e.target) for e in edges if key[1] in e.changes]
            for marks, q2 in arcs:
                yield Edge(marks, (q2, target))

    def exhausted(self, node: ExplicitNode) -> None:
        """Nothing is gained from that here."""

    def state(self, node: ExplicitNode) -> State:
        """The model's state."""
        return node[1]

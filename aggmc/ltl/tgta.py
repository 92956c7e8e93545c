"""Testing automata and plain change-set automata, from a TGBA.

Sources: A.-E. Ben Salem and M. Graiet, *Combining Explicit and Symbolic LTL Model Checking Using Generalized Testing
Automata*, Definition 4; A.-E. Ben Salem, A. Duret-Lutz, F. Kordon, *Model Checking using Generalized Testing
Automata*, ToPNoC VI (2012), for the idea of the construction. The construction here is our own, because the one in
Spot 2.13 (`tgba_to_tgta`) accepts words that it should not (it makes predecessors of initial states initial) and can
forget livelock acceptance.

    ℓ, 2^AP          letters: valuations of the propositions, those that the model can satisfy if they are given
    k = ℓ ⊕ ℓ'       a change-set; ∅ is 0
    (q, ℓ)           a state of step 1: the TGBA's state, and the letter that comes next
    Acc, G           `_Stuttering.accepting`, `.reaching`: states of a livelock-accepting component of the ∅-subgraph,
                     and states that reach one by ∅ edges
    δ                `_Graph.edges[s][target, marks]` = the set of change-sets, as a table (bit k is set if k is in it)

1. States (q, ℓ), an edge (q, ℓ) −ℓ⊕ℓ'→ (q', ℓ') for each edge q −φ,M→ q' with ℓ ⊨ φ; initial (q0, ℓ), U = ℓ.
2. Acc and G, from the strongly connected components of the ∅-subgraph of each letter.
3. ∅ edges are dropped; every state gets an ∅ self-loop, with all marks on Acc, with none elsewhere.
4. Each edge into d ∈ G∖Acc has a copy into d's representative in Acc; likewise initial arcs.
5. Trim; quotient by bisimulation; prune by direct simulation; one edge for each (source, target, marks).

`tgta` does all of these, and keeps the language if it is stutter-invariant. `change_set_automaton` does 1 and 5, and
keeps any language.

Deviations. Step 1's edges are never listed: from (q, ℓ) an edge leads to *every* letter of q', so the bisimulation is
refined on tables over letters, shifted by ⊕ ℓ. In step 5, marks on edges outside accepting components are dropped
first, and the three reductions are repeated until nothing changes. Direct simulation is quadratic in the edges: above
`SIMULATION_LIMIT` edges of the quotient, an edge is pruned only by another one to the same state.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from aggmc.boolean import members, prop, table, to_table
from aggmc.errors import UnsupportedError
from aggmc.ltl.automata import Tgba, Tgta, TgtaEdge, accepting_components, useful

TGTA_PROPOSITION_LIMIT = 10  # 2^n letters; above it use a product without change-sets
SIMULATION_LIMIT = 1500


def tgta(tgba: Tgba, letters: Collection[int] | None = None) -> Tgta:
    """The testing automaton of a TGBA whose language is stutter-invariant (over words of these letters)."""
    return _construct(tgba, letters, stuttering=True)


def change_set_automaton(tgba: Tgba, letters: Collection[int] | None = None) -> Tgta:
    """The plain change-set automaton: the language of the TGBA (over words of these letters), whatever it is."""
    return _construct(tgba, letters, stuttering=False)


def _construct(tgba: Tgba, letters: Collection[int] | None, *, stuttering: bool) -> Tgta:
    n = len(tgba.propositions)
    allowed = sorted(set(range(1 << n) if letters is None and n <= TGTA_PROPOSITION_LIMIT else letters or ()))
    if (letters is None and n > TGTA_PROPOSITION_LIMIT) or n > 2 * TGTA_PROPOSITION_LIMIT:
        raise UnsupportedError(
            f"the property observes {n} propositions; automata over change-sets are built for at most "
            f"{TGTA_PROPOSITION_LIMIT}: use the product slap"
        )
    if allowed and (allowed[0] < 0 or allowed[-1] >> n):
        raise ValueError(f"a letter is not a valuation of {n} propositions")
    base = _Base(tgba, n, allowed, stuttering)
    graph = _reduce(_quotient(base), tgba.all_marks)
    changes = to_table({a ^ b for a in allowed for b in allowed})
    return _finish(graph, tgba, stuttering, changes)


# --- steps 1 to 4: states (q, ℓ), with edges that are not listed ------------------------------------------------------


class _Arc(NamedTuple):
    """A target and marks; the key of an edge."""

    target: int
    marks: int


@dataclass(frozen=True, slots=True)
class _Stuttering:
    """Steps 2 and 4 for one letter: sets of TGBA states, and for each state of G∖Acc its representative in Acc."""

    accepting: frozenset[int]
    representative: dict[int, int]  # of the states of G∖Acc


def _stuttering(rows: Sequence[Sequence[_Arc]], all_marks: int) -> _Stuttering:
    """Acc, and the representatives of G∖Acc, given the edges that one letter enables."""
    component, accepting = accepting_components(rows, all_marks)
    # the representative of a component: the first state of an accepting component that it reaches
    best: dict[int, int] = {}
    for state in range(len(rows) - 1, -1, -1):
        if accepting[component[state]]:
            best[component[state]] = state
    for state in sorted(range(len(rows)), key=lambda s: component[s]):  # targets' components are complete by then
        number = component[state]
        if not accepting[number]:
            for arc in rows[state]:
                reached = best.get(component[arc.target])
                if reached is not None and reached < best.get(number, len(rows)):
                    best[number] = reached
    acc = frozenset(s for s in range(len(rows)) if accepting[component[s]])
    # a component with several states is not complete until all of them were seen: ask only now
    return _Stuttering(acc, {s: best[component[s]] for s in range(len(rows)) if s not in acc and component[s] in best})


class _Base:
    """Steps 1 to 4 over the letters in `letters`."""

    def __init__(self, tgba: Tgba, n: int, letters: Sequence[int], stuttering: bool) -> None:
        self.n = n
        self.letters = letters
        self.stuttering = stuttering
        self.initial = tgba.initial
        self.all_marks = tgba.all_marks
        self.states = range(tgba.states)
        tables = [[(table(edge.label, n), _Arc(edge.target, edge.marks)) for edge in out] for out in tgba.edges]
        interned: dict[tuple[_Arc, ...], tuple[_Arc, ...]] = {}
        self.rows: list[dict[int, tuple[_Arc, ...]]] = []
        for out in tables:
            row: dict[int, tuple[_Arc, ...]] = {}
            for letter in letters:
                enabled = tuple(sorted({arc for bits, arc in out if bits >> letter & 1}))
                row[letter] = interned.setdefault(enabled, enabled)
            self.rows.append(row)
        self.loops: dict[int, _Stuttering] = {}
        if stuttering:
            cache: dict[tuple[tuple[_Arc, ...], ...], _Stuttering] = {}
            for letter in letters:
                key = tuple(row[letter] for row in self.rows)
                if key not in cache:
                    cache[key] = _stuttering(key, tgba.all_marks)
                self.loops[letter] = cache[key]
        self.live = self._live()

    def targets(self, state: int, letter: int) -> tuple[int, ...]:
        """The TGBA states, with this letter, that an edge or initial arc to (state, letter) leads to."""
        here = (state,) if self.live[state] >> letter & 1 else ()
        if self.stuttering:
            other = self.loops[letter].representative.get(state)
            if other is not None:
                return (*here, other)
        return here

    def _live(self) -> list[int]:
        """For each TGBA state the table of letters with which it has an infinite run, more or less (see step 5)."""
        full = to_table(self.letters)
        live = [full for _ in self.states]
        changed = True
        while changed:
            changed = False
            for state in self.states:
                for letter in members(live[state]):
                    if self.stuttering and (
                        state in self.loops[letter].accepting or state in self.loops[letter].representative
                    ):
                        continue
                    others = ~(1 << letter) if self.stuttering else -1
                    if not any(live[arc.target] & others for arc in self.rows[state][letter]):
                        live[state] ^= 1 << letter
                        changed = True
        return live


@dataclass(slots=True)
class _Graph:
    """An automaton over change-sets, all of its sets as tables."""

    initial: dict[int, int]  # state -> the letters of U
    edges: list[dict[_Arc, int]] = field(default_factory=list)


def _columns(n: int) -> list[int]:
    return [table(prop(i), n) for i in range(n)]


def _shift(bits: int, letter: int, columns: Sequence[int]) -> int:
    """{ x ⊕ letter : x ∈ bits }: for each bit of the letter, swap the blocks of the table that differ in it."""
    for i, column in enumerate(columns):
        if letter >> i & 1:
            width = 1 << i
            bits = (bits & column) >> width | (bits << width) & column
    return bits


_Signature = tuple[tuple[_Arc, int], ...]


def _quotient(base: _Base) -> _Graph:
    """The quotient of the states (q, ℓ) by bisimulation: partition refinement by signatures."""
    columns = _columns(base.n)
    alive = [(state, letter) for state in base.states for letter in members(base.live[state])]
    targets = [{letter: base.targets(state, letter) for letter in base.letters} for state in base.states]
    block = dict.fromkeys(alive, 0)
    count = 1 if alive else 0
    without_empty = -2 if base.stuttering else -1
    while True:
        groups: list[list[tuple[int, int]]] = []  # of each TGBA state: block, letters with which it is entered
        for row in targets:
            group: dict[int, int] = {}
            for letter, states in row.items():
                for state in states:
                    number = block[state, letter]
                    group[number] = group.get(number, 0) | 1 << letter
            groups.append(sorted(group.items()))
        shifted: dict[tuple[int, int], int] = {}
        known: dict[tuple[tuple[_Arc, ...], int], _Signature] = {}
        numbers: dict[tuple[int, bool, _Signature], int] = {}
        fresh: dict[tuple[int, int], int] = {}
        for state, letter in alive:
            arcs = base.rows[state][letter]
            signature = known.get((arcs, letter))
            if signature is None:
                entries: dict[_Arc, int] = {}
                for arc in arcs:
                    for number, bits in groups[arc.target]:
                        relative = shifted.get((bits, letter))
                        if relative is None:
                            relative = shifted[bits, letter] = _shift(bits, letter, columns) & without_empty
                        if relative:
                            key = _Arc(number, arc.marks)
                            entries[key] = entries.get(key, 0) | relative
                signature = known[arcs, letter] = tuple(sorted(entries.items()))
            accepting = base.stuttering and state in base.loops[letter].accepting
            fresh[state, letter] = numbers.setdefault((block[state, letter], accepting, signature), len(numbers))
        if len(numbers) == count:
            break
        block, count = fresh, len(numbers)
    graph = _Graph({}, [{} for _ in range(count)])
    for old, accepting, signature in numbers:  # stable: `signature` speaks of the blocks in `block`
        graph.edges[old].update(signature)
        if base.stuttering:
            loop = _Arc(old, base.all_marks if accepting else 0)
            graph.edges[old][loop] = graph.edges[old].get(loop, 0) | 1
    for letter in base.letters:
        for state in targets[base.initial][letter]:
            number = block[state, letter]
            graph.initial[number] = graph.initial.get(number, 0) | 1 << letter
    return graph


# --- step 5 -----------------------------------------------------------------------------------------------------------


def _reduce(graph: _Graph, all_marks: int) -> _Graph:
    while True:
        size = _size(graph)
        graph = _prune(_bisimulation(_trim(graph, all_marks)))
        if _size(graph) == size:
            return graph


def _size(graph: _Graph) -> tuple[int, int, int, int]:
    return (
        len(graph.edges),
        sum(map(len, graph.edges)),
        sum(bits.bit_count() for row in graph.edges for bits in row.values()),
        sum(bits.bit_count() for bits in graph.initial.values()),
    )


def _trim(graph: _Graph, all_marks: int) -> _Graph:
    """Keep states that are reachable and reach an accepting component, and marks inside such components."""
    component, accepting = accepting_components([list(row) for row in graph.edges], all_marks)
    keep = useful(component, accepting, [list(row) for row in graph.edges])
    number: dict[int, int] = {}
    queue = [state for state in sorted(graph.initial) if keep[state]]
    for state in queue:
        number[state] = len(number)
    for state in queue:
        for target, _ in sorted(graph.edges[state]):
            if keep[target] and target not in number:
                number[target] = len(number)
                queue.append(target)
    result = _Graph({number[state]: bits for state, bits in graph.initial.items() if state in number})
    for state in queue:
        row: dict[_Arc, int] = {}
        for arc, bits in graph.edges[state].items():
            if keep[arc.target]:
                inside = component[state] == component[arc.target] and accepting[component[state]]
                key = _Arc(number[arc.target], arc.marks if inside else 0)
                row[key] = row.get(key, 0) | bits
        result.edges.append(row)
    return result


def _bisimulation(graph: _Graph) -> _Graph:
    """The quotient by bisimulation. A ∅ self-loop of it may stand for one between equivalent states."""
    block = [0] * len(graph.edges)
    count = min(1, len(graph.edges))
    while True:
        numbers: dict[tuple[int, _Signature], int] = {}
        fresh: list[int] = []
        for state, row in enumerate(graph.edges):
            entries: dict[_Arc, int] = {}
            for arc, bits in row.items():
                key = _Arc(block[arc.target], arc.marks)
                entries[key] = entries.get(key, 0) | bits
            fresh.append(numbers.setdefault((block[state], tuple(sorted(entries.items()))), len(numbers)))
        if len(numbers) == count:
            break
        block, count = fresh, len(numbers)
    result = _Graph({}, [{} for _ in range(count)])
    for old, signature in numbers:
        result.edges[old] = dict(signature)
    for state, bits in graph.initial.items():
        result.initial[block[state]] = result.initial.get(block[state], 0) | bits
    return result


def _simulation(graph: _Graph) -> list[int]:
    """For each state s the states t (a bit mask) that simulate it directly: every edge of s is matched by an edge of t
    with the same change-set, at least its marks, and a target that simulates its target."""
    n = len(graph.edges)
    if sum(map(len, graph.edges)) > SIMULATION_LIMIT:
        return [1 << state for state in range(n)]
    reads = [0] * n
    for state, row in enumerate(graph.edges):
        for bits in row.values():
            reads[state] |= bits
    above = [to_table(t for t in range(n) if not reads[s] & ~reads[t]) for s in range(n)]
    rows = [sorted(row.items()) for row in graph.edges]
    changed = True
    while changed:
        changed = False
        for s, edges in enumerate(rows):
            for t in members(above[s] & ~(1 << s)):
                for (target, marks), bits in edges:
                    rest = bits
                    better = above[target]
                    for (other, more), offered in rows[t]:
                        if rest & offered and not marks & ~more and better >> other & 1:
                            rest &= ~offered
                            if not rest:
                                break
                    if rest:
                        above[s] ^= 1 << t
                        changed = True
                        break
    return above


def _prune(graph: _Graph) -> _Graph:
    """Drop what a better edge or initial arc makes superfluous; of equally good ones, the first stays."""
    above = _simulation(graph)
    edges = [dict(_undominated(sorted(row.items()), above)) for row in graph.edges]
    starts = [(_Arc(state, 0), bits) for state, bits in sorted(graph.initial.items())]
    return _Graph({arc.target: bits for arc, bits in _undominated(starts, above)}, edges)


def _undominated(arcs: Sequence[tuple[_Arc, int]], above: Sequence[int]) -> Iterator[tuple[_Arc, int]]:
    for i, (arc, bits) in enumerate(arcs):
        rest = bits
        for j, (other, offered) in enumerate(arcs):
            if i == j or not rest & offered or not _dominates(other, arc, above):
                continue
            if j < i or not _dominates(arc, other, above):
                rest &= ~offered
        if rest:
            yield arc, rest


def _dominates(better: _Arc, arc: _Arc, above: Sequence[int]) -> bool:
    return not arc.marks & ~better.marks and bool(above[arc.target] >> better.target & 1)


# --- the result -------------------------------------------------------------------------------------------------------


def _finish(graph: _Graph, tgba: Tgba, stuttering: bool, changes: int) -> Tgta:
    """States in breadth-first order; edges into states whose self-loops carry all marks come first."""
    all_marks = tgba.all_marks
    loops: dict[int, int] = defaultdict(int)
    for state, row in enumerate(graph.edges):
        for arc in row:
            loops[state] |= arc.marks if arc.target == state else 0
    queue = sorted(graph.initial, key=lambda s: (graph.initial[s] & -graph.initial[s], graph.initial[s], s))
    number = {state: i for i, state in enumerate(queue)}
    rows: list[list[tuple[_Arc, int]]] = []
    for state in queue:
        row_ = sorted(
            graph.edges[state].items(),
            key=lambda item: (loops[item[0].target] != all_marks, item[0].target != state, item[1], item[0]),
        )
        for arc, _ in row_:
            if arc.target not in number:
                number[arc.target] = len(queue)
                queue.append(arc.target)
        rows.append(row_)
    edges = tuple(
        tuple(TgtaEdge(frozenset(members(bits)), arc.marks, number[arc.target]) for arc, bits in row) for row in rows
    )
    starts = sorted(graph.initial, key=lambda s: (loops[s] != all_marks, number[s]))
    initial = tuple((number[state], frozenset(members(graph.initial[state]))) for state in starts)
    return Tgta(tgba.propositions, initial, edges, tgba.marks, stuttering, _classify(edges, all_marks, changes))


def _classify(edges: Sequence[Sequence[TgtaEdge]], all_marks: int, changes: int) -> str:
    """Weak: every edge inside an accepting component carries all marks. Terminal: also, none can be left or blocked."""
    component, accepting = accepting_components(edges, all_marks)
    terminal = True
    for state, out in enumerate(edges):
        if accepting[component[state]]:
            inner = [edge for edge in out if component[edge.target] == component[state]]
            if any(edge.marks != all_marks for edge in inner):
                return "general"
            if changes & ~to_table(k for edge in inner for k in edge.changes):
                terminal = False
    return "terminal" if terminal else "weak"

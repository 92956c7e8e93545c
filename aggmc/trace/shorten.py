"""Shorter counterexamples: from a run that violates a property to one of fewer steps.

All that is said here is about A ⊗ K, where A is the automaton of the negated property and K the model; a run of any
product is a run of that one. In turn:

1. *Splicing*. The shortest lasso among the states that the run visits, by the interpreter.
2. *Cycles through known states*. For states of the cycle: a shorter cycle through the same state.
3. *Layers*. Breadth first from the initial states: the layers L0, L1, … hold what is d steps away. A state of the run
   that is met earlier than on the run gives a shorter prefix.
4. *All lassos*, by rising number of steps t: for each d + n = t, is there a cycle of n steps through a state of Ld? The
   states that n steps with all marks lead to from Ld are met with Ld; what is left is cut in halves until one state is
   left, or none. The first t that succeeds is the least there is.

A violation of a safety property (the automaton is terminal) is judged by its bad prefix first: 3 finds a shortest one,
and any infinite run may follow.

Step 4 finds the least number of steps, if it is given enough effort. Effort is counted (see `spaces`) and not timed, so
that the same input gives the same run everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from aggmc.boolean import evaluate
from aggmc.ltl.automata import Tgba, TgbaEdge, accepting_components
from aggmc.model.core import State
from aggmc.symbolic.domains import Escaped
from aggmc.trace.lasso import Lasso
from aggmc.trace.search import Found, shortest_lasso
from aggmc.trace.spaces import Exhausted, Space

MAX_MARKS = 3  # acceptance sets up to which cycles are searched by layers
BALL = 2_000  # states in which a continuation of a bad prefix is looked for, breadth first
BALLS = 4  # bad prefixes without a continuation nearby: then the run stays as it is
HEADS = 8  # states of a cycle through which a shorter one is looked for

Node = tuple[int, State]  # automaton state, state of the model
Key = tuple[int, int]  # automaton state, marks seen
Vector = dict[Key, Any]  # sets of states


@dataclass(frozen=True, slots=True)
class Shortened:
    """A run, and whether it is known that none has fewer steps."""

    lasso: Lasso
    shortest: bool


@dataclass(frozen=True, slots=True)
class Arena:
    """What a run is looked for in."""

    automaton: Tgba
    valuation: Callable[[State], int]
    successors: Callable[[State], Iterable[State]]  # with the loops of dead states, under `stutter`


def bad_prefix(automaton: Tgba, letters: Sequence[int]) -> int | None:
    """How many letters decide that every continuation violates the property; None if no finite prefix does."""
    doomed = _doomed(automaton)
    if not doomed:
        return None
    current = {automaton.initial}
    for count, letter in enumerate(letters):
        if current & doomed:
            return count
        current = {e.target for q in current for e in automaton.edges[q] if evaluate(e.label, letter)}
    return len(letters) if current & doomed else None


def _doomed(automaton: Tgba) -> set[int]:
    """The states from which a terminal automaton accepts everything."""
    if automaton.automaton_class != "terminal":
        return set()
    component, accepting = accepting_components(automaton.edges, automaton.all_marks)
    return {q for q in range(automaton.states) if accepting[component[q]]}


def shorten(lasso: Lasso, arena: Arena, space: Space, *, exact: bool = False) -> Shortened:
    """A run of at most as many steps; with `exact`, every state of a cycle is tried."""
    assert lasso.loop is not None
    search = _Search(arena, space)
    run = search.spliced(lasso.states)
    if run is None:
        return Shortened(lasso, False)  # not ours to judge: the replay will
    shortest = False
    try:
        if search.doomed:
            run = search.shorter_bad_prefix(run, None if exact else BALLS)
        else:
            run = search.rounds(run, None if exact else HEADS)
            run, shortest = search.layered(run)
    except (Exhausted, Escaped):
        run = search.best
    return Shortened(normal(run), shortest)


def normal(run: Found[Node]) -> Lasso:
    """The states of a run, its cycle not repeated, and begun as early as it can be."""
    states = [state for _, state in run.nodes]
    prefix, cycle = states[: run.loop], states[run.loop :]
    for length in range(1, len(cycle) + 1):
        if len(cycle) % length == 0 and cycle == cycle[:length] * (len(cycle) // length):
            cycle = cycle[:length]
            break
    while prefix and prefix[-1] == cycle[-1]:
        cycle = [prefix.pop(), *cycle[:-1]]
    return Lasso((*prefix, *cycle), len(prefix))


class _Search:
    def __init__(self, arena: Arena, space: Space) -> None:
        self.arena = arena
        self.space = space
        automaton = arena.automaton
        self.full = automaton.all_marks
        self.doomed = _doomed(automaton)
        component, accepting = accepting_components(automaton.edges, automaton.all_marks)
        self.inner: list[list[TgbaEdge]] = [
            [e for e in out if component[e.target] == component[q]] if accepting[component[q]] else []
            for q, out in enumerate(automaton.edges)
        ]
        self.best: Found[Node]

    # -- the states of a run -------------------------------------------------------------------------------------

    def spliced(self, states: Sequence[State]) -> Found[Node] | None:
        """The shortest lasso among these states; it begins where the run begins."""
        known = set(states)
        after = {s: [t for t in dict.fromkeys(self.arena.successors(s)) if t in known] for s in known}
        found = shortest_lasso(
            [(self.arena.automaton.initial, states[0])], lambda node: self._moves(node, after[node[1]]), self.full
        )
        if found is not None:
            self.best = found
        return found

    def _moves(self, node: Node, after: Iterable[State]) -> list[tuple[int, Node]]:
        letter = self.arena.valuation(node[1])
        arcs = [e for e in self.arena.automaton.edges[node[0]] if evaluate(e.label, letter)]
        return [(e.marks, (e.target, target)) for target in after for e in arcs]

    # -- cycles --------------------------------------------------------------------------------------------------

    def rounds(self, run: Found[Node], heads: int | None) -> Found[Node]:
        """Shorter cycles through states of the cycle, until there is none."""
        if self.full.bit_count() > MAX_MARKS:
            return run
        tried: set[Node] = set()
        while True:
            cycle = run.nodes[run.loop :]
            step = 1 if heads is None else -(-len(cycle) // heads)
            for i in range(0, len(cycle), step):
                if cycle[i] in tried:
                    continue
                tried.add(cycle[i])
                q, state = cycle[i]
                shorter = self._cycle(q, self.space.only(state), range(1, len(cycle)))
                if shorter is not None:
                    run = Found((*run.nodes[: run.loop], *cycle[:i], *shorter), run.loop + i)
                    if len(run.nodes) < len(self.best.nodes):
                        self.best = run
                    break
            else:
                return self.best

    def _step(self, vector: Vector) -> Vector:
        """One step inside accepting components; the marks are kept."""
        found: Vector = {}
        for (q, marks), states in vector.items():
            for e in self.inner[q]:
                key = (e.target, marks | e.marks)
                reached = self.space.post(states, e.label)
                if reached != self.space.none:
                    found[key] = found[key] | reached if key in found else reached
        return found

    def _cycle(self, q: int, states: Any, lengths: Iterable[int]) -> list[Node] | None:
        """The nodes of a cycle, of one of these lengths, through q and one of the states."""
        vectors: list[Vector] = [{(q, 0): states}]
        for length in lengths:
            while len(vectors) <= length:
                vectors.append(self._step(vectors[-1]))
                if not vectors[-1]:
                    return None
            ends = vectors[length].get((q, self.full), self.space.none) & states
            if ends != self.space.none:
                found = self._narrowed(q, states, ends, vectors[: length + 1])
                if found is not None:
                    return found
        return None

    def _narrowed(self, q: int, states: Any, ends: Any, vectors: list[Vector]) -> list[Node] | None:
        """A cycle of just this length, among what is left."""
        length = len(vectors) - 1
        while True:
            head = self.space.some(ends)
            alone = self.space.only(head)
            if alone == states:
                return self._traced(vectors, (q, self.full), alone)
            found = self._cycle(q, alone, (length,))
            if found is not None:
                return found
            states = self.space.minus(ends, alone)
            if states == self.space.none:
                return None
            if self.space.minus(states, self.space.only(self.space.some(states))) != self.space.none:
                for half in self.space.halves(states):
                    found = self._cycle(q, half, (length,))
                    if found is not None:
                        return found
                return None
            return self._cycle(q, states, (length,))

    def _traced(self, vectors: Sequence[Vector], key: Key, target: Any) -> list[Node]:
        """The nodes by which the last of the vectors was reached at this key and in this set, without the last node."""
        way: list[Node] = []
        for i in range(len(vectors) - 2, -1, -1):
            key, target = self._before(vectors[i], key, target)
            state = self.space.some(target)
            target = self.space.only(state)
            way.append((key[0], state))
        way.reverse()
        return way

    def _before(self, vector: Vector, key: Key, target: Any) -> tuple[Key, Any]:
        for (q, marks), states in sorted(vector.items(), key=lambda item: item[0]):
            for e in self.inner[q]:
                if e.target == key[0] and marks | e.marks == key[1]:
                    found = self.space.pre(target, e.label, states)
                    if found != self.space.none:
                        return (q, marks), found
        raise AssertionError("a state of a layer has a predecessor in the layer before")

    # -- prefixes ------------------------------------------------------------------------------------------------

    def layered(self, run: Found[Node]) -> tuple[Found[Node], bool]:
        """A shortest run, and True, or the best there is."""
        layers = _Layers(self)
        exact = self.full.bit_count() <= MAX_MARKS
        rows: list[dict[int, list[Vector]]] = []  # for each layer and automaton state, what n steps lead to
        total = 1
        while total < len(self.best.nodes):
            fresh = layers.next() if len(layers.found) < total else {}
            if len(layers.found) == total:
                rows.append({q: [{(q, 0): s}] for q, s in fresh.items() if self.inner[q]})
                self._meeting(layers)
            elif not exact:
                break
            for distance in range(min(total, len(rows)) if exact else 0):
                cycle = self._round(layers.found[distance], rows[distance], total - distance)
                if cycle is not None:
                    way = layers.way(distance, cycle[0])
                    self.best = Found((*way[:-1], *cycle), distance)
                    return self.best, True
            total += 1
        return self.best, exact

    def _round(self, layer: dict[int, Any], rows: dict[int, list[Vector]], length: int) -> list[Node] | None:
        for q, vectors in rows.items():
            if len(vectors) == length and vectors[-1]:
                vectors.append(self._step(vectors[-1]))
            if len(vectors) > length:
                ends = vectors[length].get((q, self.full), self.space.none) & layer[q]
                if ends != self.space.none:
                    found = self._narrowed(q, layer[q], ends, vectors)
                    if found is not None:
                        return found
        return None

    def _meeting(self, layers: _Layers) -> None:
        """A state of the best run that the last layer holds, and that comes later on the run, ends a shorter prefix."""
        distance = len(layers.found) - 1
        run = self.best
        for i in range(len(run.nodes) - 1, distance, -1):
            q, state = run.nodes[i]
            if q in layers.found[-1] and layers.found[-1][q] & self.space.only(state) != self.space.none:
                way = layers.way(distance, run.nodes[i])[:-1]
                if i <= run.loop:
                    self.best = Found((*way, *run.nodes[i:]), distance + run.loop - i)
                elif distance < run.loop:
                    turned = run.nodes[i:] + run.nodes[run.loop : i]
                    self.best = Found((*way, *turned), distance)
                else:
                    continue
                return

    def shorter_bad_prefix(self, run: Found[Node], most: int | None) -> Found[Node]:
        """A shortest way to a state of the automaton that accepts everything, and an infinite run from there.

        With `most`, it ends when so many ways had no such run nearby (each costs a search). The step into that state is
        judged by where it leaves: any other step from there is as good.
        """
        known = next(i for i, (q, _) in enumerate(run.nodes) if q in self.doomed)
        layers = _Layers(self)
        for distance in range(known + 1):
            fresh = layers.next() if distance < known else {}
            ways = [layers.way(distance, (q, self.space.some(fresh[q]))) for q in sorted(self.doomed & fresh.keys())]
            for way in ways if distance < known else [list(run.nodes[: known + 1])]:
                decided = max(distance - 1, 0)
                after = self._continued(way[decided][1])
                if after is not None:
                    rest = [(way[decided][0], state) for _, state in after.nodes]
                    found = Found((*way[:decided], *rest), decided + after.loop)
                    if distance < known or len(found.nodes) < len(run.nodes):
                        self.best = found
                    return self.best
                if most is not None and (most := most - 1) == 0:
                    return run
        return run

    def _continued(self, start: State) -> Found[Node] | None:
        """Any infinite run from a state: the shortest lasso of the states nearby, if there is one."""
        near = {start: list(dict.fromkeys(self.arena.successors(start)))}
        queue = [start]
        for state in queue:
            for target in near[state]:
                if target not in near and len(near) < BALL:
                    near[target] = list(dict.fromkeys(self.arena.successors(target)))
                    queue.append(target)
        return shortest_lasso(
            [(0, start)], lambda node: [(1, (0, t)) for t in near[node[1]] if t in near], 1, effort=20 * BALL
        )


class _Layers:
    """What is 0, 1, 2, … steps away from the initial states: by automaton state, what was not met before."""

    def __init__(self, search: _Search) -> None:
        self._space = search.space
        self._automaton = search.arena.automaton
        self._seen: dict[int, Any] = {}
        self.found: list[dict[int, Any]] = []

    def next(self) -> dict[int, Any]:
        """The next layer; empty if there is none."""
        reached: dict[int, Any] = {}
        if not self.found:
            reached[self._automaton.initial] = self._space.initial
        else:
            for q, states in self.found[-1].items():
                for e in self._automaton.edges[q]:
                    after = self._space.post(states, e.label)
                    reached[e.target] = reached[e.target] | after if e.target in reached else after
        fresh = {}
        for q, states in reached.items():
            if q in self._seen:
                states = self._space.minus(states, self._seen[q])
            if states != self._space.none:
                fresh[q] = states
                self._seen[q] = self._seen[q] | states if q in self._seen else states
        if fresh:
            self.found.append(fresh)
        return fresh

    def way(self, distance: int, node: Node) -> list[Node]:
        """A path of so many steps from an initial state to the node."""
        path = [node]
        for i in range(distance - 1, -1, -1):
            q, state = path[-1]
            path.append(self._before(self.found[i], q, self._space.only(state)))
        path.reverse()
        return path

    def _before(self, layer: dict[int, Any], q: int, target: Any) -> Node:
        for source, states in sorted(layer.items()):
            for e in self._automaton.edges[source]:
                if e.target == q:
                    found = self._space.pre(target, e.label, states)
                    if found != self._space.none:
                        return source, self._space.some(found)
        raise AssertionError("a state of a layer has a predecessor in the layer before")

"""The symbolic primitives against explicit sets, on random structures and on DVE models of several events."""

from __future__ import annotations

import itertools
import random
import signal
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import networkx  # type: ignore[import-untyped]
import pytest
from engines import use
from generators import random_structure, small_dve

from aggmc.boolean import FALSE, TRUE, Bool, and_, evaluate, not_, or_, prop
from aggmc.errors import ModelError
from aggmc.model.core import Model, State, reachable
from aggmc.model.dve import load as load_dve
from aggmc.model.hoa import model_of
from aggmc.symbolic.counting import count_states
from aggmc.symbolic.encode import Encoding
from aggmc.symbolic.kripke import Changing, From, Into, Step, SymbolicKripke

States = frozenset[State]


class Explicit:
    """A model as plain sets, by its interpreter; propositions that err somewhere are left out."""

    def __init__(self, model: Model, conditions: Iterable[str], *, stutter: bool) -> None:
        interpreter = model.frontend.interpreter()
        self.initial = frozenset(interpreter.initial_states())
        self.states = list(reachable(interpreter))
        self.dead = frozenset(s for s in self.states if interpreter.is_dead(s))
        self.conditions = [c for c in conditions if not _errs(interpreter, c, self.states)]
        self.label = {
            s: sum(interpreter.holds(c, s) << i for i, c in enumerate(self.conditions)) for s in self.states
        }
        self.next = {s: frozenset(t for _, t in interpreter.successors(s)) for s in self.states}
        if stutter:
            self.next.update({s: frozenset({s}) for s in self.dead})

    def takes(self, source: State, target: State, step: Step) -> bool:
        """Whether a step of the model is of this kind."""
        match step:
            case Into(label):
                return evaluate(label, self.label[target])
            case From(label):
                return evaluate(label, self.label[source])
            case Changing(changes):
                return self.label[source] ^ self.label[target] in changes

    def successors(self, states: States, step: Step) -> States:
        return frozenset(t for s in states for t in self.next[s] if self.takes(s, t, step))

    def predecessors(self, states: States, step: Step, within: States) -> States:
        return frozenset(s for s in within if any(t in states and self.takes(s, t, step) for t in self.next[s]))

    def closure(self, states: States, step: Step) -> States:
        while (more := states | self.successors(states, step)) != states:
            states = more
        return states

    def hull(self, states: States, inside: Step, fair: Sequence[Step]) -> States:
        """What the fair components in a set lead to by steps inside it, by networkx."""
        graph = networkx.DiGraph()
        graph.add_nodes_from(states)
        graph.add_edges_from((s, t) for s in states for t in self.successors(frozenset({s}), inside) & states)
        if not isinstance(inside, Changing):  # the last states of paths, which lead nowhere, do not count
            graph.remove_nodes_from([s for s in states if not evaluate(inside.label, self.label[s])])
        found: set[State] = set()
        for component in networkx.strongly_connected_components(graph):
            edges = list(graph.subgraph(component).edges)
            if edges and all(any(self.takes(s, t, kind) for s, t in edges) for kind in fair):
                found |= component.union(*(networkx.descendants(graph, s) for s in component))
        return frozenset(found)


def _errs(interpreter: Any, condition: str, states: Iterable[State]) -> bool:
    try:
        for state in states:
            interpreter.holds(condition, state)
    except ModelError:
        return True
    return False


class Pair:
    """A model both ways."""

    def __init__(self, model: Model, conditions: Iterable[str], rng: random.Random) -> None:
        self.rng = rng
        stutter = rng.random() < 0.5
        self.explicit = Explicit(model, conditions, stutter=stutter)
        self.encoding = Encoding(model, reordering=rng.random() < 0.2)
        holds = [model.frontend.proposition(c, quoted=True)[0].holds for c in self.explicit.conditions]
        deadlock = "stutter" if stutter else "ignore"
        self.saturating, self.chaining = (
            SymbolicKripke(self.encoding, holds, deadlock=deadlock, fixpoint=f) for f in ("saturation", "chaining")
        )

    def bdd(self, states: States) -> Any:
        result = self.encoding.false
        for s in states:
            result = result | self.encoding.cube(s)
        return result

    def set_of(self, states: Any) -> States:
        """As a set; nothing may be in it that is not a reachable state."""
        found = self.reachable_part(states)
        assert self.encoding.count(states) == len(found)
        return found

    def reachable_part(self, states: Any) -> States:
        return frozenset(s for s in self.explicit.states if states & self.encoding.cube(s) != self.encoding.false)

    def some_set(self) -> States:
        chance = self.rng.choice((0.05, 0.1, 0.3, 0.6))
        return frozenset(s for s in self.explicit.states if self.rng.random() < chance)

    def some_label(self) -> Bool:
        n = len(self.explicit.conditions)
        literals = [e for i in range(n) for e in (prop(i), not_(prop(i)))]
        if not literals or self.rng.random() < 0.1:
            return self.rng.choice((TRUE, FALSE))
        terms = [and_(*self.rng.sample(literals, min(len(literals), 2))) for _ in range(self.rng.randint(1, 2))]
        return or_(*terms) if self.rng.random() < 0.7 else not_(or_(*terms))

    def some_changes(self) -> frozenset[int]:
        n = len(self.explicit.conditions)
        return frozenset(k for k in range(1 << n) if self.rng.random() < 0.5)

    def some_step(self) -> Step:
        return self.rng.choice((Into, From))(self.some_label()) if self.rng.random() < 0.6 else self.some_changing()

    def some_changing(self) -> Changing:
        return Changing(self.some_changes())

    def some_case_of(self, inside: Step) -> Step:
        match inside:
            case Changing(changes):
                return Changing(frozenset(c for c in changes if self.rng.random() < 0.6))
            case From(label):
                return From(and_(label, self.some_label()))
            case Into():
                return inside

    def kripkes(self) -> tuple[SymbolicKripke, SymbolicKripke]:
        return self.saturating, self.chaining


def structure_pair(seed: int) -> Pair:
    rng = random.Random(seed)
    structure = random_structure(rng, states=12)
    return Pair(model_of(structure), structure.propositions, rng)


def dve_pair(seed: int) -> Pair:
    rng = random.Random(seed)
    case, model = small_dve(rng, limit=120)
    return Pair(model, rng.sample(case.conditions, rng.randint(1, 3)), rng)


SOURCES = [
    *(pytest.param(structure_pair, range(i, i + 40), id=f"hoa-{i}") for i in (0, 40)),
    *(pytest.param(dve_pair, range(i, i + 15), id=f"dve-{i}") for i in (0, 15, 30)),
]
on_pairs = pytest.mark.parametrize(("make", "seeds"), SOURCES)
Make = Callable[[int], Pair]


@on_pairs
def test_one_step(make: Make, seeds: range) -> None:
    """post, pre, dead."""
    for seed in seeds:
        pair = make(seed)
        every = Into(TRUE)
        for _ in range(4):
            states, within = pair.some_set(), frozenset(pair.explicit.states)
            kripke = pair.rng.choice(pair.kripkes())
            assert pair.set_of(kripke.post(pair.bdd(states))) == pair.explicit.successors(states, every)
            before = pair.explicit.predecessors(states, every, within)
            assert pair.reachable_part(kripke.pre(pair.bdd(states))) == before
            assert pair.set_of(kripke.dead(pair.bdd(states))) == states & pair.explicit.dead


@on_pairs
@pytest.mark.parametrize("kind", ["into", "from", "changing"])
def test_filtered_steps(make: Make, seeds: range, kind: str) -> None:
    """SuccF, FSucc, Succ⊕ and their predecessors; ReachF, FReach, Reach⊕ by saturation and by chaining."""
    for seed in seeds:
        pair = make(seed)
        for _ in range(6):
            label = pair.some_label()
            step: Step = {"into": Into(label), "from": From(label), "changing": pair.some_changing()}[kind]
            states, within = pair.some_set(), pair.some_set()
            closed = pair.explicit.closure(states, step)
            for kripke in pair.kripkes():
                bdd = pair.bdd(states)
                assert pair.set_of(kripke.successors(bdd, step)) == pair.explicit.successors(states, step), step
                before = kripke.predecessors(bdd, step, pair.bdd(within))
                assert pair.set_of(before) == pair.explicit.predecessors(states, step, within), step
                assert pair.set_of(kripke.closure(bdd, step)) == closed, step
            assert pair.saturating.closure(pair.bdd(states), step) == pair.chaining.closure(pair.bdd(states), step)


@pytest.mark.parametrize("engine", ["native", "python"])
@on_pairs
def test_hulls(make: Make, seeds: range, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fair cycles with up to three kinds of steps that must recur, in closed sets and in others."""
    use(engine, monkeypatch)
    _hulls(make, seeds)


def _hulls(make: Make, seeds: range) -> None:
    sizes = []
    for seed in seeds:
        pair = make(seed)
        for _ in range(8):
            inside = pair.some_step()
            fair = [pair.some_case_of(inside) for _ in range(pair.rng.randint(0, 3))]
            states = pair.some_set() if pair.rng.random() < 0.6 else frozenset(pair.explicit.states)
            if pair.rng.random() < 0.3:
                states = pair.explicit.closure(states, inside)
            expected = pair.explicit.hull(states, inside, fair or [inside])
            sizes.append(len(expected))
            for kripke in pair.kripkes():
                assert pair.set_of(kripke.hull(pair.bdd(states), inside, fair)) == expected, (inside, fair)
                assert kripke.has_fair_cycle(pair.bdd(states), inside, fair) == bool(expected)
                resting = kripke.resting(pair.bdd(states), fair or [inside])
                assert pair.set_of(resting) <= expected & pair.explicit.dead
        assert pair.saturating.hull(pair.bdd(states), None) == pair.encoding.false
    assert sizes.count(0) > len(sizes) / 10
    assert sum(s > 1 for s in sizes) > 20


def test_hull_of_an_unknown_kind() -> None:
    pair = structure_pair(0)
    with pytest.raises(ValueError, match="no special case"):
        pair.saturating.hull(pair.encoding.true, From(TRUE), [Into(TRUE)])


@on_pairs
def test_reachable(make: Make, seeds: range) -> None:
    for seed in seeds:
        pair = make(seed)
        found = [kripke.reachable() for kripke in pair.kripkes()]
        assert found[0] == found[1]
        assert pair.encoding.count(found[0]) == len(pair.explicit.states)
        assert pair.set_of(found[0]) == frozenset(pair.explicit.states)
        assert pair.set_of(pair.encoding.initial) == pair.explicit.initial


@on_pairs
def test_labels(make: Make, seeds: range) -> None:
    for seed in seeds:
        pair = make(seed)
        states, label = pair.some_set(), pair.some_label()
        kripke = pair.saturating
        satisfying = frozenset(s for s in states if evaluate(label, pair.explicit.label[s]))
        assert pair.set_of(kripke.label(label) & pair.bdd(states)) == satisfying
        parts = kripke.split(pair.bdd(states))
        assert [mask for mask, _ in parts] == sorted({pair.explicit.label[s] for s in states})
        for mask, part in parts:
            assert pair.set_of(part) == {s for s in states if pair.explicit.label[s] == mask}
        assert set(kripke.letters()) >= set(pair.explicit.label.values())


@on_pairs
def test_single_states(make: Make, seeds: range) -> None:
    for seed in seeds:
        pair = make(seed)
        kripke = pair.saturating
        for s in pair.explicit.states:
            assert kripke.some_state(kripke.cube(s)) == s
            assert pair.encoding.count(kripke.cube(s)) == 1
        states = pair.some_set()
        left = pair.bdd(states)
        assert not states or kripke.some_state(left) == kripke.some_state(pair.bdd(states))
        picked = set()
        while left != pair.encoding.false:
            s = kripke.some_state(left)
            picked.add(s)
            left = left & ~kripke.cube(s)
        assert picked == states


@pytest.mark.parametrize("seed", range(6))
def test_counting(seed: int) -> None:
    """Exact, against all assignments, whatever the order of the variables."""
    from dd import cudd  # type: ignore[import-untyped]

    rng = random.Random(seed)
    bits = rng.randint(1, 7)
    bdd = cudd.BDD()
    bdd.configure(reordering=False)
    places = rng.sample(range(bits), bits)
    bdd.declare(*(name for k in places for name in (f"x{k}", f"y{k}")))
    for _ in range(40):
        u = rng.choice((bdd.true, bdd.false, bdd.var(f"x{rng.randrange(bits)}")))
        for _ in range(rng.randrange(12)):
            literal = bdd.var(f"x{rng.randrange(bits)}")
            literal = ~literal if rng.random() < 0.5 else literal
            u = rng.choice((u & literal, u | literal, bdd.apply("^", u, literal), ~u))
        every = itertools.product((False, True), repeat=bits)
        values = [bdd.let({f"x{k}": v for k, v in enumerate(assignment)}, u) for assignment in every]
        assert count_states(u, bdd, bits) == sum(value == bdd.true for value in values)
        assert count_states(~u, bdd, bits) == (1 << bits) - count_states(u, bdd, bits)


def test_counting_does_not_overflow() -> None:
    from dd import cudd

    bits = 3000
    bdd = cudd.BDD()
    bdd.configure(reordering=False)
    bdd.declare(*(name for k in range(bits) for name in (f"x{k}", f"y{k}")))
    parity = bdd.false
    for k in reversed(range(bits)):
        parity = bdd.apply("^", bdd.var(f"x{k}"), parity)
    assert count_states(bdd.true, bdd, bits) == 1 << bits
    assert count_states(bdd.false, bdd, bits) == 0
    assert count_states(parity, bdd, bits) == 1 << bits - 1
    assert count_states(~parity & bdd.var("x7"), bdd, bits) == 1 << bits - 2


def _reach_from_stops_inside(self: SymbolicKripke, states: Any, label: Bool) -> Any:
    """FReach without the steps that leave φ."""
    inside = self.label(label)
    return states | self._close(states & inside, lambda: self._into(label))


def _reach_into_from_all(self: SymbolicKripke, states: Any, label: Bool) -> Any:
    """ReachF with the unfiltered relations from states outside φ too."""
    return self._close(states, lambda: self._into(label))


def _keeps_all(self: SymbolicKripke, changes: frozenset[int]) -> Any:
    """Reach⊕ with the unobserved events whether or not ∅ is allowed."""
    kept = [r for r, d in zip(self._relations, self._differences(), strict=True) if d is None]
    return self._operator(("broken", changes), lambda: kept)


BROKEN: list[tuple[str, Any, Any]] = [
    ("_reach_from", _reach_from_stops_inside, lambda: test_filtered_steps(structure_pair, range(40), "from")),
    ("_reach_into", _reach_into_from_all, lambda: test_filtered_steps(structure_pair, range(40), "into")),
    ("_changing", _keeps_all, lambda: test_filtered_steps(dve_pair, range(15), "changing")),
    ("_dead_loops", lambda self, states: self.false, lambda: test_one_step(structure_pair, range(40))),
    ("dead", lambda self, states: states, lambda: test_one_step(structure_pair, range(40))),
    ("_dead_loops", lambda self, states: self.false, lambda: _hulls(structure_pair, range(40))),
    ("resting", lambda self, states, fair: self.dead(states), lambda: _hulls(dve_pair, range(15))),
    ("_after", lambda self, states, r: states, lambda: test_filtered_steps(dve_pair, range(30), "into")),
]


@pytest.mark.parametrize(("name", "broken", "test"), BROKEN)
def test_broken_versions_are_found(
    name: str, broken: Any, test: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SymbolicKripke, name, broken)
    with pytest.raises(AssertionError) as caught:
        test()
    traceback.clear_frames(caught.value.__traceback__)  # they hold BDDs


LONG = """
byte i; byte j; byte k;
process P {
  state a; init a;
  trans a -> a { guard i < 255; effect i = i + 1; },
        a -> a { guard i == 255 && j < 255; effect i = 0, j = j + 1; },
        a -> a { guard i == 255 && j == 255 && k < 255; effect i = 0, j = 0, k = k + 1; };
}
system async;
"""


@pytest.mark.parametrize("engine", ["native", "python"])
def test_hull_can_be_interrupted(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path of 2^24 states loses one in each round; a signal ends that, and the manager is as before."""
    use(engine, monkeypatch)
    kripke = SymbolicKripke(Encoding(load_dve(LONG, "long.dve")), deadlock="ignore")
    states = kripke.true

    class Interrupted(Exception):
        pass

    def interrupt(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        kripke.hull(states, From(TRUE))
        pytest.fail("the hull ended")
    except Interrupted:  # not by pytest.raises, which would keep BDDs beyond the end of their manager
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert kripke.successors(kripke.initial, From(TRUE)) == kripke.cube((1, 0, 0, 0))
    assert kripke.hull(kripke.initial, From(TRUE)) == kripke.false

"""The agreement harness sees what it is there to see: deliberately broken versions, each of which it must find."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hard_cases import HARD
from harness import check_structure, structure_case

from aggmc.checker import Options
from aggmc.emptiness import ascc
from aggmc.ltl.automata import Tgta
from aggmc.products import slap as slap_module
from aggmc.products import sog as sog_module
from aggmc.products.explicit import ExplicitKripke
from aggmc.products.protocol import Edge
from aggmc.symbolic import steps as steps_module
from aggmc.symbolic.kripke import Changing, From, Into, SymbolicKripke

CASES = 400
Patch = pytest.MonkeyPatch


def merging_adds_own_entering_marks(patch: Patch) -> None:
    def merge(self: Any, edge: Edge[Any]) -> bool:
        marks = edge.marks
        while self.roots[-1].number > self.number[edge.target]:
            popped = self.roots.pop()
            marks |= popped.inside | popped.entering
        self.roots[-1].inside |= marks | self.roots[-1].entering
        return bool(self.roots[-1].inside == self.full)

    patch.setattr(ascc._Search, "_merge", merge)


def merging_forgets_entering_marks(patch: Patch) -> None:
    def merge(self: Any, edge: Edge[Any]) -> bool:
        marks = edge.marks
        while self.roots[-1].number > self.number[edge.target]:
            marks |= self.roots.pop().inside
        self.roots[-1].inside |= marks
        return bool(self.roots[-1].inside == self.full)

    patch.setattr(ascc._Search, "_merge", merge)


def search_takes_one_mark_for_all(patch: Patch) -> None:
    right = ascc._Search.__init__

    def init(self: Any, *args: Any) -> None:
        right(self, *args)
        self.full = min(self.full, 1)

    patch.setattr(ascc._Search, "__init__", init)


def search_follows_one_initial_node(patch: Patch) -> None:
    right = slap_module.SelfLoopProduct.initial

    def initial(self: Any) -> Iterator[Any]:
        yield from list(right(self))[:1]

    patch.setattr(slap_module.SelfLoopProduct, "initial", initial)


def sog_without_divergence(patch: Patch) -> None:
    patch.setattr(sog_module.ObservationGraph, "is_divergent", lambda self, aggregate: False)


def sog_divergent_everywhere(patch: Patch) -> None:
    patch.setattr(sog_module.ObservationGraph, "is_divergent", lambda self, aggregate: True)


def sog_filters_the_source(patch: Patch) -> None:
    right = sog_module.ObservationGraph.into
    patch.setattr(sog_module.ObservationGraph, "into", lambda self, valuation: From(right(self, valuation).label))


def slap_drops_marked_self_loops(patch: Patch) -> None:
    right = slap_module.promising_first

    def broken(out: Any, arcs: Any, marks: int, source: int) -> Any:
        return [arc for arc in right(out, arcs, marks, source) if arc.target != source]

    patch.setattr(slap_module, "promising_first", broken)


def slap_filters_the_target(patch: Patch) -> None:
    patch.setattr(slap_module, "From", Into)


def slap_ignores_initial_labels(patch: Patch) -> None:
    right = slap_module.slap_tgta

    def broken(kripke: SymbolicKripke, automaton: Tgta, **settings: Any) -> Any:
        every = frozenset(range(1 << len(automaton.propositions)))
        initial = tuple((q, every) for q, _ in automaton.initial)
        return right(
            kripke,
            Tgta(automaton.propositions, initial, automaton.edges, automaton.marks, automaton.stuttering),
            **settings,
        )

    from aggmc import checker

    patch.setitem(checker.METHODS, "slap-tgta", replace(checker.METHODS["slap-tgta"], build=broken))


def nodes_are_known_by_their_automaton_state(patch: Patch) -> None:
    right = slap_module.SelfLoopProduct.successors

    def successors(self: Any, node: Any) -> Iterator[Edge[Any]]:
        known = self.__dict__.setdefault("known", {})
        for edge in right(self, node):
            yield Edge(edge.marks, known.setdefault(edge.target[0], edge.target), edge.step)

    patch.setattr(slap_module.SelfLoopProduct, "successors", successors)


def settling_over_the_older_sf(patch: Patch) -> None:
    """FST, FSA and PLUS where the aggregate has not absorbed all self-loops."""
    right = slap_module.SelfLoopProduct._state

    def state(self: Any, *args: Any) -> Any:
        self._covered = True
        return replace(right(self, *args), settled=False)

    patch.setattr(slap_module.SelfLoopProduct, "_state", state)


def settled_aggregates_are_left_at_once(patch: Patch) -> None:
    """FSA without the self-loops: right where the state is alone in its component, and only there."""
    right = slap_module.SelfLoopProduct._state

    def state(self: Any, *args: Any) -> Any:
        found = right(self, *args)
        arcs = found.arcs if found.fair is None else tuple(arc for arc in found.arcs if arc not in found.loops)
        return replace(found, arcs=arcs)

    patch.setattr(slap_module.SelfLoopProduct, "_state", state)


def self_loop_successors_that_are_subsets_are_dropped(patch: Patch) -> None:
    right = slap_module.SelfLoopProduct.successors

    def successors(self: Any, node: Any) -> Iterator[Edge[Any]]:
        for edge in right(self, node):
            inside = node[1] is not None and edge.target[1] is not None and edge.target[1] | node[1] == node[1]
            if edge.target[0] != node[0] or not inside:
                yield edge

    patch.setattr(slap_module.SelfLoopProduct, "successors", successors)


def barren_whatever_the_aggregate(patch: Patch) -> None:
    """The first aggregate of a state decides for all."""
    right = slap_module.SelfLoopProduct._accepts

    def accepts(self: Any, q: int, states: Any) -> bool:
        return q not in self._barren and right(self, q, states)

    patch.setattr(slap_module.SelfLoopProduct, "_accepts", accepts)


def hull_forgets_a_mark(patch: Patch) -> None:
    right = slap_module._recurring
    patch.setattr(slap_module, "_recurring", lambda kripke, loops, marks: right(kripke, loops, max(1, marks - 1)))


def hull_keeps_one_kind(patch: Patch) -> None:
    right = slap_module._recurring
    patch.setattr(slap_module, "_recurring", lambda *args: right(*args)[:1])


def hull_forgets_dead_states(patch: Patch) -> None:
    patch.setattr(SymbolicKripke, "_resting", lambda self, states, step: self.false)


def hull_rests_whatever_changes(patch: Patch) -> None:
    """A dead state's loop has change-set ∅, and no other."""
    right = SymbolicKripke._resting

    def resting(self: SymbolicKripke, states: Any, step: Any) -> Any:
        return self._dead_loops(states) if isinstance(step, Changing) else right(self, states, step)

    patch.setattr(SymbolicKripke, "_resting", resting)


def hull_rests_in_any_dead_state(patch: Patch) -> None:
    patch.setattr(SymbolicKripke, "resting", lambda self, states, fair: self._dead_loops(states))


def hull_needs_no_cycle(patch: Patch) -> None:
    patch.setattr(SymbolicKripke, "hull", lambda self, states, inside, fair=(): states)


def hull_takes_one_round(patch: Patch) -> None:
    """Each kind of step is demanded once, and not until nothing changes."""

    def hull(inside: Any, states: Any, demands: Sequence[Any], true: Any) -> Any:
        for steps, sources, loops in demands:
            states = states & inside.closure(states & (steps.image(states & sources) | loops))
        return states

    patch.setenv("AGGMC_ENGINE", "python")
    patch.setattr(steps_module, "fair_hull", hull)


def changes_without_dead_loops(patch: Patch) -> None:
    right = SymbolicKripke.successors

    def successors(self: SymbolicKripke, states: Any, step: Any) -> Any:
        if isinstance(step, Changing):
            return self._changing(step.changes).image(states)
        return right(self, states, step)

    patch.setattr(SymbolicKripke, "successors", successors)


def no_dead_loops(patch: Patch) -> None:
    patch.setattr(SymbolicKripke, "_dead_loops", lambda self, states: self.false)


def dead_loops_under_ignore(patch: Patch) -> None:
    patch.setattr(SymbolicKripke, "_dead_loops", lambda self, states: self.dead(states))


def explicit_without_dead_loops(patch: Patch) -> None:
    right = ExplicitKripke.__init__

    def init(self: ExplicitKripke, interpreter: Any, valuation: Any, *, stutter: bool) -> None:
        right(self, interpreter, valuation, stutter=False)

    patch.setattr(ExplicitKripke, "__init__", init)


def explicit_starts_in_one_state(patch: Patch) -> None:
    right = ExplicitKripke.initial
    patch.setattr(ExplicitKripke, "initial", lambda self: right(self)[:1])


SYMBOLIC = ("slap", "slap-tgta", "sog", "sog-tgta")
SETTLING = tuple(f"slap-{kind}{automaton}" for automaton in ("", "-tgta") for kind in ("fst", "fsa", "plus"))
MUTATIONS: list[tuple[Callable[[Patch], None], tuple[str, ...]]] = [
    (merging_adds_own_entering_marks, ("tgba", "tgta")),
    (merging_forgets_entering_marks, ("sog", "tgba", "tgta")),
    (search_takes_one_mark_for_all, ("slap", "slap-tgta", "sog", "sog-tgta", "tgba", "tgta")),
    (search_follows_one_initial_node, ("slap-tgta",)),
    (sog_without_divergence, ("sog", "sog-tgta")),
    (sog_divergent_everywhere, ("sog", "sog-tgta")),
    (sog_filters_the_source, ("sog", "sog-tgta")),
    (slap_drops_marked_self_loops, ("slap", "slap-tgta")),
    (slap_filters_the_target, ("slap",)),
    (slap_ignores_initial_labels, ("slap-tgta",)),
    (nodes_are_known_by_their_automaton_state, ("slap", "slap-tgta")),
    (changes_without_dead_loops, ("slap-tgta",)),
    (no_dead_loops, SYMBOLIC),
    (dead_loops_under_ignore, SYMBOLIC),
    (settling_over_the_older_sf, ("slap-fst", "slap-fsa", "slap-plus")),
    (self_loop_successors_that_are_subsets_are_dropped, ("slap", "slap-tgta")),
    (hull_forgets_a_mark, ("slap-fsa", "slap-plus")),
    (hull_keeps_one_kind, ("slap-fsa", "slap-plus")),
    (hull_forgets_dead_states, SETTLING),
    (hull_rests_in_any_dead_state, ("slap-fst", "slap-fsa", "slap-plus")),
    (hull_needs_no_cycle, SETTLING),
    (hull_takes_one_round, SETTLING),
    (no_dead_loops, SETTLING),
    (dead_loops_under_ignore, SETTLING),
    (explicit_without_dead_loops, ("tgba", "tgta")),
    (explicit_starts_in_one_state, ("tgba", "tgta")),
]


@pytest.mark.parametrize(
    ("mutation", "product"),
    [pytest.param(m, p, id=f"{m.__name__}-{p}") for m, products in MUTATIONS for p in products],
)
def test_found(mutation: Callable[[Patch], None], product: str, monkeypatch: Patch) -> None:
    mutation(monkeypatch)
    for seed in range(CASES):
        if structure_case(seed, (product,)).wrong:
            return
    pytest.fail(f"{CASES} random cases do not see it")


RARE: list[tuple[Callable[[Patch], None], tuple[str, ...]]] = [
    (merging_adds_own_entering_marks, ("slap", "sog", "tgba", "tgta")),
    (settled_aggregates_are_left_at_once, ("slap-fsa", "slap-plus")),
    (self_loop_successors_that_are_subsets_are_dropped, ("slap-fsa", "slap-plus")),
    (barren_whatever_the_aggregate, ("slap-fst", "slap-fsa", "slap-plus")),
    (hull_rests_whatever_changes, ("slap-fst-tgta", "slap-fsa-tgta", "slap-plus-tgta")),
    (hull_rests_in_any_dead_state, ("slap-fst-tgta", "slap-fsa-tgta", "slap-plus-tgta")),
]


@pytest.mark.parametrize(
    ("mutation", "product"),
    [pytest.param(m, p, id=f"{m.__name__}-{p}") for m, products in RARE for p in products],
)
def test_found_by_hand(mutation: Callable[[Patch], None], product: str, monkeypatch: Patch) -> None:
    """What random cases are too small to see, or see seldom."""
    mutation(monkeypatch)
    assert any(check_structure(kripke, formula, Options(), (product,)).wrong for kripke, formula, _, _ in HARD)

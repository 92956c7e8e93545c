"""From an accepting run of a product to a lasso of concrete states.

Aggregates are closed forwards: each of their states has a path *back* to where the run entered, and this is all that is
known. So the path is found backwards, as layers of sets (breadth first, hence short), and then picked forwards.

1. The cycle. If the run's cycle has steps: from a state of its first aggregate, go back once round the cycle, and
   again from where that leads, until a first state comes again; a first state that was seen is preferred. If it has
   none (a divergent aggregate of a SOG, a fair cycle in one of SLAP), the cycle lies in the last aggregate: walk round
   and round in its hull, where a way back from each state meets a step of every kind that must recur.
2. The prefix, back from the states where the cycle meets its first aggregate to an initial state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aggmc.boolean import TRUE
from aggmc.errors import InternalError
from aggmc.model.core import State
from aggmc.products.protocol import AggregateProduct, Edge, ExplicitProduct, Run, StateSet
from aggmc.symbolic.kripke import Into, Step, SymbolicKripke

ANY_STEP = Into(TRUE)


@dataclass(frozen=True, slots=True)
class Lasso:
    """The states of a run; after the last one it goes on at `loop`. A finite run has no loop."""

    states: tuple[State, ...]
    loop: int | None


@dataclass(frozen=True, slots=True)
class _Stage:
    """A node on the way: its states, the steps among them, and the step by which the way leaves it."""

    states: StateSet
    inside: Step | None
    leaving: Step | None = None


def explicit_lasso(product: ExplicitProduct[Any], run: Run[Any]) -> Lasso:
    """The lasso of a run of an explicit product: its nodes are states."""
    nodes = [run.initial, *(e.target for e in run.prefix), *(e.target for e in run.cycle)]
    return Lasso(tuple(product.state(n) for n in nodes[:-1]), len(run.prefix))


def aggregate_lasso(product: AggregateProduct[Any], run: Run[Any], kripke: SymbolicKripke) -> Lasso:
    """A lasso through the aggregates of a run."""
    edges = [e for e in run.prefix if e.step is not None]
    prefix = _stages(product, run.initial, edges)
    cycle_edges = [e for e in run.cycle if e.step is not None]
    if cycle_edges:
        head = cycle_edges[-1].target
        cycle, heads = _round_trips(kripke, _stages(product, head, cycle_edges))
    else:
        last = edges[-1].target if edges else run.initial
        cycle, heads = _inner_cycle(kripke, prefix[-1], product.fair(last))
    targets = kripke.false
    for i in heads:
        targets = targets | kripke.cube(cycle[i])
    way = _way(kripke, prefix, targets, product.entry(run.initial))
    meeting = next(i for i in sorted(heads) if cycle[i] == way[-1])
    turned = cycle[meeting:] + cycle[:meeting]
    return Lasso(tuple(way[:-1] + turned), len(way) - 1)


def finite_run(kripke: SymbolicKripke, reachable: StateSet, targets: StateSet) -> Lasso:
    """A shortest run from an initial state into one of the targets (some of which are reachable)."""
    stage = _Stage(reachable, ANY_STEP)
    return Lasso(tuple(_way(kripke, [stage], targets & reachable, kripke.initial)), None)


def _stages(product: AggregateProduct[Any], start: Any, edges: Sequence[Edge[Any]]) -> list[_Stage]:
    nodes = [start, *(e.target for e in edges)]
    steps: list[Step | None] = [*(e.step for e in edges), None]
    return [_Stage(product.aggregate(n), product.inside(n), s) for n, s in zip(nodes, steps, strict=True)]


def _way(kripke: SymbolicKripke, stages: Sequence[_Stage], targets: StateSet, sources: StateSet) -> list[State]:
    """A path through the stages, in order, from one of the sources to one of the targets."""
    layers = _layers(kripke, stages, targets, sources)
    return _picked(kripke, layers, layers[-1][0])


def _layers(
    kripke: SymbolicKripke, stages: Sequence[_Stage], targets: StateSet, sources: StateSet
) -> list[tuple[StateSet, Step | None]]:
    """Sets from the targets back to (some of) the sources; each with the step that leads to the one before it."""
    layers: list[tuple[StateSet, Step | None]] = [(targets & stages[-1].states, None)]
    for i in range(len(stages) - 1, -1, -1):
        stage = stages[i]
        current = seen = layers[-1][0]
        while True:
            if i == 0:
                found = current & sources
            else:
                before = stages[i - 1]
                assert before.leaving is not None
                found = kripke.predecessors(current, before.leaving, before.states)
            if found != kripke.false:
                break
            if stage.inside is not None:
                current = kripke.predecessors(current, stage.inside, stage.states) & ~seen
            if stage.inside is None or current == kripke.false:
                raise InternalError("a state of an aggregate cannot be reached from where the aggregate was entered")
            seen = seen | current
            layers.append((current, stage.inside))
        if i == 0:
            layers[-1] = (found, layers[-1][1])
        else:
            layers.append((found, stages[i - 1].leaving))
    return layers


def _picked(
    kripke: SymbolicKripke, layers: Sequence[tuple[StateSet, Step | None]], start: StateSet
) -> list[State]:
    """A path forwards through the layers."""
    states = [kripke.some_state(start)]
    for k in range(len(layers) - 1, 0, -1):
        step = layers[k][1]
        assert step is not None
        following = kripke.successors(kripke.cube(states[-1]), step) & layers[k - 1][0]
        if following == kripke.false:
            raise InternalError("a state that was found backwards has no step forwards")
        states.append(kripke.some_state(following))
    return states


def _round_trips(kripke: SymbolicKripke, stages: Sequence[_Stage]) -> tuple[list[State], set[int]]:
    """A cycle of states along a cycle of stages (first and last have the same states), and where rounds begin in it."""
    ways: list[list[State]] = []  # each leads to the first state of the one before
    head = kripke.some_state(stages[0].states)
    heads = {head: 0}
    visited = kripke.cube(head)
    while True:
        layers = _layers(kripke, stages, kripke.cube(head), stages[0].states)
        starts = layers[-1][0]
        again = starts & visited
        way = _picked(kripke, layers, starts if again == kripke.false else again)
        ways.append(way)
        head = way[0]
        if head in heads:
            break
        heads[head] = len(ways)
        visited = visited | kripke.cube(head)
    cycle: list[State] = []
    beginnings = set()
    for way in reversed(ways[heads[head] :]):
        beginnings.add(len(cycle))
        cycle += way[:-1]
    return cycle, beginnings


def _inner_cycle(kripke: SymbolicKripke, stage: _Stage, fair: Sequence[Step]) -> tuple[list[State], set[int]]:
    """A cycle of the steps inside one aggregate, with a step of each kind in `fair`; where the prefix may enter it."""
    assert stage.inside is not None
    resting = kripke.resting(stage.states, fair)
    if resting != kripke.false:
        return [kripke.some_state(resting)], {0}
    hull = kripke.hull(stage.states, stage.inside, fair)
    if hull == kripke.false:
        raise InternalError("an aggregate was taken to have a fair cycle and has none")
    stages = [_Stage(hull, stage.inside, step) for step in fair]
    cycle, _ = _round_trips(kripke, [*stages, _Stage(hull, stage.inside)])
    return cycle, set(range(len(cycle)))

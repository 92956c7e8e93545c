"""The graph that a check explored, as plain data: its nodes, its edges, and where the counterexample goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from aggmc.boolean import evaluate, from_valuations, members, show
from aggmc.model.core import State
from aggmc.products.protocol import Edge
from aggmc.symbolic.kripke import Changing, From, Into, SymbolicKripke
from aggmc.trace.search import shortest_lasso

MAX_NODES = 150


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An aggregate, or a single state: with the automaton's state, and what is known of the propositions in it."""

    automaton_state: int | None
    states: int | None  # how many it has; None of a divergent node, which stands for those of the node before
    propositions: str  # `p`, `!p`, or `p?` where both occur
    initial: bool
    on_path: bool


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """An edge that was explored."""

    source: int
    target: int
    marks: int
    label: str
    on_path: bool


@dataclass(frozen=True, slots=True)
class AggregateGraph:
    """What was explored, or the part of it that is shown."""

    product: str
    formula: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    path: tuple[tuple[int, ...], ...]  # for each position of the counterexample, the nodes that it is in
    explored_nodes: int
    explored_edges: int
    complete: bool  # the property holds: all of the graph was explored

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON format."""
        return {
            "product": self.product,
            "formula": self.formula,
            "complete": self.complete,
            "explored_nodes": self.explored_nodes,
            "explored_edges": self.explored_edges,
            "nodes": [
                {
                    "automaton_state": n.automaton_state,
                    "states": n.states,
                    "propositions": n.propositions,
                    "initial": n.initial,
                    "on_path": n.on_path,
                }
                for n in self.nodes
            ],
            "edges": [
                {
                    "source": e.source,
                    "target": e.target,
                    "marks": list(members(e.marks)),
                    "label": e.label,
                    "on_path": e.on_path,
                }
                for e in self.edges
            ],
            "path": [list(nodes) for nodes in self.path],
        }

    def _repr_svg_(self) -> str:
        """The picture, for notebooks."""
        pictures = import_module("aggmc.trace.pictures")  # which knows graphs
        return str(pictures.to_svg(pictures.graph_picture(self)))


class Recorder:
    """A product that remembers what was asked of it."""

    def __init__(self, product: Any) -> None:
        self._product = product
        self.marks: int = product.marks
        self.starts: list[Any] = []
        self.edges: dict[Any, list[Edge[Any]]] = {}  # in the order in which nodes were met
        self._done: set[Any] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._product, name)

    def initial(self) -> Iterator[Any]:
        """The initial nodes."""
        for node in self._product.initial():
            if node not in self.starts:
                self.starts.append(node)
            self.edges.setdefault(node, [])
            yield node

    def successors(self, node: Any) -> Iterator[Edge[Any]]:
        """The edges of a node; each is remembered once."""
        known = self.edges.setdefault(node, [])
        if node in self._done:
            yield from known
            return
        for place, edge in enumerate(self._product.successors(node)):
            if place == len(known):
                known.append(edge)
                self.edges.setdefault(edge.target, [])
            yield edge
        self._done.add(node)


@dataclass(frozen=True, slots=True)
class Walk:
    """A counterexample as the product's words: states and valuations by position."""

    states: Sequence[State]
    letters: Sequence[int]
    loop: int


def collect(
    recorder: Recorder,
    *,
    product: str,
    formula: str,
    names: Sequence[str],
    kripke: SymbolicKripke | None,
    valuation: Callable[[State], int],
    walk: Walk | None,
    most: int = MAX_NODES,
) -> AggregateGraph:
    """What the recorder saw; the nodes of the counterexample first, if there are more than `most`."""
    visits = _visits(recorder, kripke, walk) if walk is not None else []
    on_path = dict.fromkeys(node for position in visits for node in position)
    explored = list(recorder.edges)
    chosen = set(list(on_path)[:most])
    for node in explored:
        if len(chosen) >= most:
            break
        chosen.add(node)
    kept = [node for node in explored if node in chosen]
    number = {node: i for i, node in enumerate(kept)}
    steps = _steps_between(visits, walk)
    edges = [
        GraphEdge(
            number[source], number[e.target], e.marks, _label(e.step, names), (source, e.target) in steps
        )
        for source, out in recorder.edges.items()
        for e in out
        if source in number and e.target in number
    ]
    nodes = tuple(
        GraphNode(
            node[0] if isinstance(node, tuple) and isinstance(node[0], int) else None,
            *_contents(recorder, node, kripke, names, valuation),
            node in recorder.starts,
            node in on_path,
        )
        for node in kept
    )
    return AggregateGraph(
        product,
        formula,
        nodes,
        tuple(dict.fromkeys(edges)),
        tuple(tuple(number[n] for n in position if n in number) for position in visits),
        len(explored),
        sum(map(len, recorder.edges.values())),
        walk is None,
    )


def _contents(
    recorder: Recorder,
    node: Any,
    kripke: SymbolicKripke | None,
    names: Sequence[str],
    valuation: Callable[[State], int],
) -> tuple[int | None, str]:
    """The number of states, and the propositions."""
    if kripke is None:
        letter = valuation(recorder.state(node))
        return 1, ", ".join(name if letter >> i & 1 else _not(name) for i, name in enumerate(names))
    states = recorder.aggregate(node)
    if states is None:
        return None, ""
    said = []
    for name, truth in zip(names, kripke.propositions, strict=True):
        if states & truth == kripke.false:
            said.append(_not(name))
        elif states & ~truth == kripke.false:
            said.append(name)
        else:
            said.append(f"{name}?")
    return kripke.encoding.count(states), ", ".join(said)


def _not(name: str) -> str:
    return f"!{name}" if name.replace(".", "").replace("_", "").isalnum() else f"!({name})"


def _label(step: Any, names: Sequence[str]) -> str:
    match step:
        case From(label):
            return show(label, names)
        case Changing(changes):
            return "Δ " + show(from_valuations(changes, len(names)), names)
        case _:
            return ""  # the target says it


# --- where a run is in the graph ------------------------------------------------------------------------------------


def _visits(recorder: Recorder, kripke: SymbolicKripke | None, walk: Walk) -> list[list[Any]]:
    """For each position, the nodes that an accepting run of the product over the walk is in."""
    size = len(walk.states)

    def after(i: int) -> int:
        return i + 1 if i + 1 < size else walk.loop

    def contains(node: Any, i: int) -> bool:
        if kripke is None:
            return bool(recorder.state(node) == walk.states[i])
        states = recorder.aggregate(node)
        return states is None or (states & kripke.cube(walk.states[i])) != kripke.false

    def successors(place: tuple[int, Any]) -> Iterable[tuple[int, tuple[int, Any]]]:
        i, node = place
        j = after(i)
        old, new = walk.letters[i], walk.letters[j]
        found = []
        if kripke is not None and recorder.aggregate(node) is not None and _fits(recorder.inside(node), old, new):
            found.append((0, (j, node)))
        for edge in recorder.successors(node):
            # an edge without a step stands for a run among the states of its source
            step = edge.step if edge.step is not None or kripke is None else recorder.inside(node)
            fits = kripke is None or _fits(step, old, new)
            if fits and contains(edge.target, j):
                found.append((edge.marks, (j, edge.target)))
        return found

    starts = [(0, node) for node in recorder.initial() if contains(node, 0)]
    run = shortest_lasso(starts, successors, (1 << recorder.marks) - 1, effort=20_000)
    visited: list[list[Any]] = [[] for _ in walk.states]
    if run is not None:
        for i, node in run.nodes:
            if node not in visited[i]:
                visited[i].append(node)
    return visited


def _fits(step: Any, old: int, new: int) -> bool:
    match step:
        case Into(label):
            return evaluate(label, new)
        case From(label):
            return evaluate(label, old)
        case Changing(changes):
            return old ^ new in changes
        case _:
            return False


def _steps_between(visits: Sequence[Sequence[Any]], walk: Walk | None) -> set[tuple[Any, Any]]:
    if walk is None:
        return set()
    pairs = set()
    for i, here in enumerate(visits):
        j = i + 1 if i + 1 < len(visits) else walk.loop
        pairs |= {(a, b) for a in here for b in visits[j]}
    return pairs

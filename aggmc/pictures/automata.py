"""Property automata as pictures."""

from __future__ import annotations

from aggmc.boolean import from_valuations, members, show
from aggmc.ltl.automata import Tgba, Tgta
from aggmc.pictures.svg import Edge, Node, Picture


def marks_text(marks: int) -> str:
    """The marks of an edge, as in the papers' figures: `{0,1}`."""
    return "{" + ",".join(map(str, members(marks))) + "}" if marks else ""


def automaton_picture(automaton: Tgba | Tgta, path: frozenset[int] = frozenset()) -> Picture:
    """An automaton; the states in `path` are drawn heavier."""
    names = automaton.propositions
    edges = []
    if isinstance(automaton, Tgba):
        starts = {automaton.initial: ""}
        for source, out in enumerate(automaton.edges):
            edges += [Edge(source, e.target, show(e.label, names), marks_text(e.marks)) for e in out]
    else:
        starts = {q: show(from_valuations(letters, len(names)), names) for q, letters in automaton.initial}
        for source, out_ in enumerate(automaton.edges):
            for e in out_:
                label = "Δ " + show(from_valuations(e.changes, len(names)), names)
                edges.append(Edge(source, e.target, label, marks_text(e.marks)))
    nodes = tuple(
        Node(str(q), (str(q), f"[{starts[q]}]") if starts.get(q) else (str(q),), q in starts, q in path)
        for q in range(automaton.states)
    )
    return Picture("automaton of the negated property", nodes, tuple(edges))

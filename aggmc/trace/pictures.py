"""Pictures of what a check explored."""

from __future__ import annotations

from aggmc.pictures.automata import marks_text
from aggmc.pictures.svg import Edge, Node, Picture, to_dot, to_svg
from aggmc.trace.aggregates import AggregateGraph, GraphNode

__all__ = ["graph_picture", "to_dot", "to_svg"]


def graph_picture(graph: AggregateGraph) -> Picture:
    """Automaton state, number of states, propositions, marks, and the way of the counterexample."""
    nodes = tuple(
        Node(str(i), _lines(node), node.initial, node.on_path, tooltip=_tooltip(node))
        for i, node in enumerate(graph.nodes)
    )
    edges = tuple(Edge(e.source, e.target, e.label, marks_text(e.marks), e.on_path) for e in graph.edges)
    return Picture(f"{graph.product}: {graph.formula}", nodes, edges)


def _lines(node: GraphNode) -> tuple[str, ...]:
    head = "" if node.automaton_state is None else f"q{node.automaton_state}"
    if node.states is None:
        return (head, "for ever")
    return tuple(line for line in (head, _states(node.states), node.propositions) if line)


def _states(count: int) -> str:
    if count == 1:
        return "1 state"
    text = str(count)
    return f"{text} states" if len(text) <= 12 else f"{text[0]}.{text[1:4]}e{len(text) - 1} states"


def _tooltip(node: GraphNode) -> str:
    if node.states is None:
        return "a run that stays among the states of the node before"
    return f"automaton state {node.automaton_state}; {node.states} states; {node.propositions}"


def summary(graph: AggregateGraph) -> str:
    """Lines for people."""
    whole = "the whole graph" if graph.complete else "what was explored until a violation was found"
    cut = "" if len(graph.nodes) == graph.explored_nodes else f"; {len(graph.nodes)} nodes of it are shown"
    lines = [
        f"{graph.product}: {graph.formula}",
        f"{whole}: {graph.explored_nodes} nodes, {graph.explored_edges} edges{cut}",
    ]
    for i, node in enumerate(graph.nodes):
        flags = " (initial)" * node.initial + " (counterexample)" * node.on_path
        lines.append(f"{i}: {'; '.join(_lines(node))}{flags}")
    for edge in graph.edges:
        told = " ".join(t for t in (edge.label, marks_text(edge.marks)) if t)
        lines.append(f"{edge.source} -> {edge.target}  {told}".rstrip())
    return "\n".join(lines)

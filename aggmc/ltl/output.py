"""Property automata for people and for other tools: text, JSON, DOT and HOA.

Formats: *The Hanoi Omega-Automata Format* (T. Babiak et al., CAV 2015), version 1; Graphviz. The notions are those of
A.-E. Ben Salem and M. Graiet (see `aggmc.ltl.automata`).

A TGBA in HOA is an ordinary one. HOA has no testing automata, so a `Tgta` (or plain change-set automaton) is written
over propositions "changed: x", true on an edge if x changes its value along it, with these headers of our own (a tool
that does not know a header whose name begins in lower case may ignore it):

    aggmc.automaton: "tgta"        or "change-set"
    aggmc.start: 0 "0&!1"          one for each `Start:`. The first letter of the word must satisfy the label; in it,
                                   i is the *value* of the i-th proposition, not its change

Without them, it reads as an automaton over words of change-sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from aggmc.boolean import Bool, from_valuations, members, show
from aggmc.ltl.automata import Tgba, Tgta

Automaton: TypeAlias = Tgba | Tgta


def _initial(automaton: Automaton) -> list[tuple[int, Bool | None]]:
    """Initial states, and U for a TGTA."""
    if isinstance(automaton, Tgba):
        return [(automaton.initial, None)]
    n = len(automaton.propositions)
    return [(state, from_valuations(letters, n)) for state, letters in sorted(automaton.initial, key=lambda i: i[0])]


def _edges(automaton: Automaton) -> Iterator[tuple[int, Bool, int, int]]:
    """Source, label, marks, target; the label of a TGTA's edge is over changes."""
    n = len(automaton.propositions)
    if isinstance(automaton, Tgba):
        for source, out in enumerate(automaton.edges):
            for edge in out:
                yield source, edge.label, edge.marks, edge.target
    else:
        for source, out_ in enumerate(automaton.edges):
            for edge_ in out_:
                yield source, from_valuations(edge_.changes, n), edge_.marks, edge_.target


def kind(automaton: Automaton) -> str:
    """`tgba`, `tgta` or `change-set`."""
    if isinstance(automaton, Tgba):
        return "tgba"
    return "tgta" if automaton.stuttering else "change-set"


def _marks(marks: int) -> str:
    return "{" + ",".join(map(str, members(marks))) + "}" if marks else ""


def to_text(automaton: Automaton) -> str:
    """Lines for people."""
    names = automaton.propositions
    size = f"{automaton.states} states, {sum(map(len, automaton.edges))} edges, {automaton.marks} acceptance sets"
    lines = [f"{kind(automaton)}, {automaton.automaton_class}: {size}"]
    lines += [f"proposition {i}: {name}" for i, name in enumerate(names)]
    for state, label in _initial(automaton):
        lines.append(f"initial: {state}" + ("" if label is None else f" where {show(label, names)}"))
    for source, label, marks, target in _edges(automaton):
        what = show(label, names)
        if isinstance(automaton, Tgta):
            what = f"changes: {what}"
        lines.append(f"{source} -> {target}  {what}" + (f"  {_marks(marks)}" if marks else ""))
    return "\n".join(lines) + "\n"


def to_dict(automaton: Automaton) -> dict[str, object]:
    """A value that `json.dumps` can write. Change-sets and valuations are bit masks over the propositions."""
    names = automaton.propositions
    result: dict[str, object] = {
        "kind": kind(automaton),
        "class": automaton.automaton_class,
        "propositions": list(names),
        "acceptance_sets": automaton.marks,
        "states": automaton.states,
    }
    if isinstance(automaton, Tgba):
        result["initial"] = [{"state": automaton.initial}]
    else:
        result["initial"] = [
            {"state": state, "where": show(from_valuations(letters, len(names)), names), "valuations": sorted(letters)}
            for state, letters in automaton.initial
        ]
    edges: list[dict[str, object]] = []
    for source, label, marks, target in _edges(automaton):
        edges.append({"source": source, "target": target, "label": show(label, names), "marks": list(members(marks))})
    if isinstance(automaton, Tgta):
        for entry, edge in zip(edges, (edge for out in automaton.edges for edge in out), strict=True):
            entry["changes"] = sorted(edge.changes)
    result["edges"] = edges
    return result


def _dot_string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def to_dot(automaton: Automaton) -> str:
    """A Graphviz graph; marks are shown as numbers in braces, and edges that carry any are bold."""
    names = automaton.propositions
    lines = [f"digraph {_dot_string(kind(automaton))} {{", "  rankdir=LR;", "  node [shape=circle];"]
    lines += [f"  {state};" for state in range(automaton.states)]
    for number, (state, start) in enumerate(_initial(automaton)):
        lines.append(f'  start{number} [shape=point, label=""];')
        attribute = "" if start is None else f" [label={_dot_string(show(start, names))}]"
        lines.append(f"  start{number} -> {state}{attribute};")
    for source, label, marks, target in _edges(automaton):
        text = show(label, names) + (f" {_marks(marks)}" if marks else "")
        if isinstance(automaton, Tgta):
            text = "Δ " + text
        style = ", style=bold" if marks else ""
        lines.append(f"  {source} -> {target} [label={_dot_string(text)}{style}];")
    return "\n".join([*lines, "}"]) + "\n"


def _hoa_label(expr: Bool) -> str:
    match expr.op:
        case "true":
            return "t"
        case "false":
            return "f"
        case "prop":
            return str(expr.index)
        case "not":
            return f"!{_hoa_label(expr.args[0])}" if not expr.args[0].args else f"!({_hoa_label(expr.args[0])})"
        case "and" | "or":
            sign = "&" if expr.op == "and" else "|"
            return sign.join(f"({_hoa_label(p)})" if p.op in ("and", "or") else _hoa_label(p) for p in expr.args)


def _hoa_string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _acceptance(marks: int) -> Iterable[str]:
    yield "acc-name: Buchi" if marks == 1 else f"acc-name: generalized-Buchi {marks}"
    yield f"Acceptance: {marks} " + "&".join(f"Inf({i})" for i in range(marks))


def to_hoa(automaton: Automaton, name: str | None = None) -> str:
    """HOA, version 1."""
    lines = ["HOA: v1"]
    if name is not None:
        lines.append(f"name: {_hoa_string(name)}")
    lines.append('tool: "aggmc"')
    lines.append(f"States: {automaton.states}")
    starts = _initial(automaton)
    lines += [f"Start: {state}" for state, _ in starts]
    names = automaton.propositions
    if isinstance(automaton, Tgta):
        names = tuple(f"changed: {proposition}" for proposition in names)
    lines.append(f"AP: {len(names)}" + "".join(f" {_hoa_string(proposition)}" for proposition in names))
    lines += _acceptance(automaton.marks)
    if isinstance(automaton, Tgta):
        lines.append(f"aggmc.automaton: {_hoa_string(kind(automaton))}")
        lines += [f"aggmc.start: {s} {_hoa_string(_hoa_label(label))}" for s, label in starts if label is not None]
    lines += ["properties: trans-labels explicit-labels trans-acc", "--BODY--"]
    bodies: list[list[str]] = [[] for _ in range(automaton.states)]
    for source, label, marks, target in _edges(automaton):
        accepting = " {" + " ".join(map(str, members(marks))) + "}" if marks else ""
        bodies[source].append(f"[{_hoa_label(label)}] {target}{accepting}")
    for state, body in enumerate(bodies):
        lines += [f"State: {state}", *body]
    return "\n".join([*lines, "--END--"]) + "\n"

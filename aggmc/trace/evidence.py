"""What a property says along a run: propositions as they flip, parts of the formula, the run of the automaton."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aggmc.boolean import evaluate
from aggmc.ltl.automata import Tgba
from aggmc.ltl.semantics import MAX_PARTS, Reason, parts, reasons, tree, values
from aggmc.ltl.translate import Property
from aggmc.trace.search import shortest_lasso
from aggmc.trace.shorten import bad_prefix


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the formula and its value at each position of the run."""

    text: str
    depth: int
    values: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a property says along a lasso. Position i is the state after i steps."""

    formula: str
    propositions: Mapping[str, tuple[bool, ...]]  # as the property writes them
    parts: tuple[Part, ...]  # the formula itself first
    reasons: tuple[Reason, ...]  # why it is violated
    bad: int | None  # the position up to which a finite run shows the violation, whatever follows
    automaton: Tgba
    run: tuple[tuple[int, ...], ...]  # the automaton's states at each position (several if its cycle is longer)

    def flips(self, before: int, position: int) -> dict[str, bool]:
        """The propositions that a step changes, with their new values."""
        return {name: row[position] for name, row in self.propositions.items() if row[before] != row[position]}

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON format."""
        return {
            "propositions": {name: list(row) for name, row in self.propositions.items()},
            "parts": [{"formula": p.text, "depth": p.depth, "values": list(p.values)} for p in self.parts],
            "bad_prefix": self.bad,
        }


def evidence(prop: Property, letters: Sequence[int], loop: int) -> Evidence:
    """The evidence of a lasso, given as valuations of the property's atoms."""
    rows, why = _subformulas(prop, letters, loop) if prop.formula else ([], ())  # an automaton has no subformulas
    merged = [prop.valuation(letter) for letter in letters]
    decided = bad_prefix(prop.tgba, merged + merged[loop:] * prop.tgba.states)
    return Evidence(
        prop.text,
        {a.text: tuple(bool(letter >> i & 1) for letter in letters) for i, a in enumerate(prop.atoms)},
        tuple(rows),
        why,
        None if decided is None or decided > len(letters) else max(decided - 1, 0),
        prop.tgba,
        _automaton_run(prop.tgba, merged, loop),
    )


def _subformulas(prop: Property, letters: Sequence[int], loop: int) -> tuple[list[Part], tuple[Reason, ...]]:
    """The values of all subformulas, and why the formula is false; nothing if there are too many to be read."""
    formula = tree(prop)
    listed = parts(formula)
    if len(listed) > MAX_PARTS:
        return [], ()
    known = values(formula, letters, loop)
    rows = [Part(part.text, depth, tuple(known[part])) for depth, part in listed]
    return rows, tuple(reasons(formula, known, loop))


def _automaton_run(automaton: Tgba, letters: Sequence[int], loop: int) -> tuple[tuple[int, ...], ...]:
    """The states of an accepting run."""

    def successors(node: tuple[int, int]) -> list[tuple[int, tuple[int, int]]]:
        i, q = node
        following = i + 1 if i + 1 < len(letters) else loop
        return [(e.marks, (following, e.target)) for e in automaton.edges[q] if evaluate(e.label, letters[i])]

    found = shortest_lasso([(0, automaton.initial)], successors, automaton.all_marks)
    if found is None:
        return ()
    visited: list[list[int]] = [[] for _ in letters]
    for i, q in found.nodes:
        if q not in visited[i]:
            visited[i].append(q)
    return tuple(map(tuple, visited))

"""What a formula and its parts say along a lasso: for people who look for the reason of a violation.

The verdict does not depend on it: Spot judges a run (`Property.accepts_lasso`). The operators have their usual meaning
over infinite words; on a lasso, each value is a fixpoint over its finitely many positions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aggmc.errors import InternalError
from aggmc.ltl.translate import Property

MAX_PARTS = 40  # a formula with more operators is not explained part by part


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula as a tree; `op` is `ap`, `true`, `false`, or the operator's name as Spot says it."""

    op: str
    text: str
    args: tuple[Formula, ...] = ()
    index: int = -1  # of an atom


@dataclass(frozen=True, slots=True)
class Reason:
    """A part of the formula has this value at this position; `depth` tells which reason it explains."""

    text: str
    value: bool
    position: int
    depth: int
    always: bool = False  # also at all later positions


Values = dict[Formula, list[bool]]


def tree(prop: Property) -> Formula:
    """The formula of a property, its parts written with the user's atoms."""
    import spot

    names = [f'"{a.text}"' if a.quoted else a.text for a in prop.atoms]

    def convert(formula: Any) -> Formula:
        spaced = re.sub(r"(?<=[GFX])(?=[GFXp!])", " ", str(formula))
        text = re.sub(r"p(\d+)", lambda m: names[int(m[1])], spaced)
        kind = formula.kind()
        if kind == spot.op_ap:
            return Formula("ap", text, (), int(formula.ap_name()[1:]))
        if kind in (spot.op_tt, spot.op_ff):
            return Formula("true" if kind == spot.op_tt else "false", text)
        return Formula(str(formula.kindstr()), text, tuple(convert(child) for child in formula))

    return convert(spot.formula(prop.formula))


def parts(formula: Formula) -> list[tuple[int, Formula]]:
    """The formula and its parts, each once, with their depth; what is outside comes first."""
    found: dict[Formula, int] = {}
    stack = [(0, formula)]
    while stack:
        depth, part = stack.pop()
        if part not in found:
            found[part] = depth
            stack += [(depth + 1, arg) for arg in reversed(part.args)]
    return [(depth, part) for part, depth in found.items()]


def values(formula: Formula, letters: Sequence[int], loop: int) -> Values:
    """The value of each part at each position of the lasso."""
    size = len(letters)
    found: Values = {}

    def after(i: int) -> int:
        return i + 1 if i + 1 < size else loop

    def fixpoint(start: bool, here: list[bool], go: list[bool]) -> list[bool]:
        """here ∨ (go ∧ next), the least (start: false) or greatest solution."""
        result = [start] * size
        for _ in range(2):  # round the cycle twice: what the end of the cycle says, its beginning knows then
            for i in range(size - 1, -1, -1):
                result[i] = here[i] or (go[i] and result[after(i)])
        return result

    stack = [formula]
    while stack:
        part = stack[-1]
        missing = [arg for arg in part.args if arg not in found]
        if missing:
            stack += missing
        else:
            found[part] = _value(part, [found[arg] for arg in part.args], letters, fixpoint, after)
            stack.pop()
    return found


def _value(part: Formula, args: list[list[bool]], letters: Sequence[int], fixpoint: Any, after: Any) -> list[bool]:
    size = len(letters)
    true, false = [True] * size, [False] * size
    match part.op:
        case "ap":
            return [bool(letter >> part.index & 1) for letter in letters]
        case "true":
            return true
        case "false":
            return false
        case "Not":
            return [not v for v in args[0]]
        case "And":
            return [all(vs) for vs in zip(*args, strict=True)]
        case "Or":
            return [any(vs) for vs in zip(*args, strict=True)]
        case "Implies":
            return [not a or b for a, b in zip(*args, strict=True)]
        case "Equiv":
            return [a == b for a, b in zip(*args, strict=True)]
        case "Xor":
            return [a != b for a, b in zip(*args, strict=True)]
        case "X":
            return [args[0][after(i)] for i in range(size)]
        case "F":
            return list(fixpoint(False, args[0], true))
        case "G":
            return list(fixpoint(True, false, args[0]))
        case "U" | "W":
            return list(fixpoint(part.op == "W", args[1], args[0]))
        case "R" | "M":  # a R b: b until and including a ∧ b
            both = [a and b for a, b in zip(*args, strict=True)]
            return list(fixpoint(part.op == "R", both, args[1]))
    raise InternalError(f"an operator without meaning: {part.op}")


def reasons(formula: Formula, known: Values, loop: int, limit: int = 12) -> list[Reason]:
    """Why the formula has the value that it has at the beginning: one chain of parts and positions."""
    found: list[Reason] = []
    size = len(known[formula])
    stack = [(formula, 0, 0)]

    def later(i: int) -> list[int]:
        return [*range(i, size), *range(loop, i)] if i >= loop else list(range(i, size))

    def after(i: int) -> int:
        return i + 1 if i + 1 < size else loop

    while stack and len(found) < limit:
        part, i, depth = stack.pop()
        value = known[part][i]
        found.append(Reason(part.text, value, i, depth, _is_always(part, known, later(i))))
        for arg, place in reversed(_because(part, i, known, later, after)):
            stack.append((arg, place, depth + 1))
    return found


def _is_always(part: Formula, known: Values, positions: Sequence[int]) -> bool:
    return len({known[part][i] for i in positions}) == 1


def _because(part: Formula, i: int, known: Values, later: Any, after: Any) -> list[tuple[Formula, int]]:
    value = known[part][i]
    args = part.args
    here = [known[a][i] for a in args]
    match part.op:
        case "Not" | "Equiv" | "Xor":
            return [(a, i) for a in args]
        case "And" | "Or":
            if value == (part.op == "And"):
                return [(a, i) for a in args]
            return [next((a, i) for a, v in zip(args, here, strict=True) if v == value)]
        case "Implies":
            if not value:
                return [(a, i) for a in args]
            return [(args[0], i)] if not here[0] else [(args[1], i)]
        case "X":
            return [(args[0], after(i))]
        case "F" | "G":
            if value == (part.op == "G"):
                return [(args[0], i)]  # it is so at all later positions
            return [(args[0], next(j for j in later(i) if known[args[0]][j] == value))]
        case "U" | "W" | "R" | "M":
            return _because_until(part, i, known, later)
    return []


def _because_until(part: Formula, i: int, known: Values, later: Any) -> list[tuple[Formula, int]]:
    """Where the part's value is decided: the first position at which its arguments allow nothing else."""
    a, b = part.args
    weak = part.op in ("W", "R")
    for j in later(i):
        first, second = known[a][j], known[b][j]
        if part.op in ("U", "W"):
            if second:
                return [(b, j)]
            if not first:
                return [(a, j), (b, j)]
        else:
            if not second:
                return [(b, j)]
            if first:
                return [(a, j), (b, j)]
    return [(a if part.op == "W" else b, i)] if weak else [(b if part.op == "U" else a, i)]

"""Boolean expressions over numbered propositions.

The papers write 𝔹(AP) for the propositional formulas over a set AP of atomic propositions, ℓ for a valuation, and
ℓ ⊨ φ for "ℓ satisfies φ" (Ben Salem and Graiet, *Combining Explicit and Symbolic LTL Model Checking Using Generalized
Testing Automata*, Sect. II). Here:

    AP        the numbers 0 … n-1
    φ ∈ 𝔹(AP) `Bool`
    ℓ ∈ 2^AP  an int: bit i is the value of proposition i. A change-set is coded likewise
    ℓ ⊨ φ     `evaluate(φ, ℓ)`

A *table* is the set of all satisfying valuations as one integer: bit ℓ of `table(φ, n)` is `evaluate(φ, ℓ)`; it has
2^n bits. `from_table` gives a sum of products, by S. Minato, *Fast Generation of Irredundant Sum-of-Products Forms
from Binary Decision Diagrams* (SASIMI 1992); it depends on the set and on n alone: equal sets give equal expressions.

Neither Spot nor dd is imported here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Op = Literal["true", "false", "prop", "not", "and", "or"]


@dataclass(frozen=True, slots=True)
class Bool:
    """A Boolean expression; make it with the functions below, which simplify."""

    op: Op
    args: tuple[Bool, ...] = ()
    index: int = -1  # of a proposition

    def __repr__(self) -> str:
        return show(self, None)


TRUE = Bool("true")
FALSE = Bool("false")


def true() -> Bool:
    """The constant ⊤."""
    return TRUE


def false() -> Bool:
    """The constant ⊥."""
    return FALSE


def prop(index: int) -> Bool:
    """Proposition number `index`."""
    if index < 0:
        raise ValueError("propositions are numbered from 0")
    return Bool("prop", (), index)


def not_(expr: Bool) -> Bool:
    """¬expr."""
    match expr.op:
        case "true":
            return FALSE
        case "false":
            return TRUE
        case "not":
            return expr.args[0]
        case _:
            return Bool("not", (expr,))


def and_(*exprs: Bool) -> Bool:
    """The conjunction, flattened, without repetitions and constants."""
    return _combine("and", TRUE, FALSE, exprs)


def or_(*exprs: Bool) -> Bool:
    """The disjunction, flattened, without repetitions and constants."""
    return _combine("or", FALSE, TRUE, exprs)


def _combine(op: Op, unit: Bool, zero: Bool, exprs: Iterable[Bool]) -> Bool:
    parts: dict[Bool, None] = {}
    for expr in exprs:
        for part in expr.args if expr.op == op else (expr,):
            if part == zero or not_(part) in parts:
                return zero
            if part != unit:
                parts[part] = None
    if not parts:
        return unit
    if len(parts) == 1:
        return next(iter(parts))
    return Bool(op, tuple(parts))


def evaluate(expr: Bool, valuation: int) -> bool:
    """Whether the valuation satisfies the expression."""
    match expr.op:
        case "true":
            return True
        case "false":
            return False
        case "prop":
            return bool(valuation >> expr.index & 1)
        case "not":
            return not evaluate(expr.args[0], valuation)
        case "and":
            return all(evaluate(part, valuation) for part in expr.args)
        case "or":
            return any(evaluate(part, valuation) for part in expr.args)


def support(expr: Bool) -> frozenset[int]:
    """The propositions that occur in the expression."""
    if expr.op == "prop":
        return frozenset((expr.index,))
    return frozenset().union(*(support(part) for part in expr.args))


def substitute(expr: Bool, by: Sequence[Bool]) -> Bool:
    """The expression with proposition i replaced by `by[i]`."""
    match expr.op:
        case "prop":
            return by[expr.index]
        case "not":
            return not_(substitute(expr.args[0], by))
        case "and":
            return and_(*(substitute(part, by) for part in expr.args))
        case "or":
            return or_(*(substitute(part, by) for part in expr.args))
        case _:
            return expr


@lru_cache(maxsize=256)
def _column(index: int, n: int) -> int:
    """The table of proposition `index`: blocks of 2^index zeros and ones, in turn."""
    block = 1 << index
    pattern = ((1 << block) - 1) << block
    width = block << 1
    while width < 1 << n:
        pattern |= pattern << width
        width <<= 1
    return pattern


def table(expr: Bool, n: int) -> int:
    """All satisfying valuations over n propositions, as one integer of 2^n bits."""
    full = (1 << (1 << n)) - 1
    match expr.op:
        case "true":
            return full
        case "false":
            return 0
        case "prop":
            if expr.index >= n:
                raise ValueError(f"proposition {expr.index} of {n}")
            return _column(expr.index, n)
        case "not":
            return full ^ table(expr.args[0], n)
        case "and":
            for part in expr.args:
                full &= table(part, n)
            return full
        case "or":
            result = 0
            for part in expr.args:
                result |= table(part, n)
            return result


def members(bits: int) -> Iterator[int]:
    """The numbers of the bits that are set, in rising order."""
    digits = bin(bits)[:1:-1]
    at = digits.find("1")
    while at >= 0:
        yield at
        at = digits.find("1", at + 1)


def to_table(masks: Iterable[int]) -> int:
    """The table of a set of valuations."""
    result = 0
    for mask in masks:
        result |= 1 << mask
    return result


def from_valuations(masks: Iterable[int], n: int) -> Bool:
    """A short sum of products that exactly these valuations over n propositions satisfy."""
    bits = to_table(masks)
    if bits >> (1 << n):
        raise ValueError(f"a valuation has more than {n} propositions")
    return from_table(bits, n)


def from_table(bits: int, n: int) -> Bool:
    """A short sum of products with this table."""
    cubes, _ = _isop(bits, bits, n)
    return or_(*(and_(*(prop(i) if positive else not_(prop(i)) for i, positive in cube)) for cube in sorted(cubes)))


Cube = tuple[tuple[int, bool], ...]


def _isop(low: int, high: int, n: int) -> tuple[list[Cube], int]:
    """Cubes, and their union, of an irredundant cover between two tables over n propositions; the last one splits."""
    if low == 0:
        return [], 0
    full = (1 << (1 << n)) - 1
    if high == full:
        return [()], full
    n -= 1
    half = 1 << n
    part = (1 << half) - 1
    low0, low1, high0, high1 = low & part, low >> half, high & part, high >> half
    cubes0, cover0 = _isop(low0 & ~high1, high0, n)
    cubes1, cover1 = _isop(low1 & ~high0, high1, n)
    shared, cover = _isop(low0 & ~cover0 | low1 & ~cover1, high0 & high1, n)
    cubes: list[Cube] = [(*cube, (n, False)) for cube in cubes0]
    cubes += [(*cube, (n, True)) for cube in cubes1]
    return cubes + shared, (cover0 | cover) | (cover1 | cover) << half


def show(expr: Bool, names: Sequence[str] | None) -> str:
    """The expression as text, in the syntax of LTL formulas; names that are not plain words come in double quotes."""
    match expr.op:
        case "true":
            return "true"
        case "false":
            return "false"
        case "prop":
            return f"p{expr.index}" if names is None else quote(names[expr.index])
        case "not":
            inner = expr.args[0]
            return f"!({show(inner, names)})" if inner.args and inner.op != "not" else f"!{show(inner, names)}"
        case "and":
            return " & ".join(f"({show(p, names)})" if p.op == "or" else show(p, names) for p in expr.args)
        case "or":
            return " | ".join(f"({show(p, names)})" if p.op == "and" else show(p, names) for p in expr.args)


def quote(name: str) -> str:
    """A name as it stands in an LTL formula."""
    plain = name.replace(".", "_").replace("_", "a")
    if plain.isascii() and plain.isalnum() and plain[0].islower() and name not in ("true", "false", "xor"):
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'

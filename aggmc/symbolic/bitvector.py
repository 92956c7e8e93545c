"""Integer expressions as vectors of BDDs: two's complement, least significant bit first, the last bit the sign.

A vector is as wide as its values need, so nothing ever overflows: the result of an operator is made wide enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aggmc.model.expr import Expr, postorder

Bdd = Any  # dd.cudd.Function: dd has no types
Vector = list[Bdd]


class Arithmetic:
    """The operators of `model.expr` on vectors."""

    def __init__(self, bdd: Any) -> None:
        self.bdd = bdd
        self.true = bdd.true
        self.false = bdd.false

    def xor(self, a: Bdd, b: Bdd) -> Bdd:
        """Exclusive or: dd gives it no operator."""
        return self.bdd.apply("xor", a, b)

    def constant(self, value: int) -> Vector:
        """The vector of a constant."""
        width = value.bit_length() + 1
        return [self.true if (value >> k) & 1 else self.false for k in range(width)]

    def boolean(self, condition: Bdd) -> Vector:
        """0 or 1."""
        return [condition, self.false]

    def truth(self, a: Vector) -> Bdd:
        """Where the value is not 0."""
        result = self.false
        for bit in a:
            result = result | bit
        return result

    def trimmed(self, a: Vector) -> Vector:
        """The same value without repeated sign bits."""
        while len(a) > 1 and a[-1] == a[-2]:
            a = a[:-1]
        return a

    def extended(self, a: Vector, width: int) -> Vector:
        """The same value with at least this many bits."""
        return a + [a[-1]] * (width - len(a))

    def _aligned(self, a: Vector, b: Vector, extra: int = 0) -> tuple[Vector, Vector]:
        width = max(len(a), len(b)) + extra
        return self.extended(a, width), self.extended(b, width)

    def _bitwise(self, a: Vector, b: Vector, op: Callable[[Bdd, Bdd], Bdd]) -> Vector:
        a, b = self._aligned(a, b)
        return self.trimmed([op(x, y) for x, y in zip(a, b, strict=True)])

    def add(self, a: Vector, b: Vector, carry: Bdd | None = None) -> Vector:
        """a + b + carry."""
        a, b = self._aligned(a, b, 1)
        carry = self.false if carry is None else carry
        result = []
        for x, y in zip(a, b, strict=True):
            half = self.xor(x, y)
            result.append(self.xor(half, carry))
            carry = (x & y) | (half & carry)
        return self.trimmed(result)

    def subtract(self, a: Vector, b: Vector) -> Vector:
        """a - b."""
        return self.add(a, [~x for x in b], self.true)

    def multiply(self, a: Vector, b: Vector) -> Vector:
        """a * b, by shifts and additions; b's sign bit counts negatively."""
        total: Vector = [self.false]
        for k, bit in enumerate(b):
            if bit == self.false:
                continue
            row = [self.false] * k + [x & bit for x in a]
            total = self.subtract(total, row) if k == len(b) - 1 else self.add(total, row)
        return total

    def divide(self, a: Vector, b: Vector) -> tuple[Vector, Vector]:
        """Quotient and remainder, towards zero as in C; both 0 where b is 0."""
        negative_a, negative_b = a[-1], b[-1]
        divisor, rest = self.absolute(b), [self.false]
        quotient: Vector = []
        for bit in reversed(self.absolute(a)):
            rest = self.trimmed([bit, *rest])
            fits = ~self.less(rest, divisor)
            rest = self.choose(fits, self.subtract(rest, divisor), rest)
            quotient.insert(0, fits)
        quotient.append(self.false)
        nonzero = self.truth(b)
        signed = self.choose(self.xor(negative_a, negative_b), self.subtract([self.false], quotient), quotient)
        remainder = self.choose(negative_a, self.subtract([self.false], rest), rest)
        return self.masked(signed, nonzero), self.masked(remainder, nonzero)

    def absolute(self, a: Vector) -> Vector:
        """|a|."""
        if a[-1] == self.false:
            return a
        return self.choose(a[-1], self.subtract([self.false], a), a)

    def masked(self, a: Vector, condition: Bdd) -> Vector:
        """a where the condition holds, else 0."""
        return self.trimmed([x & condition for x in a])

    def _shifted(self, a: Vector, n: Vector, *, left: bool) -> Vector:
        result: Vector = [self.false]
        for k in range(32):
            here = self.equal(n, self.constant(k))
            if here == self.false:
                continue
            moved = [self.false] * k + a if left else (a[k:] or [a[-1]])
            result = self.choose(here, moved, result)
        return result

    def equal(self, a: Vector, b: Vector) -> Bdd:
        """Where a = b."""
        a, b = self._aligned(a, b)
        result = self.true
        for x, y in zip(a, b, strict=True):
            result = result & ~self.xor(x, y)
            if result == self.false:
                break
        return result

    def less(self, a: Vector, b: Vector) -> Bdd:
        """Where a < b."""
        a, b = self._aligned(a, b)
        result = self.false
        for x, y in zip(a[:-1], b[:-1], strict=True):
            result = (~x & y) | (~self.xor(x, y) & result)
        sign_a, sign_b = a[-1], b[-1]
        return (sign_a & ~sign_b) | (~self.xor(sign_a, sign_b) & result)

    def choose(self, condition: Bdd, a: Vector, b: Vector) -> Vector:
        """a where the condition holds, else b."""
        a, b = self._aligned(a, b)
        return self.trimmed([self.bdd.ite(condition, x, y) for x, y in zip(a, b, strict=True)])

    def evaluate(
        self, roots: Sequence[Expr], variable: Callable[[int], Vector], memo: dict[Expr, Vector] | None = None
    ) -> list[Vector]:
        """The vectors of expressions, given those of the variables."""
        found: dict[Expr, Vector] = {} if memo is None else memo
        for e in postorder(roots):
            if e not in found:
                found[e] = self._node(e, found, variable)
        return [found[r] for r in roots]

    def _node(self, e: Expr, found: dict[Expr, Vector], variable: Callable[[int], Vector]) -> Vector:
        if e.op == "const":
            return self.constant(e.value)
        if e.op == "var":
            return variable(e.value)
        args = [found[a] for a in e.args]
        if e.op in ("and", "or"):
            conjunction = e.op == "and"
            result = self.true if conjunction else self.false
            for a in args:
                result = result & self.truth(a) if conjunction else result | self.truth(a)
            return self.boolean(result)
        if e.op == "select":
            value: Vector = [self.false]
            for k, cell in enumerate(args[1:]):
                here = self.equal(args[0], self.constant(k))
                if here != self.false:
                    value = self.choose(here, cell, value)
            return value
        if e.op == "wrap":
            return self._wrapped(args[0], e.args[1].value, e.args[2].value)
        return _OPERATORS[e.op](self, *args)

    def _wrapped(self, a: Vector, low: int, high: int) -> Vector:
        size = high - low + 1
        width = size.bit_length() - 1
        if size == 1 << width and low in (0, -(size >> 1)):
            kept = self.extended(a, width)[:width]
            return self.trimmed([*kept, self.false] if low == 0 else kept)
        offset = self.subtract(a, self.constant(low))
        remainder = self.divide(offset, self.constant(size))[1]
        positive = self.choose(remainder[-1], self.add(remainder, self.constant(size)), remainder)
        return self.add(positive, self.constant(low))


# Not an attribute: bound methods would be a cycle that keeps a manager alive until Python looks for cycles.
_OPERATORS: Mapping[str, Callable[..., Vector]] = {
    "neg": lambda self, a: self.subtract([self.false], a),
    "bitnot": lambda self, a: [~x for x in a],
    "not": lambda self, a: self.boolean(~self.truth(a)),
    "+": Arithmetic.add,
    "-": Arithmetic.subtract,
    "*": Arithmetic.multiply,
    "/": lambda self, a, b: self.divide(a, b)[0],
    "%": lambda self, a, b: self.divide(a, b)[1],
    "&": lambda self, a, b: self._bitwise(a, b, lambda x, y: x & y),
    "|": lambda self, a, b: self._bitwise(a, b, lambda x, y: x | y),
    "^": lambda self, a, b: self._bitwise(a, b, self.xor),
    "<<": lambda self, a, n: self._shifted(a, n, left=True),
    ">>": lambda self, a, n: self._shifted(a, n, left=False),
    "==": lambda self, a, b: self.boolean(self.equal(a, b)),
    "!=": lambda self, a, b: self.boolean(~self.equal(a, b)),
    "<": lambda self, a, b: self.boolean(self.less(a, b)),
    ">": lambda self, a, b: self.boolean(self.less(b, a)),
    "<=": lambda self, a, b: self.boolean(~self.less(b, a)),
    ">=": lambda self, a, b: self.boolean(~self.less(a, b)),
    "ite": lambda self, c, a, b: self.choose(self.truth(c), a, b),
}

"""Integer expressions over the variables of a model; Booleans are 0 and 1.

Expressions are total: x / 0, x % 0, a shift by less than 0 or more than 31 and a `select` out of range have the
value 0 here. Whether such a step is an error of the model is said by the *error* expression of the event that
makes it, which the front-end composes (`failing`), so that every consumer sees the same rule.

Nodes are immutable, compare by structure, and carry their hash, so that shared subterms make cheap keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

#: op -> number of arguments (None: any). `select(i, c0, c1, …)` is c_i; `wrap(e, low, high)` is e modulo the range.
OPERATORS: dict[str, int | None] = {
    "neg": 1, "bitnot": 1, "not": 1, "and": None, "or": None,
    "+": 2, "-": 2, "*": 2, "/": 2, "%": 2, "&": 2, "|": 2, "^": 2, "<<": 2, ">>": 2,
    "==": 2, "!=": 2, "<": 2, "<=": 2, ">": 2, ">=": 2,
    "ite": 3, "select": None, "wrap": 3,
}  # fmt: skip

COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
BOOLEAN_OPERATORS = frozenset({"not", "and", "or"}) | COMPARISONS


class Expr:
    """An expression: a constant, a variable (by its index in the model) or an operator with arguments."""

    __slots__ = ("_hash", "args", "op", "value")
    op: str
    args: tuple[Expr, ...]
    value: int

    def __init__(self, op: str, args: tuple[Expr, ...] = (), value: int = 0) -> None:
        self.op = op
        self.args = args
        self.value = value
        self._hash = hash((op, args, value))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Expr)
            and self._hash == other._hash
            and self.op == other.op
            and self.value == other.value
            and self.args == other.args
        )

    def __reduce__(self) -> tuple[object, ...]:  # string hashes differ between processes: compute the hash anew
        return (Expr, (self.op, self.args, self.value))

    def __repr__(self) -> str:
        if self.op == "const":
            return str(self.value)
        if self.op == "var":
            return f"v{self.value}"
        return f"{self.op}({', '.join(map(repr, self.args))})"


def const(value: int) -> Expr:
    """The constant `value`."""
    return Expr("const", (), value)


def var(index: int) -> Expr:
    """The current value of variable number `index`."""
    return Expr("var", (), index)


TRUE = const(1)
FALSE = const(0)


def truncated_div(a: int, b: int) -> int:
    """C's division: towards zero; 0 if b is 0."""
    if b == 0:
        return 0
    q = abs(a) // abs(b)
    return q if (a >= 0) == (b >= 0) else -q


def truncated_mod(a: int, b: int) -> int:
    """C's remainder: the sign is a's; 0 if b is 0."""
    return 0 if b == 0 else a - b * truncated_div(a, b)


def wrapped(value: int, low: int, high: int) -> int:
    """`value` reduced modulo the size of [low, high] into it."""
    return (value - low) % (high - low + 1) + low


def _shift(a: int, n: int, left: bool) -> int:
    if not 0 <= n <= 31:
        return 0
    return a << n if left else a >> n


_APPLY: dict[str, Callable[..., int]] = {
    "neg": lambda a: -a,
    "bitnot": lambda a: ~a,
    "not": lambda a: int(not a),
    "and": lambda *xs: int(all(xs)),
    "or": lambda *xs: int(any(xs)),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": truncated_div,
    "%": truncated_mod,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, n: _shift(a, n, True),
    ">>": lambda a, n: _shift(a, n, False),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "ite": lambda c, a, b: a if c else b,
    "select": lambda i, *cells: cells[i] if 0 <= i < len(cells) else 0,
    "wrap": wrapped,
}


def apply_op(op: str, args: Sequence[int]) -> int:
    """The value of an operator on constants."""
    return _APPLY[op](*args)


def truth(e: Expr) -> Expr:
    """`e` as 0 or 1."""
    if e.op in BOOLEAN_OPERATORS or (e.op == "const" and e.value in (0, 1)):
        return e
    return make("!=", e, FALSE)


def make(op: str, *args: Expr) -> Expr:
    """The operator applied, with constants folded and the obvious identities used."""
    if op in ("and", "or"):
        return _junction(op, args)
    if all(a.op == "const" for a in args):
        return const(apply_op(op, [a.value for a in args]))
    if op == "not":
        return _negation(args[0])
    if op == "ite":
        condition, then, other = args
        if condition.op == "const":
            return then if condition.value else other
        if then == other:
            return then
    elif op == "select" and args[0].op == "const":
        i = args[0].value
        return args[1 + i] if 0 <= i < len(args) - 1 else FALSE
    elif op in ("==", "<=", ">=") and args[0] == args[1]:
        return TRUE
    elif op in ("!=", "<", ">") and args[0] == args[1]:
        return FALSE
    elif op in ("+", "-", "<<", ">>", "|", "^") and args[1].op == "const" and args[1].value == 0:
        return args[0]
    elif op == "+" and args[0].op == "const" and args[0].value == 0:
        return args[1]
    elif op in ("*", "/") and args[1].op == "const" and args[1].value == 1:
        return args[0]
    return Expr(op, args)


_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def _negation(e: Expr) -> Expr:
    if e.op in _OPPOSITE:
        return Expr(_OPPOSITE[e.op], e.args)
    if e.op == "not":
        return truth(e.args[0])
    return Expr("not", (e,))


def _junction(op: str, args: Iterable[Expr]) -> Expr:
    neutral = op == "and"
    kept: list[Expr] = []
    seen: set[Expr] = set()
    for a in args:
        for part in a.args if a.op == op else (truth(a),):
            if part.op == "const":
                if bool(part.value) != neutral:
                    return part
            elif part not in seen:
                seen.add(part)
                kept.append(part)
    if not kept:
        return TRUE if neutral else FALSE
    return kept[0] if len(kept) == 1 else Expr(op, tuple(kept))


def postorder(roots: Iterable[Expr]) -> list[Expr]:
    """Every distinct node below the roots, arguments first."""
    done: dict[Expr, None] = {}
    stack: list[tuple[Expr, bool]] = [(r, False) for r in reversed(list(roots))]
    while stack:
        e, ready = stack.pop()
        if e in done:
            continue
        if ready:
            done[e] = None
        else:
            stack.append((e, True))
            stack.extend((a, False) for a in reversed(e.args) if a not in done)
    return list(done)


def variables_of(*roots: Expr) -> frozenset[int]:
    """The indices of the variables that occur."""
    return frozenset(e.value for e in postorder(roots) if e.op == "var")


def substitute(root: Expr, mapping: Mapping[Expr, Expr]) -> Expr:
    """`root` with every node that is a key of `mapping` replaced, and simplified again."""
    new: dict[Expr, Expr] = {}
    for e in postorder([root]):
        if e in mapping:
            new[e] = mapping[e]
        elif e.args:
            args = tuple(new[a] for a in e.args)
            new[e] = e if args == e.args else make(e.op, *args)
        else:
            new[e] = e
    return new[root]


def evaluate(root: Expr, state: Sequence[int]) -> int:
    """The value of `root` in a state (a value per variable)."""
    values: dict[Expr, int] = {}
    for e in postorder([root]):
        if e.op == "const":
            values[e] = e.value
        elif e.op == "var":
            values[e] = state[e.value]
        else:
            values[e] = apply_op(e.op, [values[a] for a in e.args])
    return values[root]

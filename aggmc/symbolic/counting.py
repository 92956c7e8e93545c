"""Counting the states of a set with Python integers: dd's own count is a C double and overflows."""

from __future__ import annotations

from typing import Any


def count_states(states: Any, bdd: Any, bits: int) -> int:
    """The number of assignments of the `bits` current bits in a set over current bits only.

    Counts, for each node (complement edges pushed down), the assignments of the bits from its own on.
    """
    position = _positions(bdd, bits)

    def place(u: Any) -> int:
        return bits if u.var is None else position[u.var]

    counts: dict[Any, int] = {}  # regular node -> its own function's count, from its own bit on
    stack = [states]
    while stack:
        u = stack.pop()
        regular = ~u if u.negated else u
        if regular in counts:
            continue
        if regular.var is None:
            counts[regular] = 1
            continue
        low, high = regular.low, regular.high
        low_regular = ~low if low.negated else low
        missing = [c for c in (low_regular, high) if c not in counts]
        if missing:
            stack.append(regular)
            stack.extend(missing)
            continue
        here = place(regular)
        below = 0
        for child, child_regular in ((low, low_regular), (high, high)):
            there = place(child)
            own = counts[child_regular]
            if child.negated:
                own = (1 << (bits - there)) - own
            below += own << (there - here - 1)
        counts[regular] = below
    regular = ~states if states.negated else states
    own = counts[regular]
    if states.negated:
        own = (1 << (bits - place(states))) - own
    return own << place(states)


def _positions(bdd: Any, bits: int) -> dict[str, int]:
    """Each current bit's place among the current bits, by level (reordering moves x and y together)."""
    levels = sorted((bdd.level_of_var(f"x{k}"), f"x{k}") for k in range(bits))
    return {name: i for i, (_, name) in enumerate(levels)}

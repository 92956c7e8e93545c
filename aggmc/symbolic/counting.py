"""Counting the states of a set with Python integers: dd's own count is a C double and overflows."""

from __future__ import annotations

from collections.abc import Sequence
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


def largest_sum(states: Any, bdd: Any, bits: int, weights: Sequence[int]) -> int:
    """The largest sum of the weights (one for each current bit, none negative) of the bits that are set in a state.

    The set is not empty, and over current bits only. A longest path: complemented nodes are nodes of their own here.
    """
    position = _positions(bdd, bits)
    by_place = [weights[k] for k in sorted(range(bits), key=lambda k: position[f"x{k}"])]
    before = [0]  # the sum of all weights of the bits before a place
    for weight in by_place:
        before.append(before[-1] + weight)

    def place(u: Any) -> int:
        return bits if u.var is None else position[u.var]

    best: dict[Any, int | None] = {}  # node -> the largest sum from its own bit on; None if it is empty
    stack = [states]
    while stack:
        u = stack[-1]
        if u in best:
            stack.pop()
        elif u.var is None:
            best[u] = 0 if u == bdd.true else None
        else:
            children = (~u.low, ~u.high) if u.negated else (u.low, u.high)
            missing = [c for c in children if c not in best]
            if missing:
                stack.extend(missing)
                continue
            here = place(u)
            found = []
            for child, own in zip(children, (0, by_place[here]), strict=True):
                below = best[child]
                if below is not None:
                    found.append(below + own + before[place(child)] - before[here + 1])
            best[u] = max(found)
    top = best[states]
    assert top is not None, "the set is empty"
    return top + before[place(states)]

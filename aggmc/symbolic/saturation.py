"""Saturation: a reachability fixpoint computed node by node, from the last level upwards.

Ciardo, Lüttgen, Siminiceanu, "Saturation: an efficient iteration strategy for symbolic state-space generation"
(TACAS 2001), here on BDDs and a list of relations sorted by the first level that each touches. A node is saturated
when no relation that starts at its level or below adds anything to it. Chaining rebuilds everything above an event's
first level on each image; saturation does not.

    saturate(S, i)   S closed under the relations of the levels from the i-th on
    relnext(S, R)    the image of S under one relation, and the renaming, in one pass (if that is short, see `_SHORT`)
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aggmc.symbolic.bitvector import Bdd
from aggmc.symbolic.images import Images
from aggmc.symbolic.relation import Relation

if TYPE_CHECKING:
    from aggmc.symbolic.encode import Encoding

_FRAMES_PER_LEVEL = 6
_SHORT = 4  # bits: a relation that reaches over more of them is left to CUDD's own image, which pays there


class Saturation:
    """Closes sets under a fixed list of relations. Results are remembered while the object lives."""

    def __init__(self, encoding: Encoding, relations: Sequence[Relation]) -> None:
        bdd, bit_count = encoding.bdd, encoding.bit_count
        self.bdd = bdd
        self.images = Images(encoding)
        self.false = bdd.false
        self.true = bdd.true
        self.ite = bdd.ite
        x_levels = {k: bdd.level_of_var(f"x{k}") for k in range(bit_count)}
        self.variable_at = {level: bdd.var(f"x{k}") for k, level in x_levels.items()}
        #: CUDD may have put y before its x: `_relnext` is written for the order that was declared
        self.reordered = any(bdd.level_of_var(f"y{k}") != level + 1 or level % 2 for k, level in x_levels.items())
        by_level: dict[int, list[tuple[Bdd, frozenset[int], int, Relation | None]]] = {}
        for r in relations:
            written = frozenset(x_levels[k] for k in r.writes)
            levels = {x_levels[int(name[1:])] for name in bdd.support(r.bdd)} | written
            if not levels or (not written):
                continue  # a step that changes nothing adds nothing
            native = r if self.reordered or max(written) - min(levels) > 2 * _SHORT else None
            by_level.setdefault(min(levels), []).append((r.bdd, written, max(written), native))
        self.levels = sorted(by_level)
        self.at = [by_level[level] for level in self.levels]
        self._saturated: dict[tuple[int, Bdd], Bdd] = {}
        self._images: dict[tuple[Bdd, Bdd, frozenset[int]], Bdd] = {}
        self._depth = 2000 + _FRAMES_PER_LEVEL * bit_count

    def close(self, states: Bdd) -> Bdd:
        """The states reachable from `states`."""
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(max(before, self._depth))
        try:
            return self._saturate(states, 0)
        finally:
            sys.setrecursionlimit(before)
            self._images.clear()

    def _saturate(self, s: Bdd, i: int) -> Bdd:
        if i == len(self.levels) or s == self.false or s == self.true:
            return s
        key = (i, s)
        known = self._saturated.get(key)
        if known is not None:
            return known
        level = self.levels[i]
        if s.level < level:
            low, high = _children(s)
            result = self.ite(self.variable_at[s.level], self._saturate(high, i), self._saturate(low, i))
        else:
            result = self._saturate_node(s, i, level)
        self._saturated[key] = result
        return result

    def _saturate_node(self, s: Bdd, i: int, level: int) -> Bdd:
        variable = self.variable_at[level]
        while True:
            low, high = _children(s) if s.level == level else (s, s)
            s = self.ite(variable, self._saturate(high, i + 1), self._saturate(low, i + 1))
            before = s
            for relation, written, last, native in self.at[i]:
                reached = self._relnext(s, relation, written, last) if native is None else self.images.image(s, native)
                s = s | reached
            if s == before:
                return s

    def _relnext(self, s: Bdd, r: Bdd, written: frozenset[int], last: int) -> Bdd:
        if s == self.false or r == self.false:
            return self.false
        # x stands at an even level and its y right below it: the first bit that either speaks of
        level = min(s.level, r.level & ~1)
        if level > last:
            return s & r  # nothing is written from here on: r speaks of x only
        key = (s, r, written)
        known = self._images.get(key)
        if known is not None:
            return known
        s0, s1 = _children(s) if s.level == level else (s, s)
        r0, r1 = _children(r) if r.level == level else (r, r)
        if level in written:
            r00, r01 = _children(r0) if r0.level == level + 1 else (r0, r0)
            r10, r11 = _children(r1) if r1.level == level + 1 else (r1, r1)
            low = self._relnext(s0, r00, written, last) | self._relnext(s1, r10, written, last)
            high = self._relnext(s0, r01, written, last) | self._relnext(s1, r11, written, last)
        else:
            low = self._relnext(s0, r0, written, last)
            high = self._relnext(s1, r1, written, last)
        result = self.ite(self.variable_at[level], high, low)
        self._images[key] = result
        return result


def _children(u: Bdd) -> tuple[Bdd, Bdd]:
    """The cofactors (0, 1) at the node's own level; CUDD's `low` and `high` ignore a complemented node."""
    if u.negated:
        return ~u.low, ~u.high
    return u.low, u.high

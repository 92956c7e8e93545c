"""How many tokens a place can hold: from place invariants, or not known.

A semiflow is a weight y ≥ 0 for each place such that no transition changes the weighted sum; then p never holds more
than (y · m0) / y_p tokens. Semiflows are found by Farkas' algorithm (Colom and Silva, "Convex geometry and semiflows in
P/T nets", 1990): one transition after the other is balanced by adding rows of opposite sign. The number of rows can
explode, so it is bounded, by dropping rows: each row that is left at the end is a semiflow, whatever was dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import gcd

from aggmc.model.pnml.net import Net

_MOST_ROWS = 3000
_MOST_WORK = 6_000_000  # entries touched
_MOST_CHECKED = 600  # rows among which those with needless support are looked for


@dataclass(frozen=True, slots=True)
class Semiflow:
    """Weights of places, and the sum that they keep."""

    weights: dict[int, int]
    total: int


@dataclass(slots=True)
class _Row:
    """A weighted sum of places, and how transitions change it."""

    change: dict[int, int]
    weights: dict[int, int]


def semiflows(net: Net) -> list[Semiflow]:
    """Some semiflows, those of small support first."""
    rows = [_Row({}, {p: 1}) for p in range(len(net.places))]
    for t, transition in enumerate(net.transitions):
        for p, d in transition.effect:
            rows[p].change[t] = d
    initial = net.initial
    found = [row.weights for row in _eliminate(rows)]
    found.sort(key=lambda weights: (len(weights), sorted(weights)))
    return [Semiflow(weights, sum(w * initial[p] for p, w in weights.items())) for weights in found]


class _Matrix:
    """Rows that are not balanced yet, found by the transitions that change them."""

    def __init__(self, rows: Sequence[_Row]) -> None:
        self.rows: dict[int, _Row] = {}
        self.columns: dict[int, set[int]] = {}
        self.queue: list[tuple[int, int]] = []  # (cost, transition); an entry may be out of date
        self.next = 0
        self.work = 0
        for row in rows:
            self.add(row)

    def add(self, row: _Row) -> None:
        for t in row.change:
            self.columns.setdefault(t, set()).add(self.next)
        self.rows[self.next] = row
        self.next += 1
        self.work += len(row.change) + len(row.weights)

    def remove(self, number: int) -> _Row:
        row = self.rows.pop(number)
        for t in row.change:
            self.columns[t].discard(number)
        return row

    def cost(self, t: int) -> int:
        """How many more rows there are once the transition is balanced."""
        positive = sum(self.rows[number].change[t] > 0 for number in self.columns[t])
        negative = len(self.columns[t]) - positive
        self.work += positive + negative
        return positive * negative - positive - negative

    def choose(self) -> int | None:
        """The cheapest transition, nearly: costs are looked at again when their turn comes."""
        while self.queue:
            cost, t = heappop(self.queue)
            if self.columns.get(t):
                now = self.cost(t)
                if now <= cost or not self.queue or (now, t) <= self.queue[0]:
                    return t
                heappush(self.queue, (now, t))
        return None


def _eliminate(rows: list[_Row]) -> list[_Row]:
    done = [row for row in rows if not row.change]
    matrix = _Matrix([row for row in rows if row.change])
    matrix.queue = sorted((matrix.cost(t), t) for t in matrix.columns)
    while matrix.work < _MOST_WORK and (t := matrix.choose()) is not None:
        taken = [matrix.remove(number) for number in sorted(matrix.columns[t])]
        positive = [row for row in taken if row.change[t] > 0]
        negative = [row for row in taken if row.change[t] < 0]
        room = max(len(taken), _MOST_ROWS - len(matrix.rows))
        if len(positive) * len(negative) <= 4 * room:
            pairs = [(a, b) for a in positive for b in negative]
            pairs.sort(key=lambda pair: len(pair[0].weights) + len(pair[1].weights))
        else:  # too many to look at all of them: each row once
            pairs = list(zip(positive, negative, strict=False))
        fresh = _minimal([_balanced(a, b, t) for a, b in pairs[:room]])
        for row in fresh:
            if row.change:
                matrix.add(row)
            else:
                done.append(row)
                matrix.work += len(row.weights)
        changed = {k for row in taken for k in row.change}
        for k in sorted(changed):
            if len(matrix.columns[k]) and len(changed) < 100:
                heappush(matrix.queue, (matrix.cost(k), k))
    return _minimal(done)


def _balanced(a: _Row, b: _Row, t: int) -> _Row:
    """The smallest positive combination of two rows that t does not change."""
    x, y = -b.change[t], a.change[t]
    common = gcd(x, y)
    x, y = x // common, y // common
    change = {k: x * a.change.get(k, 0) + y * b.change.get(k, 0) for k in a.change.keys() | b.change.keys()}
    change = {k: d for k, d in sorted(change.items()) if d}
    weights = {p: x * a.weights.get(p, 0) + y * b.weights.get(p, 0) for p in a.weights.keys() | b.weights.keys()}
    common = gcd(*change.values(), *weights.values())
    if common > 1:
        change = {k: d // common for k, d in change.items()}
        weights = {p: w // common for p, w in weights.items()}
    return _Row(change, weights)


def _minimal(rows: list[_Row]) -> list[_Row]:
    """Without rows whose support contains that of another."""
    if len(rows) > _MOST_CHECKED:
        return rows
    kept: list[_Row] = []
    supports: list[int] = []
    masks = [sum(1 << p for p in row.weights) for row in rows]
    for i in sorted(range(len(rows)), key=lambda i: len(rows[i].weights)):
        if not any(s & masks[i] == s for s in supports):
            kept.append(rows[i])
            supports.append(masks[i])
    return kept


def place_bounds(net: Net, flows: Sequence[Semiflow]) -> list[int | None]:
    """The most tokens that each place can hold; None if no semiflow says."""
    bounds: list[int | None] = [None] * len(net.places)
    for flow in flows:
        for p, weight in flow.weights.items():
            bound = flow.total // weight
            known = bounds[p]
            bounds[p] = bound if known is None else min(known, bound)
    live = _live(net)
    grows = {p for t in live for p, d in net.transitions[t].effect if d > 0}
    for p, place in enumerate(net.places):
        known = bounds[p]
        if p not in grows and (known is None or known > place.initial):
            bounds[p] = place.initial
    return bounds


def constant_places(net: Net) -> frozenset[int]:
    """The places that no transition changes that can ever fire, as far as is known."""
    changed = {p for t in _live(net) for p, _ in net.transitions[t].effect}
    return frozenset(range(len(net.places))) - changed


def _live(net: Net) -> list[int]:
    """The transitions that are not known to be dead: each input gets a token from somewhere."""
    marked = {p for p, place in enumerate(net.places) if place.initial}
    waiting = [{p for p, _ in t.inputs if p not in marked} for t in net.transitions]
    needing: dict[int, list[int]] = {}
    for t, missing in enumerate(waiting):
        for p in missing:
            needing.setdefault(p, []).append(t)
    ready = [t for t, missing in enumerate(waiting) if not missing]
    live = []
    while ready:
        live.append(ready.pop())
        for p, _ in net.transitions[live[-1]].outputs:
            if p not in marked:
                marked.add(p)
                for t in needing.get(p, ()):
                    waiting[t].discard(p)
                    if not waiting[t]:
                        ready.append(t)
    return live

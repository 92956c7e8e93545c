"""How many tokens a place can hold: from place invariants, or not known.

A semiflow is a weight y ≥ 0 for each place such that no transition changes the weighted sum; then p never holds more
than (y · m0) / y_p tokens. Semiflows are found by Farkas' algorithm (Colom and Silva, "Convex geometry and semiflows in
P/T nets", 1990): one transition after the other is balanced by adding rows of opposite sign. The number of rows can
explode, so it is bounded, by dropping rows: each row that is left at the end is a semiflow, whatever was dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from aggmc.model.pnml.net import Net

_MOST_ROWS = 3000
_MOST_WORK = 3_000_000  # entries touched
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


def _eliminate(rows: list[_Row]) -> list[_Row]:
    done = [row for row in rows if not row.change]
    rows = [row for row in rows if row.change]
    work = 0
    while rows and work < _MOST_WORK:
        signs: dict[int, list[int]] = {}
        for row in rows:
            for t, d in row.change.items():
                signs.setdefault(t, [0, 0])[d > 0] += 1
        work += sum(len(row.change) for row in rows)
        t = min(signs, key=lambda t: (signs[t][0] * signs[t][1] - signs[t][0] - signs[t][1], t))
        positive = [row for row in rows if row.change.get(t, 0) > 0]
        negative = [row for row in rows if row.change.get(t, 0) < 0]
        rows = [row for row in rows if t not in row.change]
        room = max(len(positive) + len(negative), _MOST_ROWS - len(rows) - len(done))
        fresh: list[_Row] = []
        pairs = sorted(
            ((a, b) for a in positive for b in negative) if len(positive) * len(negative) <= 4 * room else [],
            key=lambda pair: len(pair[0].weights) + len(pair[1].weights),
        )
        if not pairs:  # too many to look at all of them: each row once
            pairs = list(zip(positive, negative, strict=False))
        for a, b in pairs[:room]:
            row = _balanced(a, b, t)
            work += len(row.change) + len(row.weights)
            (fresh if row.change else done).append(row)
        rows = _minimal(rows + fresh)
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
    grows = {p for t in net.transitions for p, d in t.effect if d > 0}
    for p, place in enumerate(net.places):
        known = bounds[p]
        if p not in grows and (known is None or known > place.initial):
            bounds[p] = place.initial
    return bounds

"""The static order of the variables: those that meet in an event stand close.

FORCE (Aloul, Markov, Sakallah, "FORCE: a fast and easy-to-implement variable-ordering heuristic", 2003): each
hyperedge (here the variables that a part touches) pulls its vertices to its centre of gravity, until the spans
shrink no more. Predicted cost of an order: for each part, how many bits lie between its first and its last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_ROUNDS = 60
_NARROW = 3  # bits: up to here a variable stands by itself


def span_cost(order: Sequence[int], edges: Sequence[frozenset[int]], bits: Sequence[int]) -> int:
    """The sum, over all edges, of the bits from their first to their last variable."""
    start: dict[int, int] = {}
    position = 0
    for v in order:
        start[v] = position
        position += bits[v]
    total = 0
    for edge in edges:
        if edge:
            total += max(start[v] + bits[v] for v in edge) - min(start[v] for v in edge)
    return total


def force(order: Sequence[int], edges: Sequence[frozenset[int]], bits: Sequence[int]) -> list[int]:
    """The best order that FORCE finds from this one."""
    best = list(order)
    best_cost = span_cost(best, edges, bits)
    current = best
    of_variable: dict[int, list[int]] = {v: [] for v in order}
    for k, edge in enumerate(edges):
        for v in edge:
            of_variable[v].append(k)
    stale = 0
    for _ in range(_ROUNDS):
        place = {v: i for i, v in enumerate(current)}
        centre = [sum(place[v] for v in e) / len(e) if e else 0.0 for e in edges]
        weight = {
            v: sum(centre[k] for k in of_variable[v]) / len(of_variable[v]) if of_variable[v] else float(place[v])
            for v in current
        }
        current = sorted(current, key=lambda v: (weight[v], place[v]))
        cost = span_cost(current, edges, bits)
        if cost < best_cost:
            best, best_cost, stale = current, cost, 0
        else:
            stale += 1
            if stale > 4:
                break
    return best


def variable_order(count: int, edges: Sequence[frozenset[int]], bits: Sequence[int]) -> list[int]:
    """The cheaper of the declared order and FORCE's."""
    distinct = sorted(set(edges), key=sorted)
    declared = list(range(count))
    found = force(declared, distinct, bits)
    return min(declared, found, key=lambda order: span_cost(order, edges, bits))


def bit_order(order: Sequence[int], links: Iterable[frozenset[int]], widths: Sequence[int]) -> list[tuple[int, int]]:
    """(variable, bit) from the first level to the last.

    A variable's bits stand together, the most significant first; those of wide variables that are added, compared or
    copied among each other (`links`) are interleaved, since a sum of two numbers one after the other in the order has
    as many nodes as the first has values.
    """
    leader = list(range(len(widths)))

    def find(v: int) -> int:
        while leader[v] != v:
            leader[v] = leader[leader[v]]
            v = leader[v]
        return v

    for link in links:
        wide = sorted(v for v in link if widths[v] > _NARROW)
        for v in wide[1:]:
            leader[find(v)] = find(wide[0])
    clusters: dict[int, list[int]] = {}
    for v in order:
        clusters.setdefault(find(v), []).append(v)
    return [
        (v, bit)
        for members in clusters.values()
        for bit in range(max(widths[v] for v in members) - 1, -1, -1)
        for v in members
        if bit < widths[v]
    ]

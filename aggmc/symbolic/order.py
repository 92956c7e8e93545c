"""The static order of the variables: those that meet in an event stand close, and as far down as they can.

    declared   as the model declares them
    force      FORCE (Aloul, Markov, Sakallah, "FORCE: a fast and easy-to-implement variable-ordering heuristic", 2003)
    span       a local search from FORCE's order: each variable in turn goes where the cost is least
    auto       `span`, where it is predicted to be cheaper than `force` by a tenth; else the cheaper of `force` and
               `declared`. (On real models FORCE's order, which keeps what is declared together closer together, is the
               better one if the prediction says the same of both; orders from shuffled starts were mostly worse.)

Cost (after Siminiceanu and Ciardo, "New metrics for static variable ordering in decision diagrams", TACAS 2006): for
each set of variables that an event touches, the bits between its first and its last variable (its span), times the bits
from its first variable down to the end (saturation fires an event at its first variable, and works on all below).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from aggmc.errors import InputError, did_you_mean

_ROUNDS = 60
_NARROW = 3  # bits: up to here a variable stands by itself
_MARGIN = 0.9
_SEARCH_WORK = 2_000_000  # about a second: the most that a search may cost


def span_cost(order: Sequence[int], edges: Iterable[frozenset[int]], bits: Sequence[int]) -> int:
    """The predicted cost of an order."""
    start, total = _starts(order, bits)
    cost = 0
    for edge in edges:
        first = min(start[v] for v in edge)
        cost += (max(start[v] + bits[v] for v in edge) - first) * (total - first)
    return cost


def _starts(order: Iterable[int], bits: Sequence[int]) -> tuple[dict[int, int], int]:
    start: dict[int, int] = {}
    total = 0
    for v in order:
        start[v] = total
        total += bits[v]
    return start, total


def force(order: Sequence[int], edges: Sequence[frozenset[int]], bits: Sequence[int]) -> list[int]:
    """The best order that FORCE finds from this one: each edge pulls its variables to its centre of gravity."""
    best = list(order)
    best_cost = span_cost(best, edges, bits)
    current = best
    of_variable = _edges_of(order, edges)
    stale = 0
    for _ in range(_ROUNDS):
        place = {v: i for i, v in enumerate(current)}
        centre = [sum(place[v] for v in e) / len(e) for e in edges]
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


def _edges_of(order: Iterable[int], edges: Sequence[frozenset[int]]) -> dict[int, list[int]]:
    result: dict[int, list[int]] = {v: [] for v in order}
    for k, edge in enumerate(edges):
        for v in edge:
            result[v].append(k)
    return result


def search(order: Sequence[int], edges: Sequence[frozenset[int]], bits: Sequence[int]) -> list[int]:
    """Local search: each variable goes to its best place, those of many edges first, until nothing gets cheaper."""
    current = list(order)
    of_variable = _edges_of(order, edges)
    busiest = sorted((v for v in order if of_variable[v]), key=lambda v: -len(of_variable[v]))
    best = span_cost(current, edges, bits)
    incidence = sum(map(len, edges))
    affordable = _SEARCH_WORK // max(1, len(busiest) * (incidence + len(current)))
    for _ in range(min(_ROUNDS, affordable)):
        before = best
        for v in busiest:
            rest = [u for u in current if u != v]
            cost, place = _best_place(v, rest, edges, frozenset(of_variable[v]), bits)
            if cost < best:
                best, current = cost, [*rest[:place], v, *rest[place:]]
        if best == before:
            break
    return current


def _best_place(
    v: int, rest: Sequence[int], edges: Sequence[frozenset[int]], own: frozenset[int], bits: Sequence[int]
) -> tuple[int, int]:
    """The least cost of putting v somewhere among the others, and before which of them.

    An edge without v costs one of three things, with v above it, inside or below: sums of differences give the costs
    for all places at once.
    """
    start, total = _starts(rest, bits)
    index = {u: i for i, u in enumerate(rest)}
    width = bits[v]
    at_top = 0
    change = [0] * (len(rest) + 2)  # of the cost, from one place to the next
    pulled: list[tuple[int, int, int, int]] = []  # edges of v: first and last of the others, where these begin and end
    for k, edge in enumerate(edges):
        others = [u for u in edge if u != v] if k in own else edge
        if not others:
            continue
        first = min(others, key=index.__getitem__)
        last = max(others, key=index.__getitem__)
        low, high = start[first], start[last] + bits[last]
        if k in own:
            pulled.append((index[first], index[last], low, high))
            continue
        above = (high - low) * (total - low)
        inside = (high - low + width) * (total + width - low)
        below = (high - low) * (total + width - low)
        at_top += above
        change[index[first] + 1] += inside - above
        change[index[last] + 1] += below - inside
    alone = len(own) - len(pulled)
    best: tuple[int, int] | None = None
    cost = at_top
    for place in range(len(rest) + 1):
        cost += change[place]
        here = start[rest[place]] if place < len(rest) else total
        found = cost + alone * width * (total + width - here)
        for first_index, last_index, low, high in pulled:
            if place <= first_index:
                found += (high + width - here) * (total + width - here)
            elif place > last_index:
                found += (here + width - low) * (total + width - low)
            else:
                found += (high + width - low) * (total + width - low)
        if best is None or found < best[0]:
            best = found, place
    assert best is not None
    return best


def _declared(count: int, edges: Sequence[frozenset[int]], bits: Sequence[int]) -> list[int]:
    return list(range(count))


def _force(count: int, edges: Sequence[frozenset[int]], bits: Sequence[int]) -> list[int]:
    return force(range(count), edges, bits)


def _span(count: int, edges: Sequence[frozenset[int]], bits: Sequence[int]) -> list[int]:
    return search(_force(count, edges, bits), edges, bits)


def _auto(count: int, edges: Sequence[frozenset[int]], bits: Sequence[int]) -> list[int]:
    pulled = _force(count, edges, bits)
    found = search(pulled, edges, bits)
    if span_cost(found, edges, bits) < _MARGIN * span_cost(pulled, edges, bits):
        return found
    return min(pulled, _declared(count, edges, bits), key=lambda order: span_cost(order, edges, bits))


_Find = Callable[[int, Sequence[frozenset[int]], Sequence[int]], list[int]]
ORDERS: Mapping[str, _Find] = {"auto": _auto, "declared": _declared, "force": _force, "span": _span}


def variable_order(
    how: str, count: int, edges: Iterable[frozenset[int]], bits: Sequence[int]
) -> list[int]:
    """An order of the variables 0 … count-1, by one of ORDERS."""
    distinct = sorted({edge for edge in edges if edge}, key=sorted)
    return ORDERS[how](count, distinct, bits)


def given_order(names: Sequence[str], known: Sequence[str]) -> list[int]:
    """The order in which variables are named; those that are not named come last, as they are declared."""
    place = {name: v for v, name in enumerate(known)}
    found: dict[int, None] = {}
    for name in names:
        if name not in place:
            raise InputError(f"the order names `{name}`, which the model does not have{did_you_mean(name, known)}")
        if place[name] in found:
            raise InputError(f"the order names `{name}` twice")
        found[place[name]] = None
    return [*found, *(v for v in range(len(known)) if v not in found)]


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

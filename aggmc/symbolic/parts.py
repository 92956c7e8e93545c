"""Events cut into *parts*, each touching as few variables as it can.

An event that indexes an array by a variable (`a[i]`, `a[i] = e`) touches the whole array; split by the value of the
index, each part touches one cell. What the inferred ranges decide is decided here: guards that can never hold are
dropped, and wraps that never wrap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

from aggmc.model.core import Event, Model, Table
from aggmc.model.expr import COMPARISONS, FALSE, TRUE, Expr, const, postorder, substitute, var, variables_of
from aggmc.model.ranges import Environment, Interval, Ranges, refine, simplify

_MOST_INDEX_VALUES = 64  # an index with more values is not split
_MOST_PARTS = 512  # of one event


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of an event: `fixed` variables have these values, `guard` holds, `updates` happen at once."""

    event: int
    fixed: Mapping[int, int]
    guard: Expr
    updates: Mapping[int, Expr]
    error: Expr
    table: Table | None = None

    @property
    def reads(self) -> frozenset[int]:
        """The variables whose current value matters."""
        if self.table is not None:
            return frozenset(self.table.variables)
        return frozenset(self.fixed) | variables_of(self.guard, self.error, *self.updates.values())

    @property
    def writes(self) -> frozenset[int]:
        """The variables that may change."""
        if self.table is not None:
            return frozenset(v for v, changes in zip(self.table.variables, self.table.changing, strict=True) if changes)
        return frozenset(self.updates)

    def links(self) -> Iterator[frozenset[int]]:
        """Variables whose values are computed or compared with each other."""
        for v, e in self.updates.items():
            yield variables_of(e) | {v}
        for e in postorder([self.guard, self.error, *self.updates.values()]):
            if e.op in COMPARISONS:
                yield variables_of(e)


def parts_of(model: Model, ranges: Ranges) -> list[Part]:
    """The parts of all events that can fire or err."""
    result = []
    for i, event in enumerate(model.events):
        if event.table is not None:
            result.append(Part(i, {}, TRUE, {}, FALSE, event.table))
        elif ranges.before_guard[i] is not None:
            result.extend(_parts_of_event(i, event, ranges))
    return result


def _parts_of_event(i: int, event: Event, ranges: Ranges) -> Iterator[Part]:
    before = ranges.environment_before(i)
    fires = ranges.environment(i) if ranges.at_event[i] is not None else before
    fixed = {m.variable: m.source for m in event.moves}
    updates = {v: simplify(e, fires) for v, e in event.updates}
    updates.update({m.variable: const(m.target) for m in event.moves})
    guard = simplify(event.guard, before) if ranges.at_event[i] is not None else FALSE
    whole = Part(i, fixed, guard, _proper(updates, fixed), simplify(event.error, before))
    budget = [_MOST_PARTS]
    yield from _split(whole, before, fires, budget)


def _proper(updates: Mapping[int, Expr], fixed: Mapping[int, int]) -> dict[int, Expr]:
    """The updates that change something."""
    return {
        v: e
        for v, e in updates.items()
        if not (e.op == "var" and e.value == v) and not (e.op == "const" and fixed.get(v) == e.value)
    }


def _split(part: Part, before: Environment, fires: Environment, budget: list[int]) -> Iterator[Part]:
    """Cut a part by its array indices. Guards and errors are simplified under `before`: `fires` knows the guard."""
    if part.guard == FALSE and part.error == FALSE:
        return
    domain_of = fires if part.error == FALSE else before
    variables = _index_to_split(part, domain_of)
    domains = [range(domain_of(v)[0], domain_of(v)[1] + 1) for v in variables]
    count = prod(map(len, domains))
    if not variables or count > budget[0]:
        yield part
        return
    budget[0] -= count - 1
    for values in product(*domains):
        chosen = dict(zip(variables, values, strict=True))
        yield from _split(*_specialized(part, chosen, before, fires), budget)


def _specialized(
    part: Part, chosen: Mapping[int, int], before: Environment, fires: Environment
) -> tuple[Part, Environment, Environment]:
    """The part where the chosen variables have these values, and the environments there."""
    mapping = {var(v): const(x) for v, x in chosen.items()}
    exact: dict[int, Interval] = {v: (x, x) for v, x in chosen.items()}
    narrowed = dict(exact)

    def inner_before(v: int) -> Interval:
        return exact.get(v) or before(v)

    def inner_fires(v: int) -> Interval:
        return narrowed.get(v) or fires(v)

    guard = simplify(substitute(part.guard, mapping), inner_before)
    if not refine(narrowed, guard, fires):
        guard = FALSE
    updates = {v: simplify(substitute(e, mapping), inner_fires) for v, e in part.updates.items()}
    error = simplify(substitute(part.error, mapping), inner_before)
    fixed = {**part.fixed, **chosen}
    return Part(part.event, fixed, guard, _proper(updates, fixed), error), inner_before, inner_fires


def _index_to_split(part: Part, env: Environment) -> tuple[int, ...]:
    """The variables of the cheapest array index in the part that is not a constant; none if there is none."""
    candidates = []
    for e in _index_expressions(part):
        variables = tuple(sorted(variables_of(e)))
        size = prod(env(v)[1] - env(v)[0] + 1 for v in variables)
        if variables and size <= _MOST_INDEX_VALUES:
            candidates.append((size, variables))
    return min(candidates)[1] if candidates else ()


def _index_expressions(part: Part) -> Iterator[Expr]:
    for e in postorder([part.guard, part.error, *part.updates.values()]):
        if e.op == "select":
            yield e.args[0]
    for e in part.updates.values():
        # an assignment to a[i] is, for each cell c, ite(i == c, value, a[c])
        while e.op == "ite":
            test = e.args[0]
            if test.op == "==" and test.args[1].op == "const":
                yield test.args[0]
            e = e.args[2]


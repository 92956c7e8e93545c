"""A model as BDDs: bits for its variables, relations for its events.

Variable v with domain [low, high] is stored as v - low where that saves bits, else as it is (two's complement if it can
be negative), or as its place in a list of values; a variable with one value costs nothing. Bit k has a current copy x_k
and a next copy y_k, next to each other in the order. The relation of a part speaks of x for what it reads and of y for
what it writes only: y = x is implied for the rest.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from aggmc.model.core import Model, State
from aggmc.model.expr import Expr
from aggmc.model.ranges import Interval, Ranges, infer
from aggmc.symbolic.bitvector import Arithmetic, Bdd, Vector
from aggmc.symbolic.cudd import cudd
from aggmc.symbolic.domains import Domain, Escaped, static_domains
from aggmc.symbolic.engine import kernel_for
from aggmc.symbolic.order import bit_order, given_order, variable_order
from aggmc.symbolic.parts import Part, parts_of
from aggmc.symbolic.relation import Relation


@dataclass(frozen=True, slots=True)
class Layout:
    """How one variable is stored: as value - offset in two's complement or not, or as its place among listed values."""

    offset: int
    width: int
    signed: bool = False
    listed: tuple[int, ...] | None = None

    @staticmethod
    def of(domain: Domain) -> Layout:
        """The cheapest layout for a domain."""
        low, high = domain.low, domain.high
        if domain.listed is not None:
            return Layout(0, domain.bits, False, domain.listed)
        if low == high:
            return Layout(low, 0)
        if low >= 0 and high.bit_length() <= (high - low).bit_length():
            return Layout(0, high.bit_length())
        width = max(high.bit_length(), (~low).bit_length()) + 1
        if low < 0 and width <= (high - low).bit_length():
            return Layout(0, width, True)
        return Layout(low, (high - low).bit_length())

    @property
    def interval(self) -> Interval:
        """Around all values that have a code."""
        if self.listed is not None:
            return self.listed[0], self.listed[-1]
        low = self.offset - (1 << self.width >> 1 if self.signed else 0)
        return low, low + (1 << self.width) - 1

    def covers(self, low: int, high: int) -> bool:
        """Whether all these values have codes."""
        first, last = self.interval
        return first <= low and high <= last and (self.listed is None or len(self.listed) == last - first + 1)

    def code(self, value: int) -> int | None:
        """The bits that stand for a value; None if it has no code."""
        if self.listed is not None:
            place = bisect_left(self.listed, value)
            return place if place < len(self.listed) and self.listed[place] == value else None
        low, high = self.interval
        return (value - self.offset) & ((1 << self.width) - 1) if low <= value <= high else None

    def value(self, code: int) -> int:
        """What the bits stand for."""
        if self.listed is not None:
            return self.listed[code] if code < len(self.listed) else self.listed[-1]
        return code + self.offset - (1 << self.width if self.signed and code >> (self.width - 1) else 0)


_REORDER_FIRST = 2000  # nodes beyond those of the relations: then the order is changed for the first time
_REORDER_PER_BIT = 16
_LEAST_HITS = 5  # per cent of look-ups: above, CUDD enlarges its computed table (its own 30 leave it far too small)
_SIFT_GROWTH = 1.1  # of all nodes, while one variable is tried at each place (CUDD: 1.2)
_GROWTH = 3  # and then whenever there are so many times the nodes of last time


class Encoding:
    """The BDDs of a model. `relations` are the steps, `errors` the sets in which an event errs.

    Without `domains`, every value that the static analysis allows has a code, and nothing escapes. `order` is the name
    of a way to order the variables (`symbolic.order`), or lists their names. By default (`reordering` is None)
    the order changes as diagrams grow if the engine is native, unless the user has listed the variables.
    """

    def __init__(
        self,
        model: Model,
        *,
        ranges: Ranges | None = None,
        domains: Sequence[Domain] | None = None,
        order: str | Sequence[str] = "auto",
        max_memory: int | None = None,
        reordering: bool | None = None,
    ) -> None:
        self.model = model
        static = infer(model) if ranges is None else ranges
        self.static = static
        self.domains = static_domains(static.variables) if domains is None else domains
        self.layouts = [Layout.of(domain) for domain in self.domains]
        #: variables that may have values without a code
        self.narrowed = frozenset(
            v for v, (low, high) in enumerate(static.variables) if not self.layouts[v].covers(low, high)
        )
        self.ranges = static.within([layout.interval for layout in self.layouts])
        self.parts = parts_of(model, self.ranges)
        self.bdd: Any = cudd().BDD()
        self.bdd.configure(reordering=False, min_hit=_LEAST_HITS, max_growth=_SIFT_GROWTH)
        if max_memory is not None:
            self.bdd.configure(max_memory=max_memory)
        self.arithmetic = Arithmetic(self.bdd)
        self.true: Bdd = self.bdd.true
        self.false: Bdd = self.bdd.false
        widths = [layout.width for layout in self.layouts]
        if isinstance(order, str):
            edges = {part.reads | part.writes for part in self.parts}
            self.order = variable_order(order, len(widths), edges, widths)
        else:
            self.order = given_order(order, [v.name for v in model.variables])
        places: list[dict[int, int]] = [{} for _ in widths]
        links = (link for part in self.parts for link in part.links())
        for k, (v, bit) in enumerate(bit_order(self.order, links, widths)):
            places[v][bit] = k
        #: variable -> its bits, least significant first
        self.bits = [tuple(place[bit] for bit in range(width)) for place, width in zip(places, widths, strict=True)]
        self.bit_count = count = sum(widths)
        self.bdd.declare(*(name for k in range(count) for name in (f"x{k}", f"y{k}")))
        self.x: list[Bdd] = [self.bdd.var(f"x{k}") for k in range(count)]
        self.y: list[Bdd] = [self.bdd.var(f"y{k}") for k in range(count)]
        self.kernel = kernel_for(self.bdd, count, self.y)  # None: Python does all
        self.version = 0  # of the order
        self.in_pairs = True  # each y right below its x, and these before all else
        self._memo: dict[Expr, Vector] = {}
        self._escape_clusters: list[Bdd] | None = None
        self._tests: dict[tuple[int, int, bool], Bdd] = {}
        self._vectors: list[Vector] = [self._vector(v) for v in range(len(widths))]
        self.relations: list[Relation] = []
        self.errors: list[tuple[int, Bdd]] = []  # (event, where it errs)
        self.enabled: list[Bdd] = []  # where an event can fire or errs
        self.escapes: list[tuple[int, Bdd]] = []  # (variable, where it would get a value without a code)
        for part in self.parts:
            self._encode(part)
        self.relations = self._merged(self.relations)
        self.initial: Bdd = self.false
        for state in model.initial:
            self.initial = self.initial | self.cube(state)
        #: the number of nodes at which the order is changed; None: never
        self._reorder_at: int | None = None
        if reordering or (reordering is None and self.kernel is not None and isinstance(order, str)):
            self._group()
            self._reorder_at = self.nodes() + max(_REORDER_FIRST, _REORDER_PER_BIT * count)

    def _group(self) -> None:
        if self.kernel is not None:
            self.kernel.group_pairs()
        else:
            self.bdd.group({f"x{k}": 2 for k in range(self.bit_count)})

    def room(self) -> int | None:
        """How many nodes may be added before the order of the variables is changed; None: any number.

        Sifts if there is no room. That is done between operations only, so that no level changes while one runs;
        operators made before must be made again (`version`).
        """
        if self._reorder_at is None:
            return None
        if self.nodes() >= self._reorder_at:
            self.bdd.reorder()
            self.version += 1
            self._reorder_at = int(_GROWTH * self.nodes())
            level_of = self.bdd.level_of_var
            levels = [(level_of(f"x{k}"), level_of(f"y{k}")) for k in range(self.bit_count)]
            self.in_pairs = all(x % 2 == 0 and y == x + 1 < 2 * self.bit_count for x, y in levels)
        return max(1, self._reorder_at - self.nodes())

    def nodes(self) -> int:
        """How many nodes of decision diagrams are in memory."""
        return len(self.bdd) if self.kernel is None else self.kernel.nodes()

    def current_order(self) -> list[str]:
        """The names of the variables as their bits stand now, on average.

        Those without bits go with the one before them at first: they may have bits the next time.
        """
        level_of = self.bdd.level_of_var
        place: dict[int, float] = {}
        last = 0.0
        for v in self.order:
            if own := self.bits[v]:
                last = sum(level_of(f"x{k}") for k in own) / len(own)
            place[v] = last
        return [self.model.variables[v].name for v in sorted(self.order, key=place.__getitem__)]

    # -- values and states ---------------------------------------------------------------------------------------

    def _vector(self, v: int) -> Vector:
        layout = self.layouts[v]
        if layout.listed is not None:
            return self._listed_vector(v, layout.listed)
        bits = [self.x[k] for k in self.bits[v]]
        stored = bits if layout.signed else [*bits, self.false]
        return self.arithmetic.add(stored, self.arithmetic.constant(layout.offset)) if layout.offset else stored

    def _listed_vector(self, v: int, listed: tuple[int, ...]) -> Vector:
        width = max(value.bit_length() for value in listed) + 1
        vector = [self.false] * width
        for value in listed:
            here = self.test(v, value)
            for bit in range(width):
                if (value >> bit) & 1:
                    vector[bit] = vector[bit] | here
        return vector

    def test(self, v: int, value: int, *, following: bool = False) -> Bdd:
        """Variable v has this value (now, or after the step)."""
        key = (v, value, following)
        if key not in self._tests:
            code = self.layouts[v].code(value)
            self._tests[key] = self.false if code is None else self._coded(v, code, following)
        return self._tests[key]

    def _coded(self, v: int, code: int, following: bool) -> Bdd:
        copy = self.y if following else self.x
        result = self.true
        # from the last level upwards: each conjunction adds one node
        for k, bit in sorted(zip(self.bits[v], range(len(self.bits[v])), strict=True), reverse=True):
            result = (copy[k] if (code >> bit) & 1 else ~copy[k]) & result
        return result

    def cube(self, state: State) -> Bdd:
        """The set of just this state."""
        literals = {}
        for v, value in enumerate(state):
            code = self.layouts[v].code(value)
            if code is None:
                return self.false
            for bit, k in enumerate(self.bits[v]):
                literals[k] = (code >> bit) & 1
        result = self.true
        for k in range(self.bit_count - 1, -1, -1):
            result = (self.x[k] if literals[k] else ~self.x[k]) & result
        return result

    def some_state(self, states: Bdd) -> State:
        """A state of a set that is not empty, always the same one for the same set."""
        chosen = [0] * self.bit_count
        u, negated = states, states.negated
        while u.var is not None:
            low_negated = negated ^ u.low.negated
            if u.low.var is None and low_negated:
                chosen[int(u.var[1:])] = 1
                u = u.high
                negated = negated ^ u.negated
            else:
                u, negated = u.low, low_negated
        return self._decoded(chosen)

    def _decoded(self, chosen: Sequence[int]) -> State:
        return tuple(
            layout.value(sum(chosen[k] << bit for bit, k in enumerate(self.bits[v])))
            for v, layout in enumerate(self.layouts)
        )

    def count(self, states: Bdd) -> int:
        """How many states, exactly."""
        from aggmc.symbolic.counting import count_states

        return count_states(states, self.bdd, self.bit_count)

    def largest_sum(self, states: Bdd, variables: Iterable[int]) -> int:
        """The largest sum of these variables in a state of a set that is not empty."""
        from aggmc.symbolic.counting import largest_sum

        if any(self.layouts[v].listed is not None or self.layouts[v].signed for v in variables):
            raise ValueError("the sum of variables whose codes are no numbers")
        weights = [0] * self.bit_count
        constant = 0
        for v in variables:
            constant += self.layouts[v].offset
            for bit, k in enumerate(self.bits[v]):
                weights[k] += 1 << bit
        return constant + largest_sum(states, self.bdd, self.bit_count, weights)

    def truth(self, e: Expr) -> Bdd:
        """Where a Boolean expression holds."""
        vector = self.arithmetic.evaluate([e], self._vectors.__getitem__, self._memo)[0]
        return self.arithmetic.truth(vector)

    def support(self, states: Bdd) -> frozenset[int]:
        """The variables of the model that a set depends on."""
        bits = {int(name[1:]) for name in self.bdd.support(states)}
        return frozenset(v for v, own in enumerate(self.bits) if not bits.isdisjoint(own))

    def check_codes(self, states: Bdd) -> None:
        """Raise Escaped if a step leads from one of these states to a value without a code."""
        if not self.escapes or states == self.false:
            return
        if self._escape_clusters is None:
            self._escape_clusters = clusters([lost for _, lost in self.escapes], self.false, lambda a, b: a | b)
        if all(states & cluster == self.false for cluster in self._escape_clusters):
            return
        found: dict[State, None] = {}
        variables = set()
        for v, lost in self.escapes:
            here = states & lost
            if here != self.false:
                variables.add(v)
                found[self.some_state(here)] = None
        raise Escaped(list(found), variables)

    # -- relations -----------------------------------------------------------------------------------------------

    def relation(self, bdd: Bdd, variables: Iterable[int]) -> Relation:
        """A relation that writes these variables."""
        written = frozenset(v for v in variables if self.layouts[v].width)
        return Relation(bdd, tuple(sorted(k for v in written for k in self.bits[v])), written)

    def _merged(self, relations: Sequence[Relation]) -> list[Relation]:
        """Relations that write the same and begin at the same level are one: a set is walked once for all of them."""
        groups: dict[tuple[tuple[int, ...], int], list[Relation]] = {}
        for r in relations:
            first = min((k for k in (self._first_bit(r.bdd), *r.writes) if k is not None), default=-1)
            groups.setdefault((r.writes, first), []).append(r)
        return [one for group in groups.values() for one in self._united(group)]

    def _first_bit(self, bdd: Bdd) -> int | None:
        """The first bit (of x or y) that a relation depends on; the order is still the declared one."""
        return int(bdd.level) // 2 if bdd not in (self.true, self.false) else None

    def _united(self, group: Sequence[Relation]) -> list[Relation]:
        """Unions that are no larger than their parts together."""
        result = [group[0]]
        for r in group[1:]:
            last = result[-1]
            both = last.bdd | r.bdd
            if len(both) <= len(last.bdd) + len(r.bdd):
                result[-1] = Relation(both, last.writes, last.variables)
            else:
                result.append(r)
        return result

    def _encode(self, part: Part) -> None:
        if part.table is not None:
            self._encode_table(part)
            return
        here = self.true
        for v, value in part.fixed.items():
            here = here & self.test(v, value)
        error = self.truth(part.error) & here
        if error != self.false:
            self.errors.append((part.event, error))
        guard = self.truth(part.guard) & here
        if guard == self.false and error == self.false:
            return
        self.enabled.append(guard | error)
        relation = fires = guard & ~error
        for v in sorted(part.updates, key=lambda v: self.bits[v][-1:], reverse=True):
            assigned, coded = self._assigned(v, part.updates[v])
            if coded != self.true and (lost := fires & ~coded) != self.false:
                self.escapes.append((v, lost))
            relation = relation & assigned
        if relation != self.false:
            self.relations.append(self.relation(relation, part.updates))

    def _assigned(self, v: int, e: Expr) -> tuple[Bdd, Bdd]:
        """y of variable v is the value of e; and where that has a code."""
        layout = self.layouts[v]
        if e.op == "const":
            coded = layout.code(e.value) is not None
            return self.test(v, e.value, following=True), self.true if coded else self.false
        value = self.arithmetic.evaluate([e], self._vectors.__getitem__, self._memo)[0]
        if layout.listed is not None:
            return self._assigned_listed(v, layout.listed, value)
        if layout.offset:
            value = self.arithmetic.subtract(value, self.arithmetic.constant(layout.offset))
        width = layout.width if layout.signed else layout.width + 1
        value = self.arithmetic.extended(value, width)
        coded = self.true
        for extra in value[width:]:
            coded = coded & ~self.arithmetic.xor(extra, value[width - 1])
        if not layout.signed:
            coded = coded & ~value[width - 1]
        result = coded
        for k, bit in sorted(zip(self.bits[v], value, strict=False), key=lambda pair: -pair[0]):
            result = result & ~self.arithmetic.xor(self.y[k], bit)
        return result, coded

    def _assigned_listed(self, v: int, listed: tuple[int, ...], value: Vector) -> tuple[Bdd, Bdd]:
        result = coded = self.false
        for wanted in listed:
            here = self.arithmetic.equal(value, self.arithmetic.constant(wanted))
            if here != self.false:
                coded = coded | here
                result = result | (here & self.test(v, wanted, following=True))
        return result, coded

    def _encode_table(self, part: Part) -> None:
        assert part.table is not None
        relation = enabled = self.false
        writes = part.writes
        for before, after in part.table.rows:
            source = target = self.true
            for v, old, new in zip(part.table.variables, before, after, strict=True):
                source = source & self.test(v, old)
                if v in writes:
                    target = target & self.test(v, new, following=True)
            relation = relation | (source & target)
            enabled = enabled | source
        self.enabled.append(enabled)
        if relation != self.false:
            self.relations.append(self.relation(relation, writes))


_CLUSTER = 2000  # nodes


def clusters(parts: Iterable[Bdd], start: Bdd, join: Callable[[Bdd, Bdd], Bdd]) -> list[Bdd]:
    """A conjunction or disjunction as a few pieces of bounded size."""
    result = []
    current = start
    for part in parts:
        joined = join(current, part)
        if len(joined) > _CLUSTER and current != start:
            result.append(current)
            joined = part
        current = joined
    return [*result, current]

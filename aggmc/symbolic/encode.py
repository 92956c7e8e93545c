"""A model as BDDs: bits for its variables, relations for its events.

Variable v with inferred range [low, high] is stored as v - low where that saves bits, else as it is (two's complement
if it can be negative); a variable with one value costs nothing. Bit k has a current copy x_k and a next copy y_k, next
to each other in the order. The relation of a part speaks of x for what it reads and of y for what it writes only:
y = x is implied for the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aggmc.errors import AggmcError
from aggmc.model.core import Model, State
from aggmc.model.expr import Expr
from aggmc.model.ranges import Ranges, infer
from aggmc.symbolic.bitvector import Arithmetic, Bdd, Vector
from aggmc.symbolic.order import bit_order, variable_order
from aggmc.symbolic.parts import Part, parts_of


@dataclass(frozen=True)
class Layout:
    """How one variable is stored."""

    offset: int
    width: int
    signed: bool

    @staticmethod
    def of(low: int, high: int) -> Layout:
        """The cheapest layout for a range."""
        if low == high:
            return Layout(low, 0, False)
        if low >= 0 and high.bit_length() <= (high - low).bit_length():
            return Layout(0, high.bit_length(), False)
        width = max(high.bit_length(), (~low).bit_length()) + 1
        if low < 0 and width <= (high - low).bit_length():
            return Layout(0, width, True)
        return Layout(low, (high - low).bit_length(), False)


@dataclass(eq=False)
class Relation:
    """Steps over the variables they touch: `bdd` over x (reads) and y (writes), and the bits that are written."""

    bdd: Bdd
    writes: tuple[int, ...]  # bits, in the order of their levels
    variables: frozenset[int]  # the variables of the model that are written
    top: int = 0  # the first level (counted in bits) that matters
    identity: Bdd = None  # x_k ↔ y_k for the written bits
    current: tuple[str, ...] = ()
    following: tuple[str, ...] = ()
    events: tuple[int, ...] = field(default=())


class Encoding:
    """The BDDs of a model. `relations` are the steps, `errors` the sets in which an event errs."""

    def __init__(self, model: Model, *, max_memory: int | None = None, reordering: bool = False) -> None:
        try:
            from dd import cudd
        except ImportError as error:
            raise AggmcError(f"dd was installed without CUDD, which aggmc needs ({error})") from None
        self.model = model
        self.reordering = reordering
        self.ranges: Ranges = infer(model)
        self.layouts = [Layout.of(*interval) for interval in self.ranges.variables]
        self.parts = parts_of(model, self.ranges)
        self.bdd: Any = cudd.BDD()
        self.bdd.configure(reordering=False)
        if max_memory is not None:
            self.bdd.configure(max_memory=max_memory)
        self.arithmetic = Arithmetic(self.bdd)
        self.true: Bdd = self.bdd.true
        self.false: Bdd = self.bdd.false
        widths = [layout.width for layout in self.layouts]
        edges = [part.reads | part.writes for part in self.parts]
        self.order = variable_order(len(model.variables), edges, widths)
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
        if reordering:
            self.bdd.group({f"x{k}": 2 for k in range(count)})
            self.bdd.configure(reordering=True)
        self._vectors: list[Vector] = [self._vector(v) for v in range(len(widths))]
        self._memo: dict[Expr, Vector] = {}
        self._identities: dict[tuple[int, ...], Bdd] = {}
        self._tests: dict[tuple[int, int, bool], Bdd] = {}
        self.relations: list[Relation] = []
        self.errors: list[tuple[int, Bdd]] = []  # (event, where it errs)
        self.enabled: list[Bdd] = []  # where an event can fire or errs
        for part in self.parts:
            self._encode(part)
        self.initial: Bdd = self.false
        for state in model.initial:
            self.initial = self.initial | self.cube(state)

    @contextmanager
    def fixed_order(self) -> Iterator[tuple[int, ...]]:
        """No reordering meanwhile; gives the levels of the current bits (nothing, if they never change)."""
        if not self.reordering:
            yield ()
            return
        self.bdd.configure(reordering=False)
        try:
            yield tuple(self.bdd.level_of_var(f"x{k}") for k in range(self.bit_count))
        finally:
            self.bdd.configure(reordering=True)

    # -- values and states ---------------------------------------------------------------------------------------

    def _vector(self, v: int) -> Vector:
        layout = self.layouts[v]
        bits = [self.x[k] for k in self.bits[v]]
        stored = bits if layout.signed else [*bits, self.false]
        return self.arithmetic.add(stored, self.arithmetic.constant(layout.offset)) if layout.offset else stored

    def test(self, v: int, value: int, *, following: bool = False) -> Bdd:
        """Variable v has this value (now, or after the step)."""
        key = (v, value, following)
        if key not in self._tests:
            layout = self.layouts[v]
            stored = value - layout.offset
            copy = self.y if following else self.x
            fits = (-(1 << layout.width >> 1) if layout.signed else 0) <= stored < (1 << layout.width)
            result = self.true if fits else self.false
            # from the last level upwards: each conjunction adds one node
            for k, bit in sorted(zip(self.bits[v], range(layout.width), strict=True), reverse=True):
                result = result & (copy[k] if (stored >> bit) & 1 else ~copy[k])
            self._tests[key] = result
        return self._tests[key]

    def cube(self, state: State) -> Bdd:
        """The set of just this state."""
        literals = {}
        for v, value in enumerate(state):
            layout = self.layouts[v]
            for bit, k in enumerate(self.bits[v]):
                literals[k] = ((value - layout.offset) >> bit) & 1
        result = self.true
        for k in sorted(literals, reverse=True):
            result = result & (self.x[k] if literals[k] else ~self.x[k])
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
        values = []
        for v, layout in enumerate(self.layouts):
            stored = sum(chosen[k] << bit for bit, k in enumerate(self.bits[v]))
            if layout.signed and chosen[self.bits[v][-1]]:
                stored -= 1 << layout.width
            values.append(stored + layout.offset)
        return tuple(values)

    def count(self, states: Bdd) -> int:
        """How many states, exactly."""
        from aggmc.symbolic.counting import count_states

        return count_states(states, self.bdd, self.bit_count)

    def truth(self, e: Expr) -> Bdd:
        """Where a Boolean expression holds."""
        vector = self.arithmetic.evaluate([e], self._vectors.__getitem__, self._memo)[0]
        return self.arithmetic.truth(vector)

    def support(self, states: Bdd) -> frozenset[int]:
        """The variables of the model that a set depends on."""
        bits = {int(name[1:]) for name in self.bdd.support(states)}
        return frozenset(v for v, own in enumerate(self.bits) if not bits.isdisjoint(own))

    # -- relations -----------------------------------------------------------------------------------------------

    def relation(self, bdd: Bdd, bits: Iterable[int], events: tuple[int, ...] = ()) -> Relation:
        """A relation that writes these bits."""
        writes = tuple(sorted(bits))
        names = self.bdd.support(bdd)
        touched = {int(name[1:]) for name in names} | set(writes)
        if writes not in self._identities:
            identity = self.true
            for k in reversed(writes):
                identity = identity & ~self.arithmetic.xor(self.x[k], self.y[k])
            self._identities[writes] = identity
        written = set(writes)
        return Relation(
            bdd=bdd,
            writes=writes,
            variables=frozenset(v for v, own in enumerate(self.bits) if not written.isdisjoint(own)),
            top=min(touched, default=self.bit_count),
            identity=self._identities[writes],
            current=tuple(f"x{k}" for k in writes),
            following=tuple(f"y{k}" for k in writes),
            events=events,
        )

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
        relation = guard & ~error
        writes: list[int] = []
        written = [v for v in part.updates if self.layouts[v].width]
        for v in sorted(written, key=lambda v: -self.bits[v][-1]):
            relation = relation & self._assigned(v, part.updates[v])
            writes.extend(self.bits[v])
        if relation != self.false:
            self.relations.append(self.relation(relation, writes, (part.event,)))

    def _assigned(self, v: int, e: Expr) -> Bdd:
        """y of variable v is the value of e (nowhere, where that is outside the range of v)."""
        if e.op == "const":
            return self.test(v, e.value, following=True)
        layout = self.layouts[v]
        value = self.arithmetic.evaluate([e], self._vectors.__getitem__, self._memo)[0]
        if layout.offset:
            value = self.arithmetic.subtract(value, self.arithmetic.constant(layout.offset))
        width = layout.width if layout.signed else layout.width + 1
        value = self.arithmetic.extended(value, width)
        result = self.true
        for extra in value[width:]:
            result = result & ~self.arithmetic.xor(extra, value[width - 1])
        if not layout.signed:
            result = result & ~value[width - 1]
        for k, bit in sorted(zip(self.bits[v], value, strict=False), key=lambda pair: -pair[0]):
            result = result & ~self.arithmetic.xor(self.y[k], bit)
        return result

    def _encode_table(self, part: Part) -> None:
        assert part.table is not None
        relation = enabled = self.false
        for before, after in part.table.rows:
            source = target = self.true
            for v, old, new in zip(part.table.variables, before, after, strict=True):
                source = source & self.test(v, old)
                target = target & self.test(v, new, following=True)
            relation = relation | (source & target)
            enabled = enabled | source
        bits = [k for v in part.table.variables for k in self.bits[v]]
        self.enabled.append(enabled)
        if relation != self.false:
            self.relations.append(self.relation(relation, bits, (part.event,)))

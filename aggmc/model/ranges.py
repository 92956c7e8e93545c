"""Which values a variable can take: a static analysis by intervals, so that a `byte` that counts to 3 costs two bits.

A variable that is written only by events in which one process P moves is *owned* by P: its interval is kept for each
location of P, so that `guard j < 3` on the way into a location is still known where `j = j + 1` happens later. All
other variables have one interval. Guards refine the intervals on both sides of a step. Intervals that keep growing
are widened, first to the constants of the model, then to the declared domain. The result contains every reachable
value (and more); values outside it are never encoded.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from aggmc.model.core import Event, Model
from aggmc.model.expr import FALSE, Expr, apply_op, const, make, postorder, variables_of

Interval = tuple[int, int]
Environment = Callable[[int], Interval]

_GROWTHS_BEFORE_WIDENING = 12
_GROWTHS_BEFORE_TOP = 60


def join(a: Interval, b: Interval) -> Interval:
    """The smallest interval around both."""
    return (min(a[0], b[0]), max(a[1], b[1]))


def meet(a: Interval, b: Interval) -> Interval | None:
    """What both have in common."""
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else None


def interval_of(root: Expr, env: Environment) -> Interval:
    """An interval around every value of `root` while each variable stays in `env`."""
    found: dict[Expr, Interval] = {}
    for e in postorder([root]):
        found[e] = _transfer(e, found, env)
    return found[root]


def _transfer(e: Expr, found: Mapping[Expr, Interval], env: Environment) -> Interval:
    if e.op == "const":
        return (e.value, e.value)
    if e.op == "var":
        return env(e.value)
    args = [found[a] for a in e.args]
    if all(low == high for low, high in args):
        value = apply_op(e.op, [low for low, _ in args])
        return (value, value)
    return _TRANSFER[e.op](args)


def _corners(op: str) -> Callable[[list[Interval]], Interval]:
    """For operators that are monotone in each argument: the extremes are at the corners."""

    def transfer(args: list[Interval]) -> Interval:
        (a, b), (c, d) = args
        values = [apply_op(op, (x, y)) for x in (a, b) for y in (c, d)]
        return (min(values), max(values))

    return transfer


def _division(args: list[Interval]) -> Interval:
    (a, b), (c, d) = args
    divisors = [y for y in {c, d, -1, 1} if c <= y <= d and y != 0]
    values = [apply_op("/", (x, y)) for x in (a, b) for y in divisors]
    if c <= 0 <= d:
        values.append(0)
    return (min(values), max(values))


def _remainder(args: list[Interval]) -> Interval:
    (a, b), (c, d) = args
    largest = max(abs(c), abs(d)) - 1
    if a >= 0 and b < max(1, c):
        return (a, b)  # smaller than every divisor
    return (0 if a >= 0 else max(a, -largest), 0 if b <= 0 else min(b, largest))


def _bitwise(op: str) -> Callable[[list[Interval]], Interval]:
    def transfer(args: list[Interval]) -> Interval:
        (a, b), (c, d) = args
        width = max(x.bit_length() for x in (a, b, c, d))
        if a >= 0 and c >= 0:
            return (0, min(b, d)) if op == "&" else (max(a, c) if op == "|" else 0, (1 << width) - 1)
        if op == "&" and (a >= 0 or c >= 0):
            return (0, b if a >= 0 else d)
        return (-(1 << width), (1 << width) - 1)

    return transfer


def _shift(op: str) -> Callable[[list[Interval]], Interval]:
    def transfer(args: list[Interval]) -> Interval:
        (a, b), (c, d) = args
        low, high = max(0, c), min(31, d)
        values = [apply_op(op, (x, n)) for x in (a, b) for n in (low, high)] if low <= high else []
        if c < 0 or d > 31:
            values.append(0)
        return (min(values), max(values))

    return transfer


def _compare(op: str) -> Callable[[list[Interval]], Interval]:
    def transfer(args: list[Interval]) -> Interval:
        (a, b), (c, d) = args
        if op in ("==", "!="):
            if b < c or d < a:
                return (0, 0) if op == "==" else (1, 1)
            return (0, 1)
        if op in (">", ">="):
            (a, b), (c, d) = (c, d), (a, b)
        strict = op in ("<", ">")
        if b < c or (not strict and b <= c):
            return (1, 1)
        if a > d or (strict and a >= d):
            return (0, 0)
        return (0, 1)

    return transfer


def _truth(interval: Interval) -> bool | None:
    if interval == (0, 0):
        return False
    return True if interval[0] > 0 or interval[1] < 0 else None


def _connective(op: str) -> Callable[[list[Interval]], Interval]:
    def transfer(args: list[Interval]) -> Interval:
        truths = [_truth(a) for a in args]
        decisive = op == "or"
        if decisive in truths:
            return (int(decisive), int(decisive))
        if None in truths:
            return (0, 1)
        return (int(not decisive), int(not decisive))

    return transfer


def _negation(args: list[Interval]) -> Interval:
    known = _truth(args[0])
    return (0, 1) if known is None else (int(not known), int(not known))


def _choice(args: list[Interval]) -> Interval:
    known = _truth(args[0])
    if known is None:
        return join(args[1], args[2])
    return args[1] if known else args[2]


def _selection(args: list[Interval]) -> Interval:
    (low, high), cells = args[0], args[1:]
    inside = cells[max(0, low) : max(0, high + 1)]
    result = (0, 0) if not inside or low < 0 or high >= len(cells) else inside[0]
    for cell in inside:
        result = join(result, cell)
    return result


def _wrapping(args: list[Interval]) -> Interval:
    (a, b), (low, _), (high, _) = args
    return (a, b) if low <= a and b <= high else (low, high)


_TRANSFER: dict[str, Callable[[list[Interval]], Interval]] = {
    "neg": lambda args: (-args[0][1], -args[0][0]),
    "bitnot": lambda args: (~args[0][1], ~args[0][0]),
    "not": _negation,
    "and": _connective("and"),
    "or": _connective("or"),
    **{op: _corners(op) for op in ("+", "-", "*")},
    "/": _division,
    "%": _remainder,
    **{op: _bitwise(op) for op in ("&", "|", "^")},
    **{op: _shift(op) for op in ("<<", ">>")},
    **{op: _compare(op) for op in ("==", "!=", "<", "<=", ">", ">=")},
    "ite": _choice,
    "select": _selection,
    "wrap": _wrapping,
}


def simplify(root: Expr, env: Environment) -> Expr:
    """`root` without the tests that the intervals decide and the wraps that never wrap."""
    new: dict[Expr, Expr] = {}
    found: dict[Expr, Interval] = {}
    for e in postorder([root]):
        interval = _transfer(e, found, env)
        found[e] = interval
        if interval[0] == interval[1]:
            new[e] = const(interval[0])
        elif e.op == "wrap" and found[e.args[0]] == interval:
            new[e] = new[e.args[0]]
        elif e.args:
            new[e] = make(e.op, *(new[a] for a in e.args))
        else:
            new[e] = e
    return new[root]


_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}


def refine(bounds: dict[int, Interval], guard: Expr, env: Environment, *, wanted: bool = True) -> bool:
    """Narrow `bounds` (over `env`) to what is possible where the guard is `wanted`; False if nothing is."""

    if guard.op == "not":
        return refine(bounds, guard.args[0], env, wanted=not wanted)
    if guard.op in ("and", "or"):
        if (guard.op == "and") == wanted:
            # two rounds: a later conjunct may narrow what an earlier one compares with
            return all(refine(bounds, part, env, wanted=wanted) for _ in range(2) for part in guard.args)
        return _refine_one_of(bounds, guard.args, env, wanted)

    def env_now(v: int) -> Interval:
        return bounds.get(v) or env(v)

    known = _truth(interval_of(guard, env_now))
    if known is not None:
        return known == wanted
    if guard.op in _MIRROR:
        op = guard.op if wanted else _OPPOSITE[guard.op]
        left, right = guard.args
        return _compare_narrow(bounds, op, left, right, env_now) and _compare_narrow(
            bounds, _MIRROR[op], right, left, env_now
        )
    return True


def _refine_one_of(bounds: dict[int, Interval], parts: tuple[Expr, ...], env: Environment, wanted: bool) -> bool:
    alternatives = []
    for part in parts:
        narrowed = dict(bounds)
        if refine(narrowed, part, env, wanted=wanted):
            alternatives.append(narrowed)
    if not alternatives:
        return False
    for v in set.intersection(*(set(a) for a in alternatives)):
        interval = alternatives[0][v]
        for other in alternatives[1:]:
            interval = join(interval, other[v])
        bounds[v] = interval
    return True


def _compare_narrow(bounds: dict[int, Interval], op: str, left: Expr, right: Expr, env: Environment) -> bool:
    """Narrow the variable of `left` (v, v + c, v - c) by `left op right`."""
    shift = 0
    if left.op in ("+", "-") and left.args[0].op == "var" and left.args[1].op == "const":
        shift = left.args[1].value if left.op == "+" else -left.args[1].value
        left = left.args[0]
    if left.op != "var":
        return True
    low, high = (x - shift for x in interval_of(right, env))
    now = env(left.value)
    if op == "!=":
        if low == high:
            now = (now[0] + (now[0] == low), now[1] - (now[1] == low))
        narrowed = now if now[0] <= now[1] else None
    else:
        allowed = {
            "==": (low, high),
            "<": (now[0], high - 1),
            "<=": (now[0], high),
            ">": (low + 1, now[1]),
            ">=": (low, now[1]),
        }[op]
        narrowed = meet(now, allowed) if allowed[0] <= allowed[1] else None
    if narrowed is None:
        return False
    bounds[left.value] = narrowed
    return True


def _refine_firing(bounds: dict[int, Interval], event: Event, env: Environment) -> bool:
    """Narrow `bounds` to where the event fires: the guard holds, and nothing errs (each may narrow for the other)."""
    return refine(bounds, event.guard, env) and (
        event.error == FALSE or (refine(bounds, event.error, env, wanted=False) and refine(bounds, event.guard, env))
    )


@dataclass(frozen=True)
class Ranges:
    """The intervals of a model: `variables[v]`, and for each event those in force where it fires (None: never)."""

    variables: tuple[Interval, ...]
    at_event: tuple[Mapping[int, Interval] | None, ...]  # only where narrower than `variables`
    before_guard: tuple[Mapping[int, Interval] | None, ...]  # at the locations of the event, whatever the guard says

    def environment(self, event: int) -> Environment:
        """The intervals in force where the event fires without an error."""
        return self._env(self.at_event[event])

    def environment_before(self, event: int) -> Environment:
        """The intervals in force at the event's source locations."""
        return self._env(self.before_guard[event])

    def _env(self, narrower: Mapping[int, Interval] | None) -> Environment:
        found = narrower or {}
        return lambda v: found.get(v) or self.variables[v]

    def within(self, allowed: Sequence[Interval]) -> Ranges:
        """The intervals where each variable is known to stay in an interval given for it."""

        def narrowed(own: Mapping[int, Interval] | None) -> Mapping[int, Interval] | None:
            if own is None:
                return None
            both = {v: meet(interval, allowed[v]) for v, interval in own.items()}
            return None if None in both.values() else {v: i for v, i in both.items() if i is not None}

        variables = tuple(meet(own, other) or other for own, other in zip(self.variables, allowed, strict=True))
        before = tuple(map(narrowed, self.before_guard))
        at_event = tuple(
            None if earlier is None else narrowed(own) for own, earlier in zip(self.at_event, before, strict=True)
        )
        return Ranges(variables, at_event, before)


_MOST_FOLLOWED = 500_000  # pairs of an event and a variable


class _Analysis:
    def __init__(self, model: Model) -> None:
        self.model = model
        count = len(model.variables)
        self.joined: list[Interval] = [
            (min(s[v] for s in model.initial), max(s[v] for s in model.initial)) for v in range(count)
        ]
        self.owner = _affordable(_owners(model), model)
        self.owned: dict[int, list[int]] = defaultdict(list)
        for v, process in self.owner.items():
            self.owned[process].append(v)
        self.at: dict[tuple[int, int], dict[int, Interval]] = {}  # (location variable, location) -> owned intervals
        self.growths: dict[tuple[int, int, int], int] = defaultdict(int)
        self.thresholds = _thresholds(model)
        self.waiting: deque[int] = deque(range(len(model.events)))
        self.queued = set(self.waiting)
        self.at_location: dict[tuple[int, int], list[int]] = defaultdict(list)
        self.reading: dict[int, list[int]] = defaultdict(list)
        for i, event in enumerate(model.events):
            moving = {m.variable for m in event.moves}
            for m in event.moves:
                self.at_location[m.variable, m.source].append(i)
            for v in variables_of(event.guard, *(e for _, e in event.updates)):
                if self.owner.get(v) not in moving:
                    self.reading[v].append(i)

    def run(self) -> Ranges:
        model = self.model
        for process in {m.variable for e in model.events for m in e.moves}:
            for state in model.initial:
                self._arrive(process, state[process], {v: (state[v], state[v]) for v in self.owned[process]})
        while self.waiting:
            i = self.waiting.popleft()
            self.queued.discard(i)
            self._fire(model.events[i])
        at_event: list[dict[int, Interval] | None] = []
        before: list[dict[int, Interval] | None] = []
        for event in model.events:
            env = self._environment(event)
            bounds: dict[int, Interval] = {}
            if env is None:
                at_event.append(None)
                before.append(None)
                continue
            here = {m.variable: (m.source, m.source) for m in event.moves}
            here.update({v: env(v) for m in event.moves for v in self.owned[m.variable]})
            before.append(here)
            feasible = _refine_firing(bounds, event, env)
            at_event.append({**here, **bounds} if feasible else None)
        return Ranges(tuple(self.joined), tuple(at_event), tuple(before))

    def _environment(self, event: Event) -> Environment | None:
        """The intervals at the event's source locations; None if one of them is not reached."""
        places: dict[int, Interval] = {}
        for m in event.moves:
            here = self.at.get((m.variable, m.source))
            if here is None:
                return None
            places.update(here)
            places[m.variable] = (m.source, m.source)
        return lambda v: places.get(v) or self.joined[v]

    def _fire(self, event: Event) -> None:
        if event.table is not None:
            for k, v in enumerate(event.table.variables):
                for _, after in event.table.rows:
                    self._grow(v, (after[k], after[k]))
            return
        env = self._environment(event)
        if env is None:
            return
        bounds: dict[int, Interval] = {}
        if not _refine_firing(bounds, event, env):
            return

        def refined(v: int) -> Interval:
            return bounds.get(v) or env(v)

        written = {v: interval_of(e, refined) for v, e in event.updates}
        moving = {m.variable for m in event.moves}
        for v, interval in written.items():
            if self.owner.get(v) not in moving:
                self._grow(v, interval)
        for m in event.moves:
            arriving = {v: written.get(v) or refined(v) for v in self.owned[m.variable]}
            self._arrive(m.variable, m.target, arriving)

    def _arrive(self, process: int, location: int, values: Mapping[int, Interval]) -> None:
        here = self.at.get((process, location))
        changed = here is None
        if here is None:
            here = self.at[process, location] = dict(values)
        else:
            for v, interval in values.items():
                wider = self._widened(join(here[v], interval), here[v], (process, location, v))
                if wider != here[v]:
                    here[v] = wider
                    changed = True
        if changed:
            self._grow(process, (location, location))
            for v in values:
                self._grow(v, here[v], widen=False)
            self._wake(self.at_location[process, location])

    def _grow(self, v: int, interval: Interval, *, widen: bool = True) -> None:
        old = self.joined[v]
        new = join(old, interval)
        if widen:
            new = self._widened(new, old, (-1, -1, v))
        if new != old:
            self.joined[v] = new
            self._wake(self.reading[v])

    def _widened(self, new: Interval, old: Interval, key: tuple[int, int, int]) -> Interval:
        if new == old:
            return old
        variable = self.model.variables[key[2]]
        self.growths[key] += 1
        if self.growths[key] <= _GROWTHS_BEFORE_WIDENING or variable.type == "location":
            return new
        if self.growths[key] > _GROWTHS_BEFORE_TOP:
            return (variable.low, variable.high)
        low, high = new
        if low < old[0]:
            i = bisect_right(self.thresholds, low) - 1
            low = max(variable.low, self.thresholds[i]) if i >= 0 else variable.low
        if high > old[1]:
            i = bisect_left(self.thresholds, high)
            high = min(variable.high, self.thresholds[i]) if i < len(self.thresholds) else variable.high
        return (low, high)

    def _wake(self, events: list[int]) -> None:
        for i in events:
            if i not in self.queued:
                self.queued.add(i)
                self.waiting.append(i)


def _owners(model: Model) -> dict[int, int]:
    """Variable -> the location variable of a process that moves in every event that writes it."""
    candidates: dict[int, set[int]] = {}
    tabled: set[int] = set()
    for event in model.events:
        moving = {m.variable for m in event.moves}
        if event.table is not None:
            tabled.update(event.table.variables)
        for v, _ in event.updates:
            candidates[v] = candidates[v] & moving if v in candidates else set(moving)
    result = {}
    for v, processes in candidates.items():
        if processes and v not in tabled:
            own = [p for p in processes if model.variables[v].name.startswith(model.variables[p].name + ".")]
            result[v] = min(own or processes)
    return result


def _affordable(owner: dict[int, int], model: Model) -> dict[int, int]:
    """The owned variables but those of processes with so many, and so many events, that following each of them from
    location to location takes long."""
    variables = Counter(owner.values())
    events = Counter(m.variable for event in model.events for m in event.moves)
    return {v: p for v, p in owner.items() if variables[p] * events[p] <= _MOST_FOLLOWED}


def _thresholds(model: Model) -> list[int]:
    constants = {
        e.value + d
        for event in model.events
        for e in postorder([event.guard, *(u for _, u in event.updates)])
        if e.op == "const"
        for d in (-1, 0, 1)
    }
    return sorted(constants)


def infer(model: Model) -> Ranges:
    """The intervals of every variable of the model."""
    if all(v.tight for v in model.variables):
        anywhere: list[Mapping[int, Interval]] = [{} for _ in model.events]
        return Ranges(tuple((v.low, v.high) for v in model.variables), tuple(anywhere), tuple(anywhere))
    return _Analysis(model).run()

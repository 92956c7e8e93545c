"""Which values a variable is given codes for.

The static analysis (`model.ranges`) is sound and often loose: a `byte` that is counted up and down, or that holds 0 or
255, gets eight bits. So the codes are *guessed*: a short simulation of the model shows values, and only these (or the
interval around them) are encoded. Nothing is taken on trust: for each event the encoding knows the states from which it
would leave the guessed domains (`Encoding.escapes`), and every set that is explored is tested against them. If one is
met, `Escaped` is raised, the domains are widened, and the work begins anew. As long as none is met, no step was lost.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aggmc.model.core import Interpreter, Model, State
from aggmc.model.ranges import Interval

_WORK = 400_000  # values looked at in one simulation
_MOST_STATES = 3000
_WALKS = 24
_MOST_EVENTS = 4000  # the interpreter of a larger model takes longer to make than narrow domains save
_MOST_CODES = 64  # a variable with more values has an interval
_WIDE = 3  # bits: what has fewer is not worth a simulation
_SAVES = 1.4  # a guess must make the states' codes shorter by such a factor, or it is not worth the risk
_PATIENCE = 2  # a variable that escapes this often gets all the values that the static analysis allows
_MOST_ESCAPES = 20  # then every variable does: each time, work is done in vain
_LONGER = 8  # times, at the most: a simulation is as much longer than the first as there were escapes


class Escaped(Exception):
    """A state was reached from which a variable takes a value without a code."""

    def __init__(self, states: Sequence[State], variables: Iterable[int]) -> None:
        super().__init__("a value without a code was reached")
        self.states = states
        self.variables = frozenset(variables)


@dataclass(frozen=True, slots=True)
class Domain:
    """The values of one variable that have codes: an interval, or (in order) those listed."""

    low: int
    high: int
    listed: tuple[int, ...] | None = None

    @property
    def bits(self) -> int:
        """What a code costs."""
        return (len(self.listed) - 1 if self.listed is not None else self.high - self.low).bit_length()


def static_domains(ranges: Sequence[Interval]) -> list[Domain]:
    """All that the static analysis allows."""
    return [Domain(low, high) for low, high in ranges]


class Guess:
    """Domains that grow with what has been seen."""

    def __init__(self, model: Model, ranges: Sequence[Interval]) -> None:
        self._model = model
        self._ranges = ranges
        self._seen: list[set[int]] = [{state[v] for state in model.initial} for v in range(len(model.variables))]
        self._escapes = [0] * len(model.variables)
        self._all_escapes = 0
        self._interpreter: Interpreter | None = None
        if self._worthwhile():
            self._interpreter = model.frontend.interpreter()
            self._simulate(list(model.initial))

    def _worthwhile(self) -> bool:
        if len(self._model.events) > _MOST_EVENTS or any(e.table is not None for e in self._model.events):
            return False
        return any(
            (high - low).bit_length() >= _WIDE and variable.type != "location" and not variable.tight
            for (low, high), variable in zip(self._ranges, self._model.variables, strict=True)
        )

    def domains(self) -> list[Domain]:
        """The narrowest domains for what has been seen."""
        static = static_domains(self._ranges)
        if self._interpreter is None or self._all_escapes >= _MOST_ESCAPES:
            return static
        guessed = [self._domain(v) for v in range(len(static))]
        worthwhile = sum(d.bits for d in static) >= _SAVES * sum(d.bits for d in guessed)
        return guessed if worthwhile else static

    def _domain(self, v: int) -> Domain:
        low, high = self._ranges[v]
        if self._escapes[v] >= _PATIENCE or self._model.variables[v].tight:
            return Domain(low, high)
        seen = self._seen[v]
        first, last = max(low, min(seen)), min(high, max(seen))
        if self._escapes[v]:  # room for what grows on, twice as much each time
            margin = (last - first + 1) << (self._escapes[v] - 1)
            first, last = max(low, first - margin), min(high, last + margin)
        narrow = Domain(first, last)
        if self._escapes[v] < 2 and len(seen) <= _MOST_CODES:
            listed = Domain(min(seen), max(seen), tuple(sorted(seen)))
            if listed.bits < narrow.bits:
                return listed
        return narrow

    def widen(self, escaped: Escaped) -> None:
        """Learn from an escape: simulate from there, and leave room where a variable ran out of codes."""
        assert self._interpreter is not None, "without a guess nothing escapes"
        self._all_escapes += 1
        for v in escaped.variables:
            self._escapes[v] += 1
        self._simulate(list(escaped.states))

    def _simulate(self, start: list[State]) -> None:
        """Breadth first for some states, then random walks from the last ones; always the same."""
        assert self._interpreter is not None
        successors = self._interpreter.successors
        most = max(50, min(_MOST_STATES, _WORK // (len(self._model.variables) + len(self._model.events))))
        most *= min(_LONGER, 1 + self._all_escapes)
        known = dict.fromkeys(start)
        queue = list(known)
        for state in queue:
            if len(known) >= most // 2:
                break
            for _, target in successors(state):
                if target not in known:
                    known[target] = None
                    queue.append(target)
        rng = random.Random(0)
        ends = queue[-_WALKS:]
        for state in ends:
            for _ in range(most // (2 * _WALKS)):
                steps = successors(state)
                if not steps:
                    break
                state = steps[rng.randrange(len(steps))][1]
                known[state] = None
        for v, values in enumerate(zip(*known, strict=True)):
            self._seen[v].update(values)

"""Answering an examination of the contest within its time.

The time limit is for all formulas together. In a first round each gets a small share, so that the easy ones are
answered whatever the others do; what is left goes, in ever larger shares and with other products, to those that were
not. An answer is given only where the engine finished: everything else is `CANNOT_COMPUTE`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from aggmc.checker import Checker, Options, ask
from aggmc.contest.properties import ContestProperty, read_properties
from aggmc.errors import AggmcError, InputError, InternalError, LimitReached
from aggmc.limits import Limits, Tick, run_tasks
from aggmc.model.core import Model
from aggmc.model.expr import FALSE, const, make, var
from aggmc.model.load import load_model, read_text
from aggmc.model.pnml.frontend import NetFrontend

FORMULAS = (
    "LTLCardinality",
    "LTLFireability",
    "ReachabilityCardinality",
    "ReachabilityFireability",
    "UpperBounds",
)
GLOBAL = ("StateSpace", "ReachabilityDeadlock", "OneSafe")
EXAMINATIONS = (*FORMULAS, *GLOBAL)
_PRODUCTS = ("auto", "slap", "auto", "slap")  # of the rounds; the last one from then on
_FIRST_SHARE = 0.25  # of the time, for the first round
_LEAST_SECONDS = 0.5
_TOGETHER = 0.7  # of the time, for a set of states that all properties need
_TOO_LITTLE = 0.05  # seconds
_GROWTH = 1.2  # another round is worth while if each property gets this much more time than before


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to one property; `values` is None if there is none, and `problem` says why."""

    name: str
    values: tuple[tuple[str, str], ...] | None  # (what, value); of a formula one value, of nothing
    techniques: tuple[str, ...] = ()
    seconds: float = 0.0
    problem: str | None = None

    def lines(self) -> list[str]:
        """As the contest wants it."""
        if self.values is None:
            return ["CANNOT_COMPUTE" if self.name == "STATE_SPACE" else f"FORMULA {self.name} CANNOT_COMPUTE"]
        used = " ".join(self.techniques)
        head = self.name if self.name == "STATE_SPACE" else f"FORMULA {self.name}"
        return [f"{head} {f'{what} ' if what else ''}{value} TECHNIQUES {used}" for what, value in self.values]

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON format."""
        values: Any = None
        if self.values is not None:
            values = dict(self.values) if self.name == "STATE_SPACE" else self.values[0][1]
        result = {"name": self.name, "value": values, "seconds": round(self.seconds, 4)}
        if self.problem is not None:
            result["reason"] = self.problem
        return result


@dataclass(frozen=True, slots=True)
class Examination:
    """A net and what is asked about it."""

    name: str
    model: Model
    frontend: NetFrontend
    properties: tuple[ContestProperty, ...]  # none if the examination is about the net alone


def load_examination(directory: str, examination: str, file: str | None = None) -> Examination:
    """Read `model.pnml` and the file of the properties in a directory of the contest."""
    if examination not in EXAMINATIONS:
        raise InputError(f"examination `{examination}` is not known: it is one of {', '.join(EXAMINATIONS)}")
    model = load_model(Path(directory) / "model.pnml")
    assert isinstance(model.frontend, NetFrontend)
    if examination in GLOBAL:
        return Examination(examination, model, model.frontend, ())
    path = Path(file) if file is not None else Path(directory) / f"{examination}.xml"
    properties = read_properties(read_text(path), str(path), model.frontend)
    return Examination(examination, model, model.frontend, tuple(properties))


def examine(asked: Examination, limits: Limits, tick: Tick | None = None) -> Iterator[Result]:
    """The answers, as they come; those without one at the end. The limit of time is for all together."""
    started = time.monotonic()
    tasks = _tasks(asked)
    problems = {number: str(task.problem) for number, task in enumerate(tasks) if task.problem is not None}
    pending = [number for number in range(len(tasks)) if number not in problems]
    unanswered = set(problems)
    taken = [0.0] * len(tasks)
    for attempt in _rounds(asked, limits, started, pending):
        failed: list[int] = []
        before = time.monotonic()
        answers = _attempt(asked, [tasks[n] for n in pending], attempt, limits.memory, tick)
        for number, found in zip(list(pending), answers, strict=True):
            now = time.monotonic()
            taken[number] += now - before
            before = now
            if isinstance(found, tuple):
                unanswered.discard(number)
                yield Result(tasks[number].name, found, _techniques(asked), taken[number])
                continue
            if isinstance(found, InternalError):
                raise found
            problems[number] = str(found)
            unanswered.add(number)
            if isinstance(found, LimitReached):
                failed.append(number)
        pending[:] = failed
    for number in sorted(unanswered | set(pending)):
        reason = problems.get(number, "no time was left").split("\n")[0]
        yield Result(tasks[number].name, None, (), taken[number], reason)


@dataclass(frozen=True, slots=True)
class _Round:
    """How the properties that have no answer yet are tried: seconds for each, or for all together."""

    seconds: float | None
    product: str
    together: bool


def _rounds(asked: Examination, limits: Limits, started: float, pending: list[int]) -> Iterator[_Round]:
    """While there is something to do and time for it.

    Where all need the same set of states, the time goes to that set first, and not in shares to each of them.
    """
    if limits.seconds is None:
        if pending:
            yield _Round(None, _PRODUCTS[0], False)
        return
    together = not asked.name.startswith("LTL")
    last, round_ = 0.0, 0
    while pending:
        left = limits.seconds - (time.monotonic() - started)
        if together and round_ == 0:
            yield _Round(left * (_TOGETHER if len(pending) > 1 else 1.0), _PRODUCTS[0], True)
            round_ += 1
            continue
        share = left / len(pending)
        if round_ == 0 and len(pending) > 1:
            share *= _FIRST_SHARE
        share = max(share, min(_LEAST_SECONDS, left))
        if left <= _TOO_LITTLE or share < last * _GROWTH:
            return
        yield _Round(share, _PRODUCTS[min(round_, len(_PRODUCTS) - 1)], False)
        last, round_ = share, round_ + 1


def _techniques(asked: Examination) -> tuple[str, ...]:
    unfolded = ("UNFOLDING_TO_PT",) if asked.frontend.net.coloured else ()
    return ("DECISION_DIAGRAMS", "TOPOLOGICAL", *unfolded)


# --- tasks ----------------------------------------------------------------------------------------------------------

Values = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Task:
    name: str
    answer: Callable[[Checker, str], Values]
    problem: InputError | None = None


def _tasks(asked: Examination) -> list[_Task]:
    if asked.name == "StateSpace":
        return [_Task("STATE_SPACE", lambda checker, _: _state_space(checker, asked))]
    if asked.name == "ReachabilityDeadlock":
        return [_Task(asked.name, lambda checker, _: _truth(not checker.deadlocks().holds))]
    if asked.name == "OneSafe":
        return [_Task(asked.name, lambda checker, _: _truth(_one_safe(checker, asked)))]
    return [_task(p) for p in asked.properties]


def _task(p: ContestProperty) -> _Task:
    return _Task(p.name, lambda checker, product: _formula(checker, p, product), p.problem)


def _attempt(
    asked: Examination, tasks: Sequence[_Task], attempt: _Round, memory: int | None, tick: Tick | None
) -> Iterator[Values | AggmcError | InternalError]:
    def session(tick: Tick | None) -> Callable[[int], Values]:
        checker = Checker(asked.model, Options(trace=False, max_memory=memory), tick)
        return lambda number: tasks[number].answer(checker, attempt.product)

    clock: Literal["all", "each"] = "all" if attempt.together else "each"
    done = 0
    with closing(run_tasks(session, len(tasks), Limits(attempt.seconds, memory), tick, clock=clock)) as answers:
        for answer in answers:
            done += 1
            yield answer
            if attempt.together and isinstance(answer, LimitReached):
                break
    for _ in range(done, len(tasks)):
        yield LimitReached("the time limit was reached before")


def _truth(value: bool) -> Values:
    return (("", "TRUE" if value else "FALSE"),)


def _formula(checker: Checker, p: ContestProperty, product: str) -> Values:
    if p.kind == "ltl" or (p.kind != "bound" and product != "auto"):
        verdict = checker.ltl(ask(checker.model, p.formula), product)
        return _truth(verdict.holds == (p.kind != "reachable"))
    reachable = checker.reachable  # first: it settles the encoding
    if p.kind == "bound":
        checker.check_errors()
        return (("", str(_largest(checker, reachable, p.places))),)
    wanted = p.condition if p.kind == "reachable" else make("not", p.condition)
    found = checker.encoding.truth(wanted) & reachable != checker.encoding.false
    if not found:
        checker.check_errors()
    return _truth(found == (p.kind == "reachable"))


def _largest(checker: Checker, states: Any, places: Sequence[int]) -> int:
    encoding = checker.encoding
    if len(set(places)) == len(places) and all(encoding.layouts[p].listed is None for p in places):
        return encoding.largest_sum(states, places)
    summed = const(0)
    for p in places:
        summed = make("+", summed, var(p))
    low, high = 0, sum(checker.model.variables[p].high for p in places)
    while low < high:
        middle = (low + high + 1) // 2
        if states & encoding.truth(make(">=", summed, const(middle))) != encoding.false:
            low = middle
        else:
            high = middle - 1
    return low


def _one_safe(checker: Checker, asked: Examination) -> bool:
    if any(x > 1 for x in asked.frontend.net.initial):
        return False
    if all(v.high <= 1 and v.tight for v in checker.model.variables):
        return True
    reachable = checker.reachable
    beyond = make("or", *(make(">", var(p), const(1)) for p, v in enumerate(checker.model.variables) if v.high > 1))
    if beyond != FALSE and checker.encoding.truth(beyond) & reachable != checker.encoding.false:
        return False
    checker.check_errors()
    return True


def _state_space(checker: Checker, asked: Examination) -> Values:
    reachable = checker.reachable
    checker.check_errors()
    encoding, frontend = checker.encoding, asked.frontend
    transitions = sum(
        encoding.count(reachable & encoding.truth(frontend.some_enabled([t])))
        for t in range(len(frontend.net.transitions))
    )
    places = range(len(frontend.net.places))
    return (
        ("STATES", str(encoding.count(reachable))),
        ("TRANSITIONS", str(transitions)),
        ("MAX_TOKEN_PER_MARKING", str(_largest(checker, reachable, places))),
        ("MAX_TOKEN_IN_PLACE", str(max(_largest(checker, reachable, [p]) for p in places))),
    )

"""A race: several products answer the same question at once, each in a process of its own; the first verdict wins.

    aggmc.race(model, "G F P_0.CS")                                     # slap against slap-tgta
    aggmc.race(model, "G F P_0.CS", ("slap", "sog"), cross_check=True)  # wait for all, and compare

Verdicts of all products agree, so whichever comes first is *the* verdict; an error of the model that a product has met
is as good as one. A product that reaches a limit, does not take the property, or fails, is named in the result, and
the others go on.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from aggmc.checker import METHODS, Checker, Options, Question, Verdict, ask
from aggmc.errors import AggmcError, InputError, InternalError, LimitReached, ModelError, UnsupportedError, did_you_mean
from aggmc.limits import Failure, Limits, Report, parse_memory
from aggmc.model.core import Model
from aggmc.pool import Lane, Pool, Task
from aggmc.symbolic.engine import chosen

#: They complement each other: the one is good where the other is not.
DEFAULT = ("slap", "slap-tgta")

State = Literal["waiting", "running", "answered", "stopped", "limit", "refused", "failed"]


@dataclass(frozen=True, slots=True)
class Field:
    """Who races, how many at a time (None: all), and whether all are waited for."""

    products: tuple[str, ...] = DEFAULT
    jobs: int | None = None
    cross_check: bool = False

    def __post_init__(self) -> None:
        for name in self.products:
            if name not in METHODS:
                known = ", ".join(METHODS)
                raise InputError(f"product `{name}` cannot race{did_you_mean(name, METHODS)}: it is none of {known}")
            if self.products.count(name) > 1:
                raise InputError(f"product `{name}` is twice in the race")
        if not self.products:
            raise InputError("nobody is in the race: name at least one product")
        if self.jobs is not None and self.jobs < 1:
            raise InputError(f"the number of jobs is at least 1, not {self.jobs}")


@dataclass(frozen=True, slots=True)
class Entrant:
    """A product in a race, and what became of it."""

    product: str
    state: State
    verdict: str | None = None  # `holds`, `violated`, or `error`: an error of the model
    reason: str | None = None  # why it did not answer
    seconds: float = 0.0  # for how long it worked
    ended: float | None = None  # when, in seconds since the race began
    processor: float | None = None  # seconds of processor time, of one that answered
    aggregates: int | None = None
    bdd_nodes: int | None = None
    memory: int = 0  # the most that its process was seen to hold, in bytes
    doing: str = ""  # its last report

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON format."""
        return {
            "product": self.product,
            "state": self.state,
            "verdict": self.verdict,
            "reason": self.reason,
            "seconds": round(self.seconds, 4),
            "ended": None if self.ended is None else round(self.ended, 4),
            "processor": None if self.processor is None else round(self.processor, 4),
            "aggregates": self.aggregates,
            "bdd_nodes": self.bdd_nodes,
            "memory": self.memory,
        }


@dataclass(frozen=True, slots=True)
class RaceVerdict(Verdict):
    """The verdict of a race: the winner's, its time that of the whole race; `product` is the winner."""

    entrants: tuple[Entrant, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON format."""
        found = Verdict.to_dict(self)
        trace = found.pop("trace", None)
        found["race"] = [entrant.to_dict() for entrant in self.entrants]
        return found if trace is None else {**found, "trace": trace}


Watch = Callable[[Sequence[Entrant]], None]


# --- a worker -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Said:
    text: str
    aggregates: int
    bdd_nodes: int | None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class _Answered:
    verdict: Verdict
    peak: int
    processor: float


def _task(model: Model, question: Question, product: str, options: Options) -> Task[_Answered]:
    def task(report: Report | None) -> _Answered:
        def tick(text: str) -> None:
            assert report is not None
            report(_Said(text, checker.effort.nodes, checker.bdd_nodes()))

        checker = Checker(model, options, tick if report is not None else None)
        verdict = checker.ltl(question, product)
        return _Answered(verdict, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, time.process_time())

    return task


# --- the race -------------------------------------------------------------------------------------------------------


def compete(
    model: Model,
    question: Question,
    field: Field,
    options: Options,
    limits: Limits,
    watch: Watch | None = None,
) -> tuple[RaceVerdict, Failure | None]:
    """The verdict and, if it is unknown because of an error, the error; a limit is given as LimitReached."""
    chosen()  # once, for all workers
    started = time.monotonic()  # the clock of the lanes
    products = field.products
    tasks = [_task(model, question, product, options) for product in products]

    def look(lanes: Sequence[Lane[_Answered]]) -> None:
        assert watch is not None
        watch([_entrant(products[lane.number], lane, started) for lane in lanes])

    finished: list[Lane[_Answered]] = []
    with Pool(tasks, limits, field.jobs or len(products), look if watch is not None else None) as pool:
        for lane in pool:
            finished.append(lane)
            if not field.cross_check and _said_by(lane) is not None:
                break
    entrants = tuple(_entrant(products[lane.number], lane, started) for lane in pool.lanes)
    return _conclude(question, field, options, entrants, finished, time.monotonic() - started)


def _said_by(lane: Lane[_Answered]) -> str | None:
    """The verdict of an entrant, if it has one."""
    result = lane.result
    if isinstance(result, _Answered):
        return result.verdict.verdict
    return "error" if isinstance(result, ModelError) else None


def _entrant(product: str, lane: Lane[_Answered], started: float) -> Entrant:
    said = lane.said
    found = Entrant(
        product,
        _state(lane),
        _said_by(lane),
        seconds=lane.seconds,
        ended=lane.ended - started if lane.state in ("done", "stopped") else None,
        memory=lane.peak,
        aggregates=said.aggregates if isinstance(said, _Said) else None,
        bdd_nodes=said.bdd_nodes if isinstance(said, _Said) else None,
        doing=str(said or ""),
    )
    result = lane.result
    if isinstance(result, _Answered):
        stats = result.verdict.stats
        peak = max(result.peak, lane.peak)
        found = replace(found, processor=result.processor, memory=peak)
        return replace(found, aggregates=stats.aggregates, bdd_nodes=stats.bdd_nodes)
    return found if result is None else replace(found, reason=reason_of(result))


def _state(lane: Lane[_Answered]) -> State:
    if lane.state != "done":
        return lane.state
    match lane.result:
        case _Answered() | ModelError():
            return "answered"
        case LimitReached():
            return "limit"
        case UnsupportedError():
            return "refused"
        case _:
            return "failed"


def reason_of(failure: Failure) -> str:
    """An error, said in one line."""
    if not isinstance(failure, AggmcError):
        return f"internal error: {failure}"
    return f"{failure.location}: {failure.message}" if failure.location is not None else failure.message


def _conclude(
    question: Question,
    field: Field,
    options: Options,
    entrants: tuple[Entrant, ...],
    finished: Sequence[Lane[_Answered]],
    seconds: float,
) -> tuple[RaceVerdict, Failure | None]:
    first = next((lane for lane in finished if _said_by(lane) is not None), None)
    verdict = RaceVerdict(
        kind="ltl",
        name=question.name,
        property=question.parsed.text,
        verdict="unknown",
        deadlock=options.deadlock,
        seconds=seconds,
        entrants=entrants,
    )
    failures = [(field.products[lane.number], lane.result) for lane in finished if _said_by(lane) is None]
    failure = _fault(entrants, failures, field) or (None if first is not None else _nobody(question, failures))
    if failure is None and first is not None:
        product = field.products[first.number]
        if isinstance(first.result, _Answered):
            return _won(verdict, product, first.result.verdict), None
        assert isinstance(first.result, ModelError)
        failure, verdict = first.result, replace(verdict, product=product)
    assert failure is not None
    trace = _trace_of_disagreement(finished) if isinstance(failure, InternalError) else None
    return replace(verdict, reason=reason_of(failure), trace=trace), failure


def _won(unknown: RaceVerdict, product: str, won: Verdict) -> RaceVerdict:
    return replace(unknown, verdict=won.verdict, product=product, stats=won.stats, trace=won.trace)


def _fault(
    entrants: Sequence[Entrant], failures: Sequence[tuple[str, object]], field: Field
) -> InternalError | None:
    """What a cross-check is there to find."""
    if not field.cross_check:
        return None
    said: dict[str, list[str]] = {}
    for entrant in entrants:
        if entrant.verdict is not None:
            said.setdefault(entrant.verdict, []).append(entrant.product)
    if len(said) > 1:
        return InternalError(f"the products disagree: {'; '.join(_says(*told) for told in said.items())}")
    for product, failure in failures:
        if isinstance(failure, InternalError):
            return failure if len(entrants) == 1 else _blamed(product, failure)
    return None


def _says(word: str, names: Sequence[str]) -> str:
    who = " and ".join(names)
    if word == "error":
        return f"{who} met an error of the model"
    told = f"{who} {'says' if len(names) == 1 else 'say'} `{word}`"
    return f"{told}, with a counterexample that was replayed" if word == "violated" else told


def _blamed(product: str, failure: InternalError) -> InternalError:
    told = InternalError(f"{product}: {failure}")
    for note in getattr(failure, "__notes__", []):
        told.add_note(note)
    return told


def _nobody(question: Question, failures: Sequence[tuple[str, object]]) -> Failure:
    """Why there is no verdict: a fault goes before an error, that before a limit; all refused is an error, too."""
    for product, failure in failures:
        if isinstance(failure, InternalError):
            return _blamed(product, failure)
    told = "; ".join(f"{product}: {reason_of(f)}" for product, f in failures if isinstance(f, AggmcError))
    kinds = [type(failure) for _, failure in failures]
    if LimitReached in kinds and all(kind in (LimitReached, UnsupportedError) for kind in kinds):
        return LimitReached(told)
    if all(kind is UnsupportedError for kind in kinds):
        return UnsupportedError(f"no product of the race takes the property: {told}", question.parsed.location(1, 1))
    return InputError(told)


def _trace_of_disagreement(finished: Sequence[Lane[_Answered]]) -> Any:
    for lane in finished:
        if isinstance(lane.result, _Answered) and lane.result.verdict.trace is not None:
            return lane.result.verdict.trace
    return None


def race(
    model: Model,
    formula: str,
    products: Sequence[str] = DEFAULT,
    *,
    jobs: int | None = None,
    cross_check: bool = False,
    timeout: float | None = None,
    memory: int | str | None = None,
    deadlock: str = "stutter",
    fixpoint: str = "saturation",
    absorb: str = "all",
    reordering: bool | None = None,
    trace: bool = True,
) -> RaceVerdict:
    """Check an LTL property with several products at once, each in a process of its own; the first verdict wins.

    `timeout` (seconds) and `memory` (bytes, or as in `"2G"`) bound each process. The verdict is `unknown`, with a
    `reason`, if no product answered; `entrants` says what became of each. With `cross_check` all are waited for, and
    `aggmc.InternalError` is raised if they disagree. Other errors are those of `aggmc.check`.
    """
    limits = Limits(timeout, parse_memory(memory) if isinstance(memory, str) else memory)
    options = Options(deadlock, fixpoint, reordering, trace, max_memory=limits.memory, absorb=absorb)
    field = Field((products,) if isinstance(products, str) else tuple(products), jobs, cross_check)
    verdict, failure = compete(model, ask(model, formula), field, options, limits)
    if failure is not None and not isinstance(failure, LimitReached):
        raise failure
    return verdict

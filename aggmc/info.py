"""What `aggmc info` tells about a model."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from aggmc.checker import Checker, Options
from aggmc.errors import LimitReached
from aggmc.limits import Failure, Limits, Tick, run_tasks
from aggmc.model.core import Model


@dataclass(frozen=True, slots=True)
class VariableInfo:
    """A variable, between which values it is, and the bits that it costs (None: not known).

    A variable that takes few values, far apart, has codes for just these: fewer bits than its range would need.
    """

    name: str
    type: str
    low: int
    high: int
    bits: int | None


@dataclass(frozen=True, slots=True)
class EventInfo:
    """An event."""

    name: str
    process: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class Info:
    """A model and its reachable states; None where a limit came before."""

    model: str
    language: str
    processes: tuple[str, ...]
    variables: tuple[VariableInfo, ...]
    events: tuple[EventInfo, ...]
    states: int | None = None
    deadlocks: int | None = None
    bdd_nodes: int | None = None
    bits: int | None = None
    order: tuple[str, ...] | None = None  # of the variables in decision diagrams, at the end
    seconds: float = 0.0
    reason: str | None = None  # why something is not known

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON format."""
        result: dict[str, Any] = {
            "model": self.model,
            "language": self.language,
            "processes": list(self.processes),
            "states": self.states,
            "deadlocks": self.deadlocks,
            "bdd_nodes": self.bdd_nodes,
            "bits": self.bits,
            "order": None if self.order is None else list(self.order),
            "seconds": round(self.seconds, 4),
            "variables": [{name: getattr(v, name) for name in VariableInfo.__slots__} for v in self.variables],
            "events": [{name: getattr(e, name) for name in EventInfo.__slots__} for e in self.events],
        }
        if self.reason is not None:
            result["reason"] = self.reason
        return result


def gather(
    model: Model, options: Options, limits: Limits, tick: Tick | None = None
) -> tuple[Info, Failure | None]:
    """The facts, and an error of the model or of ours that was met."""
    started = time.perf_counter()
    info = _declared(model)

    def session(tick: Tick | None) -> Callable[[int], dict[str, Any]]:
        checker = Checker(model, options, tick)
        tasks = (_structure, _states, _errors)
        return lambda number: tasks[number](checker)

    failure: Failure | None = None
    with closing(run_tasks(session, 3, limits, tick, clock="all")) as answers:
        for answer in answers:
            if isinstance(answer, dict):
                info = replace(info, **answer)
                continue
            if isinstance(answer, LimitReached):
                info = replace(info, reason=answer.message)
            else:
                failure = answer
            break
    return replace(info, seconds=time.perf_counter() - started), failure


def _declared(model: Model) -> Info:
    return Info(
        model=model.path or model.name,
        language=model.language,
        processes=model.processes,
        variables=tuple(VariableInfo(v.name, v.type, v.low, v.high, None) for v in model.variables),
        events=tuple(EventInfo(e.name, e.actor.process, e.actor.line or e.location.line) for e in model.events),
    )


def _structure(checker: Checker) -> dict[str, Any]:
    encoding = checker.encoding
    columns = zip(checker.model.variables, encoding.domains, encoding.layouts, strict=True)
    variables = tuple(VariableInfo(v.name, v.type, d.low, d.high, layout.width) for v, d, layout in columns)
    return {"variables": variables, "bits": encoding.bit_count, "order": tuple(encoding.current_order())}


def _states(checker: Checker) -> dict[str, Any]:
    reachable = checker.reachable
    count = checker.encoding.count
    return {
        **_structure(checker),  # again: the encoding may have changed
        "states": count(reachable),
        "deadlocks": count(checker.kripke.dead(reachable)),
        "bdd_nodes": len(reachable),
    }


def _errors(checker: Checker) -> dict[str, Any]:
    checker.check_errors()
    return {}

"""Results as text for people and as JSON for scripts (docs/json.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from aggmc.checker import Verdict
from aggmc.errors import AggmcError, InternalError, Location, ModelError
from aggmc.info import Info
from aggmc.ltl.automata import Tgba, Tgta
from aggmc.ltl.output import to_dict, to_text
from aggmc.ltl.translate import Property
from aggmc.racing import Entrant, RaceVerdict
from aggmc.run import Answer
from aggmc.trace.aggregates import AggregateGraph
from aggmc.trace.pictures import summary
from aggmc.trace.recheck import Rechecked
from aggmc.trace.trace import Trace
from aggmc.trace.views.all import show
from aggmc.trace.views.common import Look

JSON_VERSION = 1
REPORT_IT = "this is a fault of aggmc: please report it, with the model and the command"


def to_json(content: dict[str, Any]) -> str:
    """A JSON document; the version comes first."""
    return json.dumps({"version": JSON_VERSION, **content}, indent=2)


# --- errors ---------------------------------------------------------------------------------------------------------


def error_dict(error: Exception) -> dict[str, Any]:
    """An error as in the JSON format."""
    location = (error.location if isinstance(error, AggmcError) else None) or Location()
    message = error.message if isinstance(error, AggmcError) else _internal(error)
    result: dict[str, Any] = {
        "message": message,
        "file": location.file,
        "line": location.line,
        "column": location.column,
    }
    if isinstance(error, ModelError) and isinstance(error.trace, Trace):
        result["trace"] = error.trace.to_dict()
    return result


def error_text(error: Exception) -> str:
    """An error for stderr: one paragraph, with the place and a caret."""
    return f"error: {error}" if isinstance(error, AggmcError) else f"error: {_internal(error)}\n{REPORT_IT}"


def _internal(error: Exception) -> str:
    told = str(error) if isinstance(error, InternalError) else f"{type(error).__name__}: {error}"
    return f"internal error: {told}"


# --- check ----------------------------------------------------------------------------------------------------------


def check_dict(model: str, answers: Sequence[Answer], unwritten: Exception | None = None) -> dict[str, Any]:
    """The results of a check, each with its error if there was one; the gravest is told for all.

    `unwritten` says why a file could not be written.
    """
    result: dict[str, Any] = {"model": model, "results": [answer_dict(a) for a in answers]}
    failures = [*(a.failure for a in answers if a.failure is not None), *([unwritten] if unwritten else [])]
    if failures:
        result["error"] = error_dict(_gravest(failures))
    return result


def answer_dict(answer: Answer) -> dict[str, Any]:
    """A result, with its error if there was one."""
    failed = {} if answer.failure is None else {"error": error_dict(answer.failure)}
    return {**answer.verdict.to_dict(), **failed}


def _gravest(failures: Iterable[Exception]) -> Exception:
    """The one that the exit code speaks of: a fault of ours before one of the user's, then the first."""
    return min(failures, key=lambda f: isinstance(f, AggmcError))


def answer_text(answer: Answer, *, stats: bool, view: str = "steps", look: Look | None = None) -> str:
    """A result: the verdict, how it was reached, and the run that shows it."""
    verdict = answer.verdict
    look = look or Look()
    colour = {"holds": "green", "violated": "red"}.get(verdict.verdict, "yellow")
    lines = [f"{look.paint(f'{verdict.verdict:<8}', 'bold', colour)}  {_title(verdict)}"]
    if verdict.reason is not None:
        lines.append(f"  because: {verdict.reason}")
    lines.append(f"  {_how(verdict)}")
    if isinstance(verdict, RaceVerdict):
        lines.append(f"  {race_line(verdict)}")
        if stats or answer.failure is not None:
            lines += _table([_entrant_row(e) for e in verdict.entrants], indent="    ")
    if stats:
        lines += [f"  {line}" for line in _details(verdict)]
    trace = verdict.trace
    if trace is not None:
        lines.append(show(trace, view, look))
    elif isinstance(answer.failure, ModelError) and isinstance(answer.failure.trace, Trace):
        lines += ["  the run that leads to the error:", show(answer.failure.trace, view, look)]
    return "\n".join(lines)


def race_line(verdict: RaceVerdict) -> str:
    """Who won a race, by how much, and what became of the others."""
    rest = [e for e in verdict.entrants if e.product != verdict.product]
    others = sorted((e for e in rest if e.state == "answered"), key=lambda e: e.ended or 0.0)
    if verdict.product is None:
        return f"race: nobody won in {verdict.seconds:.3f} s"
    won = next((e.ended or 0.0 for e in verdict.entrants if e.product == verdict.product), verdict.seconds)
    told = [f"race: {verdict.product} won after {won:.3f} s"]
    told += [f"{e.product} answered {(e.ended or 0.0) - won:.3f} s later" for e in others]
    told += [f"{e.product} {_fate(e)}" for e in rest if e.state != "answered"]
    return "; ".join(told)


def race_doing(entrants: Sequence[Entrant]) -> str:
    """In one line, what those do who are still in the race."""
    return "; ".join(f"{e.product}: {e.doing or 'starting'}" for e in entrants if e.state == "running")


def _fate(entrant: Entrant) -> str:
    match entrant.state:
        case "stopped":
            return f"was stopped ({entrant.doing})" if entrant.doing else "was stopped"
        case "waiting":
            return "had not started"
        case "refused":
            return "does not take the property"
        case "limit":
            return f"gave up: {entrant.reason}"
        case _:
            return f"failed: {entrant.reason}"


def _entrant_row(entrant: Entrant) -> tuple[str, ...]:
    return (
        entrant.product,
        entrant.verdict or entrant.state,
        f"{entrant.seconds:.3f} s",
        "" if entrant.aggregates is None else _count(entrant.aggregates, "aggregate"),
        "" if entrant.bdd_nodes is None else f"{entrant.bdd_nodes} BDD nodes",
        f"{entrant.memory / (1 << 20):.0f} MB",
        entrant.reason or "",
    )


def _title(verdict: Verdict) -> str:
    if verdict.kind == "deadlock":
        return "no deadlock"
    if verdict.kind == "assert":
        return f"assert {verdict.property} ({verdict.name})"
    return f"{verdict.name}: {verdict.property}" if verdict.name is not None else str(verdict.property)


def _how(verdict: Verdict) -> str:
    stats = verdict.stats
    parts = [verdict.product] if verdict.product is not None else []
    if stats.automaton_states is not None:
        parts.append(f"automaton of {_count(stats.automaton_states, 'state')}, {stats.automaton_class}")
    if stats.aggregates is not None:
        parts.append(f"{_count(stats.aggregates, _node(verdict))}, {_count(stats.edges or 0, 'edge')}")
    if verdict.deadlock != "stutter" and verdict.kind == "ltl":
        parts.append("infinite runs only")
    return "; ".join([*parts, f"{verdict.seconds:.3f} s"])


def _node(verdict: Verdict) -> str:
    return "aggregate" if verdict.product is not None and verdict.stats.bdd_nodes is not None else "node"


def _details(verdict: Verdict) -> list[str]:
    stats = verdict.stats
    found = []
    if stats.stutter_invariant is not None:
        found.append(f"stutter-invariant: {'yes' if stats.stutter_invariant else 'no'}")
    if stats.bdd_nodes is not None:
        found.append(f"BDD nodes: {stats.bdd_nodes}")
    if verdict.trace is not None:
        how = {True: ", the shortest", False: "", None: ""}[stats.shortest]
        before = f" (found with {stats.found_steps})" if stats.found_steps is not None else ""
        size = f"{_count(len(verdict.trace.prefix), 'step')}, cycle of {len(verdict.trace.cycle)}"
        found.append(f"run: {size}{how}{before}")
    return found


def summary_text(answers: Sequence[Answer]) -> str:
    """One line about several results."""
    verdicts = [a.verdict.verdict for a in answers]
    counted = [f"{verdicts.count(word)} {word}" for word in ("violated", "unknown", "holds") if word in verdicts]
    return f"{len(verdicts)} results: {', '.join(counted)}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


# --- info -----------------------------------------------------------------------------------------------------------


def info_text(info: Info) -> str:
    """The facts about a model."""
    why = f"unknown ({info.reason})"

    def shown(value: int | None) -> str:
        return why if value is None else str(value)

    lines = [
        f"model: {info.model} ({info.language})",
        f"processes: {', '.join(info.processes) or 'none'}",
        f"states: {shown(info.states)}",
        f"deadlocks: {shown(info.deadlocks)}",
        f"BDD nodes: {shown(info.bdd_nodes)}",
        f"bits: {shown(info.bits)}",
        f"time: {info.seconds:.3f} s",
        f"variables: {len(info.variables)}",
    ]
    rows = [
        (v.name, v.type, f"{v.low}..{v.high}", _count(v.bits, "bit") if v.bits is not None else "")
        for v in info.variables
    ]
    lines += _table(rows)
    lines.append(f"events: {len(info.events)}")
    lines += _table([(e.name, e.process or "", f"line {e.line}" if e.line is not None else "") for e in info.events])
    return "\n".join(lines)


def _table(rows: Sequence[Sequence[str]], indent: str = "  ") -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [indent + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


# --- automaton ------------------------------------------------------------------------------------------------------


def automaton_dict(prop: Property, automaton: Tgba | Tgta, seconds: float) -> dict[str, Any]:
    """What a property becomes."""
    return {
        "formula": prop.text,
        "negated": prop.negated,
        "stutter_invariant": prop.stutter_invariant,
        "class": automaton.automaton_class,
        "automaton": to_dict(automaton),
        "seconds": round(seconds, 4),
    }


def automaton_text(prop: Property, automaton: Tgba | Tgta, seconds: float) -> str:
    """What a property becomes, for people."""
    return "\n".join(
        [
            f"formula: {prop.text}",
            f"stutter-invariant: {'yes' if prop.stutter_invariant else 'no'}",
            f"class: {automaton.automaton_class}",
            f"time: {seconds:.3f} s",
            "automaton of the negation (it accepts the runs that violate the formula):",
            to_text(automaton).rstrip("\n"),
        ]
    )


# --- replay ---------------------------------------------------------------------------------------------------------


def replay_dict(model: str, file: str, formula: str | None, deadlock: str, found: Rechecked) -> dict[str, Any]:
    """What a replay found."""
    return {"model": model, "file": file, "property": formula, "deadlock": deadlock, **found.to_dict()}


def replay_text(file: str, formula: str | None, found: Rechecked, view: str, look: Look) -> str:
    """What a replay found, and the run if it is one."""
    lines = []
    if found.complaint is not None:
        lines.append(f"{look.paint('wrong', 'bold', 'red')}  {file}: {found.complaint}")
    else:
        what = "is a run of the model"
        if formula is not None:
            what += f" and violates {formula}"
        lines.append(f"{look.paint('right', 'bold', 'green')}  {file} {what}")
    if found.trace is not None:
        lines.append(show(found.trace, view, look))
    return "\n".join(lines)


# --- graph ----------------------------------------------------------------------------------------------------------


def graph_dict(model: str, verdict: str, graph: AggregateGraph) -> dict[str, Any]:
    """What a check explored."""
    return {"model": model, "verdict": verdict, **graph.to_dict()}


def graph_text(graph: AggregateGraph) -> str:
    """What a check explored, for people."""
    return summary(graph)


# --- simulate -------------------------------------------------------------------------------------------------------


def simulation_dict(model: str, seed: int, stopped: str | None, trace: Trace) -> dict[str, Any]:
    """A walk; `stopped` says why it is shorter than asked for."""
    return {"model": model, "seed": seed, "stopped": stopped, "trace": trace.to_dict()}

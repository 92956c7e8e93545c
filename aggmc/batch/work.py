"""The work on one check, and what is written down of it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from contextlib import closing
from typing import Any

from aggmc import __version__
from aggmc.batch.suite import Check
from aggmc.checker import Options, Verdict
from aggmc.errors import AggmcError, InputError, LimitReached, ModelError
from aggmc.limits import Failure, Report, attempt, watched
from aggmc.ltl.formula import parse
from aggmc.ltl.translate import prepare
from aggmc.model.core import Model
from aggmc.model.load import load_model, model_of
from aggmc.properties import Written
from aggmc.racing import Field, Watch, reason_of
from aggmc.report import answer_dict, race_doing
from aggmc.run import Answer, answers, queries, questions, raced
from aggmc.symbolic.engine import chosen

Record = dict[str, Any]  # of the journal: all that is JSON
_WARMING_BYTES = 20_000  # of a model whose parsing makes the parser ready


def key_of(check: Check, text: str) -> str:
    """What a result depends on, except for limits: a result with the same key is a result of this check."""
    what = [
        __version__, text, check.kind, check.formula, check.product, check.race, check.cross_check, check.deadlock,
        check.fixpoint, check.absorb, check.reordering, check.trace,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(what).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def work(check: Check, text: str | None = None, report: Report | None = None) -> Record:
    """The result of a check. Under its limits, in processes of its own; every error becomes a result."""
    answer = attempt(lambda: _answer(check, text, report))
    return record_of(check, answer if isinstance(answer, Answer) else failed(check, answer))


def warm(models: Iterable[str]) -> None:
    """Load what every check needs, before processes are forked for them: engines, and the parsers of the languages."""
    attempt(lambda: prepare(parse("G true")))
    attempt(chosen)
    smallest: dict[str, tuple[int, str]] = {}
    for model in models:
        try:
            size = os.stat(model).st_size
        except OSError:
            continue  # the check itself will say it
        ending = os.path.splitext(model)[1]
        smallest[ending] = min(smallest.get(ending, (size, model)), (size, model))
    for size, model in smallest.values():
        if size <= _WARMING_BYTES:
            attempt(lambda model=model: load_model(model))  # type: ignore[misc]


def _answer(check: Check, text: str | None, report: Report | None) -> Answer:
    with watched("reading the model", check.limits, report):
        model = load_model(check.model) if text is None else model_of(text, check.model)
    options = Options(
        check.deadlock,
        check.fixpoint,
        check.reordering,
        check.trace,
        max_memory=check.limits.memory,
        absorb=check.absorb,
    )
    with closing(_answers(check, model, options, report)) as found:
        return _combined(list(found))


def _answers(check: Check, model: Model, options: Options, report: Report | None) -> Any:
    written = [] if check.formula is None else [Written(check.formula, check.name, check.where)]
    product = check.product if not check.race else "auto"
    wanted = [q for q in queries(model, questions(model, written), product, options) if q.kind == check.kind]
    if not wanted:
        raise InputError("the model has no assert", check.where)
    if check.race:
        watch: Watch | None = None if report is None else (lambda entrants: report(race_doing(entrants)))
        return raced(model, wanted, Field(check.race, None, check.cross_check), options, check.limits, report, watch)
    return answers(model, wanted, options, check.limits, report)


def _combined(found: list[Answer]) -> Answer:
    """Of several asserts: a failing one, or else one that is unknown."""
    for wanted in ("violated", "unknown", "holds"):
        for answer in found:
            if answer.verdict.verdict == wanted:
                return answer
    raise AssertionError("a check has at least one answer")


def failed(check: Check, failure: Failure) -> Answer:
    """The answer where none was found."""
    if isinstance(failure, ModelError) and not check.trace:
        failure.trace = None
    verdict = Verdict(check.kind, check.name, check.formula, "unknown", check.deadlock, reason=reason_of(failure))
    return Answer(verdict, None if isinstance(failure, LimitReached) else failure)


def record_of(check: Check, answer: Answer) -> Record:
    """What is written down."""
    failure = answer.failure
    return {
        "result": answer_dict(answer),
        "failure": None if failure is None else "error" if isinstance(failure, AggmcError) else "fault",
        "limits": [check.limits.seconds, check.limits.memory],
    }


def conclusive(record: Record, check: Check) -> bool:
    """Whether a record of an earlier run answers the check: a limit that was another one then does not."""
    if record["result"]["verdict"] != "unknown" or record["failure"] == "error":
        return True
    return record["failure"] is None and record["limits"] == [check.limits.seconds, check.limits.memory]


def outcome(check: Check, record: Record) -> str:
    """`passed`, `failed`, `unknown`, `error` (of the input or the model) or `fault` (of aggmc)."""
    verdict: str = record["result"]["verdict"]
    if record["failure"] is not None:
        return str(record["failure"])
    if verdict == "unknown":
        return "unknown"
    return "passed" if verdict == (check.expected or "holds") else "failed"


def described(check: Check, record: Record) -> dict[str, Any]:
    """A result with all that is known of its check: a line of the JSON lines."""
    return {
        "id": check.id,
        "model": check.model,
        "outcome": outcome(check, record),
        "expected": check.expected,
        "asked": ",".join(check.race) if check.race else check.product,
        "timeout": check.limits.seconds,
        "memory": check.limits.memory,
        # of another check with the same question it may have another name
        **{**record["result"], "name": check.name if check.kind == "ltl" else record["result"]["name"]},
    }


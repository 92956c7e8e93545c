"""What the commands do, under their limits: all that `aggmc check` is asked about one model, one after the other; and
the automaton of a formula."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Literal

from aggmc.checker import Checker, Options, Question, Verdict, ask, refuse_compared, understand
from aggmc.errors import AggmcError, InputError, InternalError, LimitReached, Location, ModelError, UnsupportedError
from aggmc.limits import Failure, Limits, Tick, run_tasks
from aggmc.ltl.automata import Tgba, Tgta
from aggmc.ltl.formula import parse
from aggmc.ltl.translate import Property, prepare
from aggmc.model.core import Model
from aggmc.model.load import read_text
from aggmc.properties import Written, read_properties
from aggmc.racing import Field, Watch, compete, reason_of
from aggmc.trace.formats.document import Claim, Document
from aggmc.trace.recheck import Rechecked, recheck


@dataclass(frozen=True, slots=True)
class Query:
    """Something to answer, and how."""

    kind: Literal["ltl", "assert", "deadlock"]
    name: str | None
    property: str | None
    product: str | None
    answer: Callable[[Checker], Verdict]
    question: Question | None = None  # of an LTL property


@dataclass(frozen=True, slots=True)
class Answer:
    """A verdict and, if it is unknown because of an error, the error; a limit is none."""

    verdict: Verdict
    failure: Failure | None = None


def written(
    formulas: Iterable[str], file: str | None, good: Iterable[str] = (), bad: Iterable[str] = ()
) -> list[Written]:
    """The properties of the command line, then those of the file, then the automata of good and of bad runs."""
    given = [Written(formula, None, Location("--ltl")) for formula in formulas]
    listed = read_properties(file) if file is not None else []
    automata = [Written(read_text(path), None, Location(path), "good") for path in good]
    automata += [Written(read_text(path), None, Location(path), "bad") for path in bad]
    return given + listed + automata


def questions(model: Model, properties: Iterable[Written]) -> list[Question]:
    """Every property read and its propositions looked up; raises the InputError of the first that is wrong."""
    return [_question(model, p) for p in properties]


def _question(model: Model, p: Written) -> Question:
    if p.automaton is None:
        return ask(model, p.formula, name=p.name, where=p.where)
    from aggmc.ltl.given import read

    return understand(model, read(p.formula, str(p.where.file), bad=p.automaton == "bad"), name=p.name)


def ltl_queries(asked: Sequence[Question], product: str) -> list[Query]:
    """LTL properties."""
    return [_ltl(question, product) for question in asked]


def queries(model: Model, asked: Sequence[Question], product: str, options: Options) -> list[Query]:
    """LTL properties, then the asserts of the model, then deadlocks if they are errors."""
    result = ltl_queries(asked, product)
    for a in model.assertions:
        result.append(Query("assert", a.name, a.text, None, lambda checker, a=a: checker.assertion(a)))  # type: ignore[misc]
    if options.deadlock == "error":
        result.append(Query("deadlock", None, None, None, Checker.deadlocks))
    if not result:
        raise InputError(
            "there is nothing to check: give a property with --ltl, --properties or --hoa, or --deadlock error "
            "(the model has no assert)"
        )
    return result


def _ltl(question: Question, product: str) -> Query:
    def answer(checker: Checker) -> Verdict:
        try:
            return checker.ltl(question, product)
        except UnsupportedError as error:
            if error.location is None:
                error.location = question.parsed.location(1, 1)
            raise

    asked = None if product == "auto" else product
    return Query("ltl", question.name, question.parsed.text, asked, answer, question)


def answers(
    model: Model, asked: Sequence[Query], options: Options, limits: Limits, tick: Tick | None = None
) -> Iterator[Answer]:
    """The answers, in order; one that fails does not stop the others."""

    def session(tick: Tick | None) -> Callable[[int], Verdict]:
        checker = Checker(model, options, tick)
        return lambda number: asked[number].answer(checker)

    started = time.perf_counter()
    with closing(run_tasks(session, len(asked), limits, tick)) as found:
        for query, answer in zip(asked, found, strict=True):
            now = time.perf_counter()
            yield Answer(answer) if isinstance(answer, Verdict) else _unknown(query, answer, options, now - started)
            started = time.perf_counter()


def raced(
    model: Model,
    asked: Sequence[Query],
    field: Field,
    options: Options,
    limits: Limits,
    tick: Tick | None = None,
    watch: Watch | None = None,
) -> Iterator[Answer]:
    """The answers, in order: each LTL property is a race of its own; asserts and deadlocks are answered once."""
    rest = []
    for query in asked:
        if query.question is None:
            rest.append(query)
            continue
        verdict, failure = compete(model, query.question, field, options, limits, watch)
        if isinstance(failure, ModelError) and not options.trace:
            failure.trace = None
        yield Answer(verdict, None if isinstance(failure, LimitReached) else failure)
    yield from answers(model, rest, options, limits, tick)


def _unknown(query: Query, failure: Failure, options: Options, seconds: float) -> Answer:
    if isinstance(failure, ModelError) and not options.trace:
        failure.trace = None
    verdict = Verdict(
        kind=query.kind,
        name=query.name,
        property=query.property,
        verdict="unknown",
        deadlock=options.deadlock,
        product=query.product,
        reason=reason_of(failure),
        seconds=seconds,
    )
    return Answer(verdict, None if isinstance(failure, LimitReached) else failure)


def translate(
    formula: str, limits: Limits, tick: Tick | None = None, *, change_sets: bool = False
) -> tuple[Property, Tgba | Tgta]:
    """The automaton of a formula's negation: a TGBA, or what a product over change-sets reads."""
    parsed = parse(formula, Location("FORMULA"))
    refuse_compared(parsed)

    def session(tick: Tick | None) -> Callable[[int], tuple[Property, Tgba | Tgta]]:
        if tick is not None:
            tick("translating the formula")
        return lambda _: _translated(prepare(parsed), change_sets)

    with closing(run_tasks(session, 1, limits, tick)) as answers:
        for answer in answers:
            if isinstance(answer, AggmcError | InternalError):
                raise answer
            return answer
    raise InternalError("no answer came from the translation")


def recheck_file(
    model: Model, claim: Claim, question: Question | None, deadlock: str, limits: Limits, tick: Tick | None = None
) -> Rechecked:
    """Replay what a file claims, against the model and a property."""

    def session(tick: Tick | None) -> Callable[[int], Rechecked]:
        if tick is not None:
            tick("replaying the run")
        return lambda _: recheck(
            model,
            claim,
            prepare(question.parsed) if question is not None else None,
            stutter=deadlock == "stutter",
        )

    with closing(run_tasks(session, 1, limits, tick)) as answers:
        for answer in answers:
            if isinstance(answer, AggmcError | InternalError):
                raise answer
            return answer
    raise InternalError("no answer came from the replay")


def document(model: Model, answer: Answer) -> Document | None:
    """The run that an answer shows, for a file; None if it shows none."""
    verdict = answer.verdict
    trace, kind = verdict.trace, str(verdict.kind)
    if trace is None and isinstance(answer.failure, ModelError):
        trace, kind = answer.failure.trace, "error"
    if trace is None:
        return None
    return Document(trace, model.path or model.name, model.language, kind, verdict.property, verdict.deadlock)


def _translated(prop: Property, change_sets: bool) -> tuple[Property, Tgba | Tgta]:
    if not change_sets:
        return prop, prop.tgba
    return prop, prop.tgta() if prop.stutter_invariant else prop.change_set_automaton()

"""`aggmc check`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from aggmc.checker import PRODUCTS, Options
from aggmc.cli.codes import BAD_INPUT, GRAVEST_FIRST, HOLDS, INTERNAL, UNKNOWN, VIOLATED
from aggmc.cli.options import (
    AsLanes,
    AsTable,
    Fixpoint,
    Format,
    FullRun,
    FullStates,
    HtmlFile,
    Memory,
    ModelPath,
    Order,
    OrderFile,
    Reordering,
    Timeout,
    TraceFile,
    keep,
    keep_report,
    known_product,
    limits_of,
    look_of,
    order_of,
    products_help,
    read_model,
    view_of,
)
from aggmc.cli.race import NAME as RACE
from aggmc.cli.race import RaceProgress, faults, field_of
from aggmc.cli.streams import emit, note, tell, ticking, warn
from aggmc.errors import AggmcError, InputError
from aggmc.html.report import report
from aggmc.progress import Progress
from aggmc.racing import RaceVerdict
from aggmc.report import answer_text, check_dict, error_text, summary_text, to_json
from aggmc.run import Answer, answers, document, queries, questions, raced, written
from aggmc.trace.aggregates import MAX_NODES
from aggmc.trace.formats.all import ending_of

EPILOG = products_help(race=True)


def check(
    model: ModelPath,
    ltl: Annotated[
        list[str] | None, typer.Option(metavar="FORMULA", help="An LTL property; may be given several times.")
    ] = None,
    properties: Annotated[
        str | None, typer.Option(metavar="FILE", help="LTL properties, one a line, as `name: formula` or `formula`.")
    ] = None,
    hoa: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="An automaton, in HOA, that accepts the good runs.")
    ] = None,
    hoa_negated: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="An automaton, in HOA, that accepts the bad runs.")
    ] = None,
    product: Annotated[str, typer.Option(metavar="NAME", help="The method: see below.")] = "auto",
    race: Annotated[
        str | None,
        typer.Option(metavar="P,P,…", help="Try these products at once; the first verdict wins."),
    ] = None,
    cross_check: Annotated[
        bool, typer.Option("--cross-check", help="Wait for all products of the race, and compare their verdicts.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="In a race: how many products at a time. [default: all]")
    ] = None,
    deadlock: Annotated[
        Literal["stutter", "ignore", "error"],
        typer.Option(
            help="A state without successor is repeated for ever, ends no run, or is itself a violation.",
        ),
    ] = "stutter",
    timeout: Timeout = None,
    memory: Memory = None,
    fixpoint: Fixpoint = "saturation",
    reordering: Reordering = None,
    order: Order = "auto",
    order_file: OrderFile = None,
    absorb: Annotated[
        Literal["all", "covered"],
        typer.Option(help="Self-loops that aggregates of slap absorb: all, or those with marks of the entering edge."),
    ] = "all",
    output: Format = "text",
    shortest: Annotated[
        bool, typer.Option("--shortest", help="Take all the time it needs to make counterexamples short.")
    ] = False,
    full_states: FullStates = False,
    full_run: FullRun = False,
    table: AsTable = False,
    lanes: AsLanes = False,
    trace: TraceFile = None,
    html: HtmlFile = None,
    no_trace: Annotated[bool, typer.Option("--no-trace", help="Show no counterexamples.")] = False,
    stats: Annotated[bool, typer.Option("--stats", help="Say more about how a verdict was reached.")] = False,
) -> int:
    """Check LTL properties, the asserts of a model, and deadlocks.

    Propositions are locations (P_0.CS), or in double quotes any condition of the model's language. The asserts of
    a model are checked whenever it has some.

    \b
    aggmc check mutex.dve --ltl 'G !(P_0.CS && P_1.CS)' --ltl 'G(P_0.wait -> F P_0.CS)'
    aggmc check mutex.dve --ltl 'G("x > 2" -> F "x == 0")' --product sog-tgta
    aggmc check mutex.dve --properties mutex.properties --timeout 60 --memory 2G --format json
    aggmc check mutex.dve --ltl 'G F P_0.CS' --race slap,slap-tgta,sog-tgta
    aggmc check phils.dve --deadlock error
    """
    view, look = view_of(table, lanes), look_of(full_states, full_run)
    if trace is not None:
        ending_of(trace)
    if no_trace and (trace is not None or html is not None):
        raise InputError("--no-trace excludes --trace and --html")
    limits = limits_of(timeout, memory)
    options = Options(
        deadlock,
        fixpoint,
        reordering,
        not no_trace,
        shorten="shortest" if shortest else "bounded",
        graph=MAX_NODES if html is not None else 0,
        order=order_of(order, order_file),
        max_memory=limits.memory,
        absorb=absorb,
    )
    product = known_product(product, (*PRODUCTS, RACE))
    field = field_of(product, race, jobs, cross_check)
    progress = Progress(sys.stderr)
    rows = RaceProgress(sys.stderr)
    loaded = read_model(model, limits, progress)
    asked = questions(loaded, written(ltl or [], properties, hoa or [], hoa_negated or []))
    wanted = queries(loaded, asked, product, options)
    warn(loaded.warnings)
    warn(warned for question in asked for warned in question.warnings)
    found: list[Answer] = []
    told: set[str] = set()
    kept: list[str] = []
    reports: list[str] = []
    read = True
    unwritten: InputError | None = None
    try:
        if field is None:
            coming = answers(loaded, wanted, options, limits, ticking(progress))
        else:
            watch = rows if rows.active else None
            coming = raced(loaded, wanted, field, options, limits, ticking(progress), watch)
        for answer in coming:
            progress.clear()
            rows.clear()
            found.append(answer)
            if isinstance(answer.verdict, RaceVerdict):
                if output == "json":
                    rows.over(answer.verdict)
                for line in faults(answer):
                    note(f"warning: {line}")
            if answer.failure is not None and error_text(answer.failure) not in told:
                told.add(error_text(answer.failure))
                tell(answer.failure)
            if output == "text" and not (read := emit(answer_text(answer, stats=stats, view=view, look=look))):
                break
            if unwritten is None and (shown := document(loaded, answer)) is not None:
                try:
                    keep(trace, shown, kept)
                    if html is not None:
                        keep_report(html, report(loaded, shown, answer.verdict.graph), shown, reports)
                except InputError as error:  # the results are not lost for that
                    unwritten = error
                    tell(error)
            progress.prefix = rows.prefix = f"{len(found) + 1} of {len(wanted)}: "
    finally:
        progress.clear()
        rows.clear()
    if output == "json":
        emit(to_json(check_dict(model, found, unwritten)))
    elif read and len(found) > 1:
        emit(summary_text(found))
    code = check_code(found, complete=len(found) == len(wanted))
    return code if unwritten is None or code == INTERNAL else BAD_INPUT


def check_code(found: Sequence[Answer], *, complete: bool) -> int:
    """The gravest of the results' codes."""
    codes = {HOLDS if complete else UNKNOWN}
    for answer in found:
        if answer.failure is not None:
            codes.add(BAD_INPUT if isinstance(answer.failure, AggmcError) else INTERNAL)
        elif answer.verdict.verdict != "holds":
            codes.add(VIOLATED if answer.verdict.verdict == "violated" else UNKNOWN)
    return next(code for code in GRAVEST_FIRST if code in codes)

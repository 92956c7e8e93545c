"""`aggmc check`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from aggmc.checker import Options
from aggmc.cli.codes import BAD_INPUT, GRAVEST_FIRST, HOLDS, INTERNAL, UNKNOWN, VIOLATED
from aggmc.cli.options import (
    Fixpoint,
    Format,
    Memory,
    ModelPath,
    Reordering,
    Timeout,
    known_product,
    limits_of,
    read_model,
)
from aggmc.cli.streams import emit, tell, ticking, warn
from aggmc.errors import AggmcError
from aggmc.progress import Progress
from aggmc.report import answer_text, check_dict, error_text, summary_text, to_json
from aggmc.run import Answer, answers, queries, questions, written


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
    deadlock: Annotated[
        Literal["stutter", "ignore", "error"],
        typer.Option(
            help="A state without successor is repeated for ever, ends no run, or is itself a violation.",
        ),
    ] = "stutter",
    timeout: Timeout = None,
    memory: Memory = None,
    fixpoint: Fixpoint = "saturation",
    reordering: Reordering = False,
    absorb: Annotated[
        Literal["all", "covered"],
        typer.Option(help="Self-loops that aggregates of slap absorb: all, or those with marks of the entering edge."),
    ] = "all",
    output: Format = "text",
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
    aggmc check phils.dve --deadlock error
    """
    limits = limits_of(timeout, memory)
    options = Options(deadlock, fixpoint, reordering, not no_trace, max_memory=limits.memory, absorb=absorb)
    product = known_product(product)
    progress = Progress(sys.stderr)
    loaded = read_model(model, limits, progress)
    asked = questions(loaded, written(ltl or [], properties, hoa or [], hoa_negated or []))
    wanted = queries(loaded, asked, product, options)
    warn(loaded.warnings)
    warn(warned for question in asked for warned in question.warnings)
    found: list[Answer] = []
    told: set[str] = set()
    read = True
    try:
        for answer in answers(loaded, wanted, options, limits, ticking(progress)):
            progress.clear()
            found.append(answer)
            if answer.failure is not None and error_text(answer.failure) not in told:
                told.add(error_text(answer.failure))
                tell(answer.failure)
            if output == "text" and not (read := emit(answer_text(answer, stats=stats))):
                break
            progress.prefix = f"{len(found) + 1} of {len(wanted)}: "
    finally:
        progress.clear()
    if output == "json":
        emit(to_json(check_dict(model, found)))
    elif read and len(found) > 1:
        emit(summary_text(found))
    return check_code(found, complete=len(found) == len(wanted))


def check_code(found: Sequence[Answer], *, complete: bool) -> int:
    """The gravest of the results' codes."""
    codes = {HOLDS if complete else UNKNOWN}
    for answer in found:
        if answer.failure is not None:
            codes.add(BAD_INPUT if isinstance(answer.failure, AggmcError) else INTERNAL)
        elif answer.verdict.verdict != "holds":
            codes.add(VIOLATED if answer.verdict.verdict == "violated" else UNKNOWN)
    return next(code for code in GRAVEST_FIRST if code in codes)

"""`aggmc automaton`."""

from __future__ import annotations

import sys
import time
from typing import Annotated, Literal

import typer

from aggmc.cli.codes import HOLDS
from aggmc.cli.options import Memory, Timeout, limits_of
from aggmc.cli.streams import emit, note, ticking
from aggmc.ltl.output import to_dot, to_hoa
from aggmc.progress import Progress
from aggmc.report import automaton_dict, automaton_text, to_json
from aggmc.run import translate


def automaton(
    formula: Annotated[str, typer.Argument(metavar="FORMULA", help="An LTL formula.")],
    tgta: Annotated[
        bool,
        typer.Option("--tgta", help="The automaton over change-sets: a testing automaton if the formula allows one."),
    ] = False,
    timeout: Timeout = None,
    memory: Memory = None,
    output: Annotated[
        Literal["text", "json", "dot", "hoa"], typer.Option("--format", help="How the automaton is written.")
    ] = "text",
) -> int:
    """Show the automaton of a formula's negation, which accepts the runs that violate the formula.

    \b
    aggmc automaton 'G(a -> F b)'
    aggmc automaton 'a U b' --tgta --format dot | dot -Tsvg > automaton.svg
    aggmc automaton 'F G "x > 1"' --format hoa
    """
    started = time.perf_counter()
    progress = Progress(sys.stderr)
    try:
        prop, found = translate(formula, limits_of(timeout, memory), ticking(progress), change_sets=tgta)
    finally:
        progress.clear()
    seconds = time.perf_counter() - started
    if output == "json":
        emit(to_json(automaton_dict(prop, found, seconds)))
    elif output == "text":
        emit(automaton_text(prop, found, seconds))
    else:
        invariant = "" if prop.stutter_invariant else " not"
        note(f"note: the automaton of the negation; the formula is{invariant} stutter-invariant")
        name = f"!({prop.text})"
        emit((to_hoa(found, name) if output == "hoa" else to_dot(found)).rstrip("\n"))
    return HOLDS

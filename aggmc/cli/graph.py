"""`aggmc graph`."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from aggmc.checker import Options
from aggmc.cli.codes import HOLDS
from aggmc.cli.options import (
    Fixpoint,
    Format,
    Memory,
    ModelPath,
    Timeout,
    known_product,
    limits_of,
    products_help,
    read_model,
)
from aggmc.cli.streams import emit, note, ticking, warn
from aggmc.errors import LimitReached
from aggmc.files import write_text
from aggmc.html.drawing import DRAWINGS, drawing_of
from aggmc.progress import Progress
from aggmc.report import graph_dict, graph_text, to_json
from aggmc.run import answers, ltl_queries, questions, written
from aggmc.trace.aggregates import MAX_NODES

EPILOG = products_help()


def graph(
    model: ModelPath,
    ltl: Annotated[str, typer.Option(metavar="FORMULA", help="The LTL property.")],
    product: Annotated[str, typer.Option(metavar="NAME", help="The method, as for `check`.")] = "auto",
    deadlock: Annotated[
        Literal["stutter", "ignore", "error"], typer.Option(help="What a deadlock means, as for `check`.")
    ] = "stutter",
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help=f"Draw it into a file ({', '.join(DRAWINGS)})."),
    ] = None,
    max_nodes: Annotated[
        int, typer.Option(min=1, help="Draw no more nodes; the counterexample's come first.")
    ] = MAX_NODES,
    timeout: Timeout = None,
    memory: Memory = None,
    fixpoint: Fixpoint = "saturation",
    output: Format = "text",
) -> int:
    """Draw the graph that a check explores: aggregates with their numbers of states, and the counterexample's way.

    \b
    aggmc graph mutex.dve --ltl 'G F P_0.CS' --product slap -o slap.svg
    aggmc graph mutex.dve --ltl 'G F P_0.CS' --product sog-tgta -o sog.html
    """
    if out is not None:
        drawing_of(out)
    limits = limits_of(timeout, memory)
    product = known_product(product)
    progress = Progress(sys.stderr)
    loaded = read_model(model, limits, progress)
    options = Options(deadlock, fixpoint, graph=max_nodes, max_memory=limits.memory)
    asked = questions(loaded, written([ltl], None))
    warn(loaded.warnings)
    warn(warned for question in asked for warned in question.warnings)
    try:
        (answer,) = answers(loaded, ltl_queries(asked, product), options, limits, ticking(progress))
    finally:
        progress.clear()
    found = answer.verdict.graph
    if answer.failure is not None or found is None:  # a limit is no failure: the verdict is unknown
        raise answer.failure or LimitReached(answer.verdict.reason or "no graph was explored")
    if out is not None:
        write_text(out, DRAWINGS[drawing_of(out)](found, model))
    if output == "json":
        emit(to_json(graph_dict(model, answer.verdict.verdict, found)))
    elif out is None:
        emit(graph_text(found))
    else:
        note(f"note: {len(found.nodes)} of {found.explored_nodes} nodes: {out}")
    return HOLDS

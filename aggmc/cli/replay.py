"""`aggmc replay`."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from aggmc.checker import DEADLOCKS, ask
from aggmc.cli.codes import HOLDS, VIOLATED
from aggmc.cli.options import (
    AsLanes,
    AsTable,
    Format,
    FullRun,
    FullStates,
    Memory,
    ModelPath,
    Timeout,
    TraceFile,
    keep,
    limits_of,
    look_of,
    read_model,
    view_of,
)
from aggmc.cli.streams import emit, ticking, warn
from aggmc.errors import Location
from aggmc.model.load import read_text
from aggmc.progress import Progress
from aggmc.report import replay_dict, replay_text, to_json
from aggmc.run import recheck_file
from aggmc.trace.formats.all import ending_of, read
from aggmc.trace.formats.document import Document


def replay(
    model: ModelPath,
    run: Annotated[str, typer.Argument(metavar="TRACE", help="A run, in a file .json or .itf.json.")],
    ltl: Annotated[
        str | None,
        typer.Option(metavar="FORMULA", help="The property that the run should violate; by default the file's own."),
    ] = None,
    deadlock: Annotated[
        Literal["stutter", "ignore", "error"] | None,
        typer.Option(help="Whether a deadlock may be repeated (stutter); by default as the file says."),
    ] = None,
    timeout: Timeout = None,
    memory: Memory = None,
    output: Format = "text",
    full_states: FullStates = False,
    full_run: FullRun = False,
    table: AsTable = False,
    lanes: AsLanes = False,
    trace: TraceFile = None,
) -> int:
    """Check a run step by step against a model and a property, and say where it goes wrong.

    Exit code 0 if the file has a run of the model that violates the property (if there is one), 1 if not.

    \b
    aggmc check mutex.dve --ltl 'G F P_0.CS' --trace run.json
    aggmc replay mutex.dve run.json
    aggmc replay mutex.dve run.itf.json --ltl 'G F P_1.CS' --table
    """
    view, look = view_of(table, lanes), look_of(full_states, full_run)
    ending_of(run, to_read=True)
    if trace is not None:
        ending_of(trace)
    limits = limits_of(timeout, memory)
    progress = Progress(sys.stderr)
    loaded = read_model(model, limits, progress)
    warn(loaded.warnings)
    claim = read(run, read_text(run))
    formula = ltl if ltl is not None else claim.property if claim.kind == "ltl" else None
    where = Location("--ltl") if ltl is not None else Location(run)
    question = ask(loaded, formula, where=where) if formula is not None else None
    if question is not None:
        warn(question.warnings)
    meant = deadlock or (claim.deadlock if claim.deadlock in DEADLOCKS else None) or "stutter"
    try:
        found = recheck_file(loaded, claim, question, meant, limits, ticking(progress))
    finally:
        progress.clear()
    if trace is not None and found.trace is not None:
        kind = "ltl" if found.violates else claim.kind if formula is None and claim.kind else "simulation"
        name = formula if found.violates else claim.property if formula is None else None
        keep(trace, Document(found.trace, model, loaded.language, kind, name, meant), [])
    if output == "json":
        emit(to_json(replay_dict(model, run, formula, meant, found)))
    else:
        emit(replay_text(run, formula, found, view, look))
    return HOLDS if found.complaint is None else VIOLATED

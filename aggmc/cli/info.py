"""`aggmc info`."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from aggmc.checker import Options
from aggmc.cli.codes import HOLDS, UNKNOWN
from aggmc.cli.options import (
    Fixpoint,
    Format,
    Memory,
    ModelPath,
    Order,
    OrderFile,
    Reordering,
    Timeout,
    limits_of,
    order_of,
    read_model,
)
from aggmc.cli.streams import emit, note, ticking, warn
from aggmc.errors import AggmcError, InputError
from aggmc.info import Info, gather
from aggmc.progress import Progress
from aggmc.report import info_text, to_json


def info(
    model: ModelPath = "",
    engine: Annotated[
        bool, typer.Option("--engine", help="Say which engine computes sets of states, and why; no model is needed.")
    ] = False,
    show: Annotated[
        Literal["all", "order"],
        typer.Option(
            "--show", help="Show all, or only the order of the variables in which it ended: a file for --order-file."
        ),
    ] = "all",
    timeout: Timeout = None,
    memory: Memory = None,
    fixpoint: Fixpoint = "saturation",
    reordering: Reordering = None,
    order: Order = "auto",
    order_file: OrderFile = None,
    output: Format = "text",
) -> int:
    """Show the processes, variables and events of a model, and count its reachable states.

    \b
    aggmc info mutex.dve
    aggmc info phils.dve --format json --timeout 60
    aggmc info phils.dve --show order > phils.order
    aggmc info --engine
    """
    if engine:
        return _engine(as_json=output == "json")
    if not model:
        raise InputError("missing argument MODEL (try `aggmc info --help`)")
    limits = limits_of(timeout, memory)
    progress = Progress(sys.stderr)
    loaded = read_model(model, limits, progress)
    warn(loaded.warnings)
    try:
        facts, failure = gather(
            loaded,
            Options(
                fixpoint=fixpoint,
                reordering=reordering,
                order=order_of(order, order_file),
                max_memory=limits.memory,
            ),
            limits,
            ticking(progress),
        )
    finally:
        progress.clear()
    if failure is not None:
        if not isinstance(failure, AggmcError) or facts.states is None:
            raise failure
        note(f"warning: an error of the model is reachable: {failure}")
    if show == "order":
        _order(facts, as_json=output == "json")
    else:
        emit(to_json(facts.to_dict()) if output == "json" else info_text(facts))
    return HOLDS if facts.reason is None else UNKNOWN


def _order(facts: Info, *, as_json: bool) -> None:
    if as_json:
        emit(to_json({"model": facts.model, "order": facts.order, "reason": facts.reason}))
        return
    if facts.reason is not None:
        note(f"warning: {facts.reason}")
    emit("\n".join(facts.order or ()))


def _engine(*, as_json: bool) -> int:
    from aggmc.symbolic.engine import chosen

    found = chosen()
    facts = {"engine": found.engine, "reason": found.reason}
    emit(to_json(facts) if as_json else f"engine: {found.engine} ({found.reason})")
    return HOLDS

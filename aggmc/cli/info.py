"""`aggmc info`."""

from __future__ import annotations

import sys

from aggmc.checker import Options
from aggmc.cli.codes import HOLDS, UNKNOWN
from aggmc.cli.options import Fixpoint, Format, Memory, ModelPath, Reordering, Timeout, limits_of, read_model
from aggmc.cli.streams import emit, note, ticking, warn
from aggmc.errors import AggmcError
from aggmc.info import gather
from aggmc.progress import Progress
from aggmc.report import info_text, to_json


def info(
    model: ModelPath,
    timeout: Timeout = None,
    memory: Memory = None,
    fixpoint: Fixpoint = "saturation",
    reordering: Reordering = False,
    output: Format = "text",
) -> int:
    """Show the processes, variables and events of a model, and count its reachable states.

    \b
    aggmc info mutex.dve
    aggmc info phils.dve --format json --timeout 60
    """
    limits = limits_of(timeout, memory)
    progress = Progress(sys.stderr)
    loaded = read_model(model, limits, progress)
    warn(loaded.warnings)
    try:
        facts, failure = gather(
            loaded,
            Options(fixpoint=fixpoint, reordering=reordering, max_memory=limits.memory),
            limits,
            ticking(progress),
        )
    finally:
        progress.clear()
    if failure is not None:
        if not isinstance(failure, AggmcError) or facts.states is None:
            raise failure
        note(f"warning: an error of the model is reachable: {failure}")
    emit(to_json(facts.to_dict()) if output == "json" else info_text(facts))
    return HOLDS if facts.reason is None else UNKNOWN

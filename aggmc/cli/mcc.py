"""`aggmc mcc`."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer

from aggmc.cli.codes import HOLDS, UNKNOWN
from aggmc.cli.options import Format, Memory, limits_of
from aggmc.cli.streams import emit, note, ticking, warn
from aggmc.limits import Limits, watched
from aggmc.progress import Progress
from aggmc.report import to_json


def mcc(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="A directory with model.pnml and property files.")],
    examination: Annotated[
        str, typer.Option(metavar="NAME", help="What is asked; its properties are in DIR/NAME.xml.")
    ],
    properties: Annotated[str | None, typer.Option(metavar="FILE", help="Another file of properties.")] = None,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="The time for all properties together.")
    ] = None,
    memory: Memory = None,
    output: Format = "text",
) -> int:
    """Answer an examination of the Model Checking Contest, in the contest's own lines.

    Examinations: LTLCardinality, LTLFireability, ReachabilityCardinality, ReachabilityFireability, UpperBounds,
    StateSpace, ReachabilityDeadlock, OneSafe. The exit code is 0 if all is answered, else 3.

    \b
    aggmc mcc Philosophers-PT-000005 --examination LTLFireability --timeout 3600
    aggmc mcc Philosophers-PT-000005 --examination StateSpace
    """
    from aggmc.contest.examine import EXAMINATIONS, FORMULAS, Result, examine, load_examination
    from aggmc.errors import InputError, did_you_mean

    if examination not in EXAMINATIONS:
        hint = did_you_mean(examination, EXAMINATIONS)
        raise InputError(f"examination `{examination}` is not known{hint}: it is one of {', '.join(EXAMINATIONS)}")
    if properties is not None and examination not in FORMULAS:
        raise InputError(f"{examination} has no properties: leave out --properties")
    started = time.monotonic()
    limits = limits_of(timeout, memory)
    progress = Progress(sys.stderr)
    try:
        with watched("reading the net", limits, ticking(progress)):
            asked = load_examination(directory, examination, properties)
    finally:
        progress.clear()
    warn(asked.model.warnings)
    left = None if limits.seconds is None else max(0.01, limits.seconds - (time.monotonic() - started))
    found: list[Result] = []
    try:
        for result in examine(asked, Limits(left, limits.memory), ticking(progress)):
            progress.clear()
            found.append(result)
            if result.problem is not None:
                note(f"{result.name}: {result.problem}")
            if output == "text" and not emit("\n".join(result.lines())):
                break
            progress.prefix = f"{len(found)} answered: "
    finally:
        progress.clear()
    if output == "json":
        content = {"examination": examination, "net": asked.model.name, "results": [r.to_dict() for r in found]}
        emit(to_json(content))
    return HOLDS if all(r.values is not None for r in found) else UNKNOWN

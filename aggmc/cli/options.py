"""Options that several commands share, and what they become."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from shutil import get_terminal_size
from typing import Annotated, Literal

import typer

from aggmc.checker import METHODS, PRODUCTS
from aggmc.cli.race import NAME as RACE
from aggmc.cli.streams import note, ticking
from aggmc.errors import InputError, did_you_mean
from aggmc.files import write_text
from aggmc.limits import Limits, parse_memory, watched
from aggmc.model.core import Model
from aggmc.model.load import load_model, read_text
from aggmc.progress import Progress
from aggmc.racing import DEFAULT
from aggmc.trace.formats.all import ending_of, write
from aggmc.trace.formats.document import Document
from aggmc.trace.views.common import Look

Format = Annotated[Literal["text", "json"], typer.Option("--format", help="How results are written.")]
Timeout = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="Give up after this time; `check` counts it for each property.")
]
Memory = Annotated[
    str | None, typer.Option(metavar="MB", help="Give up above this much memory: a number of MB, or as in 500M or 2G.")
]
Fixpoint = Annotated[Literal["saturation", "chaining"], typer.Option(help="How sets of reachable states are computed.")]
Reordering = Annotated[
    bool | None,
    typer.Option(
        "--reordering/--no-reordering",
        help="Let diagrams that grow change the order of their variables, or not (by default, the native engine does).",
    ),
]
Order = Annotated[
    Literal["auto", "declared", "force", "span"],
    typer.Option("--order", help="How the variables of the decision diagrams are ordered at first."),
]
OrderFile = Annotated[
    str | None,
    typer.Option("--order-file", metavar="FILE", help="The variables in order, a name a line; those left out follow."),
]
ModelPath = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", help="A model: DVE (.dve), a net (.pnml), tables (.etf), or a Kripke structure (.hoa)."
    ),
]


FullStates = Annotated[bool, typer.Option("--full-states", help="Show every variable, not only what changes.")]
FullRun = Annotated[
    bool, typer.Option("--full-run", help="Show also what follows when a finite run has already shown the violation.")
]
AsTable = Annotated[bool, typer.Option("--table", help="Show runs as tables: variables down, steps across.")]
AsLanes = Annotated[bool, typer.Option("--lanes", help="Show runs with a column for each process.")]


TraceFile = Annotated[
    str | None,
    typer.Option(
        "--trace",
        metavar="FILE",
        help="Write the run to a file (.json, .itf.json, .xml, .dot, .txt); further ones to FILE-2, FILE-3, …",
    ),
]


HtmlFile = Annotated[
    str | None,
    typer.Option("--html", metavar="FILE", help="Write a report to step through the run in a browser."),
]


def keep_report(path: str, text: str, document: Document, written: list[str]) -> None:
    """Write a report, or one with a number if there is one already; says so."""
    if written:
        stem, dot, ending = path.rpartition(".")
        path = f"{stem}-{len(written) + 1}.{ending}" if dot else f"{path}-{len(written) + 1}"
    write_text(path, text)
    written.append(path)
    note(f"note: {document.title}: {path}")


def keep(path: str | None, document: Document | None, written: list[str]) -> None:
    """Write a run to a file, or to one with a number if there is one already; says so."""
    if path is None or document is None:
        return
    if written:
        ending = ending_of(path)
        path = f"{path[: -len(ending)]}-{len(written) + 1}{path[-len(ending) :]}"
    write_text(path, write(path, document))
    written.append(path)
    note(f"note: {document.title}: {path}")


def view_of(table: bool, lanes: bool) -> str:
    """The view that was asked for."""
    if table and lanes:
        raise InputError("--table and --lanes exclude each other")
    return "table" if table else "lanes" if lanes else "steps"


def look_of(full_states: bool, full_run: bool) -> Look:
    """How runs are shown: in colour, and as wide as it is, on a terminal only."""
    if sys.stdout is None or not sys.stdout.isatty():
        return Look(full_states, full_run)
    colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Look(full_states, full_run, colour, max(40, get_terminal_size((100, 24)).columns))


def limits_of(timeout: float | None, memory: str | None) -> Limits:
    """The limits that were asked for."""
    return Limits(timeout, parse_memory(memory) if memory is not None else None)


def known_product(name: str, known: Sequence[str] = PRODUCTS) -> str:
    """The name, if there is such a product."""
    if name not in known:
        raise InputError(f"product `{name}` is not known{did_you_mean(name, known)}: it is one of {', '.join(known)}")
    return name


def read_model(path: str, limits: Limits, progress: Progress) -> Model:
    """A model from its file, under the limits."""
    try:
        with watched("reading the model", limits, ticking(progress)):
            return load_model(path)
    finally:
        progress.clear()


def order_of(order: str, file: str | None) -> str | tuple[str, ...]:
    """A way to order the variables, or their names as a file gives them (`#` begins a comment)."""
    if file is None:
        return order
    lines = (line.partition("#")[0].strip() for line in read_text(file).split("\n"))
    return tuple(line for line in lines if line)


def products_help(*, race: bool = False) -> str:
    """The list of products, for a page of help."""
    lines = {"auto": "chosen for the property; the result names it"}
    lines |= {name: method.help for name, method in METHODS.items()}
    if race:
        lines[RACE] = f"{' and '.join(DEFAULT)} at once; the first verdict wins"
    width = max(map(len, lines))
    return "\b\nProducts:\n" + "\n".join(f"  {name:<{width}}  {text}" for name, text in lines.items())

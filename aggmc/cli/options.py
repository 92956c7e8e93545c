"""Options that several commands share, and what they become."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from aggmc.checker import METHODS, PRODUCTS
from aggmc.cli.streams import ticking
from aggmc.errors import InputError, did_you_mean
from aggmc.limits import Limits, parse_memory, watched
from aggmc.model.core import Model
from aggmc.model.load import load_model
from aggmc.progress import Progress

Format = Annotated[Literal["text", "json"], typer.Option("--format", help="How results are written.")]
Timeout = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="Give up after this time; `check` counts it for each property.")
]
Memory = Annotated[
    str | None, typer.Option(metavar="MB", help="Give up above this much memory: a number of MB, or as in 500M or 2G.")
]
Fixpoint = Annotated[Literal["saturation", "chaining"], typer.Option(help="How sets of reachable states are computed.")]
Reordering = Annotated[
    bool, typer.Option("--reordering", help="Let the decision diagrams change their variable order.")
]
ModelPath = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", help="A model: DVE (.dve), a net (.pnml), tables (.etf), or a Kripke structure (.hoa)."
    ),
]


def limits_of(timeout: float | None, memory: str | None) -> Limits:
    """The limits that were asked for."""
    return Limits(timeout, parse_memory(memory) if memory is not None else None)


def known_product(name: str) -> str:
    """The name, if there is such a product."""
    if name not in PRODUCTS:
        raise InputError(
            f"product `{name}` is not known{did_you_mean(name, PRODUCTS)}: it is one of {', '.join(PRODUCTS)}"
        )
    return name


def read_model(path: str, limits: Limits, progress: Progress) -> Model:
    """A model from its file, under the limits."""
    try:
        with watched("reading the model", limits, ticking(progress)):
            return load_model(path)
    finally:
        progress.clear()


def products_help() -> str:
    """The list of products, for a page of help."""
    lines = {"auto": "chosen for the property; the result names it"}
    lines |= {name: method.help for name, method in METHODS.items()}
    width = max(map(len, lines))
    return "\b\nProducts:\n" + "\n".join(f"  {name:<{width}}  {text}" for name, text in lines.items())

"""The front-end for DVE, the language of DiVinE and of the BEEM models."""

from __future__ import annotations

from aggmc.errors import InputError, Location
from aggmc.model.core import Model
from aggmc.model.dve.lowering import lower
from aggmc.model.dve.parser import parse_model
from aggmc.model.dve.propositions import DveFrontend
from aggmc.model.dve.typing import resolve

__all__ = ["load"]


def load(text: str, path: str | None) -> Model:
    """Read a DVE model; raises InputError, with a place in the text, if it is none."""
    try:
        program = resolve(parse_model(text, path))
        return lower(program, DveFrontend(program))
    except RecursionError:  # the limits on nesting should come first; this is the net below them
        raise InputError("the model is nested too deeply to be read", Location(path)) from None

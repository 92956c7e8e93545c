"""The front-end for Petri nets in PNML: place/transition nets, and coloured (symmetric) ones, which are unfolded."""

from __future__ import annotations

from aggmc.model.core import Model
from aggmc.model.pnml.frontend import model_of
from aggmc.model.pnml.reader import read

__all__ = ["load"]


def load(text: str, path: str | None) -> Model:
    """Read a net; raises InputError, with its line, if it is none."""
    return model_of(read(text, path), text, path)

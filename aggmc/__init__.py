"""aggmc: a hybrid LTL model checker on graphs of symbolic aggregates.

    >>> import aggmc
    >>> model = aggmc.load_model("mutex.dve")           # doctest: +SKIP
    >>> aggmc.check(model, "G F P_0.CS").verdict        # doctest: +SKIP
    'violated'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aggmc.checker import PRODUCTS, Verdict, automaton, check
    from aggmc.errors import AggmcError, InputError, InternalError, LimitReached, ModelError, UnsupportedError
    from aggmc.model.core import Model
    from aggmc.model.load import load_model
    from aggmc.racing import RaceVerdict, race
    from aggmc.trace.trace import Trace

__version__ = "0.1.0"

__all__ = [
    "PRODUCTS",
    "AggmcError",
    "InputError",
    "InternalError",
    "LimitReached",
    "Model",
    "ModelError",
    "RaceVerdict",
    "Trace",
    "UnsupportedError",
    "Verdict",
    "automaton",
    "check",
    "load_model",
    "race",
]

_HOME = {
    "PRODUCTS": "aggmc.checker",
    "Verdict": "aggmc.checker",
    "automaton": "aggmc.checker",
    "check": "aggmc.checker",
    "Model": "aggmc.model.core",
    "load_model": "aggmc.model.load",
    "race": "aggmc.racing",
    "RaceVerdict": "aggmc.racing",
    "Trace": "aggmc.trace.trace",
}


def __getattr__(name: str) -> object:
    """The engines take a while to load: not before they are needed."""
    if name not in __all__:
        raise AttributeError(f"module 'aggmc' has no attribute {name!r}")
    return getattr(import_module(_HOME.get(name, "aggmc.errors")), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]

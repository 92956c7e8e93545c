"""The front-end for ETF, the table format of LTSmin.

The grammar is that of LTSmin's manual page etf(5): sections `state`, `edge`, `init`, `trans`, `map`, `sort`, one entry
a line. A column is a variable; a `trans` section lists, for the columns that it touches, values before and after a
step. A column's values are numbers; if its sort has values, number k is shown as the k-th of them, and `P.loc` says
that column P has the value `loc`. A backslash in a name escapes the character that follows.
"""

from __future__ import annotations

from aggmc.model.core import Model
from aggmc.model.etf.frontend import model_of
from aggmc.model.etf.reader import read

__all__ = ["load"]


def load(text: str, path: str | None) -> Model:
    """Read an ETF file; raises InputError, with its line, if it is none."""
    return model_of(read(text, path), text, path)

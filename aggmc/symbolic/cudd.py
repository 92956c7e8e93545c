"""dd's binding of CUDD, imported when it is needed first."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from aggmc.errors import AggmcError


@cache
def cudd() -> Any:
    """The module `dd.cudd`.

    dd looks for networkx, for conversions that are not used here, and takes three times as long to import if it is
    there. So it is hidden meanwhile.
    """
    hidden = "networkx" not in sys.modules
    if hidden:
        sys.modules["networkx"] = None  # type: ignore[assignment]
    try:
        from dd import cudd as module
    except ImportError as error:
        raise AggmcError(f"dd was installed without CUDD, which aggmc needs ({error})") from None
    finally:
        if hidden:
            del sys.modules["networkx"]
    refused = getattr(sys.modules.get("dd._utils"), "_nx_error", None)
    if refused is not None:  # dd keeps it, and with it our callers' frames and all that is in them
        refused.__traceback__ = None
    return module

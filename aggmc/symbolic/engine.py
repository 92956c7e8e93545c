"""Which engine computes fixpoints: the native kernel where it was built and dd is as it expects, else Python.

`AGGMC_ENGINE=native` or `python` forces one. The kernel works on dd's own CUDD manager; what it assumes of dd is
verified each time it is given a manager, and anything unexpected means Python, with the reason.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from aggmc.errors import AggmcError
from aggmc.symbolic.bitvector import Bdd
from aggmc.symbolic.cudd import cudd
from aggmc.symbolic.relation import Relation

ENGINES = ("native", "python")
_VARIABLE = "AGGMC_ENGINE"
_DD_VERSION = "0.6.0"
KEY_BITS = 24  # variables below all others, whose cubes name lists of events


@dataclass(frozen=True, slots=True)
class Choice:
    """An engine, and why it is the one."""

    engine: str
    reason: str


def chosen() -> Choice:
    """The engine that runs; raises AggmcError if the one that is asked for cannot."""
    asked = os.environ.get(_VARIABLE, "")
    if asked not in ("", *ENGINES):
        raise AggmcError(f"{_VARIABLE} is `{asked}`: it is one of {', '.join(ENGINES)}")
    if asked == "python":
        return Choice("python", f"{_VARIABLE} says so")
    trouble = _trouble()
    if trouble is None:
        return Choice("native", f"{_VARIABLE} says so" if asked else "it was built, and dd is as it expects")
    if asked == "native":
        raise AggmcError(f"{_VARIABLE} asks for the native engine, which cannot run: {trouble}")
    return Choice("python", trouble)


@cache
def _trouble() -> str | None:
    """Why the native engine cannot run; None if it can."""
    library = cudd()
    import dd

    if dd.__version__ != _DD_VERSION:
        return f"dd is version {dd.__version__}; the native engine was made for {_DD_VERSION}"
    bdd = library.BDD()
    bdd.configure(reordering=False)
    bdd.declare("x0", "y0")
    try:
        _kernel(bdd)
    except ImportError as error:
        return f"it was not built when aggmc was installed ({error})"
    except (RuntimeError, ValueError, OSError) as error:
        return str(error)
    return None


def _kernel(bdd: Any) -> Any:
    module = import_module("aggmc.symbolic._kernel")
    return module.Kernel(cudd().__file__, bdd, bdd.true, bdd.var("x0"))


class NativeKernel:
    """The native engine on one manager."""

    def __init__(self, bdd: Any, bit_count: int, y: Sequence[Bdd]) -> None:
        self._kernel = _kernel(bdd)
        self._bdd = bdd
        self._key_level = 2 * bit_count
        self._y = y
        self._lists = 0
        self._keys = [bdd.var(f"key{k}") for k in range(KEY_BITS)]

    def nodes(self) -> int:
        """How many nodes the manager holds: as dd says, which takes a thousand times as long to say it."""
        return int(self._kernel.nodes())

    def group_pairs(self) -> None:
        """Let the order of the pairs x, y change, but not that within a pair; the keys stay below all of them."""
        bits = self._key_level // 2
        self._kernel.group(0, 2 * bits + KEY_BITS, True)
        self._kernel.group(0, 2 * bits, False)
        self._kernel.group(2 * bits, KEY_BITS, True)
        for k in range(bits):
            self._kernel.group(2 * k, 2, True)

    def steps(self, relations: Sequence[Relation]) -> Any:
        """The operator of a list of relations (`Steps`)."""
        key = self._new_key()
        cubes: dict[tuple[int, ...], Bdd] = {(): key}
        pairs = []
        for r in relations:
            pairs.append((r.bdd, self._cube(r.writes, cubes)))
        return self._kernel.events(pairs, key, self._key_level)

    def _cube(self, writes: tuple[int, ...], cubes: dict[tuple[int, ...], Bdd]) -> Bdd:
        found = cubes.get(writes)
        if found is None:
            found = cubes[()]
            for k in reversed(writes):  # from the last level upwards: each conjunction adds one node
                found = self._y[k] & found
            cubes[writes] = found
        return found

    def _new_key(self) -> Bdd:
        """A cube that no other list has; of positive literals, as the kernel walks down its cubes."""
        self._lists += 1
        if self._lists >> KEY_BITS:
            raise AggmcError("too many lists of events in one manager")
        key = self._bdd.true
        for k in reversed(range(KEY_BITS)):
            if (self._lists >> k) & 1:
                key = key & self._keys[k]
        return key


def kernel_for(bdd: Any, bit_count: int, y: Sequence[Bdd]) -> NativeKernel | None:
    """The native engine on a manager with the bits declared (x0, y0, x1, …); None if Python is to do it."""
    if bit_count == 0 or chosen().engine != "native":
        return None
    bdd.declare(*(f"key{k}" for k in range(KEY_BITS)))
    return NativeKernel(bdd, bit_count, y)

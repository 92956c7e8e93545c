"""Products that misbehave, to be put into the table of products; children are forked, and inherit it."""

from __future__ import annotations

import faulthandler
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from aggmc.checker import METHODS

MB = 1 << 20
RIGHT = dict(METHODS)


def stuck(*_: object, **__: object) -> Any:
    while True:
        time.sleep(1)


def stubborn(*_: object, **__: object) -> Any:
    """Nothing but SIGKILL ends it."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    stuck()


def killed(*_: object, **__: object) -> Any:
    faulthandler.disable()  # pytest's: it would tell
    os.kill(os.getpid(), signal.SIGKILL)


def hungry(*_: object, **__: object) -> Any:
    kept = []
    while True:
        kept.append(b"x" * MB)
        time.sleep(0.0005)


def greedy(*_: object, **__: object) -> Any:
    raise MemoryError


def buggy(*_: object, **__: object) -> Any:
    raise KeyError("lost")


def gone(*_: object, **__: object) -> Any:
    os._exit(3)


def liar(kripke: Any, automaton: Any, **_: Any) -> Any:
    """It sees no initial node, and so no violation."""
    product = RIGHT["slap"].build(kripke, automaton)

    class Blind:
        marks = product.marks

        def initial(self) -> Iterator[Any]:
            return iter(())

        def __getattr__(self, name: str) -> Any:
            return getattr(product, name)

    return Blind()


def late(build: Callable[..., Any], seconds: float) -> Callable[..., Any]:
    def wait(kripke: Any, automaton: Any, **settings: Any) -> Any:
        time.sleep(seconds)
        return build(kripke, automaton, **settings)

    return wait


def put(patch: pytest.MonkeyPatch, **builds: Callable[..., Any]) -> None:
    """Replace products; `slap_tgta` stands for slap-tgta."""
    for name, build in builds.items():
        product = name.replace("_", "-")
        patch.setitem(METHODS, product, replace(METHODS[product], build=build))


def no_children() -> bool:
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return True
    return False

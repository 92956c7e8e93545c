"""The program starts fast: libraries are imported when they are needed."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module

import pytest

from aggmc.cli.program import COMMANDS

HEAVY = ("dd", "spot", "lark", "rich", "networkx", "xml", "distributed")


def seconds(command: Sequence[str]) -> float:
    """Of the processor, for a command; the least of some runs."""
    found = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *command], check=True, capture_output=True, timeout=60)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def test_help_is_quick() -> None:
    # 0.15 s on an idle machine; here other tests may run on the same core
    assert seconds(["-m", "aggmc", "--help"]) - seconds(["-c", "pass"]) < 0.25


def test_commands_are_told_in_a_line() -> None:
    for name, line in COMMANDS.items():
        function = getattr(import_module(f"aggmc.cli.{name}"), name)
        assert line[-1] == "." and len(line) < 100
        assert function.__doc__ and function.__doc__.strip()[:12] == line[:12]  # it goes on with more


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["--version"]])
def test_help_imports_no_engine(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom aggmc.cli.program import main\n"
        f"main({arguments!r})\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    assert done.stderr.strip() == "[]"


CTRL_C_IN_A_CALLBACK = """
import os, signal, sys
sys.argv = ["aggmc"]
import aggmc.__main__, aggmc.cli.program

class Dying:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

def endless():
    Dying()
    while True:
        pass

aggmc.cli.program.main = endless
aggmc.__main__.main()
"""


def test_an_interrupt_while_an_object_dies_is_not_lost() -> None:
    """Python prints what is raised there, and goes on."""
    done = subprocess.run([sys.executable, "-c", CTRL_C_IN_A_CALLBACK], capture_output=True, timeout=20, check=False)
    assert (done.returncode, done.stderr) == (130, b"")

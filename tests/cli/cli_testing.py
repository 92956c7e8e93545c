"""Small models, and two ways to run the program: in this process, or as a program of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aggmc.cli.program import main

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "models"

# x goes round: 0 1 2 0 …
RING = """byte x;
process P {
  state a, b, c;
  init a;
  trans
    a -> b { effect x = 1; },
    b -> c { effect x = 2; },
    c -> a { effect x = 0; };
}
system async;
"""

# one step, and then nothing
DEAD = """byte x;
process P {
  state a, b;
  init a;
  trans a -> b { effect x = 1; };
}
system async;
"""

ASSERTS = """byte x;
process P {
  state a, b;
  init a;
  assert a: x < 3, b: x != 2;
  trans a -> b { effect x = (x + 1) % 3; }, b -> a { };
}
system async;
"""

# divides by zero in the third state
DIVIDES = """byte x = 2, y;
process P {
  state a, b;
  init a;
  trans
    a -> a { guard x > 0; effect x = x - 1; },
    a -> b { guard x == 0; effect y = 1 / x; };
}
system async;
"""

OUTSIDE = """byte i, cell[2];
process P {
  state a;
  init a;
  trans a -> a { effect cell[i] = 1, i = i + 1; };
}
system async;
"""

# the same errors, where no run comes
HARMLESS = """byte x = 1, y, cell[2];
process P {
  state a, b;
  init a;
  trans
    a -> a { guard x == 0; effect y = 1 / x, cell[x + 7] = 1; },
    a -> b { };
}
system async;
"""

RENDEZVOUS = """channel {byte} c;
byte got;
process S {
  byte n = 1;
  state idle, sent;
  init idle;
  trans idle -> sent { sync c!n + 4; };
}
process R {
  state wait, done;
  init wait;
  trans wait -> done { sync c?got; };
}
system async;
"""


def counters(number: int) -> str:
    """A model with 256 ** number states: state by state, it takes for ever; symbolically, no time."""
    variables = "".join(f"byte v{i};\n" for i in range(number))
    steps = ",\n".join(f"    a -> a {{ effect v{i} = v{i} + 1; }}" for i in range(number))
    return f"{variables}process P {{\n  state a;\n  init a;\n  trans\n{steps};\n}}\nsystem async;\n"


ENDLESS = counters(9)
FOR_EVER = ("--ltl", 'G "v0 < 256"', "--product", "tgba")  # of ENDLESS


class Ran(NamedTuple):
    """A run of the program."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture(name="run")
def run_fixture(capfd: pytest.CaptureFixture[str]) -> Run:
    """The program in this process, with its two streams (those of its children, too)."""

    def run(*arguments: str | Path) -> Ran:
        capfd.readouterr()
        code = main([str(a) for a in arguments])
        out, err = capfd.readouterr()
        return Ran(code, out, err)

    return run


Write = Callable[..., Path]


@pytest.fixture(name="write")
def write_fixture(tmp_path: Path) -> Write:
    """Writes a file for a test."""

    def write(text: str | bytes, name: str = "model.dve") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "aggmc", *map(str, arguments)]


def environment(**extra: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **extra}


def program(*arguments: str | Path, env: Mapping[str, str] | None = None, **options: Any) -> Ran:
    """The program as a process of its own."""
    done = subprocess.run(
        command(*arguments),
        stdin=subprocess.DEVNULL,
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=options.pop("stderr", subprocess.PIPE),
        text=True,
        timeout=60,
        env=environment(**(env or {})),
        check=False,
        **options,
    )
    return Ran(done.returncode, done.stdout or "", done.stderr or "")


def without_times(text: str) -> str:
    """Times are the only thing in which two runs may differ."""
    text = re.sub(r'"seconds": [0-9.e-]+', '"seconds": T', text)
    return re.sub(r"\b\d+\.\d{3} s\b", "T s", text)


def is_paragraph(text: str) -> bool:
    """What an error must look like: no blank line, no traceback, said once."""
    return (
        text.startswith("error: ")
        and text.endswith("\n")
        and "\n\n" not in text
        and "Traceback" not in text
        and text.count("\nerror: ") == 0
    )


# --- processes ------------------------------------------------------------------------------------------------------


def children(pid: int) -> list[int]:
    """The children that have not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            state, parent = _state(int(entry.name))
            if parent == pid and state not in ("Z", "X"):
                found.append(int(entry.name))
    return found


def alive(pid: int) -> bool:
    return _state(pid)[0] not in ("", "Z", "X")


def _state(pid: int) -> tuple[str, int]:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "", 0
    return fields[0], int(fields[1])


def wait_for(condition: Callable[[], object], seconds: float = 20.0) -> None:
    """Until it is so; fails if it does not become so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.01)

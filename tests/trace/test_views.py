"""What a run looks like as text: steps, table, lanes."""

from __future__ import annotations

import re

import pytest

from aggmc.checker import Checker, Options, check
from aggmc.model.dve import load as load_dve
from aggmc.trace.trace import Trace
from aggmc.trace.views.all import VIEWS, show
from aggmc.trace.views.common import Look

HANDSHAKE = """byte x = 1, still = 7;
channel {byte} c[0];
process P { state idle, busy; init idle;
  trans idle -> busy { guard x > 0; sync c!x + 1; },
        busy -> idle { guard x < 3; effect x = x + 1; }; }
process Q { byte got; state q; init q; trans q -> q { sync c?got; }; }
process R { state r, s; init r; trans r -> s { guard x > 2; }, s -> r { }; }
system async;
"""


def trace_of(formula: str, text: str = HANDSHAKE) -> Trace:
    trace = check(load_dve(text, "m.dve"), formula).trace
    assert trace is not None
    return trace


def test_lanes() -> None:
    trace = trace_of('"x < 3" U (G R.r)')
    text = show(trace, "lanes")
    head, *lines = text.splitlines()
    assert head.split() == ["P", "Q", "R"]
    meeting = next(line for line in lines if "=" in line)
    p, q, r = head.index("P"), head.index("Q"), head.index("R")
    assert meeting[p:].startswith("-> busy =")
    assert meeting[q:].startswith("at q =")
    assert meeting[r] == "."
    assert "(line 4, 6)" in meeting
    alone = next(line for line in lines if "-> s" in line)
    assert alone[r:].startswith("-> s")
    assert alone[p] == alone[q] == "."


def test_table_marks_what_changes() -> None:
    trace = trace_of('G "x < 3"')
    text = show(trace, "table")
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.startswith("  ")}
    values = [state["x"] for state in trace.states]
    shown = rows["x"]
    assert [int(v.rstrip("*")) for v in shown] == values[: len(shown)]
    for i, cell in enumerate(shown):
        assert cell.endswith("*") == (i > 0 and values[i] != values[i - 1])
    assert "still" not in rows
    assert rows["[x"][-1] == ".*"  # `[x < 3]` does not hold in the end
    assert "still" in show(trace, "table", Look(full_states=True))


def test_a_wide_table_is_cut() -> None:
    trace = trace_of('F G "x > 9"', HANDSHAKE)
    narrow = show(trace, "table", Look(full_run=True, width=40))
    assert all(len(line) <= 40 for line in narrow.split("\n  (")[0].splitlines())
    heads = re.findall(r"^  step (.*)$", narrow, re.M)
    assert len(heads) > 1
    numbers = [int(n.lstrip("|")) for head in heads for n in head.split()]
    assert numbers == list(range(len(trace.steps) + 1))
    assert [n for head in heads for n in head.split() if n.startswith("|")] == [
        f"|{i}" for i in range(len(trace.prefix) + 1, len(trace.steps) + 1)
    ]


def test_first_states_of_many_variables() -> None:
    """Only what changes or is asked for; all with --full-states."""
    many = HANDSHAKE.replace("byte x = 1", f"byte x = 1, {', '.join(f'v{i} = {i}' for i in range(30))}")
    trace = trace_of('G("x < 3" || "v7 == 9")', many)
    first = show(trace).splitlines()[0]
    assert "x=1" in first and "v7=7" in first and "v8=" not in first
    left = len(trace.initial) - first.count("=") + first.count("==") * 2
    assert f"{left} more that never change" in first
    assert "v8=8" in show(trace, "steps", Look(full_states=True)).splitlines()[0]


def test_full_states() -> None:
    trace = trace_of('G "x < 3"')
    lines = show(trace, "steps", Look(full_states=True)).splitlines()
    for state in trace.states[1 : trace.evidence.bad + 1]:  # type: ignore[union-attr]
        assert any(line.strip() == ", ".join(f"{n}={v}" for n, v in state.items()) for line in lines)


@pytest.mark.parametrize("view", VIEWS)
def test_colours_only_where_wanted(view: str) -> None:
    trace = trace_of('G "x < 3"')
    plain, painted = show(trace, view), show(trace, view, Look(colour=True))
    assert "\x1b" not in plain
    assert "\x1b[" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == plain


@pytest.mark.parametrize("view", VIEWS)
def test_finite_runs(view: str) -> None:
    """A run to a deadlock has no cycle, and no property."""
    text = HANDSHAKE.replace("guard x < 3; effect", "guard x < 2; effect")
    verdict = Checker(load_dve(text, "m.dve"), Options(deadlock="error")).deadlocks()
    assert verdict.trace is not None
    shown = show(verdict.trace, view)
    assert "for ever" not in shown
    assert "why" not in shown
    assert str(len(verdict.trace.prefix)) in shown

"""Reachable states: every model of `states.csv`, beside the times of other tools.

    python -m aggmc.bench.states ../shared/bench results.csv --jobs 2

The time is that of the processor from the model's text to the exact count, in the process, after imports. Exits with 1
if a count is wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aggmc.bench.harness import Row, geometric_mean, measure, number, read_table, run_all
from aggmc.checker import Checker, Options
from aggmc.limits import Limits
from aggmc.model.load import load_model

COLUMNS = ("model", "expected", "states", "deadlocks", "right", "seconds", "encode", "peak_mb", "bits", "nodes")
OTHERS = {"its-reach": "its_reach_s", "LTSmin symbolic": "ltsmin_symbolic_s", "LTSmin explicit": "ltsmin_explicit_s"}
_SLOW = 0.5  # seconds: below, the other tool's start-up is what was measured


def count_states(model: str, path: Path, states: str, deadlocks: str, limits: Limits) -> Row:
    """One row."""

    def work() -> dict[str, Any]:
        started = time.process_time()
        checker = Checker(load_model(path), Options(max_memory=limits.memory))
        _ = checker.encoding  # not the last one, if it turns out that a variable takes more values
        encoded = time.process_time() - started
        reachable = checker.reachable
        encoding = checker.encoding
        return {
            "states": encoding.count(reachable),
            "deadlocks": encoding.count(checker.kripke.dead(reachable)),
            "encode": f"{encoded:.3f}",
            "bits": encoding.bit_count,
            "nodes": len(reachable),
        }

    measured = measure(work, limits)
    row: dict[str, Any] = dict.fromkeys(COLUMNS, "")
    row.update(model=model, expected=states, states=measured.failure)
    row.update(measured.values)
    row.update(seconds=f"{measured.seconds:.3f}", peak_mb=f"{measured.peak_mb:.0f}")
    if not measured.failure and states.isdigit():
        same = str(row["states"]) == states and deadlocks in ("", str(row["deadlocks"]))  # empty: not known
        row["right"] = "yes" if same else "NO"
    return {key: str(value) for key, value in row.items()}


def summary(rows: Sequence[Row], known: Sequence[Row]) -> str:
    """Solved, wrong, and the ratio to each other tool over the models where that one needs half a second."""
    own = {row["model"]: row for row in rows}
    solved = [row for row in rows if row["states"].isdigit()]
    wrong = [row["model"] for row in rows if row["right"] == "NO" or row["states"].startswith("error")]
    lines = [f"{len(solved)} of {len(rows)} counted, {len(wrong)} wrong {' '.join(wrong)}"]
    for tool, column in OTHERS.items():
        ratios, lost = [], []
        for row in known:
            theirs = number(row[column])
            mine = own.get(row["model"])
            if theirs is None or mine is None:
                continue
            if not mine["states"].isdigit():
                lost.append(f"{row['model']} ({theirs:g} s)")
            elif theirs >= _SLOW:
                ratios.append(float(mine["seconds"]) / theirs)
        beaten = sum(1 for r in solved for k in known if k["model"] == r["model"] and k[column] == "timeout")
        lines.append(
            f"against {tool}: geometric mean {geometric_mean(ratios):.3f} over {len(ratios)} models of at least "
            f"{_SLOW} s there; {beaten} counted here only; counted there only: {', '.join(lost) or 'none'}"
        )
    return "\n".join(lines)


def table(rows: Sequence[Row], known: Sequence[Row]) -> str:
    """All results beside the other tools' seconds, as Markdown."""
    lines = [f"| model | states | s | MB | {' | '.join(OTHERS)} |", "| --- " * (4 + len(OTHERS)) + "|"]
    own = {row["model"]: row for row in rows}
    for other in known:
        if (row := own.get(other["model"])) is None:
            continue
        counted = row["states"].isdigit()
        cells = [row["model"], row["states"], row["seconds"] if counted else "", row["peak_mb"] if counted else ""]
        lines.append(f"| {' | '.join([*cells, *(other[column] for column in OTHERS.values())])} |")
    return "\n".join(lines)


def main() -> int:
    """Run and print the summary."""
    parser = argparse.ArgumentParser(description="Count the reachable states of the models in states.csv.")
    parser.add_argument("bench", type=Path, help="the folder of states.csv")
    parser.add_argument("out", type=Path, help="a CSV file for the results; an old one is completed")
    parser.add_argument("--small", action="store_true", help="only models marked small")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for each model")
    parser.add_argument("--memory", type=int, default=8192, help="MB for each model")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", help="a list of models, separated by commas")
    parser.add_argument("--table", action="store_true", help="print all results, too, as Markdown")
    arguments = parser.parse_args()
    limits = Limits(arguments.timeout, arguments.memory << 20)
    known = read_table(arguments.bench / "states.csv")
    jobs = [
        (row["model"], arguments.bench / "beem" / f"{row['model']}.dve", row["states"], row["deadlocks"], limits)
        for row in known
        if row["small"] == "yes" or not arguments.small
        if arguments.only is None or row["model"] in arguments.only.split(",")
    ]
    rows = list(run_all(jobs, count_states, arguments.out, COLUMNS, ("model",), arguments.jobs))
    print(summary(rows, known))
    if arguments.table:
        print(f"\n{table(rows, known)}")
    return 1 if any(row["right"] == "NO" or row["states"].startswith("error") for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

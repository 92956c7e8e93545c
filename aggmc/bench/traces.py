"""Counterexamples: how long they are before and after shortening, and what that takes, beside the check itself.

    python -m aggmc.bench.traces ../shared/bench traces.csv --products slap-tgta,tgba --every 10

Takes the violated pairs of `verdicts.csv` that are marked small. Exits with 1 if a pair has no counterexample, or if
one took longer than the check and one second.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from aggmc.bench.harness import Row, measure, read_table, run_all
from aggmc.checker import METHODS, SHORTENING, Checker, Options, ask, takes
from aggmc.limits import Limits
from aggmc.ltl.translate import prepare
from aggmc.model.load import load_model

KEYS = ("model", "prop", "product", "deadlock")
COLUMNS = (*KEYS, "outcome", "check_s", "trace_s", "found", "steps", "prefix", "cycle", "shortest")


def trace_pair(
    model: str, prop: str, product: str, deadlock: str, path: Path, formula: str, options: Options, limits: Limits
) -> Row:
    """One row."""

    def work() -> dict[str, Any]:
        loaded = load_model(path)
        question = ask(loaded, formula)
        if product != "auto" and not takes(prepare(question.parsed), product):
            return {"outcome": "refused"}
        started = time.process_time()
        found = Checker(loaded, replace(options, deadlock=deadlock)).ltl(question, product)
        seconds = time.process_time() - started
        if found.trace is None or found.trace_seconds is None:
            return {"outcome": found.verdict}
        prefix, cycle = len(found.trace.prefix), len(found.trace.cycle)
        return {
            "outcome": found.verdict,
            "check_s": f"{seconds - found.trace_seconds:.3f}",
            "trace_s": f"{found.trace_seconds:.3f}",
            "found": found.stats.found_steps,
            "steps": prefix + cycle,
            "prefix": prefix,
            "cycle": cycle,
            "shortest": found.stats.shortest,
        }

    measured = measure(work, limits)
    row: dict[str, Any] = dict.fromkeys(COLUMNS, "")
    row.update(model=model, prop=prop, product=product, deadlock=deadlock, outcome=measured.failure)
    row.update(measured.values)
    return {key: str(value) for key, value in row.items()}


def jobs(bench: Path, arguments: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    """All that is asked for."""
    limits = Limits(arguments.timeout, arguments.memory << 20)
    options = Options(shorten=arguments.shorten, max_memory=limits.memory)
    for deadlock in arguments.deadlock.split(","):
        violated = [
            pair
            for pair in read_table(bench / "verdicts.csv")
            if pair["small"] == "yes" and pair[f"verdict_{deadlock}"] == "violated"
        ]
        for pair in violated[:: arguments.every]:
            path = bench / "beem" / f"{pair['model']}.dve"
            for product in arguments.products.split(","):
                yield pair["model"], pair["prop"], product, deadlock, path, pair["formula"], options, limits


def is_slow(row: Row) -> bool:
    """Whether the counterexample took longer than the check and one second."""
    return bool(row["trace_s"]) and float(row["trace_s"]) > float(row["check_s"]) + 1


def summary(rows: Sequence[Row]) -> str:
    """Per product: lengths before and after, and times."""
    lines = ["product     deadlock  pairs traces  found  steps  median less  shortest  check s  trace s  max  slow"]
    for key in dict.fromkeys((row["product"], row["deadlock"]) for row in rows):
        own = [row for row in rows if (row["product"], row["deadlock"]) == key]
        traces = [row for row in own if row["outcome"] == "violated"]
        if not traces:
            continue
        found, steps = ([int(row[name]) for row in traces] for name in ("found", "steps"))
        less = [100 * (1 - s / f) for s, f in zip(steps, found, strict=True)]
        check, trace = ([float(row[name]) for row in traces] for name in ("check_s", "trace_s"))
        lines.append(
            f"{key[0]:<12}{key[1]:<9}{len(own):>6}{len(traces):>7}{statistics.median(found):>7.0f}"
            f"{statistics.median(steps):>7.0f}{statistics.median(less):>12.0f}%"
            f"{sum(row['shortest'] == 'True' for row in traces):>10}{sum(check):>9.1f}{sum(trace):>9.1f}"
            f"{max(trace):>5.1f}{sum(map(is_slow, traces)):>6}"
        )
    for row in rows:
        if row["outcome"] not in ("violated", "refused") or is_slow(row):
            lines.append(f"{' '.join(row[k] for k in (*KEYS, 'outcome', 'check_s', 'trace_s'))}")
    return "\n".join(lines)


def main() -> int:
    """Run and print the summary."""
    parser = argparse.ArgumentParser(description="Measure the counterexamples of violated pairs.")
    parser.add_argument("bench", type=Path, help="the folder of verdicts.csv")
    parser.add_argument("out", type=Path, help="a CSV file for the results; an old one is completed")
    parser.add_argument("--products", default=",".join(METHODS))
    parser.add_argument("--deadlock", default="stutter,ignore")
    parser.add_argument("--shorten", choices=list(SHORTENING), default="bounded")
    parser.add_argument("--every", type=int, default=1, help="take each n-th pair only")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for each check")
    parser.add_argument("--memory", type=int, default=4096, help="MB for each check")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    rows = list(
        run_all(jobs(arguments.bench, arguments), trace_pair, arguments.out, COLUMNS, KEYS, arguments.jobs)
    )
    print(summary(rows))
    wrong = [row for row in rows if row["outcome"] not in ("violated", "refused", "timeout", "memory")]
    return 1 if wrong or any(map(is_slow, rows)) else 0


if __name__ == "__main__":
    sys.exit(main())

"""Known verdicts: every pair of `verdicts.csv`, on every product that is asked for, with its counterexample.

    python -m aggmc.bench.verdicts ../shared/bench results.csv --products slap,slap-tgta --small --jobs 2

A pair is checked from the model's text to the replayed counterexample; `seconds` is all of that. A model is read and
encoded once (`setup_s`), in a process that forks another for each check: its own work on diagrams is `check_s`, without
what the counterexample takes after the violation is known (`trace_s`: extraction, shortening, replays). Exits with 1 if
a verdict is wrong or lacks its counterexample, or if one took longer than the check (with its setup) and a second.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aggmc.bench.harness import Row, Table, measure, read_table
from aggmc.checker import METHODS, SHORTENING, Checker, Options, ask, takes
from aggmc.limits import Limits
from aggmc.ltl.translate import prepare
from aggmc.model.load import load_model

KEYS = ("model", "prop", "product", "deadlock")
COLUMNS = (*KEYS, "expected", "verdict", "seconds", "setup_s", "check_s", "trace_s", "peak_mb", "aggregates", "edges",
           "found", "steps", "prefix", "cycle", "shortest")  # fmt: skip
ANSWERS = ("holds", "violated")


@dataclass(frozen=True, slots=True)
class Group:
    """The checks of one model under one meaning of deadlocks."""

    model: str
    deadlock: str
    path: Path
    checks: tuple[tuple[str, str, str, str], ...]  # property, product, expected verdict, formula


def check_group(group: Group, options: Options, limits: Limits, table: Table) -> None:
    """All rows of a group, written as they come; in a process that holds nothing but this model."""

    def session() -> dict[str, Any]:
        started = time.process_time()
        checker = Checker(load_model(group.path), replace(options, deadlock=group.deadlock))
        loaded = time.process_time() - started
        if any(not METHODS[product].explicit for _, product, _, _ in group.checks):
            _ = checker.encoding
        encoded = time.process_time() - started
        for check in group.checks:
            setup = loaded if METHODS[check[1]].explicit else encoded
            table.append(_row(group, check, checker, setup, limits))
        return {}

    failed = measure(session, Limits()).failure
    if failed:
        done = {tuple(row[k] for k in KEYS) for row in table.rows()}
        for check in group.checks:
            row = _empty(group, check)
            if tuple(row[k] for k in KEYS) not in done:
                table.append({**row, "verdict": failed})


def _empty(group: Group, check: tuple[str, str, str, str]) -> Row:
    prop, product, expected, _ = check
    given = {"model": group.model, "prop": prop, "product": product, "deadlock": group.deadlock, "expected": expected}
    return {**dict.fromkeys(COLUMNS, ""), **given}


def _row(group: Group, check: tuple[str, str, str, str], checker: Checker, spent: float, limits: Limits) -> Row:
    _, product, _, formula = check

    def work() -> dict[str, Any]:
        question = ask(checker.model, formula)
        if not takes(prepare(question.parsed), product):
            return {"verdict": "refused"}
        started = time.process_time()
        found = checker.ltl(question, product)
        seconds = time.process_time() - started
        trace, taken = found.trace, found.trace_seconds or 0.0
        row: dict[str, Any] = {
            "verdict": found.verdict,
            "check_s": f"{seconds - taken:.3f}",
            "aggregates": found.stats.aggregates,
            "edges": found.stats.edges,
        }
        if trace is not None:
            prefix, cycle = len(trace.prefix), len(trace.cycle)
            row.update(trace_s=f"{taken:.3f}", found=found.stats.found_steps, steps=prefix + cycle)
            row.update(prefix=prefix, cycle=cycle, shortest=found.stats.shortest)
        return row

    row: dict[str, Any] = _empty(group, check)
    if limits.seconds is not None and spent >= limits.seconds:
        row.update(verdict="timeout", seconds=f"{limits.seconds:.3f}")
    else:
        left = None if limits.seconds is None else limits.seconds - spent
        measured = measure(work, Limits(left, limits.memory))
        row.update(verdict=measured.failure)
        row.update(measured.values)
        row.update(seconds=f"{measured.seconds + spent:.3f}", peak_mb=f"{measured.peak_mb:.0f}")
    row.update(setup_s=f"{spent:.3f}")
    return {key: str(value) for key, value in row.items()}


def groups(bench: Path, arguments: argparse.Namespace, done: set[tuple[str, ...]]) -> Iterator[Group]:
    """All that is asked for and not done, the models in the order of the table."""
    pairs = [
        pair
        for pair in read_table(bench / "verdicts.csv")
        if not (arguments.small and pair["small"] != "yes") and not (arguments.large and pair["small"] == "yes")
    ][:: arguments.every]
    for model in dict.fromkeys(pair["model"] for pair in pairs):
        for deadlock in arguments.deadlock.split(","):
            checks = [
                (pair["prop"], product, pair[f"verdict_{deadlock}"], pair["formula"])
                for pair in pairs
                if pair["model"] == model
                for product in arguments.products.split(",")
                if (model, pair["prop"], product, deadlock) not in done
            ]
            if checks:
                yield Group(model, deadlock, bench / "beem" / f"{model}.dve", tuple(checks))


def is_wrong(row: Row) -> bool:
    """A verdict, or an error, where another verdict is known; a violation without a counterexample."""
    if row["verdict"].startswith("error") or (row["verdict"] == "violated" and not row["steps"]):
        return True
    return row["verdict"] in ANSWERS and row["expected"] not in ("", row["verdict"])


def is_slow(row: Row) -> bool:
    """Whether the counterexample took longer than the check and one second."""
    return bool(row["trace_s"]) and float(row["trace_s"]) > float(row["setup_s"]) + float(row["check_s"]) + 1


def summary(rows: Sequence[Row]) -> str:
    """Two tables, a line for each product and meaning of deadlocks: the verdicts, and the counterexamples."""
    by: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        by[row["product"], row["deadlock"]].append(row)
    verdicts = ["product          deadlock   pairs refused solved wrong unsure  total s  median    max  peak MB"]
    traces = ["product          deadlock  traces  found  steps  less shortest  check s  trace s  max s  slow"]
    for (product, deadlock), own in sorted(by.items()):
        name = f"{product:<17}{deadlock:<8}"
        solved = [r for r in own if r["verdict"] in ANSWERS]
        seconds = [float(r["seconds"]) for r in solved] or [0.0]
        verdicts.append(
            f"{name}{len(own):>8}{sum(r['verdict'] == 'refused' for r in own):>8}{len(solved):>7}"
            f"{sum(map(is_wrong, own)):>6}{sum(not r['expected'] for r in solved):>7}{sum(seconds):>9.1f}"
            f"{statistics.median(seconds):>8.2f}{max(seconds):>7.1f}{max(int(r['peak_mb'] or 0) for r in own):>9}"
        )
        shown = [r for r in solved if r["steps"]]
        if shown:
            found, steps = ([int(r[column]) for r in shown] for column in ("found", "steps"))
            less = [100 * (1 - s / f) for s, f in zip(steps, found, strict=True)]
            check, trace = ([float(r[column]) for r in shown] for column in ("check_s", "trace_s"))
            traces.append(
                f"{name}{len(shown):>8}{statistics.median(found):>7.0f}{statistics.median(steps):>7.0f}"
                f"{statistics.median(less):>5.0f}%{sum(r['shortest'] == 'True' for r in shown):>9}{sum(check):>9.1f}"
                f"{sum(trace):>9.1f}{max(trace):>7.1f}{sum(map(is_slow, shown)):>6}"
            )
    lines = [*verdicts, "", *traces, ""]
    for row in rows:
        pair = " ".join(row[k] for k in KEYS)
        if is_wrong(row):
            lines.append(f"WRONG: {pair}: {row['verdict']}, expected {row['expected']}")
        elif is_slow(row):
            lines.append(f"slow counterexample: {pair}: {row['setup_s']} + {row['check_s']} s, then {row['trace_s']} s")
        elif row["verdict"] not in (*ANSWERS, "refused"):
            lines.append(f"{row['verdict']}: {pair}")
    return "\n".join(lines)


def main() -> int:
    """Run and print the summary."""
    parser = argparse.ArgumentParser(description="Check the pairs of verdicts.csv and compare the verdicts.")
    parser.add_argument("bench", type=Path, help="the folder of verdicts.csv")
    parser.add_argument("out", type=Path, help="a CSV file for the results; an old one is completed")
    parser.add_argument("--products", default=",".join(n for n, m in METHODS.items() if not m.explicit))
    parser.add_argument("--deadlock", default="stutter,ignore")
    parser.add_argument("--small", action="store_true", help="only pairs marked small")
    parser.add_argument("--large", action="store_true", help="only the others")
    parser.add_argument("--every", type=int, default=1, help="take each n-th pair only")
    parser.add_argument("--shorten", choices=list(SHORTENING), default="bounded")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for each check")
    parser.add_argument("--memory", type=int, default=4096, help="MB for each check")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    table = Table(arguments.out, COLUMNS)
    limits = Limits(arguments.timeout, arguments.memory << 20)
    options = Options(shorten=arguments.shorten, max_memory=limits.memory)
    done = {tuple(row[k] for k in KEYS) for row in table.rows()}
    pool = ProcessPoolExecutor(arguments.jobs)
    try:
        waiting = [
            pool.submit(check_group, group, options, limits, table)
            for group in groups(arguments.bench, arguments, done)
        ]
        for future in as_completed(waiting):
            future.result()
    finally:
        pool.shutdown(cancel_futures=True)
    rows = table.rows()
    print(summary(rows))
    return 1 if any(is_wrong(row) or is_slow(row) for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

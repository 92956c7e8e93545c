"""Known verdicts: every pair of `verdicts.csv`, on every product that is asked for.

    python -m aggmc.bench.verdicts ../shared/bench results.csv --products slap,slap-tgta --small --jobs 2

A pair is checked from the model's text to the replayed counterexample. Exits with 1 if a verdict is wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from aggmc.bench.harness import Row, measure, read_table, run_all
from aggmc.checker import METHODS, Checker, Options, ask, takes
from aggmc.limits import Limits
from aggmc.ltl.translate import prepare
from aggmc.model.load import load_model

KEYS = ("model", "prop", "product", "deadlock")
COLUMNS = (*KEYS, "expected", "verdict", "seconds", "peak_mb", "aggregates", "edges", "prefix", "cycle")


def check_pair(
    model: str, prop: str, product: str, deadlock: str, expected: str, path: Path, formula: str, limits: Limits
) -> Row:
    """One row."""

    def work() -> dict[str, Any]:
        loaded = load_model(path)
        question = ask(loaded, formula)
        if product != "auto" and not takes(prepare(question.parsed), product):
            return {"verdict": "refused"}
        found = Checker(loaded, Options(deadlock=deadlock, max_memory=limits.memory)).ltl(question, product)
        trace = found.trace
        return {
            "verdict": found.verdict,
            "aggregates": found.stats.aggregates,
            "edges": found.stats.edges,
            "prefix": len(trace.prefix) if trace is not None else "",
            "cycle": len(trace.cycle) if trace is not None else "",
        }

    measured = measure(work, limits)
    row: dict[str, Any] = dict.fromkeys(COLUMNS, "")
    row.update(model=model, prop=prop, product=product, deadlock=deadlock, expected=expected)
    row.update(verdict=measured.failure)
    row.update(measured.values)
    row.update(seconds=f"{measured.seconds:.3f}", peak_mb=f"{measured.peak_mb:.0f}")
    return {key: str(value) for key, value in row.items()}


def jobs(bench: Path, arguments: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    """All that is asked for."""
    limits = Limits(arguments.timeout, arguments.memory << 20)
    for pair in read_table(bench / "verdicts.csv"):
        if (arguments.small and pair["small"] != "yes") or (arguments.large and pair["small"] == "yes"):
            continue
        path = bench / "beem" / f"{pair['model']}.dve"
        for product in arguments.products.split(","):
            for deadlock in arguments.deadlock.split(","):
                expected = pair[f"verdict_{deadlock}"]
                yield pair["model"], pair["prop"], product, deadlock, expected, path, pair["formula"], limits


def is_wrong(row: Row) -> bool:
    """A verdict, or an error, where another verdict is known."""
    if row["verdict"].startswith("error"):
        return True
    return row["verdict"] in ("holds", "violated") and row["expected"] not in ("", row["verdict"])


def summary(rows: Sequence[Row]) -> str:
    """Per product: pairs, solved, wrong, and the time of what was solved."""
    by: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        by[row["product"], row["deadlock"]].append(row)
    lines = ["product         deadlock  pairs refused solved wrong  total s   max s"]
    for (product, deadlock), own in by.items():
        solved = [r for r in own if r["verdict"] in ("holds", "violated")]
        seconds = [float(r["seconds"]) for r in solved]
        refused = sum(r["verdict"] == "refused" for r in own)
        wrong = sum(map(is_wrong, own))
        lines.append(
            f"{product:<16}{deadlock:<9}{len(own):>6}{refused:>8}{len(solved):>7}{wrong:>6}"
            f"{sum(seconds):>9.1f}{max(seconds, default=0):>8.1f}"
        )
    for row in rows:
        if is_wrong(row):
            lines.append(f"WRONG: {' '.join(row[k] for k in KEYS)}: {row['verdict']}, expected {row['expected']}")
        elif row["verdict"] in ("timeout", "memory"):
            lines.append(f"{row['verdict']}: {' '.join(row[k] for k in KEYS)}")
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
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for each check")
    parser.add_argument("--memory", type=int, default=4096, help="MB for each check")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    rows = list(
        run_all(jobs(arguments.bench, arguments), check_pair, arguments.out, COLUMNS, KEYS, arguments.jobs)
    )
    print(summary(rows))
    return 1 if any(map(is_wrong, rows)) else 0


if __name__ == "__main__":
    sys.exit(main())

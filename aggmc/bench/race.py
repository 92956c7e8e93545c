"""What a race costs: pairs of `verdicts.csv`, by a race and by each of its members alone.

    python -m aggmc.bench.race ../shared/bench race.csv --timeout 60               # all of them; on an idle machine
    python -m aggmc.bench.race ../shared/bench race.csv --sample 40 --budget 600   # some, in 600 s of processor time

Each is measured from the model's text to the replayed counterexample, one after another. `wall` are seconds of the
clock; `processor` those of the processor, for a race of the winner and of the program that waits for it, which hardly
depend on what else the machine does. Exits with 1 if a verdict is wrong.
"""

from __future__ import annotations

import argparse
import csv
import random
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from aggmc.bench.harness import Row, geometric_mean, read_table
from aggmc.checker import Checker, Options, ask
from aggmc.errors import LimitReached
from aggmc.limits import Limits, run_tasks
from aggmc.model.load import load_model
from aggmc.racing import DEFAULT, Field, compete

KEYS = ("model", "prop", "who")
COLUMNS = (*KEYS, "expected", "verdict", "winner", "wall", "processor")
RACE = "race"
LARGE_SECONDS = 1.0  # above, ratios are told; below, differences


def measured(path: Path, formula: str, who: str, members: tuple[str, ...], limits: Limits) -> dict[str, Any]:
    """One measurement, in a process of its own."""
    options = Options(max_memory=limits.memory)

    def work(_: int) -> dict[str, Any]:
        started, spent = time.monotonic(), time.process_time()
        model = load_model(path)
        question = ask(model, formula)
        others = 0.0
        if who == RACE:
            found, failure = compete(model, question, Field(members), options, limits)
            if failure is not None:
                raise failure
            others = next(e.processor or 0.0 for e in found.entrants if e.product == found.product)
            verdict, winner = found.verdict, found.product
        else:
            alone = Checker(model, options).ltl(question, who)
            verdict, winner = alone.verdict, alone.product
        return {
            "verdict": verdict,
            "winner": winner,
            "wall": f"{time.monotonic() - started:.3f}",
            "processor": f"{time.process_time() - spent + others:.3f}",
        }

    for answer in run_tasks(lambda _: work, 1, limits if who != RACE else Limits()):
        if isinstance(answer, dict):
            return answer
        return {"verdict": "limit" if isinstance(answer, LimitReached) else f"error: {answer}".split("\n")[0]}
    raise AssertionError("run_tasks gives an answer for each task")


def pairs(bench: Path, sample: int | None) -> list[Row]:
    """All pairs whose verdict is known, or some of them: always the same."""
    known = [pair for pair in read_table(bench / "verdicts.csv") if pair["verdict_stutter"]]
    random.Random(0).shuffle(known)
    return known[:sample]


def run(arguments: argparse.Namespace) -> Iterator[Row]:
    """All rows: those that the file has, and the others as they come."""
    members = tuple(arguments.race.split(","))
    limits = Limits(arguments.timeout, arguments.memory << 20)
    out: Path = arguments.out
    old = read_table(out) if out.exists() else []
    done = {tuple(row[key] for key in KEYS) for row in old}
    yield from old
    with out.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not old:
            writer.writeheader()
        for pair in pairs(arguments.bench, arguments.sample):
            for who in (*members, RACE):
                if (pair["model"], pair["prop"], who) in done:
                    continue
                if arguments.budget is not None and _spent() >= arguments.budget:
                    return
                row = dict.fromkeys(COLUMNS, "")
                row.update(model=pair["model"], prop=pair["prop"], who=who, expected=pair["verdict_stutter"])
                path = arguments.bench / "beem" / f"{pair['model']}.dve"
                row.update(measured(path, pair["formula"], who, members, limits))
                writer.writerow(row)
                file.flush()
                yield row


def _spent() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def is_wrong(row: Row) -> bool:
    """Another verdict than the known one, or an error."""
    return row["verdict"].startswith("error") or (
        row["verdict"] in ("holds", "violated") and row["verdict"] != row["expected"]
    )


def summary(rows: Sequence[Row]) -> str:
    """Solved by whom; the race against its fastest member, by both clocks; who won."""
    by: dict[tuple[str, str], dict[str, Row]] = defaultdict(dict)
    for row in rows:
        by[row["model"], row["prop"]][row["who"]] = row
    whole = [own for own in by.values() if RACE in own and len(own) > 1]
    lines = [f"{len(whole)} pairs"]
    for who in dict.fromkeys(row["who"] for row in rows):
        lines.append(f"solved by {who}: {sum(_solved(own.get(who)) for own in whole)}")
    for clock in ("wall", "processor"):
        lines += _compared([own for own in whole if _solved(own[RACE])], clock)
    winners = [own[RACE]["winner"] for own in whole if _solved(own[RACE])]
    lines += [f"won by {name}: {winners.count(name)}" for name in sorted(set(winners))]
    lines += [f"WRONG: {' '.join(row[key] for key in KEYS)}: {row['verdict']}" for row in rows if is_wrong(row)]
    return "\n".join(lines)


def _solved(row: Row | None) -> bool:
    return row is not None and row["verdict"] in ("holds", "violated")


def _compared(whole: Sequence[dict[str, Row]], clock: str) -> list[str]:
    ratios, more = [], []
    for own in whole:
        alone = [float(row[clock]) for who, row in own.items() if who != RACE and _solved(row)]
        if not alone:
            continue  # the race had the luck of a less busy machine
        taken = float(own[RACE][clock])
        if min(alone) > LARGE_SECONDS:
            ratios.append(taken / min(alone))
        else:
            more.append(taken - min(alone))
    lines = []
    if ratios:
        lines.append(
            f"{clock}: above {LARGE_SECONDS:g} s ({len(ratios)}): {geometric_mean(ratios):.2f} times the fastest "
            f"member (geometric mean), at most {max(ratios):.2f}"
        )
    if more:
        lines.append(
            f"{clock}: the others ({len(more)}): {sum(more) / len(more):.3f} s more than the fastest member (mean), "
            f"at most {max(more):.3f}"
        )
    return lines


def main() -> int:
    """Run and print the summary."""
    parser = argparse.ArgumentParser(description="Compare a race with its members alone, on pairs of verdicts.csv.")
    parser.add_argument("bench", type=Path, help="the folder of verdicts.csv")
    parser.add_argument("out", type=Path, help="a CSV file for the results; an old one is completed")
    parser.add_argument("--race", default=",".join(DEFAULT), help="the members")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for each process")
    parser.add_argument("--memory", type=int, default=4096, help="MB for each process")
    parser.add_argument("--sample", type=int, help="only so many pairs, chosen by chance, always the same")
    parser.add_argument("--budget", type=float, help="stop after so many seconds of processor time")
    arguments = parser.parse_args()
    rows = list(run(arguments))
    print(summary(rows))
    return 1 if any(map(is_wrong, rows)) else 0


if __name__ == "__main__":
    sys.exit(main())

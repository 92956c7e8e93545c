"""The Model Checking Contest: every formula of the nets in a folder, against the contest's own answers.

    python -m aggmc.bench.mcc ../shared/bench/mcc results.csv --timeout 10

Each examination gets the time limit for each of its formulas together, as `aggmc mcc` would spend it. Exits with 1 if
an answer is wrong.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from aggmc.bench.harness import Row, read_table
from aggmc.contest.examine import EXAMINATIONS, GLOBAL, examine, load_examination
from aggmc.errors import AggmcError, InternalError
from aggmc.limits import Limits

COLUMNS = ("instance", "examination", "formula", "expected", "answer", "seconds", "other_s", "problem")


def answers(folder: Path, examination: str, known: dict[str, Row], limits: Limits) -> Iterator[Row]:
    """One row for each formula of an examination of a net."""
    name = folder.name
    try:
        asked = load_examination(str(folder), examination)
        number = max(1, len(asked.properties))
        seconds = None if limits.seconds is None else limits.seconds * number
        for result in examine(asked, Limits(seconds, limits.memory)):
            values = dict(result.values or ())
            formula = f"{name}-StateSpace-STATES" if examination == "StateSpace" else result.name
            if examination in GLOBAL and examination != "StateSpace":
                formula = f"{name}-{examination}"
            other = known.get(formula, {})
            yield {
                "instance": name,
                "examination": examination,
                "formula": formula,
                "expected": other.get("verdict", ""),
                "answer": values.get("STATES", values.get("", "")),
                "seconds": f"{result.seconds:.3f}",
                "other_s": other.get("verifypn_s", ""),
                "problem": result.problem or "",
            }
    except (AggmcError, InternalError) as error:
        problem = str(error).split("\n")[0]
        yield {**dict.fromkeys(COLUMNS, ""), "instance": name, "examination": examination, "problem": problem}


def is_wrong(row: Row) -> bool:
    """Another answer than the known one."""
    return bool(row["answer"]) and row["expected"] not in ("", "?", row["answer"])


def summary(rows: Sequence[Row]) -> str:
    """Per examination: formulas, answered, wrong, and the times of both tools."""
    lines = ["examination               formulas answered  wrong  total s    max s   other s"]
    for examination in EXAMINATIONS:
        own = [r for r in rows if r["examination"] == examination]
        answered = [r for r in own if r["answer"]]
        seconds = [float(r["seconds"]) for r in answered]
        other = [float(r["other_s"]) for r in own if r["other_s"].replace(".", "", 1).isdigit()]
        if own:
            lines.append(
                f"{examination:<25}{len(own):>9}{len(answered):>9}{sum(map(is_wrong, own)):>7}"
                f"{sum(seconds):>9.1f}{max(seconds, default=0):>9.1f}{sum(other):>10.1f}"
            )
    lines += [f"WRONG: {r['formula']}: {r['answer']}, expected {r['expected']}" for r in rows if is_wrong(r)]
    lines += [f"no answer: {r['instance']} {r['formula']}: {r['problem']}" for r in rows if not r["answer"]]
    return "\n".join(lines)


def main() -> int:
    """Run and print the summary."""
    parser = argparse.ArgumentParser(description="Answer the contest's formulas and compare the answers.")
    parser.add_argument("bench", type=Path, help="a folder with a folder for each net, and verdicts.csv")
    parser.add_argument("out", type=Path, help="a CSV file for the results; an old one is completed")
    parser.add_argument("--examinations", default=",".join(e for e in EXAMINATIONS if e not in ("UpperBounds",)))
    parser.add_argument("--nets", default="", help="only nets whose name has this in it")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for each formula")
    parser.add_argument("--memory", type=int, default=4096, help="MB")
    arguments = parser.parse_args()
    known = {row["formula"]: row for row in read_table(arguments.bench / "verdicts.csv")}
    rows = read_table(arguments.out) if arguments.out.exists() else []
    done = {(row["instance"], row["examination"]) for row in rows}
    limits = Limits(arguments.timeout, arguments.memory << 20)
    with arguments.out.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not rows:
            writer.writeheader()
        for folder in sorted(p.parent for p in arguments.bench.glob("*/model.pnml")):
            for examination in arguments.examinations.split(","):
                if arguments.nets not in folder.name or (folder.name, examination) in done:
                    continue
                for row in answers(folder, examination, known, limits):
                    rows.append(row)
                    writer.writerow(row)
                file.flush()
    print(summary(rows))
    return 1 if any(map(is_wrong, rows)) else 0


if __name__ == "__main__":
    sys.exit(main())

"""The engines on dining philosophers, from the text of a model to the exact number of its reachable states.

    python -m aggmc.bench.kernel                                # the native engine and Python, 100 to 5000 philosophers
    python -m aggmc.bench.kernel --engines native --checks 1000 # besides: memory over so many checks in one process

Seconds of the processor, after imports, each row in a process of its own. Exits with 1 if a number of states is wrong.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import sys
import time
from collections.abc import Sequence
from typing import Any

from aggmc.bench.harness import measure
from aggmc.checker import Checker, check
from aggmc.limits import Limits
from aggmc.model.load import model_of
from aggmc.symbolic.engine import ENGINES

_PHASES = ("read", "ranges", "encode", "reach", "count")


def philosophers(count: int) -> str:
    """The model, as DVE: each takes the left fork, then the right one, and puts them back in the same order."""
    lines = [f"byte fork[{count}];"]
    for i in range(count):
        left, right = f"fork[{i}]", f"fork[{(i + 1) % count}]"
        lines.append(
            f"process phil_{i} {{ state think, left, eat, right; init think; trans"
            f" think -> left {{ guard {left} == 0; effect {left} = 1; }},"
            f" left -> eat {{ guard {right} == 0; effect {right} = 1; }},"
            f" eat -> right {{ effect {left} = 0; }},"
            f" right -> think {{ effect {right} = 0; }}; }}"
        )
    return "\n".join([*lines, "system async;"])


def number_of_states(count: int) -> int:
    """How many states are reachable.

    Each fork is free or in the hand of one of two, and who holds which of his forks says what he does: 3ⁿ states. One
    of them is not reachable, where all hold their right forks only: the last one to get there held both before, while
    his left neighbour held one of these.
    """
    return int(3**count) - 1


def count_philosophers(count: int, engine: str, limits: Limits) -> dict[str, Any]:
    """One row: the seconds of each phase, all of them, and whether the number is right."""
    text = philosophers(count)

    def work() -> dict[str, Any]:
        os.environ["AGGMC_ENGINE"] = engine
        times = [time.process_time()]
        checker = Checker(model_of(text, "philosophers.dve"))
        times.append(time.process_time())
        _ = checker.ranges
        times.append(time.process_time())
        _ = checker.encoding
        times.append(time.process_time())
        reachable = checker.reachable
        times.append(time.process_time())
        states = checker.encoding.count(reachable)
        times.append(time.process_time())
        phases = {name: b - a for name, a, b in zip(_PHASES, times, times[1:], strict=False)}
        return {**phases, "right": states == number_of_states(count)}

    measured = measure(work, limits)
    return {**measured.values, "failure": measured.failure, "seconds": measured.seconds, "mb": measured.peak_mb}


def growth(checks: int) -> list[tuple[int, float]]:
    """The peak memory of this process, in MB, after so many checks of a small model."""
    model = model_of(philosophers(4), "philosophers.dve")
    found = []
    for done in range(1, checks + 1):
        check(model, "G(phil_0.left -> F phil_0.eat)", product="slap-tgta")
        if done in (20, checks // 10, checks // 2, checks):
            found.append((done, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))
    return found


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """The slope of time over size on logarithmic scales: 1 where time grows linearly."""
    xs, ys = [math.log(n) for n in sizes], [math.log(s) for s in seconds]
    middle_x, middle_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - middle_x) ** 2 for x in xs)
    return sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys, strict=True)) / spread if spread else math.nan


def main() -> int:
    """Run and print the table, as Markdown."""
    parser = argparse.ArgumentParser(description="The engines on dining philosophers.")
    parser.add_argument("--sizes", default="100,400,1000,2000,5000")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for each row")
    parser.add_argument("--memory", type=int, default=8192, help="MB for each row")
    parser.add_argument("--checks", type=int, default=0, help="then, so many checks in one process")
    arguments = parser.parse_args()
    limits = Limits(arguments.timeout, arguments.memory << 20)
    sizes = [int(size) for size in arguments.sizes.split(",")]
    wrong = False
    print("| philosophers | engine | " + " | ".join(f"{name} s" for name in _PHASES) + " | all s | MB |")
    print("| --- " * (len(_PHASES) + 4) + "|")
    for engine in arguments.engines.split(","):
        seconds = []
        for size in sizes:
            row = count_philosophers(size, engine, limits)
            if row["failure"]:
                print(f"| {size} | {engine} " + "| " * len(_PHASES) + f"| {row['failure']} | |", flush=True)
                continue
            wrong |= not row["right"]
            seconds.append(row["seconds"])
            phases = " | ".join(f"{row[name]:.3f}" for name in _PHASES)
            flag = "" if row["right"] else " WRONG"
            print(f"| {size} | {engine} | {phases} | {row['seconds']:.2f}{flag} | {row['mb']:.0f} |", flush=True)
        if len(seconds) == len(sizes) > 1:
            print(f"{engine}: time grows with the power {exponent(sizes, seconds):.2f} of the size", flush=True)
    for done, megabytes in growth(arguments.checks) if arguments.checks else ():
        print(f"after {done} checks in one process: at most {megabytes:.0f} MB")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())

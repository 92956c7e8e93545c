"""The race on the command line: its options, and what a terminal shows of it. See `aggmc/racing.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from aggmc.errors import InputError
from aggmc.live import LiveTable
from aggmc.racing import DEFAULT, Entrant, Field, RaceVerdict
from aggmc.report import race_line
from aggmc.run import Answer

NAME = "race"  # as a product
_MIB = 1 << 20


def field_of(product: str, race: str | None, jobs: int | None, cross_check: bool) -> Field | None:
    """Who races, as `--product`, `--race`, `--jobs` and `--cross-check` say; None if there is no race."""
    if race is not None:
        if product not in ("auto", NAME):
            raise InputError(f"--product {product} and --race contradict each other: give one of them")
        return Field(tuple(name.strip() for name in race.split(",")), jobs, cross_check)
    if product == NAME or (product == "auto" and cross_check):
        return Field(DEFAULT, jobs, cross_check)
    if cross_check:
        raise InputError(f"--cross-check compares several products, and --product {product} is one: use --race")
    if jobs is not None:
        raise InputError("--jobs is for a race: give --race or --product race")
    return None


class RaceProgress:
    """A row for each product while a race goes on, and a line that stays when it is over."""

    def __init__(self, stream: TextIO | None) -> None:
        self._table = LiveTable(stream, ("product", "time", "aggregates", "BDD nodes", "memory", ""))
        self.prefix = ""

    @property
    def active(self) -> bool:
        """Whether anybody sees it."""
        return self._table.active

    def __call__(self, entrants: Sequence[Entrant]) -> None:
        """Show how the race goes."""
        if self._table.due:
            self._table.show([_row(e) for e in entrants], self.prefix)

    def over(self, verdict: RaceVerdict) -> None:
        """Say who won, where that is not shown on the terminal anyway."""
        self._table.say(f"{self.prefix}{race_line(verdict)}")

    def clear(self) -> None:
        """Something else is to be written."""
        self._table.clear()


def faults(answer: Answer) -> list[str]:
    """What went wrong in a race that was won all the same."""
    if not isinstance(answer.verdict, RaceVerdict) or answer.failure is not None:
        return []
    failed = [e for e in answer.verdict.entrants if e.state == "failed"]
    return [f"{e.product} failed in the race: {e.reason}" for e in failed]


def _row(entrant: Entrant) -> tuple[str, ...]:
    doing = {
        "waiting": "waits for its turn",
        "running": entrant.doing or "starting",
        "answered": entrant.verdict or "",
        "stopped": "stopped",
    }.get(entrant.state, entrant.reason or "")
    return (
        entrant.product,
        f"{entrant.seconds:.1f} s",
        _number(entrant.aggregates),
        _number(entrant.bdd_nodes),
        f"{entrant.memory // _MIB} MB" if entrant.memory else "",
        doing,
    )


def _number(value: int | None) -> str:
    return "" if value is None else str(value)

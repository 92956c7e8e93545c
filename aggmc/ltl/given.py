"""Properties that are given as automata, in HOA.

An automaton says which runs are good (`negated=False`) or which are bad. The products want that of the bad ones with
generalized Büchi acceptance: Spot complements where it must, within `MOST_STATES`, and makes any acceptance into that
one. What is kept is text: Spot's objects cross no process border.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from aggmc.errors import InputError, Location, UnsupportedError
from aggmc.ltl.formula import Atom, Parsed

MOST_STATES = 20_000  # of a complement, on the way
_LONGEST = 4 * 1024 * 1024
_ERROR = re.compile(r"^[^:\n]*:(\d+)\.(\d+)(?:-[\d.]+)?: (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Automaton:
    """An automaton over the propositions p0, p1, … as HOA text; `bad`: it accepts what must not happen."""

    hoa: str
    bad: bool


@dataclass(frozen=True)
class Given(Parsed):
    """A property that is an automaton; `text` is how it is called, `source` the file."""

    source: str = ""
    automaton: Automaton = Automaton("", False)

    def location(self, line: int, column: int) -> Location:
        """The place of a line and column of the file."""
        lines = self.source.split("\n")
        shown = lines[line - 1] if line <= len(lines) else None
        return Location(self.where.file if self.where is not None else None, line, column, shown)


def read(text: str, path: str, *, bad: bool) -> Given:
    """Read the one automaton of a file; raises InputError with line and column."""
    import spot

    if len(text) > _LONGEST:
        raise InputError(f"the automaton is {len(text)} characters long; at most {_LONGEST} are read", Location(path))
    options = spot.automaton_parser_options()
    options.trust_hoa = False  # what a file says of itself may be wrong
    stream = spot.automaton_stream_parser(text, "hoa", options)
    dictionary = spot.make_bdd_dict()
    found = _parsed(stream, dictionary, text, path)
    if found is None:
        raise InputError("there is no automaton in this file", Location(path))
    if _parsed(stream, dictionary, text, path) is not None:
        raise InputError("there is more than one automaton in this file", Location(path))
    names = [ap.ap_name() for ap in found.ap()]
    atoms = tuple(Atom(name, True, column, line) for name in names for line, column in [_place(name, text)])
    listed = "".join(f' "p{i}"' for i in range(len(names)))
    hoa = re.sub(r"^AP: .*$", f"AP: {len(names)}{listed}", str(found.to_str("hoa")), count=1, flags=re.MULTILINE)
    called = found.get_name() or path
    return Given(called, "", atoms, Location(path), text, Automaton(hoa, bad))


def _parsed(stream: Any, dictionary: Any, text: str, path: str) -> Any:
    import spot

    result = stream.parse(dictionary)
    report = spot.ostringstream()
    if result.format_errors(report):
        lines = text.split("\n")
        error = _ERROR.search(report.str())
        if error is None:
            raise InputError("this is no automaton in HOA", Location(path))
        line, column = int(error[1]), int(error[2])
        shown = lines[line - 1] if line <= len(lines) else ""
        message = error[3].removeprefix("syntax error, ").rstrip(".")
        raise InputError(f"this is no automaton in HOA: {message}", Location(path, line, column, shown))
    if result.aborted:
        raise InputError("the automaton ends with --ABORT--", Location(path))
    return result.aut


def _place(name: str, text: str) -> tuple[int, int]:
    """(line, column) of the name of a proposition."""
    quoted = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    at = text.find(quoted) + 1
    before = text[:at]
    return before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1


def load(automaton: Automaton, dictionary: Any) -> Any:
    """The automaton as Spot has it."""
    import spot

    stream = spot.automaton_stream_parser(automaton.hoa, "hoa", spot.automaton_parser_options())
    return stream.parse(dictionary).aut


def violations(automaton: Automaton, called: str) -> tuple[Any, bool]:
    """The automaton of the bad runs, with generalized Büchi acceptance; and whether it is stutter-invariant."""
    import spot

    own = load(automaton, spot.make_bdd_dict())
    if not own.is_existential():
        own = spot.remove_alternation(own)
    other = spot.complement(own, spot.output_aborter(MOST_STATES))
    if other is None and not automaton.bad:
        raise UnsupportedError(
            f"the complement of {called} has more than {MOST_STATES} states: give the automaton of the bad runs"
        )
    bad = own if automaton.bad else other
    invariant = other is not None and bool(spot.is_stutter_invariant(own, other))
    return spot.postprocess(bad, "GeneralizedBuchi", "Small", "High"), invariant

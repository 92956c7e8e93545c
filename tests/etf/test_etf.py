"""Tables of LTSmin: what is read, what propositions mean, what errors say; the BEEM models as tables."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from aggmc.checker import METHODS, Checker, Options, ask, check
from aggmc.errors import InputError
from aggmc.model.core import reachable
from aggmc.model.etf import load

BENCH = Path(__file__).parents[2].parent / "shared" / "bench"
MODELS = sorted(p.stem for p in (BENCH / "etf").glob("*.etf"))

# the manual's example, with names: 00 -a-> 01 -b-> 11, 00 -b-> 10 -a-> 11
EXAMPLE = """begin state
P:place  x\\[0\\]:byte _:_
end state
begin edge
action:action
end edge
begin init
0 0 7
end init
begin trans
0/1 * * 0
end trans

begin trans
* 0/1 * "b"
end trans
begin map shape:shape
0 * * square
1 * * "a circle"
end map
begin map sum:number
0 0 * 0
0 1 * 1
1 0 * 1
1 1 * 2
end map
begin sort action
a
#62#
end sort
begin sort place
"here"
"there"
end sort
"""


def test_example() -> None:
    model = load(EXAMPLE, "m.etf")
    assert [v.name for v in model.variables] == ["P", "x[0]", "column_2"]
    assert [e.name for e in model.events] == ["a", "b"]
    assert model.show_state((1, 0, 7)) == {"P": "there", "x[0]": 0, "column_2": 7}
    assert sorted(reachable(model.frontend.interpreter())) == [(0, 0, 7), (0, 1, 7), (1, 0, 7), (1, 1, 7)]


@pytest.mark.parametrize("product", METHODS)
def test_propositions(product: str) -> None:
    model = load(EXAMPLE, None)
    for formula, holds in [
        ("P.here", True),
        ("F P.there", True),
        ('G("x[0] == 0" || "x[0] >= 1")', True),
        ('G(P.here <-> "shape.square")', True),
        ("G(P.there <-> \"'shape.a circle'\")", True),
        ('F "sum == 2"', True),
        ('G "sum < 2"', False),
        ('G "2 * x[0] + 1 <= 3 and (P.here or not P.here)"', True),
        ('"column_2 - 7 == 0"', True),
    ]:
        verdict = check(model, formula, product)
        assert verdict.holds == holds, formula


def test_labels_of_steps_are_in_traces() -> None:
    trace = check(load(EXAMPLE, None), "G P.here").trace
    assert trace is not None
    assert (*trace.prefix, *trace.cycle)[0].event in ("a", "b")


def test_rows_of_one_section_may_touch_different_columns() -> None:
    text = EXAMPLE.replace("0/1 * * 0\n", "0/1 * * 0\n1/0 1/1 * 0\n* * 7/8 0\n")
    model = load(text, None)
    states = set(reachable(model.frontend.interpreter()))
    checker = Checker(model)
    assert checker.encoding.count(checker.reachable) == len(states) == 8
    assert check(model, 'F G "P.there"').holds is False


def test_several_initial_states() -> None:
    model = load(EXAMPLE.replace("0 0 7\n", "0 0 7\n1 1 7\n"), None)
    assert model.initial == ((0, 0, 7), (1, 1, 7))
    assert not check(model, "P.here").holds


@pytest.mark.parametrize(
    ("old", "new", "words", "line"),
    [
        ("begin state", "begin trans", "`begin state` should come here", 1),
        ("end state", "", "`end state`", None),
        ("0 0 7", "0 0", "3 values, not 2", 8),
        ("0/1 * * 0", "0/1 * *", "1 edge labels should follow", 11),
        ("0/1 * * 0", "0/1 * 5 0", "`*` or two numbers", 11),
        ("0/1 * * 0", "0/1 *", "3 columns, not 2", 11),
        ("0/1 * * 0", "0/99999999999999 * * 0", "larger than", 11),
        ("begin sort place", "begin sort action", "a second section", None),
        ("begin sort place", "begin fort place", "`fort` is not known", None),
        ("P:place", "P place", "name:sort", 2),
        ("P:place", "P:place P:place", "declared twice", None),
        ("begin init\n0 0 7\nend init\n", "", "`init` is missing", None),
        ("0 0 7\n", "", "no initial state", None),
    ],
)
def test_errors(old: str, new: str, words: str, line: int | None) -> None:
    with pytest.raises(InputError) as caught:
        load(EXAMPLE.replace(old, new, 1), "m.etf")
    assert words in str(caught.value)
    assert caught.value.location is not None and caught.value.location.file == "m.etf"
    if line is not None:
        assert caught.value.location.line == line


@pytest.mark.parametrize("length", range(0, len(EXAMPLE.rstrip()), 7))
def test_truncated(length: int) -> None:
    """Whatever is cut off: a model or an InputError."""
    cut = EXAMPLE[:length]
    if cut.rstrip().endswith(("end init", "end trans", "end map", "end sort")):
        load(cut, "m.etf")
    else:
        with pytest.raises(InputError) as caught:
            load(cut, "m.etf")
        assert caught.value.location is not None


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("P", '"P == 1"'),
        ('"P"', "a number, not a condition"),
        ('"P.nowhere"', "no value `nowhere`"),
        ('"Q.here"', "`Q.here` is not a column"),
        ('"x[0] == "', "something is missing"),
        ('"x[0] == 1 == 1"', "do not chain"),
        ('"f(x)"', "no function"),
        ('"x[0] ? 1"', "cannot stand here"),
        ('"(x[0] > 0"', "`)` is missing"),
        ('"P.here + 1 > 0"', "a condition, not a number"),
        ('"' + "(" * 300 + '"', "nested"),
    ],
)
def test_errors_of_propositions(formula: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        ask(load(EXAMPLE, None), formula)
    assert words in str(caught.value)
    assert caught.value.location is not None and caught.value.location.column is not None


def known(name: str) -> list[dict[str, str]]:
    with (BENCH / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.shared
@pytest.mark.parametrize("name", MODELS)
def test_beem_models_as_tables(name: str) -> None:
    """As many states and deadlocks as the DVE original, and for one formula of each kind its verdict."""
    row = next(r for r in known("states.csv") if r["model"] == name)
    model = load((BENCH / "etf" / f"{name}.etf").read_text(), name)
    checker = Checker(model)
    reachable_states = checker.reachable
    count = checker.encoding.count
    assert count(reachable_states) == int(row["states"])
    assert count(checker.kripke.dead(reachable_states)) == int(row["deadlocks"])
    slow = {"adding.1", "anderson.1", "brp2.1", "krebs.1", "lamport.1", "leader_filters.1", "mcs.1", "peterson.2"}
    for pair in [] if name in slow else [p for p in known("verdicts.csv") if p["model"] == name]:
        for deadlock in ("stutter", "ignore"):
            expected = pair[f"verdict_{deadlock}"]
            if expected:
                found = Checker(model, Options(deadlock=deadlock)).ltl(ask(model, pair["formula"]))
                assert found.verdict == expected, pair["prop"]

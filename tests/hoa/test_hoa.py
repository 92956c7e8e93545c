"""Kripke structures in HOA: what is read, what is written, and what errors say."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggmc.checker import METHODS, check
from aggmc.errors import InputError
from aggmc.model.core import reachable
from aggmc.model.hoa import Structure, load, model_of, read, write
from aggmc.model.load import load_model

EXAMPLE = """HOA: v1 /* a comment */
tool: "by hand" "1.0"
name: "two ways"
States: 4
Start: 0
Start: 2
AP: 2 "a" "x > 1"
Alias: @both 0&1
Alias: @neither !0 & !1
acc-name: all
Acceptance: 0 t
properties: state-labels explicit-labels
--BODY--
State: [@both] 0 "first"
1 2
State: [!@both & 0] 1
1
State: [@neither] 2 "dead"
State: [!(0 | !1)] 3
0 3
--END--
"""


def test_example() -> None:
    assert read(EXAMPLE) == Structure(
        ("a", "x > 1"),
        (0b11, 0b01, 0b00, 0b10),
        ((1, 2), (1,), (), (0, 3)),
        (0, 2),
        ("first", None, "dead", None),
        "two ways",
    )


def test_model() -> None:
    model = load(EXAMPLE, "k.hoa")
    interpreter = model.frontend.interpreter()
    assert (model.name, model.language, model.path) == ("two ways", "hoa", "k.hoa")
    assert interpreter.initial_states() == [(0,), (2,)]
    assert set(reachable(interpreter)) == {(0,), (1,), (2,)}
    assert interpreter.is_dead((2,))
    assert not interpreter.is_dead((1,))
    assert [interpreter.holds("x > 1", (s,)) for s in range(4)] == [True, False, False, True]
    assert check(model, 'G(a | "x > 1" | G !a)').holds
    assert check(model, "G a", deadlock="stutter").verdict == "violated"
    assert check(model, "G a", deadlock="ignore").holds  # the dead state has no infinite run


def test_comments_nest() -> None:
    text = EXAMPLE.replace("--BODY--", '/* one /* "two */ three\n" */ --BODY-- /* */')
    assert read(text) == read(EXAMPLE)
    with pytest.raises(InputError, match="never closed") as caught:
        read(EXAMPLE.replace("--BODY--", "--BODY-- /* /* */"))
    assert caught.value.location is not None
    assert (caught.value.location.text or "")[(caught.value.location.column or 0) - 1 :] == "/* /* */"


def test_names_of_states_are_shown_if_every_state_has_one() -> None:
    named = Structure(("a",), (0, 1), ((1,), (0,)), (0,), ("off", "on"))
    trace = check(model_of(named), "F G a").trace
    assert trace is not None
    assert trace.initial == {"state": "off"}
    assert load(EXAMPLE, None).show_state((0,)) == {"state": 0}
    double = Structure(("a",), (0, 1), ((1,), (0,)), (0,), ("x", "x"))
    assert model_of(double).show_state((1,)) == {"state": 1}


def test_load_by_ending_or_first_word(tmp_path: Path) -> None:
    for name in ("k.hoa", "k.kripke"):
        (tmp_path / name).write_text(EXAMPLE)
        assert load_model(tmp_path / name).language == "hoa"


def test_no_propositions() -> None:
    text = "HOA: v1 Start: 1 AP: 0 Acceptance: 0 t --BODY-- State: [t] 0 1 State: 1 0 --END--"
    assert read(text) == Structure((), (0, 0), ((1,), (0,)), (1,))
    assert not check(model_of(read(text)), "0").holds
    assert check(model_of(read(text)), "1").holds


def test_only_dead_states() -> None:
    model = model_of(Structure(("a",), (1,), ((),), (0,)))
    for product in METHODS:
        assert check(model, "G a", product).holds
        assert check(model, "F !a", product).verdict == "violated"
        assert check(model, "F !a", product, deadlock="ignore").holds


def test_escapes_and_repeated_edges() -> None:
    structure = Structure(('a "b"\\', "\\\\"), (1,), ((0,),), (0,), ('n"\\',), 'all "of" \\it')
    assert read(write(structure)) == structure
    assert read(EXAMPLE.replace("1 2\n", "1 2 1 2\n")).successors[0] == (1, 2)
    assert read(EXAMPLE.replace("Start: 2", "Start: 2\nStart: 0")).initial == (0, 2)


def test_many_propositions() -> None:
    """Labels that are conjunctions are read without trying all valuations."""
    names = tuple(f"p{i}" for i in range(300))
    structure = Structure(names, (sum(1 << i for i in range(0, 300, 7)),), ((0,),), (0,))
    assert read(write(structure)) == structure


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)


@st.composite
def structures(draw: st.DrawFn) -> Structure:
    names = tuple(draw(st.lists(texts, unique=True, max_size=4)))
    count = draw(st.integers(1, 6))
    numbers = st.integers(0, count - 1)
    labels = tuple(draw(st.integers(0, (1 << len(names)) - 1)) for _ in range(count))
    successors = tuple(tuple(draw(st.lists(numbers, unique=True, max_size=4))) for _ in range(count))
    initial = tuple(draw(st.lists(numbers, unique=True, min_size=1)))
    state_names = [draw(st.none() | texts.filter(bool)) for _ in range(count)]
    return Structure(
        names, labels, successors, initial, tuple(state_names) if any(state_names) else None, draw(st.none() | texts)
    )


@settings(max_examples=150, deadline=None, derandomize=True)
@given(structures())
def test_round_trip(structure: Structure) -> None:
    assert read(write(structure)) == structure


HEAD = 'HOA: v1\nStates: 2\nStart: 0\nAP: 1 "a"\nAcceptance: 0 t\n'
BODY = "--BODY--\nState: [0] 0\n1\nState: [!0] 1\n0\n--END--\n"


def test_head_and_body_are_right() -> None:
    assert read(HEAD + BODY) == Structure(("a",), (1, 0), ((1,), (0,)), (0,))


def deep(n: int) -> str:
    return "(" * n + "0" + ")" * n


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("", 1, None, "ends too early"),
        ("process P { }", 1, 1, "unexpected|not HOA"),
        ("HOA: v2\n" + (HEAD + BODY)[8:], 1, 6, "version v2"),
        (HEAD + BODY.replace("--END--\n", ""), 10, None, "`--END--` is missing"),
        (HEAD, 5, None, "ends too early"),
        (HEAD + BODY.replace("[!0]", "[%0]"), 9, 9, "not HOA"),
        (HEAD + BODY.replace("[!0]", "[!]"), 9, 10, "unexpected"),
        (HEAD.replace("AP:", 'AP: 1 "b"\nAP:') + BODY, 5, 1, "second `AP:`"),
        (HEAD.replace("AP: 1", "AP: 2") + BODY, 4, 5, "announces 2 propositions and names 1"),
        (HEAD.replace('AP: 1 "a"', 'AP: 2 "a" "a"') + BODY, 4, 1, "named twice"),
        (HEAD.replace("States: 2", "States: 2\nStates: 2") + BODY, 3, 1, "second `States:`"),
        (HEAD.replace("Start: 0", "Start: 0&1") + BODY, 3, 8, "universal branching"),
        (HEAD.replace("Start: 0", "Start: 5") + BODY, 3, 8, "state 5 does not exist: there are 2"),
        (HEAD.replace("Start: 0\n", "") + BODY, 1, 1, "no `Start:` line"),
        (HEAD.replace("0 t", "1 Inf(0)") + BODY, 5, 13, "must be `0 t`"),
        (HEAD.replace("0 t", "0 f") + BODY, 5, 13, "must be `0 t`"),
        (HEAD + "Fairness: 1\n" + BODY, 6, 1, "`Fairness:` is not known"),
        (HEAD + "Alias: @x 3\n" + BODY, 6, 11, "proposition 3 does not exist"),
        (HEAD + BODY.replace("[0]", "[@x]"), 7, 9, "alias `@x` is not defined"),
        (HEAD + BODY.replace("[0]", "[yes]"), 7, 9, "`yes` cannot stand in a label"),
        (HEAD + BODY.replace("[0]", "[1]"), 7, 9, "proposition 1 does not exist: there are 1"),
        (HEAD + BODY.replace("[0]", "[t]"), 7, 12, "must settle every proposition .*speak of a"),
        (HEAD + BODY.replace("[0]", "[0 & !0]"), 7, 17, "must settle every proposition"),
        (HEAD + BODY.replace("[0] 0", "0"), 7, 8, "state 0 has no label"),
        (HEAD + BODY.replace("[!0] 1", "[!0] 0"), 9, 13, "state 0 is declared twice"),
        (HEAD + "--BODY--\nState: [0] 0\n--END--\n", 2, 9, "state 1 is not declared"),
        (HEAD + BODY.replace("--END--", "State: [0] 0 1\n--END--"), 11, 12, "state 0 is declared twice"),
        (HEAD + BODY.replace("[!0] 1", "[!0] 2"), 9, 13, "state 2 does not exist"),
        (HEAD + BODY.replace("\n1\n", "\n7\n"), 8, 1, "state 7 does not exist"),
        (HEAD + BODY.replace("\n1\n", "\n[0] 1\n"), 8, None, "labels belong to the states"),
        (HEAD + BODY.replace("\n1\n", "\n0&1\n"), 8, 1, "universal branching"),
        (HEAD + BODY.replace("\n1\n", "\n1 {0}\n"), 8, None, "fairness is not supported"),
        (HEAD + BODY.replace("[!0] 1", "[!0] 1 {0}"), 9, None, "fairness is not supported"),
        (HEAD + "--BODY--\n--END--\n", 1, 1, "no state"),
        (HEAD.replace("States: 2", "States: 0") + BODY, 1, 1, "no state"),
        (HEAD.replace("States: 2", "States: 999999999999") + BODY, 2, 9, "state 2 is not declared"),
        (HEAD.replace("States: 2", "States: " + "9" * 5000) + BODY, 2, 9, "not HOA"),
        (HEAD + BODY.replace("[0]", f"[{deep(5000)}]"), 7, None, "nested more than"),
        (HEAD + BODY.replace("[0]", f"[{'!' * 5000}0]"), 7, None, "nested more than"),
    ],
)
def test_errors(text: str, line: int, column: int | None, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read(text, "k.hoa")
    location = caught.value.location
    assert location is not None
    assert location.file == "k.hoa"
    assert location.line == line
    assert location.text == text.split("\n")[line - 1]
    if column is not None:
        assert location.column == column
        assert "\n    " in str(caught.value)
        assert str(caught.value).startswith(f"k.hoa:{line}:{column}: ")


def test_undeclared_state_without_a_count() -> None:
    with pytest.raises(InputError, match="state 1 is not declared"):
        read(HEAD.replace("States: 2\n", "") + BODY.replace("[!0] 1", "[!0] 7"))


def test_aliases_that_explode_are_refused() -> None:
    lines = ["Alias: @x0 0"] + [f"Alias: @x{i + 1} (@x{i} & !@x{i}) | @x{i}" for i in range(60)]
    with pytest.raises(InputError, match="too large"):
        read(HEAD + "\n".join(lines) + "\n" + BODY)


def test_long_chains_are_read() -> None:
    chain = " & ".join(["0"] * 20_000)
    assert read(HEAD + BODY.replace("[0]", f"[{chain}]")).labels == (1, 0)
    assert read(HEAD + BODY.replace("[0]", f"[{chain.replace('&', '|')}]")).labels == (1, 0)


@pytest.mark.parametrize("product", METHODS)
def test_unknown_proposition(product: str) -> None:
    model = model_of(Structure(("ready", "steady"), (1,), ((0,),), (0,)))
    with pytest.raises(InputError, match=r"`redy` is no proposition.*did you mean `ready`") as caught:
        check(model, "F steady & G redy", product)
    assert caught.value.location is not None
    assert (caught.value.location.line, caught.value.location.column) == (1, 14)
    with pytest.raises(InputError, match=r"`x > 1` is no proposition of this structure\n") as caught:
        check(model, 'F "x > 1"', product)
    assert caught.value.location is not None
    assert caught.value.location.column == 4

"""Atomic propositions: what they mean, and what is suggested where they mean nothing."""

from __future__ import annotations

import pytest
from dve_testing import model

from aggmc.errors import InputError, ModelError
from aggmc.model.expr import evaluate
from aggmc.model.interpreter import CoreInterpreter

M = model("""byte x = 2, a[3] = {0, 1, 2}; const byte N = 2; channel {byte} c[1];
process P { byte v = 3, w[2] = {5, 6}, wait; state wait, CS; init wait; trans wait -> CS { effect x = 9; }; }
process Q { state idle; init idle; trans idle -> idle {}; }""")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("P.wait", True),
        ("P=wait", True),
        ("P = CS", False),
        ("x == N", True),
        ("P.v == 3 && P->v < 4", True),
        ("P.w[1] == 6", True),
        ("P->w[x - 2] == 5", True),
        ("a[x] > 1", True),
        ("not P.CS", True),
        ("P.CS || x == 2", True),
        ("P.CS imply false", True),
        ("true", True),
        ("x < 2", False),
        ("P->wait == 1", False),
    ],
)
def test_meaning(text: str, value: bool) -> None:
    meaning, _ = M.frontend.proposition(text, quoted=True)
    initial = M.initial[0]
    assert evaluate(meaning.holds, initial) == value and not evaluate(meaning.error, initial)
    for interpreter in (M.frontend.interpreter(), CoreInterpreter(M)):
        assert interpreter.holds(text, initial) is value
        assert interpreter.holds(f'"{text}"', initial) is value


@pytest.mark.parametrize(
    ("text", "quoted", "message"),
    [
        ("x", True, '"x != 0"'),
        ("x + 1", True, '"(x + 1) != 0"'),
        ("P.v", True, '"P.v != 0"'),
        ("x = 1", True, "write `==`"),
        ("x = N", True, "x == N"),
        ("P = nowhere", True, "no location `nowhere`"),
        ("P.waitt", True, "did you mean `wait`"),
        ("R.wait", True, "no process `R`"),
        ("y == 1", True, "not declared"),
        ("v == 1", True, "write `P->v`"),
        ("P == 1", True, "is a process"),
        ("a[3] == 1", True, "index 3 is outside"),
        ("P.w[2] == 1", True, "index 2 is outside"),
        ("c == 1", True, "is a channel"),
        ("x ==", True, "an expression was expected"),
        ("", True, "empty"),
        ("x == 1; y", True, "found"),
        ("x", False, '"x == 1"'),
        ("a", False, '"a[0] == 1"'),
        ("P", False, '"P.wait"'),
        ("P.v", False, '"P.v == 1"'),
        ("P.waitt", False, "did you mean `wait`"),
        ("x == 1", False, "in quotes"),
        ("nothing", False, "not declared"),
    ],
)
def test_suggestions(text: str, quoted: bool, message: str) -> None:
    with pytest.raises(InputError) as caught:
        M.frontend.proposition(text, quoted=quoted)
    assert message in caught.value.message
    assert caught.value.location is not None and caught.value.location.column is not None


def test_unquoted_location() -> None:
    meaning, warnings = M.frontend.proposition("Q.idle", quoted=False)
    assert evaluate(meaning.holds, M.initial[0]) == 1 and not warnings


def test_a_location_wins_over_a_variable() -> None:
    meaning, warnings = M.frontend.proposition("P.wait", quoted=False)
    assert evaluate(meaning.holds, M.initial[0]) == 1
    assert len(warnings) == 1 and "P->wait" in warnings[0].message


def test_mixed_junctions_are_warned_of() -> None:
    _, warnings = M.frontend.proposition("x == 1 || x == 2 && P.CS", quoted=True)
    assert len(warnings) == 1


def test_errors_of_propositions() -> None:
    meaning, _ = M.frontend.proposition("a[x] == 1", quoted=True)
    interpreter = M.frontend.interpreter()
    after = interpreter.successors(M.initial[0])[0][1]
    assert evaluate(meaning.error, after) and not evaluate(meaning.error, M.initial[0])
    for runs in (interpreter, CoreInterpreter(M)):
        with pytest.raises(ModelError):
            runs.holds("a[x] == 1", after)

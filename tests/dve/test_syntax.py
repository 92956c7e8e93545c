"""What the front-end accepts, what it refuses and with which words."""

from __future__ import annotations

import pytest
from dve_testing import assert_agree, model, one

from aggmc.errors import InputError
from aggmc.model.dve import load

PROCESS = "process P { state a, b; init a; %s } system async;"

REFUSED = [
    ("", 1, "empty"),
    ("\0", 1, "the character"),
    ("// nothing\n", 1, "end of the text"),
    ("byte x", 1, "`;` was expected"),
    ("byte x;\nproces P {", 2, "did you mean `process`"),
    ("bytex y;", 1, "found 'bytex'"),
    ("byte 2x;", 1, "a name was expected"),
    ("/* x", 1, "never closed"),
    ("byte x; system async;", 1, "no process"),
    ("byte x[0];" + PROCESS % "", 1, "at least 1"),
    ("byte x[1000000000];" + PROCESS % "", 1, "too large"),
    ("byte x;\nint x;" + PROCESS % "", 2, "declared twice; first in line 1"),
    ("byte P;" + PROCESS % "", 1, "declared twice"),
    ("byte guard;" + PROCESS % "", 1, "is a keyword"),
    ("byte y; byte x = y;" + PROCESS % "", 1, "must be a constant"),
    ("byte x = 1 / 0;" + PROCESS % "", 1, "division by zero"),
    ("byte x = {1};" + PROCESS % "", 1, "is no array"),
    ("byte x[2] = 1;" + PROCESS % "", 1, "in braces"),
    ("const byte N;" + PROCESS % "", 1, "needs a value"),
    ("const byte N = 1;" + PROCESS % "trans a -> b { effect N = 2; };", 1, "is a constant"),
    ("channel c[3];" + PROCESS % "", 1, "needs types"),
    ("channel {byte} c[-1];" + PROCESS % "", 1, "must not be negative"),
    (PROCESS % "byte z; int z;", 1, "declared twice"),
    (PROCESS % "state a;", 1, "declared twice"),
    (PROCESS % "init b;", 1, "two initial"),
    (PROCESS % "commit q;", 1, "no location `q`"),
    (PROCESS % "accept q;", 1, "no location `q`"),
    (PROCESS % "assert q: true;", 1, "no location `q`"),
    ("process P { state a; } system async;", 1, "no initial location"),
    ("process P { init a; } system async;", 1, "declares no locations"),
    (PROCESS % "trans a -> c {};", 1, "no location `c`"),
    (PROCESS % "trans -> b {};", 1, "source location"),
    (PROCESS % "trans a -> b { guard 1; guard 2; };", 1, "at most one `guard`"),
    (PROCESS % "trans a -> b { guard 1 };", 1, "`;` was expected"),
    ("byte counter;" + PROCESS % "trans a -> b { guard countr == 1; };", 1, "did you mean `counter`"),
    ("byte x;" + PROCESS % "trans a -> b { guard x = 1; };", 1, "write `==`"),
    ("byte x;" + PROCESS % "trans a -> b { guard x[0] == 1; };", 1, "no array"),
    ("byte x[2];" + PROCESS % "trans a -> b { guard x == 1; };", 1, "is an array"),
    (PROCESS % "trans a -> b { guard P == 1; };", 1, "is a process"),
    (PROCESS % "trans a -> b { guard P.c; };", 1, "no location `c`"),
    (PROCESS % "byte v; trans a -> b { guard P.v; };", 1, "write `P->v`"),
    (PROCESS % "trans a -> b { guard P->a; };", 1, "write `P.a`"),
    (PROCESS % "trans a -> b { guard Q.a; };", 1, "no process `Q`"),
    (PROCESS % "trans a -> b { effect a = 1; };", 1, "is a location of process"),
    (PROCESS % "trans a -> b { effect P.a = 1; };", 1, "no variable that can be written"),
    (PROCESS % "trans a -> b { sync q!; };", 1, "no channel `q`"),
    (PROCESS % "trans a -> b { guard 99999999999; };", 1, "too large"),
    ("channel c;" + PROCESS % "trans a -> b { guard c; };", 1, "is a channel"),
    ("channel c;" + PROCESS % "trans a -> b { sync c!1; },\n b -> a { sync c?; };", 2, "1 value in line 1, but 0 here"),
    ("channel {byte} c[1];" + PROCESS % "trans a -> b { sync c!; };", 1, "has 1 value, not 0"),
    ("channel {byte} c[1];" + PROCESS % "trans a -> b { sync c?1; };", 1, "only a variable"),
    ("process Q { byte v; state a; init a; }" + PROCESS % "trans a -> b { effect Q->v = 1; };", 1, "only its own"),
    (PROCESS.replace("async", "async property R") % "", 1, "--ltl"),
    (PROCESS.replace("async", "sync") % "commit a;", 1, "no committed"),
    ("channel c;" + PROCESS.replace("async", "sync") % "", 1, "no channels"),
    ("int x = " + "!" * 5000 + "1;" + PROCESS % "", 1, "nested too deeply"),
    ("byte a[2]; byte x = " + "a[" * 5000 + "1" + "]" * 5000 + ";" + PROCESS % "", 1, "nested too deeply"),
]


@pytest.mark.parametrize(("text", "line", "message"), REFUSED, ids=[m for _, _, m in REFUSED])
def test_refused(text: str, line: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load(text, "f.dve")
    assert message in caught.value.message
    where = caught.value.location
    assert where is not None and (where.file, where.line) == ("f.dve", line)
    assert where.column is not None and where.column >= 1


def test_the_column_is_that_of_the_name() -> None:
    with pytest.raises(InputError) as caught:
        load("byte x;\nprocess P { state a; init a;\n  trans a -> a { guard x + yy; }; }\nsystem async;", "f.dve")
    assert str(caught.value).splitlines()[0].startswith("f.dve:3:28: `yy` is not declared")


def test_everything_at_once() -> None:
    m = model(
        """
    const byte N = 3, M = N + 1; const int Z = -1; // constants
    byte x = N, y, a[N] = {1, 2}; /* several
       * declarators ** */ int z = Z;
    channel c, d; channel {byte} e[0], f[2]; channel {byte,int} g[1];
    process P {
      const int L = 2; byte v, w[L];
      state p, q, r; init p; commit r; accept p, q; assert p: x == N, q: (v, 1) == 1 ;
    }""".replace("(v, 1) == 1", "v == 1 || x == 1")
        + """
    process Q { state s; init s; trans s -> s {}, s -> s { guard 1; }, s -> s { sync c!; effect x = 1; },
      s -> s { guard not P.p and x >= 1 or y <= 2 imply true; sync f!(x + 1) * 2; }, s -> s { sync g!{1, 2}; }; }
    """
    )
    assert m.processes == ("P", "Q")
    assert [a.text for a in m.assertions] == ["x == N", "v == 1 || x == 1"]
    messages = [w.message for w in m.warnings]
    assert len(messages) == 2 and "mixed" in messages[0] and "`accept`" in messages[1]
    assert m.warnings[0].location is not None


@pytest.mark.parametrize(
    ("guard", "warned"),
    [
        ("x || y && z", True),
        ("x && y || z", True),
        ("(x && y) || z", False),
        ("x && y && z", False),
        ("x && y imply y || z", False),
        ("x == 1 || y == 1 and z == 1", True),
    ],
)
def test_mixed_junctions_are_warned_of(guard: str, warned: bool) -> None:
    m = one(f"LOC trans a -> b {{ guard {guard}; }};", "byte x, y, z;")
    assert bool(m.warnings) == warned
    if warned:
        assert m.warnings[0].location is not None and m.warnings[0].location.line == 1


def test_long_chains_and_many_brackets_are_fine() -> None:
    one(f"LOC trans a -> b {{ guard {'x || ' * 20000} x; }};", "byte x;").frontend.interpreter().successors((0, 0))
    m = one(f"LOC trans a -> b {{ guard {' + '.join(['x'] * 3000)} == 3000; }};", "byte x = 1;")
    assert len(m.frontend.interpreter().successors(m.initial[0])) == 1
    one(f"LOC trans a -> b {{ guard {'(' * 9000} x {')' * 9000}; }};", "byte x;")


@pytest.mark.parametrize(
    ("opened", "closed"),
    [("q[", "]"), ("(1 >> ", ")"), ("(x / ", ")"), ("!(x && ", ")"), ("(x imply ", ")"), ("-(", ")")],
)
def test_deepest_expressions_compile(opened: str, closed: str) -> None:
    levels = 1
    while levels < 100:
        nested = f"{opened * levels}x{closed * levels}"
        try:
            m = one(f"LOC trans a -> b {{ guard {nested} != 5; effect q[0] = {nested}; }};", "byte q[2], x = 1;")
        except InputError as error:
            message = error.message
            break
        levels += 1
    assert "nested too deeply" in message
    assert levels > 29
    assert_agree(m)


def test_too_large_a_synchronous_product() -> None:
    process = "process P{} {{ state a; init a; trans {}; }}"
    text = "".join(process.format(i, ", ".join(["a -> a {}"] * 20)) for i in range(5))
    with pytest.raises(InputError, match="combinations"):
        load(text + "system sync;", None)

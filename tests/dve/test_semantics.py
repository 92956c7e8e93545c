"""The corner cases of DVE, each on the interpreter and on the lowered events (see `dve_testing.run`)."""

from __future__ import annotations

import pytest
from dve_testing import assert_agree, model, one, run, states, value_of

from aggmc.errors import ModelError
from aggmc.model.core import Model
from aggmc.model.interpreter import CoreInterpreter


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("7 / 2", 3),
        ("m7 / 2", -3),
        ("m7 % 2", -1),
        ("7 / m2", -3),
        ("7 % m2", 1),
        ("m7 / m2", 3),
        ("m7 % m2", -1),
        ("1 + 2 * 3", 7),
        ("10 - 3 - 2", 5),
        ("1 << 2 + 1", 8),
        ("200 / 10 / 2", 10),
        ("6 & 1 == 0", 0),
        ("1 | 2 ^ 2", 1),
        ("4 ^ 6 & 3", 2),
        ("2 < 3 == 1", 1),
        ("1 == 2 < 3", 1),
        ("~5", -6),
        ("-m7", 7),
        ("!m7", 0),
        ("not 0", 1),
        ("3 && 4", 1),
        ("0 or 7", 1),
        ("true + true", 2),
        ("0 imply 0", 1),
        ("1 imply 0", 0),
        ("0 imply 0 imply 0", 0),
        ("1 || 1 && 0", 1),
        ("(1 || 1) && 0", 0),
        ("P.a + P.b * 10", 10),
        ("m7 >> 1", -4),
        ("big + 100 == 300", 1),
        ("32767 + 1", -32768),
        ("-32768 - 1", 32767),
        ("65536 + 5", 5),
        ("(big == 200) & 3", 1),
        ("~(big == 200)", -2),
        ("1 - 2 + 3 - 4 + 5 - 6 + 7 - 8 + 9 - 10 + 11 - 12 + 13 - 14 + 15 - 16 + 17 - 18 + 19 - 20 + 21 - 22 + 23", 12),
    ],
)
def test_expressions(expression: str, value: int) -> None:
    assert value_of(expression, "int m7 = -7, m2 = -2; byte big = 200;") == value


def test_byte_wraps_on_assignment_only() -> None:
    state = run(one("LOC trans a -> b { effect x = x + 1, y = y - 1, z = x + 511; };", "byte x = 255, y, z;"))
    assert (state["x"], state["y"], state["z"]) == (0, 255, 255)


def test_effects_run_in_sequence() -> None:
    state = run(one("LOC trans a -> b { effect x = y, y = x, i = 1, q[i] = 5, r = q[1]; };", "byte x=1,y=2,i,q[3],r;"))
    assert (state["x"], state["y"], state["q[1]"], state["r"]) == (2, 2, 5, 5)


def test_location_changes_before_the_effects() -> None:
    assert run(one("LOC trans a -> b { effect x = P.b; };", "byte x;"))["x"] == 1
    assert run(one("LOC trans a -> b { guard P.a; effect x = 3; };", "byte x;"))["x"] == 3


def test_step_operators() -> None:
    state = run(one("LOC trans a -> b { effect x++, q[1]--; };", "byte x, q[2];"))
    assert (state["x"], state["q[1]"]) == (1, 255)


def test_initial_values() -> None:
    m = one(
        "const int K = 2; byte z = K; LOC",
        "const byte N = 3; byte x, a[N] = {1, 2}; int y = -N; byte b[2] = {1,2,3}; byte w = 256 + 1;",
    )
    state = m.show_state(m.initial[0])
    assert state == {
        "x": 0,
        "a[0]": 1,
        "a[1]": 2,
        "a[2]": 0,
        "y": -3,
        "b[0]": 1,
        "b[1]": 2,
        "w": 1,
        "P": "a",
        "P.z": 2,
    }
    assert len(m.warnings) == 2


RENDEZVOUS = """
channel c; byte x = 1, log; int big = 300;
process S { state s, t; init s; trans s -> t { guard x == 1; sync c!big; effect log = log * 10 + 1, x = 7; }; }
process R { byte v; state r, u; init r;
  trans r -> u { guard v == 0; sync c?v; effect log = log * 10 + 2, v = v + x; }; }
"""


def test_rendezvous_order_and_cut() -> None:
    m = model(RENDEZVOUS)
    assert [e.name for e in m.events] == ["S: s -> t (c!), R: r -> u (c?)"]
    state = run(m)
    # 300 is cut to 44 for v; the receiver's effects come first and see the old x
    assert (state["R.v"], state["log"], state["x"], state["S"], state["R"]) == (45, 21, 7, "t", "u")
    event = m.events[0]
    assert event.actor.process == "S" and event.partner is not None and event.partner.process == "R"


def test_rendezvous_value_is_of_the_old_state() -> None:
    m = model("""channel c; byte x = 5;
      process S { state s, t; init s; trans s -> t { sync c!x; }; }
      process R { state s, t; init s; trans s -> t { sync c?x; effect x = x + 1; }; }
      process Q { state s, t; init s; trans s -> t { sync c?x; }, s -> t { guard S.t; sync c?x; }; }""")
    assert run(m, 0)["x"] == 6
    assert len(m.frontend.interpreter().successors(m.initial[0])) == 2


def test_no_rendezvous_with_oneself() -> None:
    m = one("LOC trans a -> b { sync c!; }, a -> c { sync c?; };", "channel c;")
    assert m.events == () and m.frontend.interpreter().is_dead(m.initial[0])


def test_messages_of_several_values() -> None:
    m = model("""channel {byte, int} c[0]; byte i, q[3];
      process S { state s, t; init s; trans s -> t { sync c!{2, 257}; }; }
      process R { state s, t; init s; trans s -> t { sync c?{i, q[i]}; }; }""")
    state = run(m)
    assert (state["i"], state["q[2]"]) == (2, 1)


BUFFER = """
channel {byte} c[2]; byte n = 250;
process S { state s; init s; trans s -> s { guard n < 254; sync c!n + 10; effect n = n + 1; }; }
process R { byte v, w; state r; init r; trans r -> r { sync c?v; effect w = v; }; }
"""


def test_buffered_channel() -> None:
    m = model(BUFFER)
    assert [v.name for v in m.variables] == ["c.len", "c[0]", "c[1]", "n", "S", "R", "R.v", "R.w"]
    assert m.index["c[0]"] == 1
    state = run(m, 0, 0)
    # the value is of the state before the effects: 250 + 10 = 4, 251 + 10 = 5
    assert (state["c.len"], state["c[0]"], state["c[1]"]) == (2, 4, 5)
    interpreter = m.frontend.interpreter()
    full = interpreter.successors(interpreter.successors(m.initial[0])[0][1])[0][1]
    assert [number for number, _ in interpreter.successors(full)] == [1]  # no room: only the receiver
    state = run(m, 0, 0, 0)
    assert (state["c.len"], state["c[0]"], state["c[1]"], state["R.v"], state["R.w"]) == (1, 5, 0, 4, 4)
    state = run(m, 0, 1)  # what was popped is no part of the state
    assert (state["c.len"], state["c[0]"]) == (0, 0)


def test_buffered_channel_of_pairs() -> None:
    m = model("""channel {byte, int} c[2];
      process S { int k = -5; state s, t, u; init s; trans s -> t { sync c!{300, k}; effect k = 9; },
        t -> u { sync c!{2, k}; }; }
      process R { int x, y; state r; init r; trans r -> r { sync c?{x, y}; }; }""")
    assert m.variables[1].name == "c[0].0" and m.variables[4].name == "c[1].1"
    state = run(m, 0, 0, 0)
    assert (state["R.x"], state["R.y"], state["c[0].0"], state["c[0].1"], state["c[1].0"]) == (44, -5, 2, 9, 0)
    state = run(m, 0, 0, 0, 0)
    assert (state["R.x"], state["R.y"], state["c.len"]) == (2, 9, 0)


def test_committed_locations_go_first() -> None:
    m = model("""byte x;
      process P { state a, b; commit b; init a; trans a -> b {}, b -> a {}; }
      process Q { state a, b; init a; trans a -> b {}, b -> a { guard 1/x == 0; }; }""")
    assert states(m) == 4
    interpreter = m.frontend.interpreter()
    in_b = interpreter.successors(m.initial[0])[0][1]
    assert [number for number, _ in interpreter.successors(in_b)] == [1]
    assert_agree(m)
    # the test mentions P alone and is in Q's events alone
    assert repr(m.events[2].guard) == "!=(v1, 1)" and repr(m.events[1].guard) == "1"


COMMIT_PAIR = """channel c;
  process S {{ state a, b; {0} init a; trans a -> b {{ sync c!; }}; }}
  process R {{ state a, b; {1} init a; trans a -> b {{ sync c?; }}; }}
  process Q {{ state a; init a; trans a -> a {{}}; }}"""


@pytest.mark.parametrize(
    ("sender", "receiver", "enabled"),
    [("", "", 2), ("commit a;", "commit a;", 1), ("commit a;", "", 0), ("", "commit a;", 0)],
)
def test_rendezvous_under_commit(sender: str, receiver: str, enabled: int) -> None:
    m = model(COMMIT_PAIR.format(sender, receiver))
    interpreter = m.frontend.interpreter()
    assert len(interpreter.successors(m.initial[0])) == enabled
    assert interpreter.is_dead(m.initial[0]) == (enabled == 0)  # nobody can leave: a deadlock
    assert_agree(m)


def test_errors_of_events_that_priority_forbids_do_not_count() -> None:
    m = model("""byte x;
      process P { state a; commit a; init a; trans a -> a { guard x == 1; }; }
      process Q { state a; init a; trans a -> a { guard 1 / x == 0; }; }""")
    m.frontend.interpreter().check_errors(m.initial[0])
    assert m.frontend.interpreter().is_dead(m.initial[0])
    assert_agree(m)


ERRORS = [
    ("guard q[i] == 0;", "i = 3", "index 3 is outside `q`"),
    ("guard q[i - 1] == 0;", "i = 0", "index -1 is outside `q`"),
    ("guard 1 / i == 0;", "i = 0", "division by zero"),
    ("guard 1 % i == 0;", "i = 0", "division by zero"),
    ("guard 1 << i;", "i = 32", "shift by 32"),
    ("guard 1 >> i - 1;", "i = 0", "shift by -1"),
    ("guard i == 1 || q[i] == 0;", "i = 5", "index 5"),
    ("guard i == 5 && q[i] == 0;", "i = 5", "index 5"),
    ("guard i == 5 imply q[i] == 0;", "i = 5", "index 5"),
    ("guard i == 5, q[i] == 0;", "i = 5", "index 5"),
    ("effect i = 9, q[i] = 1;", "i = 0", "index 9"),
    ("effect q[1] = 1 / i;", "i = 0", "division by zero"),
    ("effect i = 0, q[0] = q[1] / i;", "i = 1", "division by zero"),
    ("sync c!q[i];", "i = 4", "index 4"),
    ("guard q[7] == 0;", "i = 0", "index 7"),
]


def erring(part: str, initial: str) -> Model:
    return one(f"LOC trans\na -> b {{ {part} }};", f"channel {{byte}} c[2]; byte q[3]; byte {initial};")


@pytest.mark.parametrize(("part", "initial", "message"), ERRORS)
def test_errors_have_lines(part: str, initial: str, message: str) -> None:
    m = erring(part, initial)
    interpreter = m.frontend.interpreter()
    with pytest.raises(ModelError, match=message) as caught:
        interpreter.check_errors(m.initial[0])
    assert caught.value.location is not None and caught.value.location.line == 2
    assert caught.value.location.file == "test.dve"
    assert interpreter.successors(m.initial[0]) == [] and not interpreter.is_dead(m.initial[0])
    assert_agree(m)


@pytest.mark.parametrize(
    ("part", "initial"),
    [
        ("guard i < 3 && q[i] == 0;", "i = 5"),
        ("guard i > 3 || q[i] == 0;", "i = 5"),
        ("guard i < 3 imply q[i] == 0;", "i = 5"),
        ("guard i < 3, q[i] == 0;", "i = 5"),
        ("guard i == 0; effect q[i] = 1;", "i = 5"),
        ("guard false; sync c!1/i;", "i = 0"),
        ("sync c?q[i];", "i = 5"),  # empty: nothing is received
    ],
)
def test_no_error_where_evaluation_stops_early(part: str, initial: str) -> None:
    m = erring(part, initial)
    m.frontend.interpreter().check_errors(m.initial[0])
    assert_agree(m)


@pytest.mark.parametrize(
    ("sender", "receiver", "errs"),
    [("true", "1 / z", True), ("false", "1 / z", False), ("1 / z", "false", True), ("1/z", "Q.b", True)],
)
def test_guard_errors_of_a_rendezvous(sender: str, receiver: str, errs: bool) -> None:
    m = model(f"""channel c; byte z;
      process P {{ state a, b; init a; trans a -> b {{ guard {sender}; sync c!; }}; }}
      process Q {{ state a, b; init a; trans a -> b {{ guard {receiver}; sync c?; }}; }}""")
    assert m.frontend.interpreter().is_dead(m.initial[0]) == (not errs)
    assert_agree(m)


def test_a_rendezvous_errs_only_if_both_are_there() -> None:
    m = model("""channel c; byte z;
      process P { state a, b; init a; trans a -> b { guard 1 / z; sync c!; }; }
      process Q { state a, b; init b; trans a -> b { sync c?; }; }""")
    assert m.frontend.interpreter().is_dead(m.initial[0])
    assert_agree(m)


def test_one_erring_step_does_not_hide_the_others() -> None:
    m = one("LOC trans a -> b { effect x = 1 / x; }, a -> c {};", "byte x;")
    assert [number for number, _ in m.frontend.interpreter().successors(m.initial[0])] == [1]
    assert_agree(m)


def test_assertions() -> None:
    m = one("LOC assert b: x == 0, c: q[x] == 0; trans a -> b { effect x = 2; };", "byte x, q[2];")
    first, second = m.assertions
    assert (first.name, first.text) == ("P.b", "x == 0") and first.location.line == 1
    core = CoreInterpreter(m)
    bad = core.successors(m.initial[0])[0][1]
    from aggmc.model.expr import evaluate

    assert evaluate(first.holds, m.initial[0]) and not evaluate(first.holds, bad)
    assert evaluate(second.holds, bad) and not evaluate(second.error, bad)  # not at c
    assert evaluate(second.error, (2, 0, 0, 2))


SYNC = """byte x = 1;
process P { byte p; state a, b; init a; trans a -> b { guard x == 1; effect x = 2, p = Q.b; }, a -> a { guard x == 9; },
  b -> a {}; }
process Q { byte q; state a, b; init a; trans a -> b { guard x == 1; effect q = x; }, b -> b { guard x == 3; }; }
system sync;"""


def test_synchronous_system() -> None:
    m = model(SYNC)
    assert len(m.events) == 6
    state = run(m)
    # guards read the old state, effects run process by process, all locations change first
    assert (state["P"], state["Q"], state["x"], state["Q.q"], state["P.p"]) == ("b", "b", 2, 2, 1)
    interpreter = m.frontend.interpreter()
    assert interpreter.is_dead(interpreter.successors(m.initial[0])[0][1])  # Q cannot step, so nobody can
    assert_agree(m)


def test_synchronous_errors() -> None:
    m = model("""byte z; process P { state a; init a; trans a -> a { guard 1 / z; }, a -> a { effect z = 1; }; }
      process Q { state a, b; init a; trans a -> a { effect z = 4 / (z - 1); }, b -> b {}; } system sync;""")
    assert_agree(m)
    assert not m.frontend.interpreter().is_dead(m.initial[0])


def test_repeated_source() -> None:
    m = one("LOC trans a -> b {}, -> c {}, b -> a {}, -> b {};")
    assert [(e.actor.source, e.actor.target) for e in m.events] == [("a", "b"), ("a", "c"), ("b", "a"), ("b", "b")]


def test_shadowing_and_foreign_variables() -> None:
    m = model("""byte x = 1;
      process P { byte x = 2, q[2] = {7, 8}; state a, b; init a; trans a -> b { effect x = x + 1; }; }
      process Q { byte y; state a, b; init a; trans a -> b { effect y = x * 100 + P->x * 10 + P->q[x]; }; }""")
    assert run(m, 1)["Q.y"] == 128
    assert run(m, 0, 0)["Q.y"] == 138

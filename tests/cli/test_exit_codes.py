"""Exit codes, one cause at a time and several together; a fault of ours is never shown as a result."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from cli_testing import (
    ASSERTS,
    DEAD,
    DIVIDES,
    ENDLESS,
    FOR_EVER,
    HARMLESS,
    OUTSIDE,
    RING,
    Run,
    Write,
    is_paragraph,
    without_times,
)

import aggmc.checker as checker_module
from aggmc.checker import METHODS, Checker, Question, Verdict
from aggmc.cli.check import check_code
from aggmc.cli.codes import BAD_INPUT, HOLDS, INTERNAL, UNKNOWN, VIOLATED
from aggmc.errors import InputError, InternalError, LimitReached
from aggmc.run import Answer
from aggmc.trace.lasso import Lasso


def test_numbers() -> None:
    assert (HOLDS, VIOLATED, BAD_INPUT, UNKNOWN, INTERNAL) == (0, 1, 2, 3, 4)


# --- one cause --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("product", METHODS)
def test_holds_and_violated(run: Run, write: Write, product: str) -> None:
    model = write(RING)
    holds = run("check", model, "--ltl", "G F P.a", "--product", product)
    assert holds.code == 0
    assert holds.out.startswith("holds     G F P.a\n")
    violated = run("check", model, "--ltl", "G !P.c", "--product", product)
    assert violated.code == 1
    assert violated.out.startswith("violated  G !P.c\n")
    assert holds.err == violated.err == ""


def test_one_violation_of_many(run: Run, write: Write) -> None:
    done = run("check", write(RING), "--ltl", "G F P.a", "--ltl", "G P.a", "--ltl", "F P.c")
    assert done.code == 1
    assert [line.split()[0] for line in done.out.splitlines() if not line.startswith(" ")] == [
        "holds",
        "violated",
        "holds",
        "3",
    ]
    assert done.out.endswith("3 results: 1 violated, 2 holds\n")


def test_failed_assert(run: Run, write: Write) -> None:
    done = run("check", write(ASSERTS))
    assert done.code == 1
    assert "holds     assert x < 3 (P.a)" in done.out
    assert "violated  assert x != 2 (P.b)" in done.out


def test_deadlock(run: Run, write: Write) -> None:
    model = write(DEAD)
    assert run("check", model, "--ltl", "F P.b").code == 0
    assert run("check", model, "--ltl", "F P.b", "--deadlock", "ignore").code == 0
    done = run("check", model, "--deadlock", "error")
    assert done.code == 1
    assert done.out.startswith("violated  no deadlock\n")
    assert run("check", write(RING), "--deadlock", "error").code == 0


@pytest.mark.parametrize("product", METHODS)
@pytest.mark.parametrize(
    ("model", "place", "said"),
    [(DIVIDES, "7:", "zero"), (OUTSIDE, "5:", "cell")],
    ids=["division", "index"],
)
def test_error_of_the_model(run: Run, write: Write, product: str, model: str, place: str, said: str) -> None:
    path = write(model)
    done = run("check", path, "--ltl", "G P.a", "--product", product)
    assert done.code == 2
    assert done.out.startswith("unknown   G P.a\n")
    assert is_paragraph(done.err)
    assert done.err.startswith(f"error: {path}:{place}")
    assert said in done.err
    assert done.err.rstrip().endswith("^")


def test_violation_goes_before_an_error_elsewhere(run: Run, write: Write) -> None:
    model = write(DIVIDES.replace("trans", "trans a -> a { },"))
    assert run("check", model, "--ltl", 'G "x == 2"').code == 1
    assert run("check", model, "--ltl", "G P.a").code == 2


@pytest.mark.parametrize("product", METHODS)
def test_error_that_is_not_reachable(run: Run, write: Write, product: str) -> None:
    assert run("check", write(HARMLESS), "--ltl", "F P.b || G P.a", "--product", product).code == 0


def test_error_in_an_assert_and_in_a_proposition(run: Run, write: Write) -> None:
    model = RING.replace("init a;", "init a; assert b: 1 / (x - 1) == 0;")
    assert run("check", write(model)).code == 2
    done = run("check", write(RING), "--ltl", 'G "1 / x == 0"')
    assert done.code == 2
    assert done.err.startswith("error: --ltl:1:6: ")
    assert done.err.endswith('    G "1 / x == 0"\n         ^\n')


def test_limit(run: Run, write: Write) -> None:
    done = run("check", write(ENDLESS), *FOR_EVER, "--timeout", "0.3")
    assert done.code == 3
    assert "unknown   G" in done.out
    assert "because: time limit of 0.3 s reached" in done.out
    assert done.err == ""


def test_commands_that_only_show(run: Run, write: Write) -> None:
    for model in (RING, DEAD, ASSERTS):
        assert run("info", write(model)).code == 0
    assert run("automaton", "G(a -> F b)").code == 0
    assert run("--version").code == 0
    for command in ([], ["check"], ["info"], ["automaton"]):
        for word in ("-h", "--help"):
            done = run(*command, word)
            assert done.code == 0
            assert done.out.startswith("Usage: aggmc")


def test_info_shows_a_model_that_errs(run: Run, write: Write) -> None:
    done = run("info", write(DIVIDES))
    assert done.code == 0
    assert "states: " in done.out
    assert "warning: an error of the model is reachable: " in done.err


def test_info_under_a_limit(run: Run, write: Write) -> None:
    done = run("info", write(RING), "--memory", "1")
    assert done.code == 3
    assert "states: unknown (memory limit of 1 MB reached)" in done.out


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["frobnicate"],
        ["check"],
        ["info"],
        ["automaton"],
        ["--frobnicate"],
        ["check", "{model}"],
        ["check", "{model}", "{model}", "--ltl", "G P.a"],
        ["check", "{model}", "--ltl"],
        ["check", "{model}", "--ltl", "G P.a", "--frobnicate"],
        ["check", "{model}", "--ltl", "G P.a", "--product", "slip"],
        ["check", "{model}", "--ltl", "G P.a", "--deadlock", "maybe"],
        ["check", "{model}", "--ltl", "G P.a", "--fixpoint", "none"],
        ["check", "{model}", "--ltl", "G P.a", "--format", "xml"],
        ["check", "{model}", "--ltl", "G P.a", "--timeout", "soon"],
        ["check", "{model}", "--ltl", "G P.a", "--timeout", "0"],
        ["check", "{model}", "--ltl", "G P.a", "--timeout", "-1"],
        ["check", "{model}", "--ltl", "G P.a", "--timeout", "nan"],
        ["check", "{model}", "--ltl", "G P.a", "--timeout", "inf"],
        ["check", "{model}", "--ltl", "G P.a", "--memory", "much"],
        ["check", "{model}", "--ltl", "G P.a", "--memory", "0"],
        ["info", "{model}", "--format", "dot"],
        ["automaton", "G a", "--format", "png"],
        ["automaton", "G a", "b"],
        ["automaton", ""],
    ],
    ids=lambda arguments: " ".join(arguments).replace("{model}", "MODEL") or "nothing",
)
def test_usage(run: Run, write: Write, arguments: list[str]) -> None:
    model = str(write(RING))
    done = run(*(model if a == "{model}" else a for a in arguments))
    assert done.code == 2
    assert done.out == ""
    assert is_paragraph(done.err)


def test_usage_suggests(run: Run, write: Write) -> None:
    assert "check" in run("chek").err
    assert "--ltl" in run("check", write(RING), "--lt", "G P.a").err
    assert "did you mean `slap-tgta`" in run("check", write(RING), "--ltl", "G P.a", "--product", "slap-tgt").err
    assert "'stutter', 'ignore', 'error'" in run("check", write(RING), "--ltl", "G P.a", "--deadlock", "x").err
    assert "--ltl, --properties or --hoa, or --deadlock error" in run("check", write(RING)).err


# --- several ----------------------------------------------------------------------------------------------------------


def answer(code: int) -> Answer:
    words = {HOLDS: "holds", VIOLATED: "violated"}
    verdict = Verdict("ltl", None, "G a", words.get(code, "unknown"), "stutter")  # type: ignore[arg-type]
    failures: dict[int, Any] = {BAD_INPUT: InputError("bad"), INTERNAL: InternalError("wrong")}
    return Answer(verdict, failures.get(code))


def test_the_gravest_counts() -> None:
    order = [INTERNAL, BAD_INPUT, VIOLATED, UNKNOWN, HOLDS]
    for codes in product(order, repeat=3):
        assert check_code([answer(c) for c in codes], complete=True) == min(codes, key=order.index)
    assert check_code([answer(HOLDS)], complete=False) == UNKNOWN
    assert check_code([answer(VIOLATED)], complete=False) == VIOLATED


@pytest.mark.parametrize(
    ("causes", "code"),
    [
        ("h", 0),
        ("hu", 3),
        ("uh", 3),
        ("uvh", 1),
        ("hvu", 1),
        ("vuE", 2),
        ("Evuh", 2),
        ("vuEI", 4),
        ("IEvuh", 4),
    ],
)
@pytest.mark.parametrize("output", ["text", "json"])
def test_several_results(
    run: Run, write: Write, monkeypatch: pytest.MonkeyPatch, causes: str, code: int, output: str
) -> None:
    """Each property is answered as its number of X says; the whole way through child processes."""
    original = Checker.ltl

    def ltl(self: Checker, question: Question, product: str = "auto") -> Verdict:
        match causes[question.parsed.text.count("X")]:
            case "u":
                raise LimitReached("enough")
            case "E":
                raise InputError("bad")
            case "I":
                raise InternalError("wrong")
        return original(self, question, product)

    monkeypatch.setattr(Checker, "ltl", ltl)
    formulas = [f"{'X ' * i}{'false' if cause == 'v' else 'true'}" for i, cause in enumerate(causes)]
    arguments = [a for f in formulas for a in ("--ltl", f)]
    done = run("check", write(RING), *arguments, "--format", output)
    assert done.code == code
    words = {"h": "holds", "v": "violated"}
    expected = [words.get(c, "unknown") for c in causes]
    if output == "json":
        assert [r["verdict"] for r in done.json["results"]] == expected
        assert ("error" in done.json) == (code in (2, 4))
        if code in (2, 4):
            assert done.json["error"]["message"] == ("bad" if code == 2 else "internal error: wrong")
    else:
        assert [line.split()[0] for line in done.out.splitlines() if line[0].isalpha()] == expected


# --- a fault of ours --------------------------------------------------------------------------------------------------

Corrupt = Callable[[Lasso], Lasso]

# as RING, but it may stay where it begins
CHOICE = RING.replace("a -> b", "a -> a { },\n    a -> b")


def shortened(lasso: Lasso) -> Lasso:
    """A step is missing."""
    middle = len(lasso.states) // 2
    return Lasso(lasso.states[:middle] + lasso.states[middle + 1 :], lasso.loop)


def elsewhere(lasso: Lasso) -> Lasso:
    """It does not begin where runs begin."""
    return Lasso((tuple(v + 1 for v in lasso.states[0]), *lasso.states[1:]), lasso.loop)


def innocent(_: Lasso) -> Lasso:
    """A run of CHOICE that violates nothing."""
    return Lasso(((0, 0),), 0)


def finite(lasso: Lasso) -> Lasso:
    """It ends."""
    return Lasso(lasso.states, None)


def empty(_: Lasso) -> Lasso:
    """It is none."""
    return Lasso((), 0)


def corrupted(monkeypatch: pytest.MonkeyPatch, names: list[str], corrupt: Corrupt) -> None:
    """Children are forked: they inherit it."""
    for name in names:
        original = getattr(checker_module, name)
        monkeypatch.setattr(checker_module, name, lambda *a, f=original: corrupt(f(*a)))


@pytest.mark.parametrize("product", METHODS)
@pytest.mark.parametrize("corrupt", [shortened, elsewhere, innocent, finite, empty])
def test_lasso_that_fails_its_replay(
    run: Run, write: Write, monkeypatch: pytest.MonkeyPatch, product: str, corrupt: Corrupt
) -> None:
    corrupted(monkeypatch, ["aggregate_lasso", "explicit_lasso"], corrupt)
    asked = ["check", write(CHOICE), "--ltl", "G !P.c", "--ltl", "G(P.c -> F P.a)", "--product", product]
    done = run(*asked)
    assert done.code == 4
    assert "violated" not in done.out
    assert "initially" not in done.out
    assert "because: internal error: replay: " in done.out
    assert "\nholds     G(P.c -> F P.a)\n" in done.out  # the next one is answered
    assert is_paragraph(done.err)
    assert done.err.startswith("error: internal error: replay: ")
    assert "please report it" in done.err
    shown = run(*asked, "--format", "json")
    assert shown.code == 4
    assert [r["verdict"] for r in shown.json["results"]] == ["unknown", "holds"]
    assert all("trace" not in r for r in shown.json["results"])
    assert shown.json["error"]["message"].startswith("internal error: replay: ")
    monkeypatch.undo()
    assert run(*asked).code == 1


@pytest.mark.parametrize("corrupt", [shortened, elsewhere, empty])
@pytest.mark.parametrize(("model", "options"), [(ASSERTS, []), (DEAD, ["--deadlock", "error"])], ids=["assert", "dead"])
def test_run_that_fails_its_replay(
    run: Run, write: Write, monkeypatch: pytest.MonkeyPatch, model: str, options: list[str], corrupt: Corrupt
) -> None:
    corrupted(monkeypatch, ["finite_run"], corrupt)
    done = run("check", write(model), *options)
    assert done.code == 4
    assert "violated" not in done.out
    monkeypatch.undo()
    assert run("check", write(model), *options).code == 1


def test_run_that_does_not_end_dead(run: Run, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    corrupted(monkeypatch, ["finite_run"], lambda lasso: Lasso(lasso.states[:-1], None))
    done = run("check", write(DEAD), "--deadlock", "error")
    assert done.code == 4
    assert "violated" not in done.out


def test_no_trace_does_not_spare_the_replay(run: Run, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    corrupted(monkeypatch, ["aggregate_lasso"], elsewhere)
    assert run("check", write(CHOICE), "--ltl", "G !P.c", "--no-trace").code == 4


def test_fault_elsewhere(run: Run, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the child and in the parent: no traceback, unless one asks."""

    def fault(*_: object) -> None:
        raise KeyError("lost")

    model = write(RING)
    for place, arguments in [
        ("aggmc.checker.prepare", ["check", model, "--ltl", "G P.a"]),
        ("aggmc.cli.options.load_model", ["check", model, "--ltl", "G P.a"]),
        ("aggmc.cli.options.load_model", ["info", model]),
        ("aggmc.info._states", ["info", model]),
        ("aggmc.run.prepare", ["automaton", "G a"]),
    ]:
        with monkeypatch.context() as patch:
            patch.setattr(place, fault)
            done = run(*arguments)
            assert done.code == 4, place
            assert is_paragraph(done.err)
            assert done.err.startswith("error: internal error: KeyError: 'lost'\nthis is a fault of aggmc")
            shown = run(*arguments, "--format", "json")
            assert shown.code == 4
            assert shown.json["error"]["message"] == "internal error: KeyError: 'lost'"
            patch.setenv("AGGMC_DEBUG", "1")
            assert "in fault" in run(*arguments).err


def test_same_error_is_told_once(run: Run, write: Write) -> None:
    done = run("check", write(DIVIDES), "--ltl", "G P.a", "--ltl", "F G P.a")
    assert is_paragraph(done.err)
    assert without_times(done.out).count("because: ") == 2

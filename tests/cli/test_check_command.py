"""`aggmc check`: its options, properties from several places, and what the products refuse."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_testing import (
    ASSERTS,
    DEAD,
    ENDLESS,
    FOR_EVER,
    MODELS,
    RING,
    Run,
    Write,
    environment,
    is_paragraph,
    without_times,
)

from aggmc.checker import METHODS, PRODUCTS


def verdicts(out: str) -> list[tuple[str, str]]:
    return re.findall(r"^(holds|violated|unknown) +(.*)$", out, re.M)


# --- properties -------------------------------------------------------------------------------------------------------


def test_properties_in_order(run: Run, write: Write) -> None:
    """Those of the command line, those of the file, the asserts, the deadlocks."""
    model = write(ASSERTS)
    file = write('# first\nseen: F P.b\n\nG "x < 9" // second\nlast.one-2 :G F P.a\n', "some.properties")
    asked = ["check", model, "--properties", file, "--ltl", "G F P.b", "--ltl", "G P.a", "--deadlock", "error"]
    done = run(*asked)
    assert verdicts(done.out) == [
        ("holds", "G F P.b"),
        ("violated", "G P.a"),
        ("holds", "seen: F P.b"),
        ("holds", 'G "x < 9"'),
        ("holds", "last.one-2: G F P.a"),
        ("holds", "assert x < 3 (P.a)"),
        ("violated", "assert x != 2 (P.b)"),
        ("holds", "no deadlock"),
    ]
    assert done.out.endswith("8 results: 2 violated, 6 holds\n")
    results = run(*asked, "--format", "json").json["results"]
    assert [(r["kind"], r["name"], r["property"]) for r in results] == [
        ("ltl", None, "G F P.b"),
        ("ltl", None, "G P.a"),
        ("ltl", "seen", "F P.b"),
        ("ltl", None, 'G "x < 9"'),
        ("ltl", "last.one-2", "G F P.a"),
        ("assert", "P.a", "x < 3"),
        ("assert", "P.b", "x != 2"),
        ("deadlock", None, None),
    ]


def test_comments_in_property_files(run: Run, write: Write) -> None:
    file = write('G "x < 9" # "\n// G P.a\n#\n  # x: G P.a\nF G "x != 7 /* # // */"  //\n', "some.properties")
    results = run("check", write(RING), "--properties", file, "--format", "json").json["results"]
    assert [r["property"] for r in results] == ['G "x < 9"', 'F G "x != 7 /* # // */"']


def test_property_as_given(run: Run, write: Write) -> None:
    formulas = ["  []( P.a  ->  <> P.b )", "!F !!( P.a || true )", 'G("P=a"->F "P = b")']
    arguments = [a for f in formulas for a in ("--ltl", f)]
    results = run("check", write(RING), *arguments, "--format", "json").json["results"]
    assert [r["property"] for r in results] == formulas


def test_nothing_to_check(run: Run, write: Write) -> None:
    done = run("check", write(RING))
    assert (done.code, done.out) == (2, "")
    assert "there is nothing to check" in done.err
    assert run("check", write(RING), "--deadlock", "ignore").code == 2
    assert run("check", write(RING), "--deadlock", "error").code == 0
    assert run("check", write(ASSERTS.replace("x != 2", "x != 3"))).code == 0


def test_models_of_the_project(run: Run) -> None:
    """All the way through the command line, once."""
    for path in sorted(MODELS.glob("*.dve")):
        with path.with_suffix(".expected").open(newline="") as file:
            expected = {row["name"]: row["stutter"] for row in csv.DictReader(file, delimiter="\t")}
        done = run("check", path, "--properties", path.with_suffix(".properties"), "--format", "json")
        found = {r["name"]: r["verdict"] for r in done.json["results"] if r["kind"] == "ltl"}
        assert found == expected
        assert done.code == 1
        assert done.err == ""


# --- products ---------------------------------------------------------------------------------------------------------


def test_products() -> None:
    assert PRODUCTS == (
        "auto", "slap", "slap-fst", "slap-fsa", "slap-plus", "slap-tgta", "slap-fst-tgta", "slap-fsa-tgta",
        "slap-plus-tgta", "sog", "sog-tgta", "tgba", "tgta",
    )  # fmt: skip


def test_help_of_check(run: Run) -> None:
    text = run("check", "--help").out
    for name, method in METHODS.items():
        assert re.search(rf"^ +{name} +{re.escape(method.help)}$", text, re.M), name
    assert re.search(r"^ +auto +\w+", text, re.M)
    for option in (
        "--ltl", "--properties", "--product", "--deadlock", "--timeout", "--memory", "--fixpoint", "--format",
        "--absorb", "--no-trace", "--stats",
    ):  # fmt: skip
        assert f"  {option}" in text, option
    assert max(map(len, text.splitlines())) <= 100


def test_help_does_not_load_spot() -> None:
    """It takes a while."""
    code = "import sys; from aggmc.cli.program import main; main(['check', '--help']); print('spot' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True)
    assert done.stdout.endswith("False\n")


@pytest.mark.parametrize("product", METHODS)
def test_product_that_answered(run: Run, write: Write, product: str) -> None:
    done = run("check", write(RING), "--ltl", "G F P.a", "--product", product, "--format", "json")
    assert done.json["results"][0]["product"] == product
    assert run("check", write(RING), "--ltl", "G F P.a", "--product", product).out.splitlines()[1].startswith(
        f"  {product}; "
    )


def test_auto_names_the_one_it_took(run: Run, write: Write) -> None:
    results = run(
        "check", write(ENDLESS), "--ltl", "G F P.a", "--ltl", eleven(), "--ltl", "X P.a", "--format", "json"
    ).json["results"]
    assert [r["product"] for r in results] == ["slap-tgta", "slap", "slap-tgta"]


@pytest.mark.parametrize("product", ["sog", "sog-tgta"])
@pytest.mark.parametrize("output", ["text", "json"])
def test_not_stutter_invariant(run: Run, write: Write, product: str, output: str) -> None:
    asked = ["--ltl", "G(P.a -> X P.b)", "--ltl", "G F P.a", "--product", product, "--format", output]
    done = run("check", write(RING), *asked)
    assert done.code == 2
    assert is_paragraph(done.err)
    said = (
        f"the property is not stutter-invariant, as the product {product} needs: G(P.a -> X P.b); "
        "use one of slap, slap-fst, slap-fsa, slap-plus, slap-tgta, slap-fst-tgta, slap-fsa-tgta, slap-plus-tgta, "
        "tgba, tgta"
    )
    assert done.err == f"error: --ltl:1:1: {said}\n    G(P.a -> X P.b)\n    ^\n"
    if output == "text":
        assert [v for v, _ in verdicts(done.out)] == ["unknown", "holds"]  # the next one is answered
    else:
        first, second = done.json["results"]
        assert (first["verdict"], first["product"], second["verdict"]) == ("unknown", product, "holds")
        assert done.json["error"] == first["error"] == {"message": said, "file": "--ltl", "line": 1, "column": 1}
        assert "error" not in second


def test_not_stutter_invariant_in_a_file(run: Run, write: Write) -> None:
    file = write("# X\n  next: X P.b\n", "some.properties")
    done = run("check", write(RING), "--properties", file, "--product", "sog")
    assert done.code == 2
    assert done.err.startswith(f"error: {file}:2:9: the property is not stutter-invariant")
    assert done.err.endswith("\n      next: X P.b\n            ^\n")


def test_x_that_does_no_harm(run: Run, write: Write) -> None:
    """Stutter-invariant, although it is written with X."""
    formula = 'G("P=a" -> X("P=a" || "P=b"))'
    for product in ("sog", "sog-tgta"):
        assert run("check", write(RING), "--ltl", formula, "--product", product).code == 0


def propositions(number: int) -> str:
    return " || ".join(f'F "v0 == {i}"' for i in range(number))


def eleven() -> str:
    return propositions(11)


@pytest.mark.parametrize("product", METHODS)
def test_number_of_propositions(run: Run, write: Write, product: str) -> None:
    """At most 10 for the products with testing automata; the others take more."""
    model = write("byte v0; process P { state a; init a; trans a -> a { effect v0 = (v0 + 1) % 16; }; } system async;")
    done = run("check", model, "--ltl", eleven(), "--product", product)
    if "tgta" in product:
        assert done.code == 2
        assert is_paragraph(done.err)
        assert f"11 propositions, and the product {product} takes at most 10; use one of slap, " in done.err
        assert run("check", model, "--ltl", "G(" + " || ".join(re.findall('".*?"', eleven())) + ") || true",
                   "--product", product).code == 0  # fmt: skip
    else:
        assert done.code == 0


def test_ten_propositions(run: Run, write: Write) -> None:
    model = write("byte v0; process P { state a; init a; trans a -> a { effect v0 = (v0 + 1) % 4; }; } system async;")
    done = run("check", model, "--ltl", propositions(10), "--product", "slap-tgta", "--format", "json")
    assert done.json["results"][0]["verdict"] == "holds"


# --- deadlocks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("product", METHODS)
def test_deadlock_semantics(run: Run, write: Write, product: str) -> None:
    """DEAD has no infinite run."""
    model = write(DEAD)
    ltl = ["--ltl", "G P.a", "--ltl", "F G P.b", "--product", product, "--format", "json"]
    found = {}
    for deadlock in ("stutter", "ignore", "error"):
        done = run("check", model, *ltl, "--deadlock", deadlock)
        found[deadlock] = [(r["kind"], r["verdict"]) for r in done.json["results"]]
        assert {r["deadlock"] for r in done.json["results"]} == {deadlock}
    assert found == {
        "stutter": [("ltl", "violated"), ("ltl", "holds")],
        "ignore": [("ltl", "holds"), ("ltl", "holds")],
        "error": [("ltl", "holds"), ("ltl", "holds"), ("deadlock", "violated")],
    }


def test_infinite_runs_only_is_said(run: Run, write: Write) -> None:
    for deadlock, said in [("stutter", False), ("ignore", True), ("error", True)]:
        done = run("check", write(DEAD), "--ltl", "G P.a", "--deadlock", deadlock)
        assert ("infinite runs only" in done.out) == said


# --- limits -----------------------------------------------------------------------------------------------------------


def test_timeout_is_for_each_property(run: Run, write: Write) -> None:
    done = run("check", write(ENDLESS), *FOR_EVER, "--ltl", "F P.a", *FOR_EVER, "--timeout", "0.3")
    assert [v for v, _ in verdicts(done.out)] == ["unknown", "holds", "unknown"]
    assert done.out.count("because: time limit of 0.3 s reached") == 2
    assert done.code == 3


@pytest.mark.parametrize("memory", ["150", "150M", "0.15G"])
def test_memory(run: Run, write: Write, memory: str) -> None:
    """Counted with what the process has before; the test's process may have more."""
    arguments = [*FOR_EVER, "--ltl", "F P.a", "--memory", memory, "--format", "json"]
    done = run("check", write(ENDLESS), *arguments)
    first = done.json["results"][0]
    assert done.code == 3
    assert first["verdict"] == "unknown"
    assert re.fullmatch(r"memory limit of 15\d(\.\d+)? MB reached|.*memory.*", first["reason"])
    assert "error" not in done.json


def test_memory_that_suffices(run: Run, write: Write) -> None:
    assert run("check", write(RING), "--ltl", "G F P.a", "--memory", "2G", "--timeout", "60").code == 0


def test_limits_of_info_and_automaton(run: Run, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def long(*_: object) -> None:
        import time

        time.sleep(100)

    monkeypatch.setattr("aggmc.info._states", long)
    done = run("info", write(RING), "--timeout", "0.3", "--format", "json")
    assert done.code == 3
    assert done.json["states"] is None
    assert done.json["deadlocks"] is None
    assert done.json["reason"] == "time limit of 0.3 s reached"
    assert all(v["bits"] for v in done.json["variables"])  # what was found is told
    monkeypatch.setattr("aggmc.run.prepare", long)
    done = run("automaton", "G a", "--timeout", "0.3", "--format", "json")
    assert done.code == 3
    assert done.json["error"]["message"] == "time limit of 0.3 s reached"
    assert done.err == "error: time limit of 0.3 s reached\n"


# --- how it is computed and told --------------------------------------------------------------------------------------


@pytest.mark.parametrize("extra", [["--fixpoint", "saturation"], ["--fixpoint", "chaining"], ["--reordering"]])
def test_ways_to_compute(run: Run, extra: list[str]) -> None:
    path = MODELS / "mutex.dve"
    asked = ["check", path, "--properties", path.with_suffix(".properties")]
    assert verdicts(run(*asked, *extra).out) == verdicts(run(*asked).out)
    info = ["info", path, "--format", "json"]
    assert run(*info, *extra).json["states"] == run(*info).json["states"]


def test_settings_reach_the_checker(run: Run, write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from aggmc.checker import Checker

    seen = tmp_path / "seen"
    original = Checker.ltl

    def ltl(self: Checker, *arguments: object) -> object:
        options = self.options
        seen.write_text(f"{options.fixpoint} {options.absorb} {options.reordering} {options.max_memory}")
        return original(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Checker, "ltl", ltl)
    run("check", write(RING), "--ltl", "G P.a", "--fixpoint", "chaining", "--absorb", "covered", "--reordering",
        "--memory", "1G")  # fmt: skip
    assert seen.read_text() == f"chaining covered True {1 << 30}"
    run("check", write(RING), "--ltl", "G P.a")
    assert seen.read_text() == "saturation all None None"


@pytest.mark.parametrize("product", [name for name in METHODS if name.startswith("slap")])
def test_absorb(run: Run, product: str) -> None:
    path = MODELS / "mutex.dve"
    asked = ["check", path, "--properties", path.with_suffix(".properties"), "--product", product]
    assert verdicts(run(*asked, "--absorb", "covered").out) == verdicts(run(*asked, "--absorb", "all").out)


def test_no_trace(run: Run, write: Write) -> None:
    asked = ["check", write(RING), "--ltl", "G P.a"]
    with_trace = run(*asked)
    without = run(*asked, "--no-trace")
    assert with_trace.code == without.code == 1
    assert without_times(with_trace.out).startswith(without_times(without.out))
    assert "initially" in with_trace.out
    assert len(without.out.splitlines()) == 2
    assert "trace" in run(*asked, "--format", "json").json["results"][0]
    assert "trace" not in run(*asked, "--no-trace", "--format", "json").json["results"][0]


def test_trace_as_text(run: Run, write: Write) -> None:
    done = run("check", write(RING), "--ltl", "G !P.c", "--product", "tgba", "--full-run")
    assert without_times(done.out).splitlines()[2:] == [
        "  initially  x=0, P=a",
        "  for ever:",
        "  |  1. P: a -> b (line 6)   x: 0 -> 1",
        "  |  2. P: b -> c (line 7)   x: 1 -> 2   [+P.c]",
        "  |  3. P: c -> a (line 8)   x: 2 -> 0   [-P.c]",
        "  (after step 2, every continuation violates the property)",
        "  why:",
        "    G !P.c  fails initially, and ever after",
        "      !P.c  fails after step 2",
        "        P.c  holds after step 2",
    ]


def test_bad_prefix_as_text(run: Run, write: Write) -> None:
    """A finite prefix shows the violation: the rest is folded."""
    done = run("check", write(RING), "--ltl", "G !P.b", "--product", "slap")
    assert without_times(done.out).splitlines()[2:] == [
        "  initially  x=0, P=a",
        "     1. P: a -> b (line 6)   x: 0 -> 1   [+P.b]",
        "  whatever follows, the property is violated (2 more with --full-run)",
        "  why:",
        "    G !P.b  fails initially, and ever after",
        "      !P.b  fails after step 1",
        "        P.b  holds after step 1",
    ]


def test_run_that_leads_to_an_error(run: Run, write: Write) -> None:
    model = write(RING.replace("x = 0", "x = 1 / (x - 2)"))
    asked = ["check", model, "--ltl", "G F P.a"]
    done = run(*asked)
    assert "the run that leads to the error:\n  initially  x=0, P=a\n     1. P: a -> b" in done.out
    assert "run that leads" not in run(*asked, "--no-trace").out
    shown = run(*asked, "--format", "json").json
    assert [s["state"] for s in shown["error"]["trace"]["prefix"]] == [{"x": 1, "P": "b"}, {"x": 2, "P": "c"}]
    assert shown["results"][0]["error"] == shown["error"]
    assert "trace" not in run(*asked, "--format", "json", "--no-trace").json["error"]


def test_stats(run: Run, write: Write) -> None:
    asked = ["check", write(RING), "--ltl", "G P.a", "--ltl", "X P.b"]
    plain, more = run(*asked).out, run(*asked, "--stats").out
    assert "stutter-invariant" not in plain
    assert "  stutter-invariant: yes\n  BDD nodes: " in more
    assert "  stutter-invariant: no\n" in more
    assert "  run: " in more
    assert run("check", write(RING), "--ltl", "G P.a", "--stats", "--product", "tgba").out.count("BDD") == 0


def test_quoted_forms_that_are_suggested_work(run: Run, write: Write) -> None:
    model = write(RING.replace("process P {", "process P {\n  byte v = 1;"))
    for formula in ('F "x == 1"', 'G "P->v == 1"', 'G "P.v == 1"', 'F "P.a"', 'F "x != 0"'):
        assert run("check", model, "--ltl", formula).code == 0


AUTOMATON = """HOA: v1
States: 2
Start: 0
AP: 1 "x == 2"
Acceptance: 1 Inf(0)
--BODY--
State: 0
[!0] 0
[0] 1
State: 1 {0}
[t] 1
--END--
"""


def test_automata_as_properties(run: Run, write: Write) -> None:
    """F "x == 2", of good runs and of bad ones."""
    model, automaton = write(RING), write(AUTOMATON, "reaches.hoa")
    ran = run("check", model, "--hoa", automaton)
    assert ran.code == 0 and "reaches.hoa" in ran.out
    ran = run("check", model, "--hoa-negated", automaton, "--format", "json")
    assert ran.code == 1 and ran.json["results"][0]["trace"]["cycle"]
    ran = run("check", model, "--hoa", model)
    assert ran.code == 2 and "no automaton in HOA" in ran.err
    assert run("check", model, "--hoa", model.parent / "none.hoa").code == 2


# --- engine and orders -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["auto", "declared", "force", "span"])
def test_orders_give_the_same_answers(run: Run, order: str) -> None:
    found = run("check", "models/mutex.dve", "--ltl", "G F P_0.CS", "--order", order, "--format", "json")
    assert (found.code, found.json["results"][0]["verdict"]) == (1, "violated")
    assert run("info", "models/mutex.dve", "--order", order, "--format", "json").json["states"] == 20


def test_an_order_from_a_file(run: Run, write: Write, tmp_path: Path) -> None:
    names = tmp_path / "order"
    names.write_text("# the second process first\nP_1\nP_0  # then the first\n")
    assert run("info", "models/mutex.dve", "--order-file", names, "--format", "json").json["states"] == 20
    for text, said in [("P_7\n", "names `P_7`"), ("P_1\nP_1\n", "names `P_1` twice")]:
        names.write_text(text)
        refused = run("info", "models/mutex.dve", "--order-file", names)
        assert (refused.code, said in refused.err) == (2, True)
    assert run("info", "models/mutex.dve", "--order-file", tmp_path / "none").code == 2


def test_the_order_is_shown_and_read_again(run: Run, tmp_path: Path) -> None:
    shown = run("info", "models/elevator.dve", "--show", "order")
    names = {v["name"] for v in run("info", "models/elevator.dve", "--format", "json").json["variables"]}
    assert (shown.code, set(shown.out.split())) == (0, names)
    assert run("info", "models/elevator.dve", "--show", "order", "--format", "json").json["order"] == shown.out.split()
    (tmp_path / "order").write_text("\n".join(reversed(shown.out.split())))
    again = run("info", "models/elevator.dve", "--show", "order", "--order-file", tmp_path / "order")
    assert (again.code, again.out != shown.out) == (0, True)
    limited = run("info", "models/elevator.dve", "--show", "order", "--memory", "1")
    assert limited.code == 3 and "memory" in limited.err


def test_engine(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGGMC_ENGINE", "python")
    assert run("info", "--engine").out == "engine: python (AGGMC_ENGINE says so)\n"
    found = run("info", "--engine", "--format", "json").json
    assert (found["engine"], found["reason"]) == ("python", "AGGMC_ENGINE says so")
    assert run("info", "models/mutex.dve", "--format", "json").json["states"] == 20
    monkeypatch.setenv("AGGMC_ENGINE", "fast")
    refused = run("info", "--engine")
    assert refused.code == 2
    assert "it is one of native, python" in refused.err
    assert run("info").code == 2

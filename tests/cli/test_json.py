"""JSON: its keys and values, that it says what the text says, and that its traces are runs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_testing import ASSERTS, DEAD, DIVIDES, MODELS, RENDEZVOUS, RING, Run, Write, counters, without_times

from aggmc.checker import METHODS
from aggmc.model.load import load_model

STATS = [
    *("automaton_states", "automaton_class", "stutter_invariant", "aggregates", "edges", "bdd_nodes"),
    *("found_steps", "shortest"),
]


# --- check ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("product", [*METHODS, "auto"])
def test_keys(run: Run, write: Write, product: str) -> None:
    model = write(ASSERTS)
    asked = ["--ltl", "G P.a", "--ltl", "F P.b", "--deadlock", "error", "--product", product]
    found = run("check", model, *asked, "--format", "json").json
    assert list(found) == ["version", "model", "results"]
    assert found["version"] == 1
    assert found["model"] == str(model)
    for result in found["results"]:
        keys = ["kind", "name", "property", "verdict", "product", "deadlock", "seconds", "stats"]
        assert list(result) == (keys if result["verdict"] == "holds" else [*keys, "trace"])
        assert list(result["stats"]) == STATS
        assert isinstance(result["seconds"], float)
        assert 0 <= result["seconds"] < 60
        assert result["deadlock"] == "error"
        if result["verdict"] == "violated":
            trace = result["trace"]
            evidence = ["propositions", "parts", "bad_prefix"] if result["kind"] == "ltl" else []
            assert list(trace) == ["initial", "prefix", "cycle", *evidence]
            for step in (*trace["prefix"], *trace["cycle"]):
                assert list(step) == ["event", "partner", "state", "changes"]
                if step["event"] is not None:
                    assert list(step["event"]) == ["name", "process", "from", "to", "line"]
        if result["kind"] == "ltl":
            assert result["product"] == (product if product != "auto" else "slap-tgta")
            stats = dict(result["stats"])
            assert stats.pop("automaton_class") in ("terminal", "weak", "general")
            assert stats.pop("stutter_invariant") is True
            steps_found, shortest = stats.pop("found_steps"), stats.pop("shortest")
            if result["verdict"] == "violated":
                assert shortest in (True, False)
                assert steps_found >= len(result["trace"]["prefix"]) + len(result["trace"]["cycle"])
            else:
                assert (steps_found, shortest) == (None, None)
            nodes = stats.pop("bdd_nodes")
            assert nodes is None if product in ("tgba", "tgta") else nodes > 0
            assert all(type(value) is int and value >= 0 for value in stats.values())
        else:
            assert result["product"] is None
            assert {k for k, v in result["stats"].items() if v is not None} == {"bdd_nodes"}
    assert [r["kind"] for r in found["results"]] == ["ltl", "ltl", "assert", "assert", "deadlock"]
    assert [r["verdict"] for r in found["results"]] == ["violated", "holds", "holds", "violated", "holds"]


def test_reason(run: Run, write: Write) -> None:
    found = run("check", write(RING), "--ltl", "G P.a", "--memory", "1", "--format", "json").json
    (result,) = found["results"]
    assert result["verdict"] == "unknown"
    assert result["reason"] == "memory limit of 1 MB reached"
    assert "trace" not in result
    assert "error" not in found


def test_an_error_for_each_that_has_one(run: Run, write: Write) -> None:
    formulas = ['G "1 / x == 9"', 'G "2 / (x - 1) == 9"', "G F P.a"]
    arguments = [a for f in formulas for a in ("--ltl", f)]
    done = run("check", write(RING), *arguments, "--format", "json")
    assert done.code == 2
    first, second, third = done.json["results"]
    assert [r["error"]["column"] for r in (first, second)] == [6, 6]
    assert len(first["error"]["trace"]["prefix"]) == 0
    assert len(second["error"]["trace"]["prefix"]) == 1
    assert "error" not in third
    assert done.json["error"] == first["error"]
    assert done.err.count("error: ") == 2


def steps(trace: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """(the state before, the step), once round the cycle."""
    state = trace["initial"]
    for step in (*trace["prefix"], *trace["cycle"]):
        yield state, step
        state = step["state"]


def is_run(trace: dict[str, Any], path: Path) -> None:
    """What a script can check of a trace without knowing aggmc."""
    lines = path.read_text().splitlines()
    before_cycle = trace["prefix"][-1]["state"] if trace["prefix"] else trace["initial"]
    if trace["cycle"]:
        assert trace["cycle"][-1]["state"] == before_cycle  # it closes
    for state, step in steps(trace):
        after = step["state"]
        assert list(after) == list(state)
        assert step["changes"] == {name: [state[name], after[name]] for name in after if state[name] != after[name]}
        if step["event"] is None:
            assert step["partner"] is None
            assert step["changes"] == {}
            continue
        for actor in (step["event"], step["partner"]):
            if actor is not None:
                assert state[actor["process"]] == actor["from"]
                assert after[actor["process"]] == actor["to"]
                assert re.search(rf"->\s*{actor['to']}\b", lines[actor["line"] - 1])


@pytest.mark.parametrize("product", METHODS)
def test_traces_are_runs(run: Run, product: str) -> None:
    seen = 0
    for name in ("philosophers", "lossy_channel", "readers_writers"):
        path = MODELS / f"{name}.dve"
        properties = path.with_suffix(".properties")
        done = run("check", path, "--properties", properties, "--product", product, "--format", "json")
        interpreter = load_model(path).frontend.interpreter()
        variables = load_model(path).variables
        (initial,) = interpreter.initial_states()
        shown = {v.name: v.show(x) for v, x in zip(variables, initial, strict=True)}
        for result in done.json["results"]:
            if result["verdict"] == "violated":
                seen += 1
                assert result["trace"]["initial"] == shown
                assert result["trace"]["cycle"]
                is_run(result["trace"], path)
    assert seen > 10


def test_locations_are_named(run: Run, write: Write) -> None:
    path = write(RING)
    trace = run("check", path, "--ltl", "G !P.c", "--product", "tgba", "--format", "json").json["results"][0]["trace"]
    assert trace["initial"] == {"x": 0, "P": "a"}
    assert (*trace["prefix"], *trace["cycle"])[0] == {
        "event": {"name": "P: a -> b", "process": "P", "from": "a", "to": "b", "line": 6},
        "partner": None,
        "state": {"x": 1, "P": "b"},
        "changes": {"x": [0, 1], "P": ["a", "b"]},
    }
    is_run(trace, path)


def test_rendezvous_and_deadlock(run: Run, write: Write) -> None:
    path = write(RENDEZVOUS)
    asked = ["check", path, "--ltl", "G S.idle", "--format", "json"]
    trace = run(*asked).json["results"][0]["trace"]
    first, *rest = (*trace["prefix"], *trace["cycle"])
    assert first["event"] | {"name": ""} == {"name": "", "process": "S", "from": "idle", "to": "sent", "line": 7}
    assert first["partner"] == {"process": "R", "from": "wait", "to": "done", "line": 12}
    assert first["changes"] == {"got": [0, 5], "S": ["idle", "sent"], "R": ["wait", "done"]}
    assert rest
    for step in rest:  # the deadlock, again and again
        assert step == {"event": None, "partner": None, "state": first["state"], "changes": {}}
    assert trace["cycle"]
    is_run(trace, path)
    text = run("check", path, "--ltl", "G S.idle", "--full-run").out
    assert "S: idle -> sent (line 7)  with  R: wait -> done (line 12)   got: 0 -> 5" in text
    assert "(deadlock: the state is repeated)" in text


def test_finite_runs(run: Run, write: Write) -> None:
    """To a deadlock, and to an assert that fails: there is no cycle."""
    path = write(DEAD)
    trace = run("check", path, "--deadlock", "error", "--format", "json").json["results"][0]["trace"]
    assert [s["state"] for s in trace["prefix"]] == [{"x": 1, "P": "b"}]
    assert trace["cycle"] == []
    is_run(trace, path)
    path = write(ASSERTS)
    trace = run("check", path, "--format", "json").json["results"][1]["trace"]
    assert trace["prefix"][-1]["state"] == {"x": 2, "P": "b"}
    assert trace["cycle"] == []
    is_run(trace, path)


def test_structure_in_hoa(run: Run, write: Write) -> None:
    path = write(
        'HOA: v1\nStates: 2\nStart: 0\nAP: 1 "a"\nAcceptance: 0 t\n--BODY--\n'
        'State: [0] 0 "up"\n1\nState: [!0] 1 "down"\n0 1\n--END--\n',
        "k.hoa",
    )
    trace = run("check", path, "--ltl", "G a", "--format", "json").json["results"][0]["trace"]
    assert trace["initial"] == {"state": "up"}
    assert (*trace["prefix"], *trace["cycle"])[0]["changes"] == {"state": ["up", "down"]}
    info = run("info", path, "--format", "json").json
    assert (info["language"], info["states"], info["deadlocks"]) == ("hoa", 2, 0)


@pytest.mark.parametrize("product", METHODS)
def test_text_says_the_same(run: Run, write: Write, product: str) -> None:
    file = write("named: G P.a\nF P.b\n", "some.properties")
    asked = ["check", write(ASSERTS), "--properties", file, "--product", product, "--deadlock", "error"]
    asked += ["--stats", "--full-run"]
    text, shown = run(*asked), run(*asked, "--format", "json")
    assert text.code == shown.code == 1
    results = shown.json["results"]
    blocks = re.split(r"^(?=holds|violated|unknown|\d+ results)", text.out, flags=re.M)[1:]
    assert len(blocks) == len(results) + 1
    for block, result in zip(blocks, results, strict=False):
        first, *lines = block.splitlines()
        assert first.split()[0] == result["verdict"]
        title = {"ltl": "{property}", "assert": "assert {property} ({name})", "deadlock": "no deadlock"}
        assert first[10:].removeprefix("named: ") == title[result["kind"]].format(**result)
        assert ("named: " in first) == (result["name"] == "named")
        stats = result["stats"]
        if result["kind"] == "ltl":
            numbers = list(map(int, re.findall(r"\b\d+(?= (?:state|aggregate|node|edge))", lines[0])))
            assert numbers == [stats["automaton_states"], stats["aggregates"], stats["edges"]]
            assert lines[0].startswith(f"  {result['product']}; ")
            assert stats["automaton_class"] in lines[0]
            assert f"  stutter-invariant: {'yes' if stats['stutter_invariant'] else 'no'}" in lines
        assert (f"  BDD nodes: {stats['bdd_nodes']}" in lines) == (stats["bdd_nodes"] is not None)
        trace = result.get("trace", {"initial": {}, "prefix": [], "cycle": []})
        told = [line for line in lines if re.match(r" +\|? *\d+\. ", line)]
        assert len(told) == len(trace["prefix"]) + len(trace["cycle"])
        for line, (_, step) in zip(told, steps(trace), strict=True):
            event = step["event"]
            assert f"{event['process']}: {event['from']} -> {event['to']} (line {event['line']})" in line
            for name, (old, new) in step["changes"].items():
                assert name == event["process"] or f"{name}: {old} -> {new}" in line
        if trace["initial"]:
            first = f"  initially  {', '.join(f'{n}={v}' for n, v in trace['initial'].items())}"
            assert any(line == first or line.startswith(f"{first}   [") for line in lines)


# --- info -------------------------------------------------------------------------------------------------------------


def test_info(run: Run, write: Write) -> None:
    path = write(RENDEZVOUS)
    found = run("info", path, "--format", "json").json
    assert next(iter(found)) == "version"
    assert {"states", "deadlocks", "variables", "events", "bdd_nodes", "seconds"} <= set(found)
    assert (found["states"], found["deadlocks"]) == (2, 1)
    assert found["bdd_nodes"] > 0
    assert 0 <= found["seconds"] < 60
    assert "reason" not in found
    for variable in found["variables"]:
        assert list(variable) == ["name", "type", "low", "high", "bits"]
    assert {v["name"]: (v["type"], v["low"], v["high"], v["bits"]) for v in found["variables"]} == {
        "got": ("byte", 0, 5, 1),  # 0 or 5
        "S": ("location", 0, 1, 1),
        "S.n": ("byte", 1, 1, 0),
        "R": ("location", 0, 1, 1),
    }
    (event,) = found["events"]
    assert list(event) == ["name", "process", "line"]
    assert (event["process"], event["line"]) == ("S", 7)


def test_info_as_text(run: Run) -> None:
    for path in sorted(MODELS.glob("*.dve")):
        text, found = run("info", path).out, run("info", path, "--format", "json").json
        for key, label in [
            ("states", "states"),
            ("deadlocks", "deadlocks"),
            ("bdd_nodes", "BDD nodes"),
            ("bits", "bits"),
        ]:
            assert f"\n{label}: {found[key]}\n" in text
        assert f"\nvariables: {len(found['variables'])}\n" in text
        assert f"\nevents: {len(found['events'])}\n" in text
        assert f"\nprocesses: {', '.join(found['processes'])}\n" in text
        assert text.startswith(f"model: {path} ({found['language']})\n")
        rows = [line.split() for line in text.splitlines() if line.startswith("  ")]
        for v in found["variables"]:
            bits = f"{v['bits']} bit" + ("s" if v["bits"] != 1 else "")
            assert [v["name"], v["type"], f"{v['low']}..{v['high']}", *bits.split()] in rows
        for e in found["events"]:
            assert [*e["name"].split(), e["process"], "line", str(e["line"])] in rows


def test_more_states_than_64_bits_count(run: Run, write: Write) -> None:
    path = write(counters(9))
    found = run("info", path, "--format", "json")
    assert found.json["states"] == 256**9 > 2**64
    assert f'"states": {256**9},' in found.out  # no float, no string
    assert f"states: {256**9}\n" in run("info", path).out


def test_exact_number_of_states_and_deadlocks(run: Run, write: Write) -> None:
    """No rounding: v0 stops at 77, and with it everything; v8 never becomes 255."""
    model = counters(9).replace("v8 = v8 + 1", "v8 = (v8 + 1) % 255").replace("a -> a {", "a -> a { guard v0 != 77;")
    found = run("info", write(model), "--format", "json").json
    assert found["states"] == 78 * 256**7 * 255
    assert found["deadlocks"] == 256**7 * 255


@pytest.fixture(name="few_digits")
def few_digits_fixture() -> Iterator[None]:
    """As Python begins: numbers of more than 4300 digits are not written."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(4300)
    yield
    sys.set_int_max_str_digits(before)


@pytest.mark.usefixtures("few_digits")
def test_more_states_than_python_writes(run: Run, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    number = 10**5000 + 1
    monkeypatch.setattr("aggmc.info._states", lambda _: {"states": number, "deadlocks": number, "bdd_nodes": 1})
    done = run("info", write(RING), "--format", "json")
    assert done.code == 0
    assert done.json["states"] == done.json["deadlocks"] == number
    assert f"states: {number}\n" in run("info", write(RING)).out


def test_info_of_a_model_that_errs(run: Run, write: Write) -> None:
    done = run("info", write(DIVIDES), "--format", "json")
    assert done.code == 0
    assert done.json["states"] == 3
    assert done.json["deadlocks"] == 0  # a state whose only step errs is none
    assert "error of the model is reachable" in done.err


# --- automaton --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(
    ("formula", "extra", "kind", "invariant", "kind_of_acceptance"),
    [
        ("G(a -> F b)", [], "tgba", True, "weak"),
        ("G(a -> F b)", ["--tgta"], "tgta", True, "weak"),
        ("G a", [], "tgba", True, "terminal"),
        ("G F a -> G F b", [], "tgba", True, "general"),
        ("G(a -> X b)", [], "tgba", False, "terminal"),
        ("G(a -> X b)", ["--tgta"], "change-set", False, None),
        ("G(a -> X a) || F !a", [], "tgba", True, None),
    ],
)
def test_automaton(
    run: Run, formula: str, extra: list[str], kind: str, invariant: bool, kind_of_acceptance: str | None
) -> None:
    found = run("automaton", formula, *extra, "--format", "json").json
    assert list(found) == ["version", "formula", "negated", "stutter_invariant", "class", "automaton", "seconds"]
    assert (found["formula"], found["negated"], found["stutter_invariant"]) == (formula, True, invariant)
    automaton = found["automaton"]
    assert automaton["kind"] == kind
    assert found["class"] == automaton["class"]
    assert kind_of_acceptance in (None, found["class"])
    text = run("automaton", formula, *extra).out
    assert f"formula: {formula}\n" in text
    assert f"stutter-invariant: {'yes' if invariant else 'no'}\n" in text
    assert f"class: {found['class']}\n" in text
    assert f"{kind}, {found['class']}: {automaton['states']} states, {len(automaton['edges'])} edges" in text
    arrows = re.findall(r"^(\d+) -> (\d+)  (?:changes: )?(.*?)(?:  \{(.*)\})?$", text, re.M)
    assert arrows == [
        (str(e["source"]), str(e["target"]), e["label"], ",".join(map(str, e["marks"]))) for e in automaton["edges"]
    ]


@pytest.mark.parametrize("extra", [[], ["--tgta"]], ids=["tgba", "tgta"])
def test_automaton_for_other_tools(run: Run, extra: list[str]) -> None:
    import spot

    formula = 'G("x > 1" -> F b)'
    found = run("automaton", formula, *extra, "--format", "json").json
    hoa = run("automaton", formula, *extra, "--format", "hoa")
    assert hoa.code == 0
    assert hoa.err == "note: the automaton of the negation; the formula is stutter-invariant\n"
    read = spot.automaton(hoa.out)
    if not extra:
        assert spot.are_equivalent(read, spot.translate(spot.formula(f"!({formula})")))
        assert read.num_states() == found["automaton"]["states"]
    assert read.num_edges() == len(found["automaton"]["edges"]) or extra
    dot = run("automaton", formula, *extra, "--format", "dot")
    assert dot.code == 0
    assert dot.err == hoa.err
    assert dot.out.startswith("digraph ")
    assert dot.out.endswith("}\n")
    assert len(re.findall(r"^  \d+ -> \d+ ", dot.out, re.M)) == len(found["automaton"]["edges"])


def test_automaton_of_many_propositions(run: Run) -> None:
    formula = " || ".join(f"F a{i}" for i in range(11))
    assert run("automaton", formula).code == 0
    done = run("automaton", formula, "--tgta")
    assert (done.code, done.out) == (2, "")
    assert "slap" in done.err


# --- in general -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "{model}", "--ltl", "G P.a", "--format", "json"],
        ["check", "{model}", "--ltl", "G P.q", "--format=json"],
        ["info", "{model}", "--format", "json"],
        ["info", "none.dve", "--format", "json"],
        ["automaton", "G a", "--format", "json"],
        ["automaton", "G", "--format", "json"],
        ["check", "--format", "json"],
        ["check", "{model}", "--frobnicate", "--format", "json"],
        ["frobnicate", "--format", "json"],
    ],
    ids=lambda a: " ".join(a),
)
def test_version_comes_first(run: Run, write: Write, arguments: list[str]) -> None:
    model = str(write(RING))
    done = run(*(model if a == "{model}" else a for a in arguments))
    found = done.json
    assert next(iter(found)) == "version"
    assert type(found["version"]) is int
    assert done.out.endswith("}\n")
    assert json.loads(done.out, parse_constant=lambda word: pytest.fail(word)) == found  # no NaN
    if done.code == 2:
        assert list(found) == ["version", "error"]
        assert list(found["error"]) == ["message", "file", "line", "column"]
        assert found["error"]["message"] in done.err


def test_numbers_do_not_change(run: Run, write: Write) -> None:
    """The same again in one process, where the engines have a history."""
    asked = ["check", write(ASSERTS), "--ltl", "G F P.a", "--ltl", "G P.a", "--format", "json"]
    assert without_times(run(*asked).out) == without_times(run(*asked).out)

"""Files of runs: what is written can be read again, and says what the run is."""

from __future__ import annotations

import json
import random
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from generators import random_formula, random_structure, small_dve

from aggmc.checker import Checker, Options, ask, check
from aggmc.errors import InputError
from aggmc.ltl.formula import parse
from aggmc.ltl.translate import prepare
from aggmc.model.core import Model
from aggmc.model.dve import load as load_dve
from aggmc.model.hoa import model_of
from aggmc.model.load import load_model
from aggmc.properties import read_properties
from aggmc.trace.formats.all import FORMATS, ending_of, read, write
from aggmc.trace.formats.document import Document
from aggmc.trace.recheck import Rechecked, recheck
from aggmc.trace.trace import Trace

MODELS = Path(__file__).parents[2] / "models"
READABLE = [ending for ending, form in FORMATS.items() if form.read is not None]


def again(model: Model, document: Document, ending: str) -> Rechecked:
    """Written, read and replayed."""
    claim = read(f"run{ending}", write(f"run{ending}", document))
    assert (claim.kind, claim.property, claim.deadlock) == (document.kind, document.property, document.deadlock)
    prop = prepare(parse(document.property)) if document.kind == "ltl" and document.property else None
    if prop is not None:
        for atom in prop.atoms:
            model.frontend.proposition(atom.text, quoted=atom.quoted)
    return recheck(model, claim, prop, stutter=document.deadlock == "stutter")


def same(a: Trace | None, b: Trace) -> bool:
    return a is not None and (a.initial, a.prefix, a.cycle) == (b.initial, b.prefix, b.cycle)


@pytest.mark.parametrize("ending", READABLE)
@pytest.mark.parametrize("path", sorted(MODELS.glob("*.dve")), ids=lambda p: p.stem)
def test_round_trip_of_our_models(path: Path, ending: str) -> None:
    model = load_model(path)
    for written in read_properties(str(path.with_suffix(".properties"))):
        trace = check(model, written.formula).trace
        if trace is not None:
            document = Document(trace, str(path), "dve", "ltl", written.formula)
            found = again(model, document, ending)
            assert found.complaint is None
            assert found.violates
            assert same(found.trace, trace)


@pytest.mark.parametrize("ending", READABLE)
@pytest.mark.parametrize("deadlock", ["stutter", "ignore"])
def test_round_trip_of_random_models(deadlock: str, ending: str) -> None:
    rng = random.Random(deadlock)
    seen = 0
    for i in range(40):
        if i % 2:
            structure = random_structure(rng)
            model, names = model_of(structure), list(structure.propositions)
        else:
            case, model = small_dve(rng, errors=False)
            names = [f'"{c}"' for c in case.conditions]
        try:
            formula = random_formula(rng, names)
            verdict = Checker(model, Options(deadlock=deadlock)).ltl(ask(model, formula), "slap")
        except InputError:
            continue
        if verdict.trace is not None:
            seen += 1
            found = again(model, Document(verdict.trace, "m", "x", "ltl", formula, deadlock), ending)
            assert found.complaint is None, formula
            assert same(found.trace, verdict.trace)
    assert seen > 5


DEAD = """byte x; process P { state a, b, c; init a; trans a -> b { effect x = 3; }, b -> c { }; } system async;"""


@pytest.mark.parametrize("ending", READABLE)
def test_finite_runs(ending: str) -> None:
    model = load_dve(DEAD, "m.dve")
    trace = Checker(model, Options(deadlock="error")).deadlocks().trace
    assert trace is not None
    found = again(model, Document(trace, "m.dve", "dve", "deadlock", None, "error"), ending)
    assert found.complaint is None
    assert same(found.trace, trace)
    shorter = Trace(trace.initial, trace.prefix[:1], ())
    found = again(model, Document(shorter, "m.dve", "dve", "deadlock", None, "error"), ending)
    assert "its last state has a step" in str(found.complaint)


def lasso() -> tuple[Model, Document]:
    model = load_dve(DEAD, "m.dve")
    trace = check(model, 'F G ("x == 3" && P.b)').trace
    assert trace is not None and len(trace.prefix) == 2 and len(trace.cycle) == 1
    return model, Document(trace, "m.dve", "dve", "ltl", 'F G ("x == 3" && P.b)')


def test_nusmv() -> None:
    """The form that NuSMV writes: nodes with a state each, numbered from 1; the loop's first state comes again."""
    _, document = lasso()
    root = ElementTree.fromstring(write("r.xml", document))
    assert (root.tag, root.get("type"), root.get("id")) == ("counter-example", "0", "1")
    nodes = root.findall("node")
    assert [n.find("state").get("id") for n in nodes] == ["1", "2", "3", "4"]  # type: ignore[union-attr]
    values = [{v.get("variable"): v.text for v in n.iter("value")} for n in nodes]
    assert values[0] == {"x": "0", "P": "a"}
    assert values[1] == {"x": "3", "P": "b"}
    assert values[2] == values[3] == {"x": "3", "P": "c"}
    assert root.findtext("loops", "").split() == ["3"]
    for number, node in enumerate(nodes, 1):
        assert [child.tag for child in node] == ["state", "combinatorial", "input"]
        assert [child.get("id") for child in node] == [str(number), str(number + 1), str(number + 1)]


def test_nusmv_escapes() -> None:
    _, document = lasso()
    strange = Document(document.trace, "m", "dve", "ltl", 'G "x < 2 && y > \'3\'" -> a--b')
    assert ElementTree.fromstring(write("r.xml", strange)).get("desc", "").endswith(str(strange.property))


def test_itf() -> None:
    _, document = lasso()
    data = json.loads(write("r.itf.json", document))
    assert data["#meta"]["format"] == "ITF"
    assert data["vars"] == ["x", "P"]
    assert data["loop"] == 2
    assert [{k: v for k, v in s.items() if k != "#meta"} for s in data["states"]] == [
        {"x": 0, "P": "a"},
        {"x": 3, "P": "b"},
        {"x": 3, "P": "c"},
    ]
    assert [s["#meta"]["index"] for s in data["states"]] == [0, 1, 2]


def test_itf_of_other_tools() -> None:
    """Quint writes every integer as a #bigint, and has no events; there may be no `params`."""
    model, _ = lasso()
    values = [("0", "a"), ("3", "b"), ("3", "c")]
    states = [{"#meta": {"index": i}, "x": {"#bigint": x}, "P": p} for i, (x, p) in enumerate(values)]
    text = json.dumps({"#meta": {"format": "ITF", "source": "m.qnt"}, "vars": ["x", "P"], "states": states})
    found = recheck(model, read("other.itf.json", text))
    assert found.complaint is None
    assert found.trace is not None and len(found.trace.prefix) == 2 and not found.trace.cycle


def test_dot_names_every_state_and_step() -> None:
    _, document = lasso()
    text = write("r.dot", document)
    assert re.findall(r"^  (s\d+) -> (s\d+) ", text, re.M) == [("s0", "s1"), ("s1", "s2"), ("s2", "s2")]
    assert text.count("{") == text.count("}") == 1
    assert 'label="1\\lx = 3\\lP = b"' in text


def test_text_is_whole() -> None:
    _, document = lasso()
    assert write("r.txt", document).splitlines()[0] == f"m.dve: a run that violates {document.property}"
    assert "for ever" in write("r.txt", document)


@pytest.mark.parametrize(
    ("path", "ending"),
    [("a.json", ".json"), ("a.itf.json", ".itf.json"), ("A.ITF.JSON", ".itf.json"), ("x/y.xml", ".xml")],
)
def test_endings(path: str, ending: str) -> None:
    assert ending_of(path) == ending


@pytest.mark.parametrize("path", ["a", "a.jsn", "a.dve", "json"])
def test_unknown_endings(path: str) -> None:
    with pytest.raises(InputError, match=r"\.itf\.json, \.json"):
        ending_of(path)
    with pytest.raises(InputError, match="can be read"):
        ending_of("a.xml", to_read=True)


# --- what is wrong with a run -----------------------------------------------------------------------------------------


def corrupted(change: str) -> dict:  # type: ignore[type-arg]
    """A right file, changed by a statement over `d`, its content."""
    _, document = lasso()
    d = json.loads(write("r.json", document))
    exec(change, {"d": d, "t": d["trace"], "p": d["trace"]["prefix"], "c": d["trace"]["cycle"]})
    return d  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("change", "step", "words"),
    [
        ("t['initial']['x'] = 1", 0, "does not begin in an initial state: x is 1 in the file and 0 at first"),
        ("t['initial']['z'] = 1", 0, "the first state: the model has no variable `z`"),
        ("p[0]['state']['Q'] = 1", 1, "after step 1: the model has no variable `Q`"),
        ("del p[1]['state']['x']", 2, "after step 2: the value of `x` is missing"),
        ("p[0]['state']['P'] = 'bb'", 1, r"`bb` is no value of `P` (did you mean `b`?)"),
        ("p[0]['state']['P'] = 1", 1, "`1` is no value of `P`"),
        ("p[0]['state']['x'] = 256", 1, "256 is no value of `x`, which has 0 to 255"),
        ("p[0]['state']['x'] = 'a'", 1, "'a' is no value of `x`"),
        ("p[0]['state']['x'] = 4", 1, "makes it otherwise: x is 4 in the file and 3 by the event"),
        ("del p[0]['event']; p[0]['state']['x'] = 4", 1, "no event leads there; the nearest is `P: a -> b` (line 1)"),
        ("p[0]['event']['name'] = 'P: b -> c'", 1, "it is made by `P: a -> b`, and not by `P: b -> c`"),
        ("p[0]['event']['line'] = 999", 1, "`P: a -> b` has another actor (process, locations, line) or partner"),
        ("p[0]['event']['from'] = 'b'", 1, "has another actor"),
        ("p[0]['event']['process'] = None", 1, "has another actor"),
        ("p[0]['partner'] = p[0]['event']", 1, "or partner"),
        ("p[0]['event'] = None", 1, "the file says that a deadlock is repeated"),
        ("p[0]['changes']['x'] = [0, 2]", 1, "`changes` does not fit the states, at `x`"),
        ("del p[0]['changes']['P']", 1, "`changes` does not fit the states, at `P`"),
        ("p.pop(0)", 1, "step 1: "),
        ("c[0]['state']['P'] = 'a'", 3, "the cycle is not closed: its last step leads elsewhere: P is a"),
        ("t['prefix'], t['cycle'] = p[:1], p[1:]", 2, "the cycle is not closed"),
        ("p.append(dict(p[1], state={'x': 3, 'P': 'b'}))", 3, "the state before it is a deadlock"),
        ("t['cycle'] = []", None, "is finite, and does not decide"),
        ("d['property'] = 'F G P.c'", None, "the run satisfies F G P.c"),
        ("t['propositions']['P.b'][1] = False", 1, "the proposition P.b is true in the state after step 1"),
        ("t['propositions']['P.b'].pop()", 2, "the file says otherwise"),
        ("d['deadlock'] = 'ignore'", 3, "no run goes on there"),
    ],
)
def test_complaints(change: str, step: int | None, words: str) -> None:
    model, _ = lasso()
    claim = read("r.json", json.dumps(corrupted(change)))
    prop = prepare(parse(str(claim.property)))
    found = recheck(model, claim, prop, stutter=claim.deadlock == "stutter")
    assert found.complaint is not None
    assert words in found.complaint
    assert found.step == step


def _claimed(**fields: str) -> str:
    trace = {"initial": {}, "prefix": [], "cycle": []}
    return json.dumps({"format": "aggmc-trace", "version": 1, **fields, "trace": trace})


@pytest.mark.parametrize(
    ("ending", "text", "words"),
    [
        (".json", "", "no JSON"),
        (".json", '{"a": 1,\n "b": }', ":2:7: this is no JSON"),
        (".json", "[" * 100_000, "nested too deeply"),
        (".json", '{"a": ' + "9" * 5000 + "}", "cannot be read|no trace of aggmc"),
        (".json", "[]", "an object is expected"),
        (".json", _claimed(kind="weird"), "kind: `weird` is not known: it is one of ltl, assert"),
        (".json", _claimed(deadlock="x"), "deadlock: `x` is not known: it is one of stutter"),
        (".json", "{}", "no trace of aggmc"),
        (".json", '{"states": []}', r"is named ….itf.json"),
        (".json", '{"format": "aggmc-trace", "version": 2}', "version: 2 is not known"),
        (".json", '{"format": "aggmc-trace", "version": true}', "version: an integer"),
        (".json", '{"format": "aggmc-trace", "version": 1}', "the field `trace` is missing"),
        (".json", '{"format": "aggmc-trace", "version": 1, "trace": {"initial": {"x": 1.5}}}', "trace.initial.x"),
        (".json", '{"format": "aggmc-trace", "version": 1, "trace": {"initial": {}, "prefix": 1}}', "trace.prefix"),
        (
            ".json",
            '{"format": "aggmc-trace", "version": 1, "trace": {"initial": {}, "prefix": [{}], "cycle": []}}',
            r"trace.prefix\[0\]: the field `state` is missing",
        ),
        (".itf.json", "{}", "the field `states` is missing"),
        (".itf.json", '{"states": []}', "at least one state"),
        (".itf.json", '{"states": [1]}', r"states\[0\]: an object"),
        (".itf.json", '{"states": [{"x": {"#bigint": "1e3"}}]}', "`1e3` is no integer"),
        (".itf.json", '{"states": [{"x": {"#set": []}}]}', r"states\[0\].x: the value"),
        (".itf.json", '{"states": [{"x": 1}], "loop": 1}', "loop: 1 is not the index"),
        (".itf.json", '{"states": [{"x": 1}], "loop": "0"}', "loop: an integer"),
    ],
)
def test_files_that_are_none(ending: str, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(f"bad{ending}", text)

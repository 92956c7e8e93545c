"""Nets: what is read, how bounds are found, what propositions mean, what errors say."""

from __future__ import annotations

import csv
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from nets import kanban, manufacturing, ones, philosophers, pnml, random_net, token_ring

from aggmc.checker import METHODS, Checker, Options, ask, check
from aggmc.errors import InputError, ModelError
from aggmc.model.core import Model, State, reachable
from aggmc.model.interpreter import CoreInterpreter
from aggmc.model.load import load_model
from aggmc.model.pnml import load
from aggmc.model.pnml.bounds import place_bounds, semiflows
from aggmc.model.pnml.frontend import NetFrontend

BENCH = Path(__file__).parents[2].parent / "shared" / "bench"
NETS = sorted(p.name for p in (BENCH / "mcc").glob("*-PT-*"))

MUTEX = pnml(
    {"idle1": 1, "idle2": 1, "work1": 0, "work2": 0, "key": 1},
    {
        "in1": (ones("idle1", "key"), ones("work1")),
        "in2": (ones("idle2", "key"), ones("work2")),
        "out1": (ones("work1"), ones("idle1", "key")),
        "out2": (ones("work2"), ones("idle2", "key")),
    },
)
GROWING = pnml({"a": 1, "b": 0}, {"t": (ones("a"), ones("a", "b")), "u": (ones("b"), {})})


def frontend(model: Model) -> NetFrontend:
    assert isinstance(model.frontend, NetFrontend)
    return model.frontend


def count(model: Model) -> int:
    checker = Checker(model)
    states = checker.reachable
    return checker.encoding.count(states)


def known(name: str) -> list[dict[str, str]]:
    with (BENCH / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


# --- reading --------------------------------------------------------------------------------------------------------


def test_weights_pages_and_references() -> None:
    text = """<?xml version="1.0"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
<net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet">
<name><text>a net</text></name>
<page id="one">
 <place id="p"><name><text>start</text></name><initialMarking><text> 4 </text></initialMarking></place>
 <transition id="t"/>
 <arc id="a1" source="p" target="t"><inscription><text>2</text></inscription></arc>
 <page id="two">
  <referencePlace id="again" ref="there"/>
  <referencePlace id="there" ref="q"/>
  <arc id="a2" source="t" target="again"/>
 </page>
</page>
<page id="three"><place id="q"><name><text>end</text></name></place></page>
</net></pnml>"""
    model = load(text, "n.pnml")
    assert model.name == "a net"
    assert [(v.name, v.low, v.high) for v in model.variables] == [("start", 0, 4), ("end", 0, 2)]
    assert list(reachable(model.frontend.interpreter())) == [(4, 0), (2, 1), (0, 2)]
    assert model.events[0].location.line == 7
    for formula in ('F "end == 2"', 'F "q == 2"', "F q", 'G "start + 2 * end = 4"', '"fireable(t)"'):
        assert check(model, formula).holds, formula


def test_names_that_are_no_words() -> None:
    text = MUTEX.replace('id="work1"', 'id="at work-1"').replace('"work1"', '"at work-1"').replace(">work1<", ">w-1<")
    model = load(text, None)
    assert check(model, "G(\"'at work-1' + work2 <= 1\")").holds
    assert check(model, "G(\"'w-1' + work2 <= 1\")").holds


@pytest.mark.parametrize(
    ("old", "new", "words", "line"),
    [
        ("<pnml", "<html", "mismatched tag", None),
        ('id="idle2"', 'id="idle1"', "used twice", 5),
        ('<place id="key">', "<place>", "lacks the attribute `id`", 8),
        ('source="work1"', 'source="wrok1"', "does not exist (did you mean `work1`", None),
        ('source="work1"', 'source="in1"', "joins two transitions", None),
        ("<text>1</text>", "<text>one</text>", "should be a number", 4),
        ("<text>1</text>", "<text>-1</text>", "should be a number", 4),
        ("<text>1</text>", "<text>99999999999</text>", "should be a number", 4),
        ("ptnet", "mysterynet", None, None),
        ("</pnml>", "", "ends too early", None),
        ('<arc id="a0"', '<arc id="a0"><type value="inhibitor"/></arc><arc id="x"', "not supported", None),
    ],
)
def test_errors(old: str, new: str, words: str | None, line: int | None) -> None:
    text = MUTEX.replace(old, new, 1)
    if "inhibitor" in new:
        text = MUTEX.replace(
            '<arc id="a0" source="idle1" target="in1"></arc>',
            '<arc id="a0" source="idle1" target="in1"><type value="inhibitor"/></arc>',
        )
    if words is None:
        load(text, None)  # a kind that nobody knows is read as an ordinary net
        return
    with pytest.raises(InputError) as caught:
        load(text, "n.pnml")
    assert words in str(caught.value)
    location = caught.value.location
    assert location is not None and location.file == "n.pnml" and location.line
    if line is not None:
        assert location.line == line


@pytest.mark.parametrize("length", range(0, len(MUTEX), 61))
def test_truncated(length: int) -> None:
    with pytest.raises(InputError, match=r"ends too early|no XML"):
        load(MUTEX[:length], "n.pnml")


LAUGHS = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {after} "{before * 10}">'
    for before, after in zip([f"&{c};" for c in "abcdefghijkl"], "bcdefghijklm", strict=True)
)


@pytest.mark.parametrize(
    "text",
    [
        LAUGHS + "]><pnml>&m;</pnml>",
        '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "/etc/passwd">]><pnml>&a;</pnml>',
        '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY % a SYSTEM "/etc/passwd"> %a;]><pnml/>',
    ],
)
def test_entities_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="declared"):
        load(text, None)


def test_deep_nesting() -> None:
    with pytest.raises(InputError, match="nested"):
        load("<pnml>" + "<a>" * 100_000, None)


def test_a_large_file(tmp_path: Path) -> None:
    """Refused by its size, before it is read."""
    path = tmp_path / "large.pnml"
    with path.open("wb") as file:
        file.write(MUTEX.encode())
        file.truncate(100 * 1024 * 1024)
    with pytest.raises(InputError, match="bytes; at most"):
        load_model(path)


def test_a_document_type_alone_reads_nothing(tmp_path: Path) -> None:
    secret = tmp_path / "other.dtd"
    secret.write_text('<!ENTITY a "x">')
    text = MUTEX.replace('<?xml version="1.0"?>', f'<?xml version="1.0"?><!DOCTYPE pnml SYSTEM "{secret}">')
    assert count(load(text, None)) == 3


# --- bounds ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_random_nets(seed: int) -> None:
    """Semiflows keep their sum, bounds hold, and net, lowered events and encoding have the same steps."""
    model = load(random_net(seed), None)
    net = frontend(model).net
    flows = semiflows(net)
    for flow in flows:
        for t in net.transitions:
            assert sum(flow.weights.get(p, 0) * d for p, d in t.effect) == 0
    bounds = place_bounds(net, flows)
    interpreter, lowered = model.frontend.interpreter(), CoreInterpreter(model)
    states = list(islice(reachable(interpreter), 400))
    for state in states:
        assert all(b is None or x <= b for x, b in zip(state, bounds, strict=True))
        assert interpreter.successors(state) == lowered.successors(state)
        assert interpreter.is_dead(state) == lowered.is_dead(state)
        for flow in flows:
            assert sum(w * state[p] for p, w in flow.weights.items()) == flow.total
    if len(states) < 400:
        assert count(model) == len(states)


def test_unbounded_is_said() -> None:
    """Never cut off silently: what holds within the bound is no `holds`."""
    model = load(GROWING, "g.pnml")
    assert frontend(model).checked == {1}
    with pytest.raises(ModelError, match="more than 1023 tokens on `b`") as caught:
        check(model, 'G "b <= 2000"')
    assert caught.value.location is not None and caught.value.location.line == 6
    assert caught.value.trace is not None
    verdict = check(model, 'G "b < 7"')
    assert verdict.trace is not None and len(verdict.trace.prefix) >= 7


def test_bounds_that_no_invariant_shows() -> None:
    """b is bounded by a alone, which is only consumed: growth on demand finds how much is needed."""
    transitions = {"t": (ones("a", "c"), {"b": 2, "c": 1}), "u": (ones("b"), {})}
    model = load(pnml({"a": 300, "b": 0, "c": 1}, transitions), None)
    assert frontend(model).checked == {1}
    assert count(model) == sum(2 * (300 - a) + 1 for a in range(301))
    assert check(model, 'F "b == 600" -> G "b <= 600"').holds


def test_said_safe_is_checked() -> None:
    claim = '<toolspecific tool="nupn" version="1.1"><structure safe="true"/></toolspecific></page>'
    model = load(GROWING.replace("</page>", claim), None)
    with pytest.raises(ModelError, match="says that the net is safe"):
        check(model, "G a")
    assert count(load(MUTEX.replace("</page>", claim), None)) == 3


# --- propositions and verdicts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("product", METHODS)
def test_verdicts(product: str) -> None:
    model = load(MUTEX, None)
    for formula, holds in [
        ('G "work1 + work2 <= 1"', True),
        ("G !(work1 && work2)", True),
        ("G F key", True),
        ("G F work1", False),
        ('G("fireable(in1, in2)" <-> key)', True),
        ('G("fireable(in1)" && "fireable(in2)" <-> "key")', True),
        ('F G "tokens(work1, work2) = 0"', False),
        ('G("tokens(idle1, work1) >= 1" && "1 = 1")', True),
    ]:
        assert check(model, formula, product).holds == holds, formula


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("wrok1", "did you mean `work1`"),
        ("in1", 'write "fireable(in1)"'),
        ('"in1 > 0"', "write fireable(in1)"),
        ('"fireable(work1)"', "no transition"),
        ('"enabled(in1)"', "there are fireable"),
        ('"work1 + 1"', "a number, not a condition"),
    ],
)
def test_errors_of_propositions(formula: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        ask(load(MUTEX, None), formula)
    assert words in str(caught.value)


def test_deadlocks() -> None:
    """Both philosophers hold a left fork."""
    model = load(philosophers(2), None)
    assert check(model, "F G (left_0 && left_1)", deadlock="ignore").holds is False
    found = Checker(model, Options(deadlock="error")).deadlocks()
    assert not found.holds and found.trace is not None
    names = {step.event for step in found.trace.prefix}
    assert names in ({"take_left_0", "take_left_1"}, {"take_right_0", "take_right_1"})


# --- families -------------------------------------------------------------------------------------------------------


def brute(model: Model) -> set[State]:
    return set(reachable(model.frontend.interpreter()))


FAMILIES = [(philosophers, 3), (kanban, 1), (kanban, 2), (manufacturing, 1), (token_ring, 3)]


@pytest.mark.parametrize(("family", "n"), FAMILIES)
def test_families(family: Callable[[int], str], n: int) -> None:
    model = load(family(n), None)
    assert count(model) == len(brute(model))
    assert not frontend(model).checked


def test_dead_and_constant_places_cost_nothing() -> None:
    """Nothing that can never fire is encoded, and what never changes has one value."""
    places = {"a": 1, "b": 0, "never": 0, "later": 0, "ever": 3}
    transitions = {
        "there": (ones("a", "ever"), ones("b", "ever")),
        "back": (ones("b"), ones("a")),
        "dead": (ones("never"), ones("later")),
        "deader": (ones("later", "a"), ones("never", "a")),
        "too_much": ({"ever": 4}, {"ever": 4}),
    }
    model = load(pnml(places, transitions), None)
    assert [(v.low, v.high) for v in model.variables] == [(0, 1), (0, 1), (0, 0), (0, 0), (3, 3)]
    checker = Checker(model)
    states = checker.reachable
    assert checker.encoding.count(states) == len(brute(model)) == 2
    assert len(checker.encoding.parts) == 2 and checker.encoding.bit_count == 2
    for formula, holds in [('G "ever == 3"', True), ('F "fireable(dead, deader, too_much)"', False), ("G F b", True)]:
        assert check(model, formula).holds == holds


def test_known_sizes() -> None:
    assert count(load(philosophers(100), None)) == 3**100
    assert count(load(kanban(5), None)) == 2546432


@pytest.mark.shared
@pytest.mark.parametrize("name", NETS)
def test_contest_sizes(name: str) -> None:
    rows = [r for r in known("mcc/verdicts.csv") if r["instance"] == name and "StateSpace" in r["formula"]]
    model = load((BENCH / "mcc" / name / "model.pnml").read_text(), name)
    assert count(model) == int(rows[0]["verdict"])

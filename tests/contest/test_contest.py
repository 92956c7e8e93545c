"""The contest's examinations: verdicts, bounds, state spaces, lines, and what is not answered."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "pnml"))
sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))
from cli_testing import Run, run_fixture
from nets import kanban, ones, philosophers, pnml

from aggmc.contest.examine import EXAMINATIONS, GLOBAL, Result, examine, load_examination
from aggmc.errors import InputError
from aggmc.limits import Limits
from aggmc.model.core import reachable

__all__ = ["run_fixture"]

BENCH = Path(__file__).parents[2].parent / "shared" / "bench"
UNBOUNDED = pnml({"a": 1, "b": 0}, {"t": (ones("a"), ones("a", "b"))})


def formulas(*formulas: str) -> str:
    head = '<?xml version="1.0"?>\n<property-set xmlns="http://mcc.lip6.fr/">\n'
    each = [f"<property><id>f{i}</id><formula>{f}</formula></property>\n" for i, f in enumerate(formulas)]
    return head + "".join(each) + "</property-set>\n"


def fire(*names: str) -> str:
    return "<is-fireable>" + "".join(f"<transition>{n}</transition>" for n in names) + "</is-fireable>"


def at_most(place: str, number: int) -> str:
    count = f"<tokens-count><place>{place}</place></tokens-count>"
    return f"<integer-le>{count}<integer-constant>{number}</integer-constant></integer-le>"


def ask(folder: Path, net: str, examination: str, text: str = "", limits: Limits | None = None) -> list[Result]:
    (folder / "model.pnml").write_text(net)
    if text:
        (folder / f"{examination}.xml").write_text(text)
    return list(examine(load_examination(str(folder), examination), limits or Limits()))


def values(results: list[Result]) -> dict[str, str | None]:
    return {r.name: r.values[0][1] if r.values is not None else None for r in results}


def test_ltl(tmp_path: Path) -> None:
    text = formulas(
        f"<all-paths><globally><disjunction>{fire('take_left_0')}<negation>{fire('take_left_0')}</negation>"
        "</disjunction></globally></all-paths>",
        f"<all-paths><finally>{fire('done_0', 'done_1')}</finally></all-paths>",
        f"<all-paths><globally><finally>{at_most('eat_0', 0)}</finally></globally></all-paths>",
        f"<all-paths><next>{fire('take_left_0', 'then_right_0', 'then_left_1')}</next></all-paths>",
        f"<all-paths><until><before>{at_most('eat_0', 0)}</before><reach><negation>{at_most('eat_0', 0)}</negation>"
        "</reach></until></all-paths>",
        "<all-paths><finally><deadlock/></finally></all-paths>",
    )
    assert values(ask(tmp_path, philosophers(2), "LTLFireability", text)) == {
        "f0": "TRUE",
        "f1": "FALSE",
        "f2": "TRUE",
        "f3": "FALSE",
        "f4": "FALSE",
        "f5": "FALSE",
    }


def test_reachability_and_bounds(tmp_path: Path) -> None:
    text = formulas(
        f"<exists-path><finally><negation>{at_most('m1', 1)}</negation></finally></exists-path>",
        f"<all-paths><globally>{at_most('m1', 1)}</globally></all-paths>",
        f"<all-paths><globally>{at_most('m1', 2)}</globally></all-paths>",
        "<exists-path><finally><deadlock/></finally></exists-path>",
    )
    expected = {"f0": "TRUE", "f1": "FALSE", "f2": "TRUE", "f3": "FALSE"}
    assert values(ask(tmp_path, kanban(2), "ReachabilityCardinality", text)) == expected
    text = formulas(
        "<place-bound><place>m1</place></place-bound>",
        "<place-bound><place>m1</place><place>back1</place><place>m2</place></place-bound>",
    )
    results = ask(tmp_path, kanban(3), "UpperBounds", text)
    assert values(results) == {"f0": "3", "f1": "6"}
    assert results[0].lines() == ["FORMULA f0 3 TECHNIQUES DECISION_DIAGRAMS TOPOLOGICAL"]


@pytest.mark.parametrize("net", [kanban(2), philosophers(3)])
def test_state_space(tmp_path: Path, net: str) -> None:
    """Against the interpreter, state by state."""
    (result,) = ask(tmp_path, net, "StateSpace")
    interpreter = load_examination(str(tmp_path), "StateSpace").model.frontend.interpreter()
    states = list(reachable(interpreter))
    assert result.values is not None and dict(result.values) == {
        "STATES": str(len(states)),
        "TRANSITIONS": str(sum(len(interpreter.successors(s)) for s in states)),
        "MAX_TOKEN_PER_MARKING": str(max(map(sum, states))),
        "MAX_TOKEN_IN_PLACE": str(max(map(max, states))),
    }
    assert result.lines()[0].startswith(f"STATE_SPACE STATES {len(states)} TECHNIQUES ")


def test_global_properties(tmp_path: Path) -> None:
    nets = [(philosophers(2), "TRUE", "TRUE"), (kanban(2), "FALSE", "FALSE"), (kanban(1), "FALSE", "TRUE")]
    for net, deadlock, safe in nets:
        assert values(ask(tmp_path, net, "ReachabilityDeadlock")) == {"ReachabilityDeadlock": deadlock}
        assert values(ask(tmp_path, net, "OneSafe")) == {"OneSafe": safe}


def test_no_guess(tmp_path: Path) -> None:
    """An unbounded net: what a run shows is answered, the rest is not."""
    text = formulas(
        f"<exists-path><finally><negation>{at_most('b', 9)}</negation></finally></exists-path>",
        f"<all-paths><globally>{at_most('b', 2000)}</globally></all-paths>",
    )
    results = ask(tmp_path, UNBOUNDED, "ReachabilityCardinality", text)
    assert values(results) == {"f0": "TRUE", "f1": None}
    assert results[1].lines() == ["FORMULA f1 CANNOT_COMPUTE"]
    (space,) = ask(tmp_path, UNBOUNDED, "StateSpace")
    assert space.lines() == ["CANNOT_COMPUTE"] and "more than 1023" in str(space.problem)
    assert values(ask(tmp_path, UNBOUNDED, "OneSafe")) == {"OneSafe": "FALSE"}


def test_what_is_not_known_spoils_its_own_property_only(tmp_path: Path) -> None:
    text = formulas(
        f"<all-paths><globally>{fire('nobody')}</globally></all-paths>",
        f"<all-paths><finally><exists-path><finally>{fire('enter')}</finally></exists-path></finally></all-paths>",
        "<all-paths><globally><mystery/></globally></all-paths>",
        f"<all-paths><globally><finally>{at_most('m1', 9)}</finally></globally></all-paths>",
        "",
    )
    results = ask(tmp_path, kanban(1), "LTLCardinality", text)
    assert values(results) == {"f3": "TRUE", "f0": None, "f1": None, "f2": None, "f4": None}
    assert all("LTLCardinality.xml:" in str(r.problem) for r in results if r.values is None)


def test_time_limit(tmp_path: Path) -> None:
    """Much too little time: nothing is guessed, and every property has one answer."""
    text = formulas(*[f"<all-paths><globally><finally>{fire('enter')}</finally></globally></all-paths>"] * 3)
    results = ask(tmp_path, kanban(40), "LTLFireability", text, Limits(0.1))
    assert sorted(r.name for r in results) == ["f0", "f1", "f2"]
    assert all(r.values is None or r.values[0][1] == "TRUE" for r in results)


def test_command(run: Run, tmp_path: Path) -> None:
    (tmp_path / "model.pnml").write_text(philosophers(2))
    ran = run("mcc", tmp_path, "--examination", "StateSpace")
    assert (ran.code, ran.err) == (0, "") and ran.out.startswith("STATE_SPACE STATES 9 TECHNIQUES")
    ran = run("mcc", tmp_path, "--examination", "ReachabilityDeadlock", "--format", "json")
    assert ran.code == 0 and ran.json["results"][0]["value"] == "TRUE"
    ran = run("mcc", tmp_path, "--examination", "Statespace")
    assert ran.code == 2 and "did you mean `StateSpace`" in ran.err
    ran = run("mcc", tmp_path, "--examination", "LTLCardinality")
    assert ran.code == 2 and "LTLCardinality.xml" in ran.err
    (tmp_path / "LTLCardinality.xml").write_text("<property-set><property></property-set>")
    ran = run("mcc", tmp_path, "--examination", "LTLCardinality")
    assert ran.code == 2 and "LTLCardinality.xml:1:" in ran.err
    (tmp_path / "LTLCardinality.xml").write_text(formulas("<mystery/>"))
    ran = run("mcc", tmp_path, "--examination", "LTLCardinality")
    assert ran.code == 3 and ran.out == "FORMULA f0 CANNOT_COMPUTE\n" and "mystery" in ran.err
    (tmp_path / "model.pnml").unlink()
    assert run("mcc", tmp_path, "--examination", "StateSpace").code == 2


def test_unknown_examination(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not known"):
        load_examination(str(tmp_path), "CTLCardinality")
    assert set(GLOBAL) < set(EXAMINATIONS)


SMALL = [
    ("mcc", "Philosophers-PT-000005", "LTLFireability"),
    ("mcc", "TwoPhaseLocking-PT-nC00004vN", "LTLCardinality"),
    ("mcc", "AutoFlight-PT-01a", "ReachabilityFireability"),
    ("mcc", "CircularTrains-PT-012", "ReachabilityCardinality"),
]


@pytest.mark.shared
@pytest.mark.parametrize(("folder", "net", "examination"), SMALL)
def test_contest(folder: str, net: str, examination: str) -> None:
    with (BENCH / folder / "verdicts.csv").open() as file:
        known = {row["formula"]: row["verdict"] for row in csv.DictReader(file)}
    found = values(list(examine(load_examination(str(BENCH / folder / net), examination), Limits(120))))
    assert len(found) == 16
    for name, value in found.items():
        assert value == known[name], name

"""The models in `models/` and their expected verdicts.

The oracle is independent of aggmc's automata, encoding and products: the explicit states of the interpreter become an
automaton of Spot, which Spot intersects with that of the negated formula.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import spot

from aggmc.checker import METHODS, Checker, Options, ask
from aggmc.errors import UnsupportedError
from aggmc.model.core import Model, State, reachable
from aggmc.model.load import load_model
from aggmc.properties import Written, read_properties
from aggmc.symbolic.encode import Encoding
from aggmc.symbolic.kripke import SymbolicKripke

ROOT = Path(__file__).parents[1]
MODELS = sorted((ROOT / "models").glob("*.dve"))
NAMES = [path.stem for path in MODELS]
SEMANTICS = ("stutter", "ignore")
#: of the asserts: the names of those that fail
FAILING_ASSERTS = {"mutex_naive": ["P_0.CS", "P_1.CS"]}


@cache
def model(name: str) -> Model:
    return load_model(ROOT / "models" / f"{name}.dve")


@cache
def properties(name: str) -> list[Written]:
    return read_properties(ROOT / "models" / f"{name}.properties")


@cache
def expected(name: str) -> dict[str, dict[str, str]]:
    with (ROOT / "models" / f"{name}.expected").open(newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file, delimiter="\t")}


@cache
def checker(name: str, deadlock: str) -> Checker:
    return Checker(model(name), Options(deadlock=deadlock))


def every_property() -> list[Any]:
    return [pytest.param(name, prop, id=f"{name}-{prop.name}") for name in NAMES for prop in properties(name)]


# -- the oracle --------------------------------------------------------------------------------------------------------


@cache
def graph(name: str) -> dict[State, list[State]]:
    interpreter = model(name).frontend.interpreter()
    return {state: [target for _, target in interpreter.successors(state)] for state in reachable(interpreter)}


def spot_verdict(name: str, formula: str, deadlock: str) -> str:
    steps = {state: list(targets) for state, targets in graph(name).items()}
    if deadlock == "stutter":
        steps = {state: targets or [state] for state, targets in steps.items()}
    while dead := {state for state, targets in steps.items() if not targets}:  # only under `ignore`
        steps = {s: [t for t in targets if t not in dead] for s, targets in steps.items() if s not in dead}
    interpreter = model(name).frontend.interpreter()
    starts = [state for state in interpreter.initial_states() if state in steps]
    negation = spot.formula.Not(spot.formula(formula))
    automaton = spot.translate(negation, "GeneralizedBuchi")
    atoms = [str(ap.ap_name()) for ap in spot.atomic_prop_collect(negation)]
    runs = spot.make_twa_graph(automaton.get_dict())
    variables = [spot.buddy.bdd_ithvar(runs.register_ap(atom)) for atom in atoms]
    number = {state: i for i, state in enumerate(steps)}
    runs.new_states(len(steps) or 1)
    for state, targets in steps.items():
        label = spot.buddy.bddtrue
        for atom, variable in zip(atoms, variables, strict=True):
            label = label & (variable if interpreter.holds(atom, state) else -variable)
        for target in targets:
            runs.new_edge(number[state], number[target], label)
    for start in starts:
        runs.set_init_state(number[start])
        if runs.intersects(automaton):
            return "violated"
    return "holds"


# -- the models --------------------------------------------------------------------------------------------------------


def test_every_model_has_its_files() -> None:
    assert NAMES == ["elevator", "lossy_channel", "mutex", "mutex_naive", "philosophers", "readers_writers"]
    readme = (ROOT / "models" / "README.md").read_text()
    for name in NAMES:
        names = [prop.name for prop in properties(name)]
        assert names == list(expected(name)), name
        assert len(set(names)) == len(names), name
        assert f"{name}.dve" in readme
        assert not model(name).warnings
    verdicts = {row[s] for name in NAMES for row in expected(name).values() for s in SEMANTICS}
    assert verdicts == {"holds", "violated"}


@pytest.mark.parametrize("name", NAMES)
def test_number_of_states(name: str) -> None:
    encoding = Encoding(model(name))
    assert encoding.count(SymbolicKripke(encoding).reachable()) == len(graph(name))
    assert f"| {len(graph(name))} |" in next(
        line for line in (ROOT / "models" / "README.md").read_text().splitlines() if f"{name}.dve" in line
    )


@pytest.mark.parametrize("name", NAMES)
def test_asserts_and_deadlocks(name: str) -> None:
    run = checker(name, "stutter")
    failing = [v.name for v in run.assertions() if v.verdict == "violated"]
    assert failing == FAILING_ASSERTS.get(name, [])
    dead = [state for state, targets in graph(name).items() if not targets]
    verdict = run.deadlocks()
    assert verdict.verdict == ("violated" if dead else "holds")
    assert bool(dead) == (name == "philosophers")
    if dead:
        assert verdict.trace is not None
        assert verdict.trace.prefix and not verdict.trace.cycle


@pytest.mark.parametrize(("name", "prop"), every_property())
@pytest.mark.parametrize("deadlock", SEMANTICS)
def test_spot_expects_the_same(name: str, prop: Written, deadlock: str) -> None:
    assert spot_verdict(name, prop.formula, deadlock) == expected(name)[prop.name][deadlock]


@pytest.mark.parametrize(("name", "prop"), every_property())
@pytest.mark.parametrize("deadlock", SEMANTICS)
def test_every_product_gives_the_expected_verdict(name: str, prop: Written, deadlock: str) -> None:
    run = checker(name, deadlock)
    question = ask(run.model, prop.formula)
    stutter_invariant = spot.is_stutter_invariant(spot.formula(prop.formula))
    for product, method in METHODS.items():
        if method.stutter_invariant_only and not stutter_invariant:
            with pytest.raises(UnsupportedError, match="slap-tgta"):
                run.ltl(question, product)
            continue
        verdict = run.ltl(question, product)
        assert verdict.verdict == expected(name)[prop.name][deadlock], product
        assert verdict.product == product
        if verdict.verdict == "violated":
            assert verdict.trace is not None
            assert verdict.trace.cycle, product
        else:
            assert verdict.trace is None


def test_the_models_show_what_they_should() -> None:
    """Some properties count steps, some do not, and the deadlock semantics matters somewhere."""
    kinds = {spot.is_stutter_invariant(spot.formula(p.formula)) for name in NAMES for p in properties(name)}
    assert kinds == {True, False}
    assert any(row["stutter"] != row["ignore"] for name in NAMES for row in expected(name).values())
    text = "".join(path.read_text() for path in MODELS)
    for construct in ("assert ", "commit ", "channel {byte", "->readers", "++", "const ", "/ ", "[1];"):
        assert construct in text, construct

"""Random structures, formulas and DVE models, and the oracle: Spot's own product, state by state.

Nothing here uses the products, the emptiness check or the automata under test.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import spot  # type: ignore[import-untyped]  # before buddy

import buddy  # type: ignore[import-untyped]  # isort: skip

from aggmc.errors import ModelError
from aggmc.model.core import Model, State, reachable
from aggmc.model.dve import load as load_dve
from aggmc.model.hoa import Structure

NAMES = ("a", "b", "c")


# --- Kripke structures ----------------------------------------------------------------------------------------------


def random_structure(rng: random.Random, *, states: int = 8, propositions: int = 3) -> Structure:
    """A structure of 1 … `states` states, some of them dead, with few letters, so that it stutters."""
    n = max(rng.randint(1, states), rng.randint(1, states))
    count = rng.randint(1, propositions)
    letters = [rng.randrange(1 << count) for _ in range(rng.choice((1, 2, 3, 4, 4)))]
    dead = rng.choice((0.0, 0.1, 0.2, 0.5))
    degree = rng.choice((1, 2, 3, 3))
    successors = []
    for _ in range(n):
        out = 0 if rng.random() < dead else rng.randint(1, degree)
        successors.append(tuple(dict.fromkeys(rng.randrange(n) for _ in range(out))))
    initial = tuple(rng.sample(range(n), min(n, rng.choice((1, 1, 2, 3)))))
    return Structure(NAMES[:count], tuple(rng.choice(letters) for _ in range(n)), tuple(successors), initial)


@dataclass(frozen=True)
class Graph:
    """A labelled graph, after the semantics of deadlocks was applied: what the oracle reads."""

    labels: tuple[int, ...]
    successors: tuple[tuple[int, ...], ...]
    initial: tuple[int, ...]


def total(graph: Graph, deadlock: str, dead: Sequence[bool] | None = None) -> Graph:
    """Dead states loop under `stutter`; else they go, and with them all that then have no successor.

    `dead` says which states without successors are dead (all, unless a step that errs leaves them): under `stutter`,
    one that is not has no infinite run, and goes too.
    """
    out = [list(s) for s in graph.successors]
    if deadlock == "stutter":
        for s, targets in enumerate(out):
            if not targets and (dead is None or dead[s]):
                targets.append(s)
    gone: set[int] = set()
    while True:
        more = {s for s, targets in enumerate(out) if s not in gone and all(t in gone for t in targets)}
        if not more:
            break
        gone |= more
    kept = tuple(() if s in gone else tuple(t for t in targets if t not in gone) for s, targets in enumerate(out))
    return Graph(graph.labels, kept, tuple(s for s in graph.initial if s not in gone))


def spot_violated(graph: Graph, formula: str, names: Sequence[str]) -> bool:
    """Whether an infinite run of a graph (made total) violates the formula: Spot's product, from each initial state."""
    if not graph.initial:
        return False
    dictionary = spot.make_bdd_dict()
    kripke = spot.make_kripke_graph(dictionary)
    variables = [kripke.register_ap(name) for name in names]
    for label in graph.labels:
        condition = buddy.bddtrue
        for i, variable in enumerate(variables):
            condition &= buddy.bdd_ithvar(variable) if label >> i & 1 else buddy.bdd_nithvar(variable)
        kripke.new_state(condition)
    for source, targets in enumerate(graph.successors):
        for target in targets:
            kripke.new_edge(source, target)
    automaton = spot.translate(spot.formula.Not(spot.formula(formula)), "GeneralizedBuchi", dict=dictionary)
    for state in graph.initial:
        kripke.set_init_state(state)
        if kripke.intersects(automaton):
            return True
    return False


def word_violates(prefix: Sequence[int], cycle: Sequence[int], formula: str, names: Sequence[str]) -> bool:
    """Whether prefix·cycle^ω violates the formula, by Spot's own words."""

    def letter(valuation: int) -> str:
        return "&".join(name if valuation >> i & 1 else f"!{name}" for i, name in enumerate(names)) or "1"

    dictionary = spot.make_bdd_dict()
    text = "".join(f"{letter(v)};" for v in prefix) + "cycle{" + ";".join(map(letter, cycle)) + "}"
    word = spot.parse_word(text, dictionary).as_automaton()
    negation = spot.translate(spot.formula.Not(spot.formula(formula)), dict=dictionary)
    return bool(word.intersects(negation))


def graph_of(structure: Structure) -> Graph:
    """The structure as it is."""
    return Graph(structure.labels, structure.successors, structure.initial)


# --- formulas -------------------------------------------------------------------------------------------------------


def spot_formulas(rng: random.Random, names: Sequence[str], count: int, *, with_next: bool) -> list[str]:
    """Formulas by `spot.randltl`. Spot cuts the priorities' text up in place: give it a string of its own."""
    priorities = None if with_next else f"X={int(with_next)}"
    low = rng.choice((3, 5, 8))
    found = spot.randltl(
        list(names), n=count, seed=rng.randrange(1 << 30), tree_size=(low, low + 6), ltl_priorities=priorities
    )
    return [str(f) for f in found]


def random_formula(rng: random.Random, names: Sequence[str]) -> str:
    """A formula of one of several kinds; about half have an automaton (of the negation) of several sets, or none."""

    def literal() -> str:
        return rng.choice(("", "!")) + rng.choice(names)

    def repeated() -> str:
        inner = literal() if rng.random() < 0.6 else f"({literal()} {rng.choice('&|U')} {literal()})"
        return rng.choice(("GF", "GF", "FG", "F", "G")) + inner

    kind = rng.randrange(8)
    if kind <= 1:  # the negation is a conjunction of GF …: several sets
        often = [f"GF{p}" for p in rng.sample([f"{sign}{name}" for name in names for sign in ("", "!")], 2)]
        return "!(" + " & ".join([*often, *(repeated() for _ in range(rng.randrange(2)))]) + ")"
    if kind == 2:
        return f"({repeated()}) {rng.choice('&|')} ({repeated()})"
    if kind == 3:
        left, right = spot_formulas(rng, names, 1, with_next=False)[0], repeated()
        return rng.choice(("", "!")) + f"(({left}) {rng.choice(('&', '|', 'U', 'W', 'R', '->'))} {right})"
    if kind == 4:  # X that does no harm: stutter-invariant all the same
        p = rng.choice(names)
        moved = rng.choice((f"F({p} & X!{p})", f"G(!{p} | X{p} | F!{p})", f"F(!{p} & X{p})"))
        return rng.choice(("", "!")) + f"({moved} {rng.choice('&|')} {repeated()})"
    if kind == 5:  # X that counts
        p = rng.choice(names)
        q = literal()
        inner = rng.choice((f"X{q}", f"({p} & XX{q})", f"(X{p} U {q})", f"({p} -> X{q})"))
        return rng.choice(("", "!", "F", "G", "GF", "!GF", "FG")) + f"({inner} {rng.choice('&|')} {repeated()})"
    return spot_formulas(rng, names, 1, with_next=kind == 6)[0]


# --- DVE ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DveCase:
    """A DVE model with expressions to use as propositions."""

    text: str
    conditions: tuple[str, ...]


def random_dve(rng: random.Random, *, errors: bool = True) -> DveCase:
    """A model of 2 or 3 processes over small variables, an array and a channel; mostly without errors."""
    processes = rng.choice((2, 2, 3))
    size = rng.choice((2, 3))
    channel = rng.choice((None, "plain", "valued", "buffered"))
    risky = errors and rng.random() < 0.15
    head = [f"byte x = {rng.randrange(4)}, y;", f"byte q[{size}];"]
    if channel == "plain":
        head.append("channel c;")
    elif channel == "valued":
        head.append("channel {byte} c[0];")
    elif channel == "buffered":
        head.append("channel {byte} c[1];")
    conditions = ["x == 0", "x > y", "y == 2", "q[0] == 1", "q[0] < q[1]", "x + y > 3"]
    bodies = []
    for number in range(processes):
        name = f"P{number}"
        places = [f"s{i}" for i in range(rng.randint(2, 3))]
        local = rng.random() < 0.5
        variables = ["x", "y", *(["l"] if local else [])]
        transitions = [
            _transition(rng, places[i % len(places)], places, variables, size, channel, risky, number)
            for i in range(rng.randint(len(places) + 1, 2 * len(places)))
        ]
        commit = f" commit {rng.choice(places[1:])};" if rng.random() < 0.15 else ""
        bodies.append(
            f"process {name} {{\n{'  byte l;' if local else ''}\n  state {', '.join(places)};{commit} init s0;\n"
            f"  trans {', '.join(transitions)};\n}}"
        )
        conditions += [f"{name}.{place}" for place in places]
        if local:
            conditions += [f"{name}->l == 1", f"{name}.l < 2"]
    if risky:
        conditions += ["q[x] == 1", "4 / y > 1"]
    text = "\n".join([*head, *bodies, "system async;"]) + "\n"
    return DveCase(text, tuple(conditions))


def _transition(
    rng: random.Random,
    source: str,
    places: Sequence[str],
    variables: Sequence[str],
    size: int,
    channel: str | None,
    risky: bool,
    number: int,
) -> str:
    parts = []
    v, w = rng.choice(variables), rng.choice(variables)
    if rng.random() < 0.4:
        tests = (f"{v} == {rng.randrange(4)}", f"{v} < {rng.randint(1, 3)}", f"{v} != {w}", f"q[{v} % {size}] == 0")
        other = f"P{1 - number if number < 2 else 0}.s{rng.randrange(2)}"
        parts.append(f"guard {rng.choice((*tests, other))};")
    if channel is not None and rng.random() < 0.3:
        sends = rng.random() < 0.5
        value = "" if channel == "plain" else rng.choice(variables)
        parts.append(f"sync c{'!' if sends else '?'}{value};")
    effects = []
    for _ in range(rng.choice((0, 1, 1, 2))):
        target = rng.choice(variables)
        index = rng.choice(variables)
        choices = [
            f"{target} = ({target} + {rng.randint(1, 3)}) % 4",
            f"{target} = {rng.randrange(4)}",
            f"{target} = {rng.choice(variables)}",
            f"q[{index} % {size}] = {rng.randrange(3)}",
            f"{target} = q[{rng.randrange(size)}]",
            f"q[{rng.randrange(size)}] = 1 - q[{rng.randrange(size)}] % 2",
        ]
        if risky:
            choices += [f"q[{index}] = 1", f"{target} = 3 / {rng.choice(variables)}"]
        effects.append(rng.choice(choices))
    if effects:
        parts.append(f"effect {', '.join(effects)};")
    return f"{source} -> {rng.choice(places)} {{ {' '.join(parts)} }}"


def small_dve(rng: random.Random, *, limit: int = 250, errors: bool = True) -> tuple[DveCase, Model]:
    """A random model of at most `limit` reachable states; few have less than ten."""
    while True:
        case = random_dve(rng, errors=errors)
        model = load_dve(case.text, None)
        size = sum(1 for _ in islice(reachable(model.frontend.interpreter()), limit + 1))
        if size <= limit and (size >= 10 or rng.random() < 0.1):
            return case, model


@dataclass(frozen=True)
class Space:
    """The state space of a model by its interpreter."""

    states: tuple[State, ...]
    graph: Graph  # labels are valuations of the conditions
    dead: tuple[bool, ...]
    errs: bool  # a step errs in a reachable state
    undefined: bool  # a condition errs in a reachable state


def space_of(model: Model, conditions: Sequence[str]) -> Space:
    """Explore a model, and evaluate conditions in each state."""
    interpreter = model.frontend.interpreter()
    states = tuple(reachable(interpreter))
    number = {state: i for i, state in enumerate(states)}
    successors, labels, dead = [], [], []
    errs = undefined = False
    for state in states:
        successors.append(tuple(dict.fromkeys(number[t] for _, t in interpreter.successors(state))))
        dead.append(interpreter.is_dead(state))
        try:
            interpreter.check_errors(state)
        except ModelError:
            errs = True
        label = 0
        for i, condition in enumerate(conditions):
            try:
                label |= interpreter.holds(condition, state) << i
            except ModelError:
                undefined = True
        labels.append(label)
    initial = tuple(number[s] for s in dict.fromkeys(interpreter.initial_states()))
    return Space(states, Graph(tuple(labels), tuple(successors), initial), tuple(dead), errs, undefined)


def with_conditions(formula: str, names: Sequence[str], conditions: Sequence[str]) -> str:
    """A formula over `names` with each name replaced by a condition in quotes."""
    table = dict(zip(names, conditions, strict=True))
    return re.sub(r"(?<![a-z])[a-z](?![a-z])", lambda m: f'"{table[m[0]]}"' if m[0] in table else m[0], formula)


def spot_sets(formula: str) -> int:
    """The number of acceptance sets of Spot's automaton of the negation, before anything of ours sees it."""
    automaton: Any = spot.translate(
        spot.formula.Not(spot.formula(formula)), "GeneralizedBuchi", "Small", "High", dict=spot.make_bdd_dict()
    )
    return int(automaton.num_sets())

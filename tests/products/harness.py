"""Asks every product about a case, and compares with the oracle."""

from __future__ import annotations

import random
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import spot  # type: ignore[import-untyped]
from generators import (
    NAMES,
    Graph,
    Space,
    graph_of,
    random_formula,
    random_structure,
    small_dve,
    space_of,
    spot_sets,
    spot_violated,
    total,
    with_conditions,
    word_violates,
)

from aggmc.checker import METHODS, Checker, Options, Verdict, ask
from aggmc.errors import InternalError, ModelError, UnsupportedError
from aggmc.model.core import Model
from aggmc.model.hoa import Structure, model_of, write

SEMANTICS = ("stutter", "ignore")


@dataclass
class Tally:
    """What was compared, and every disagreement in words."""

    cases: int = 0
    checks: int = 0
    wrong: list[str] = field(default_factory=list)
    sets: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    errors: int = 0

    def add(self, other: Tally) -> None:
        """Both together."""
        self.cases += other.cases
        self.checks += other.checks
        self.wrong += other.wrong
        self.sets += other.sets
        self.verdicts += other.verdicts
        self.refused += other.refused
        self.errors += other.errors

    def __str__(self) -> str:
        return (
            f"{self.cases} cases, {self.checks} checks, {len(self.wrong)} disagreements; acceptance sets "
            f"{dict(sorted(self.sets.items()))}; verdicts {dict(self.verdicts)}; {self.refused} refused; "
            f"{self.errors} errors of the model"
        )


def options_of(rng: random.Random, deadlock: str) -> Options:
    """Mostly the default; sometimes chaining, sometimes reordering, sometimes the older definition of SLAP."""
    return Options(
        deadlock=deadlock,
        fixpoint="chaining" if rng.random() < 0.3 else "saturation",
        reordering=rng.random() < 0.2,
        absorb="covered" if rng.random() < 0.3 else "all",
    )


def answer(checker: Checker, formula: str, product: str) -> tuple[str, Verdict | None]:
    """The verdict of a product, or how it failed."""
    try:
        verdict = checker.ltl(ask(checker.model, formula), product)
    except UnsupportedError:
        return "refused", None
    except ModelError as error:
        traceback.clear_frames(error.__traceback__)  # which would keep BDDs beyond the end of their manager
        return "error", None
    except (InternalError, AssertionError, KeyError) as error:  # a broken product may fail in any of these ways
        traceback.clear_frames(error.__traceback__)
        return f"{type(error).__name__}: {error}", None
    return verdict.verdict, verdict


def compare(
    model: Model,
    formula: str,
    options: Options,
    expected: str,
    stutter_invariant: bool,
    *,
    products: Sequence[str] = tuple(METHODS),
    where: str = "",
    lasso: object = None,
) -> Tally:
    """Ask the products; each must say what is expected, or refuse exactly where it must."""
    tally = Tally()
    checker = Checker(model, options)
    for product in products:
        said, verdict = answer(checker, formula, product)
        must_refuse = METHODS[product].stutter_invariant_only and not stutter_invariant
        right = "refused" if must_refuse else expected
        tally.checks += 1
        tally.refused += said == "refused"
        tally.errors += said == "error"
        if said in ("holds", "violated"):
            tally.verdicts[said] += 1
        if said != right:
            tally.wrong.append(f"{product} says {said}, not {right}: {formula} under {options}\n{where}")
        elif verdict is not None and verdict.trace is not None and callable(lasso) and not lasso(verdict):
            tally.wrong.append(f"{product} shows a run that is none: {formula} under {options}\n{where}")
    return tally


def check_structure(
    structure: Structure, formula: str, options: Options, products: Sequence[str] = tuple(METHODS)
) -> Tally:
    """One structure and formula under one semantics of deadlocks."""
    graph = total(graph_of(structure), options.deadlock)
    names = structure.propositions

    def is_run(verdict: Verdict) -> bool:
        trace = verdict.trace
        assert trace is not None
        states = [trace.initial["state"], *(s.state["state"] for s in (*trace.prefix, *trace.cycle))]
        path = [int(s) for s in states]
        start = len(trace.prefix)
        steps = all(t in graph.successors[s] for s, t in pairwise(path))
        letters = [structure.labels[s] for s in path]
        violates = word_violates(letters[:start], letters[start:-1], formula, names)
        return steps and path[0] in graph.initial and path[-1] == path[start] and len(path) > start + 1 and violates

    return compare(
        model_of(structure),
        formula,
        options,
        "violated" if spot_violated(graph, formula, names) else "holds",
        bool(spot.is_stutter_invariant(spot.formula(formula))),
        products=products,
        where=write(structure),
        lasso=is_run,
    )


def structure_case(seed: int, products: Sequence[str] = tuple(METHODS)) -> Tally:
    """A random structure and formula, under both semantics of deadlocks."""
    rng = random.Random(seed)
    structure = random_structure(rng)
    formula = random_formula(rng, structure.propositions)
    tally = Tally(cases=1)
    sets = spot_sets(formula)
    tally.sets[str(sets) if sets < 2 else "2 or more"] += 1
    for deadlock in SEMANTICS:
        tally.add(check_structure(structure, formula, options_of(rng, deadlock), products))
    return tally


def dve_case(seed: int) -> Tally:
    """A random DVE model and two formulas, under one semantics of deadlocks each."""
    rng = random.Random(seed)
    case, model = small_dve(rng)
    tally = Tally(cases=1)
    for deadlock in rng.sample(("stutter", "ignore", "error"), 2):
        conditions = rng.sample(case.conditions, rng.randint(1, 3))
        names = NAMES[: len(conditions)]
        pattern = random_formula(rng, names)
        used = [i for i, name in enumerate(names) if name in pattern]  # one that Spot simplifies away can still err
        space = space_of(model, [conditions[i] for i in used])
        sets = spot_sets(pattern)
        tally.sets[str(sets) if sets < 2 else "2 or more"] += 1
        tally.add(
            compare(
                model,
                with_conditions(pattern, names, conditions),
                options_of(rng, deadlock),
                _expected(space, deadlock, pattern, [names[i] for i in used]),
                bool(spot.is_stutter_invariant(spot.formula(pattern))),
                where=case.text,
            )
        )
    return tally


def _expected(space: Space, deadlock: str, formula: str, names: Sequence[str]) -> str:
    """A condition that errs somewhere is an error; a violation is one; then an error of the model; else it holds."""
    if space.undefined:
        return "error"
    graph: Graph = total(space.graph, "stutter" if deadlock == "stutter" else "ignore", space.dead)
    if spot_violated(graph, formula, names):
        return "violated"
    return "error" if space.errs else "holds"

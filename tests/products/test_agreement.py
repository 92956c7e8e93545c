"""Every product against Spot's explicit product, on random structures, on hard ones, and on random DVE models."""

from __future__ import annotations

import os
import random

import pytest
from generators import random_formula, random_structure, spot_sets
from hard_cases import HARD, MOVES
from harness import Tally, check_structure, dve_case, structure_case

from aggmc.checker import METHODS, Options, check
from aggmc.errors import UnsupportedError
from aggmc.model.hoa import Structure, model_of

CHUNK = 25
CASES = int(os.environ.get("AGGMC_CASES", "3000"))


def no_disagreement(tally: Tally) -> None:
    print(tally)
    assert not tally.wrong, f"{tally}\n" + "\n".join(tally.wrong[:5])


@pytest.mark.parametrize("chunk", range(12))
def test_structures(chunk: int) -> None:
    tally = Tally()
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        tally.add(structure_case(seed))
    no_disagreement(tally)


def test_structures_are_varied() -> None:
    """Among the seeds of `test_structures`: all numbers of acceptance sets, deadlocks, several initial states."""
    sets, dead, several = [], 0, 0
    for seed in range(12 * CHUNK):
        rng = random.Random(seed)
        structure = random_structure(rng)
        sets.append(spot_sets(random_formula(rng, structure.propositions)))
        dead += any(not out for out in structure.successors)
        several += len(structure.initial) > 1
    assert min(sets.count(0), sets.count(1), sum(s >= 2 for s in sets)) > 30
    assert dead > 80
    assert several > 80


@pytest.mark.parametrize("chunk", range(6))
def test_dve(chunk: int) -> None:
    tally = Tally()
    for seed in range(chunk * 15, (chunk + 1) * 15):
        tally.add(dve_case(seed))
    no_disagreement(tally)


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(20))
def test_structures_campaign(part: int) -> None:
    tally = Tally()
    for seed in range(10_000 + part, 10_000 + CASES, 20):
        tally.add(structure_case(seed))
    no_disagreement(tally)


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(10))
def test_dve_campaign(part: int) -> None:
    tally = Tally()
    for seed in range(10_000 + part, 10_000 + CASES // 5, 10):
        tally.add(dve_case(seed))
    no_disagreement(tally)


# --- hard cases -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fixpoint", ["saturation", "chaining"])
@pytest.mark.parametrize(("kripke", "formula", "stutter", "ignore"), HARD)
def test_hard(kripke: Structure, formula: str, stutter: str, ignore: str, fixpoint: str) -> None:
    assert check(model_of(kripke), formula, "tgba").verdict == stutter
    assert check(model_of(kripke), formula, "tgba", deadlock="ignore").verdict == ignore
    for deadlock in ("stutter", "ignore"):
        for reordering in (False, True):
            options = Options(deadlock=deadlock, fixpoint=fixpoint, reordering=reordering)
            no_disagreement(check_structure(kripke, formula, options))


@pytest.mark.parametrize("product", METHODS)
def test_refusals(product: str) -> None:
    """Only SOG and SOG-TGTA refuse, only what is not stutter-invariant, and they name the products that do not."""
    model = model_of(MOVES)
    assert check(model, "F(a & X!a) | G a | G !a", product).holds  # X that does no harm
    if product not in ("sog", "sog-tgta"):
        assert check(model, "X!a", product).holds
        return
    with pytest.raises(UnsupportedError, match=r"not stutter-invariant.* use one of slap, .*-tgta, tgba, tgta"):
        check(model, "X!a", product)


def test_auto_answers() -> None:
    for formula, verdict in (("X!a", "holds"), ("G a", "violated")):
        found = check(model_of(MOVES), formula)
        assert (found.verdict, found.product) == (verdict, "slap-tgta")

"""The values that are shown beside a run are those that Spot would give."""

from __future__ import annotations

import random

import pytest
import spot  # type: ignore[import-untyped]
from generators import random_formula
from words import random_word, satisfies

from aggmc.ltl.formula import parse
from aggmc.ltl.semantics import parts, reasons, tree, values
from aggmc.ltl.translate import prepare


@pytest.mark.parametrize("seed", range(60))
def test_values_at_each_position(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(5):
        prop = prepare(parse(random_formula(rng, ["a", "b"])))
        prefix, cycle = random_word(rng, len(prop.atoms))
        formula = tree(prop)
        known = values(formula, prefix + cycle, len(prefix))
        letters = prefix + cycle
        for i in range(len(letters)):
            rest = (letters[i:], cycle) if i < len(prefix) else ([], letters[i:] + letters[len(prefix) : i])
            rest = (prefix[i:], cycle) if i < len(prefix) else rest
            assert known[formula][i] == satisfies(prop.formula, rest), (prop.text, letters, i)
        assert known[formula][0] != prop.accepts_lasso(prefix, cycle)


@pytest.mark.parametrize("operator", ["U", "R", "W", "M", "->", "<->", "xor", "&", "|"])
def test_each_operator(operator: str) -> None:
    prop = prepare(parse(f"(a {operator} b) | X(G a & F b & !a)"))
    rng = random.Random(operator)
    for _ in range(50):
        prefix, cycle = random_word(rng, 2)
        known = values(tree(prop), prefix + cycle, len(prefix))
        assert known[tree(prop)][0] == satisfies(prop.formula, (prefix, cycle))


@pytest.mark.parametrize("seed", range(40))
def test_reasons_are_true(seed: int) -> None:
    """Each reason says what is so; the first speaks of the whole formula."""
    rng = random.Random(seed)
    prop = prepare(parse(random_formula(rng, ["a", "b"])))
    prefix, cycle = random_word(rng, len(prop.atoms))
    formula = tree(prop)
    known = values(formula, prefix + cycle, len(prefix))
    found = reasons(formula, known, len(prefix))
    by_text = {part.text: known[part] for _, part in parts(formula)}
    assert (found[0].text, found[0].position, found[0].depth) == (formula.text, 0, 0)
    for reason in found:
        assert by_text[reason.text][reason.position] == reason.value
        if reason.always:
            row = by_text[reason.text]
            assert set(row[min(reason.position, len(prefix)) :]) <= {reason.value} or reason.position < len(prefix)
    assert spot.formula(prop.formula) is not None


def test_atoms_are_written_as_the_user_does() -> None:
    prop = prepare(parse('G("x == 1" -> F P.a) & X G F P.a'))
    texts = [part.text for _, part in parts(tree(prop))]
    assert 'G("x == 1" -> F P.a)' in texts
    assert "X G F P.a" in texts


def test_reasons_lead_to_the_step_that_matters() -> None:
    prop = prepare(parse("G(a -> X b)"))
    formula = tree(prop)
    known = values(formula, [0, 1, 0, 2], 3)
    told = [(r.text, r.value, r.position) for r in reasons(formula, known, 3)]
    whole = [("G(a -> X b)", False, 0), ("a -> X b", False, 1)]
    assert told == [*whole, ("a", True, 1), ("X b", False, 1), ("b", False, 2)]

"""Boolean expressions."""

from __future__ import annotations

import random

import pytest

from aggmc.boolean import (
    FALSE,
    TRUE,
    and_,
    evaluate,
    false,
    from_table,
    from_valuations,
    not_,
    or_,
    prop,
    show,
    substitute,
    support,
    table,
    true,
)

A, B, C = prop(0), prop(1), prop(2)


def test_simplification() -> None:
    assert true() is TRUE
    assert false() is FALSE
    assert not_(not_(A)) == A
    assert not_(TRUE) == FALSE
    assert and_() == TRUE
    assert or_() == FALSE
    assert and_(A, TRUE, A) == A
    assert or_(A, FALSE) == A
    assert and_(A, FALSE) == FALSE
    assert or_(A, TRUE) == TRUE
    assert and_(A, B, not_(A)) == FALSE
    assert or_(not_(A), A) == TRUE
    assert and_(A, and_(B, C)) == and_(and_(A, B), C)
    assert hash(and_(A, B)) == hash(and_(A, B))
    assert and_(A, B) != or_(A, B)


def test_evaluate_and_support() -> None:
    expr = or_(and_(A, not_(B)), C)
    assert [evaluate(expr, v) for v in range(8)] == [False, True, False, False, True, True, True, True]
    assert support(expr) == {0, 1, 2}
    assert support(TRUE) == frozenset()
    assert substitute(expr, [B, A, TRUE]) == TRUE


@pytest.mark.parametrize(
    ("masks", "n", "text"),
    [
        ({2, 3}, 2, "b"),
        (set(range(4)), 2, "true"),
        (set(), 2, "false"),
        ({0}, 2, "!a & !b"),
        ({1}, 2, "a & !b"),
        ({1, 2, 3}, 2, "a | b"),
        ({0}, 0, "true"),
        (set(), 0, "false"),
    ],
)
def test_from_valuations(masks: set[int], n: int, text: str) -> None:
    assert show(from_valuations(masks, n), ["a", "b"]) == text


def test_from_valuations_is_exact() -> None:
    rng = random.Random(0)
    for n in range(7):
        for _ in range(50):
            masks = {v for v in range(1 << n) if rng.random() < 0.5}
            expr = from_valuations(masks, n)
            assert {v for v in range(1 << n) if evaluate(expr, v)} == masks
            assert from_table(table(expr, n), n) == expr
    with pytest.raises(ValueError, match="more than 2"):
        from_valuations({4}, 2)


def test_show() -> None:
    names = ["P_0.CS", "x > 2", "U"]
    assert show(and_(or_(A, B), not_(C)), names) == '("P_0.CS" | "x > 2") & !"U"'
    assert show(not_(and_(A, B)), ["a", "b", "c"]) == "!(a & b)"

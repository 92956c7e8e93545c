"""Products over change-sets, with guessed domains: a valuation that comes with wider ones must not be overlooked."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from aggmc.checker import METHODS, check
from aggmc.model.load import load_model

BENCH = Path(__file__).parents[3] / "shared" / "bench"


@pytest.mark.shared
@pytest.mark.campaign
@pytest.mark.parametrize(("name", "prop"), [("sorter.5", "r1"), ("schedule_world.1", "r1")])
def test_valuation_that_no_guessed_value_has(name: str, prop: str) -> None:
    with (BENCH / "verdicts.csv").open(newline="") as file:
        (row,) = [r for r in csv.DictReader(file) if (r["model"], r["prop"]) == (name, prop)]
    model = load_model(BENCH / "beem" / f"{name}.dve")
    products = [n for n, method in METHODS.items() if method.change_sets and not method.explicit]
    found = {product: check(model, row["formula"], product=product).verdict for product in products}
    assert found == dict.fromkeys(products, row["verdict_stutter"])

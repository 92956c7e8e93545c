"""Long random campaigns run only on request: `pytest -m campaign`."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "campaign: a long random campaign, run only with -m campaign")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "campaign" in (config.option.markexpr or ""):
        return
    skip = pytest.mark.skip(reason="a long campaign: pytest -m campaign")
    for item in items:
        if item.get_closest_marker("campaign"):
            item.add_marker(skip)

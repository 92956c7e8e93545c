"""What tests of both engines share."""

import pytest

from aggmc.symbolic import encode
from aggmc.symbolic.engine import chosen


def use(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have an engine do the work; where there is no native one, that part of a test is skipped."""
    if engine == "native" and chosen().engine == "python":
        pytest.skip("the native engine does not run here")
    monkeypatch.setenv("AGGMC_ENGINE", engine)


@pytest.fixture(autouse=True)
def order_changes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it may change at all, and closures stop for it: models of tests do not reach the usual thresholds."""
    for name in ("_REORDER_FIRST", "_REORDER_PER_BIT", "_GROWTH"):
        monkeypatch.setattr(encode, name, 0)

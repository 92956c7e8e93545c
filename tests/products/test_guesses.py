"""Values that the simulation behind the guessed domains does not meet are part of the model all the same."""

from __future__ import annotations

import pytest

from aggmc.checker import METHODS, check
from aggmc.model.dve import load

# y changes after 40 * 200 steps
DEEP = """byte x, z, y;
process P {
  state a;
  init a;
  trans
    a -> a { guard x < 200; effect x = x + 1; },
    a -> a { guard x == 200 && z < 40; effect x = 0, z = z + 1; },
    a -> a { guard z == 40 && y == 0; effect y = 100; };
}
system async;
"""


@pytest.mark.parametrize("product", [name for name, method in METHODS.items() if not method.explicit])
@pytest.mark.parametrize("formula", ['G!"y > 50"', 'G("y > 50" -> "z < 40")'])
def test_a_value_without_a_code_is_found(product: str, formula: str) -> None:
    assert check(load(DEEP, "deep.dve"), formula, product).verdict == "violated"

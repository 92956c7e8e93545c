"""The fixtures of the tests of the command line."""

from __future__ import annotations

import sys
from pathlib import Path

from cli_testing import run_fixture, write_fixture
from terminal import terminal_fixture

sys.path.insert(0, str(Path(__file__).parents[1]))  # for what all tests share

__all__ = ["run_fixture", "terminal_fixture", "write_fixture"]

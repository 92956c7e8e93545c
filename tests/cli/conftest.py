"""The fixtures of the tests of the command line."""

from __future__ import annotations

from cli_testing import run_fixture, write_fixture

__all__ = ["run_fixture", "write_fixture"]

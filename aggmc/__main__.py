"""`python -m aggmc`, and the script `aggmc`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the program and exit."""
    try:
        from aggmc.cli.program import main as run

        code = run()
    except KeyboardInterrupt:  # while the modules are loaded
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()

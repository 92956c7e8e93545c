"""`python -m aggmc`, and the script `aggmc`."""

from __future__ import annotations

import signal
import sys
from types import FrameType

_SOON = 0.005  # seconds of the processor


def main() -> None:
    """Run the program and exit."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)
        signal.signal(signal.SIGVTALRM, _interrupted)
    try:
        from aggmc.cli.program import main as run

        code = run()
    except KeyboardInterrupt:  # while the modules are loaded
        code = 130
    sys.exit(code)


def _interrupted(number: int, frame: FrameType | None) -> None:
    """Ctrl-C; again a little later if Python would print it and go on, as in callbacks that run when objects die."""
    while frame is not None:
        code = frame.f_code
        if code.co_name in ("__del__", "cb", "_remove") or "weakref" in code.co_filename:
            signal.setitimer(signal.ITIMER_VIRTUAL, _SOON)
            return
        frame = frame.f_back
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()

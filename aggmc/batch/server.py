"""A process that does checks for a worker of a cluster, one after another, and is told of them by a pipe.

A worker of Dask has threads of its own, and a process with threads should not be forked. So each of its working threads
starts this program once (`python -m aggmc.batch.server FD PARENT`), which forks as it likes. It ends with its worker.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from multiprocessing.connection import Connection, Pipe

from aggmc.batch.suite import Check
from aggmc.batch.work import Record, failed, record_of, work
from aggmc.limits import PR_SET_PDEATHSIG, WorkerEnded, crash_of


class Server:
    """The program, as a worker sees it."""

    def __init__(self) -> None:
        self._connection, other = Pipe()
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "aggmc.batch.server", str(other.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )

    def start(self, check: Check, text: str) -> None:
        """Begin a check."""
        self._connection.send((check, text))

    def wait(self, seconds: float) -> bool:
        """Whether it is done, or the program has ended, within this time."""
        return self._connection.poll(seconds)

    def record(self, check: Check) -> Record:
        """What came of it."""
        try:
            record: Record = self._connection.recv()
            return record
        except (EOFError, OSError):
            code = self.stop()
            ended = WorkerEnded(code, None) if code >= 0 else WorkerEnded(None, -code)
            return record_of(check, failed(check, crash_of(ended)))

    @property
    def ended(self) -> bool:
        """Whether another one is needed."""
        return self._connection.closed or self._process.poll() is not None

    def stop(self) -> int:
        """End it, whatever it is doing."""
        self._connection.close()
        try:
            return self._process.wait(0.5)  # if it has ended by itself, its own code
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def serve(connection: Connection, parent: int) -> None:
    """Do checks until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return  # it died before the line above
    try:
        while True:
            check, text = connection.recv()
            connection.send(work(check, text))
    except (EOFError, OSError):
        pass


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])), int(sys.argv[2]))

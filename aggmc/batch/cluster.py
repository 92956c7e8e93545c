"""A suite on a cluster of Dask (`--cluster tcp://…`; the extra `aggmc[cluster]`).

The text of a model goes with its check, so the machines need share no files. Each check is a task. Dask does the tasks
of a worker that is lost again elsewhere; only this program writes the journal, each result when it comes, once.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from importlib import import_module
from typing import Any

from aggmc import __version__
from aggmc.batch.runner import Backend, Keyed
from aggmc.batch.server import Server
from aggmc.batch.suite import Check
from aggmc.batch.work import Record, failed, record_of
from aggmc.errors import AggmcError, InputError, InternalError, LimitReached
from aggmc.limits import Failure
from aggmc.model.load import read_text

CONNECT_SECONDS = 20.0
POLL_SECONDS = 0.1
MOST_LOSSES = 5  # so often a check is begun again whose workers Dask has given up on: it does that after three are lost
_LOST = "the connection to the cluster was lost: start again to go on"


Watch = Callable[[Callable[[], Mapping[str, int]]], None]  # with what tells of each worker how many threads it has


def cluster(address: str, watch: Watch | None = None) -> Backend:
    """By the workers of a cluster; `watch` is called several times a second."""

    def backend(todo: Sequence[Keyed]) -> Iterator[tuple[str, Record]]:
        if not todo:
            return
        logged = logging.root.manager.disable
        logging.disable(logging.CRITICAL)  # Dask's own messages: what matters is said by exceptions
        try:
            client = _connect(address)
            try:
                yield from _follow(client, todo, watch)
            finally:
                client.close(timeout=5)  # the scheduler forgets its tasks, and `remote_work` sees that
        finally:
            logging.disable(logged)

    return backend


# --- here -----------------------------------------------------------------------------------------------------------


def _distributed() -> Any:
    """The library, which is optional and only half typed."""
    return import_module("distributed")


def _connect(address: str) -> Any:
    try:
        distributed = _distributed()
    except ImportError as error:
        raise InputError(f"--cluster needs the package distributed: install aggmc[cluster] ({error})") from None
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"there is no Dask scheduler at `{address}`: {str(error) or type(error).__name__}") from None
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        versions = client.run(version)
    except TimeoutError:
        client.close(timeout=5)
        raise InputError(f"the cluster at `{address}` has no workers") from None
    except Exception as error:
        client.close(timeout=5)
        raise InputError(f"the workers of the cluster cannot run aggmc {__version__}: {error}") from None
    others = sorted(set(versions.values()) - {__version__})
    if others:
        client.close(timeout=5)
        raise InputError(f"the workers of the cluster have aggmc {', '.join(others)}, and this is {__version__}")
    return client


def _follow(client: Any, todo: Sequence[Keyed], watch: Watch | None) -> Iterator[tuple[str, Record]]:
    run = uuid.uuid4().hex

    def submit(number: int, attempt: int) -> Any:
        key, check = todo[number]
        text = read_text(check.model)
        # a key of its own: another run may be asking the same question
        future = client.submit(remote_work, check, text, __version__, key=f"aggmc-{key}-{run}-{attempt}", pure=False)
        pending[future.key] = (number, attempt)
        return future

    pending: dict[str, tuple[int, int]] = {}
    coming = _distributed().as_completed([submit(number, 0) for number in range(len(todo))], loop=client.loop)
    while pending:
        if client.status not in ("running", "connecting"):
            raise LimitReached(_LOST)
        if watch is not None:
            watch(client.nthreads)
        if not coming.has_ready():
            time.sleep(POLL_SECONDS)
            continue
        future = next(coming)
        number, attempt = pending.pop(future.key)
        key, check = todo[number]
        result = _result(future)
        if result is None and attempt < MOST_LOSSES:
            coming.add(submit(number, attempt + 1))
            continue
        if result is None:
            result = LimitReached("too many workers of the cluster were lost while they did this check")
        yield key, result if isinstance(result, dict) else record_of(check, failed(check, result))
        del future  # the cluster may forget the result


def _result(future: Any) -> Record | Failure | None:
    """None: the workers that did it were lost, and Dask has given up."""
    try:
        record: Record = future.result()
    except _distributed().KilledWorker:
        return None
    except CancelledError:
        raise LimitReached(_LOST) from None
    except AggmcError as error:
        return error
    except Exception as error:
        return InternalError(f"on the cluster: {type(error).__name__}: {error}")
    return record


# --- there ----------------------------------------------------------------------------------------------------------

_own = threading.local()


def version() -> str:
    """Of the worker."""
    return __version__


def remote_work(check: Check, text: str, asked_by: str) -> Record:
    """A task: the result of a check, by the server of this thread."""
    if asked_by != __version__:
        raise InputError(f"a worker of the cluster has aggmc {__version__}, and was asked by {asked_by}")
    server: Server | None = getattr(_own, "server", None)
    if server is None or server.ended:
        server = _own.server = Server()
    wanted = _wanted()
    try:
        server.start(check, text)
        while not server.wait(POLL_SECONDS):
            if not wanted():
                raise LimitReached("nobody waits for this check any more")
        return server.record(check)
    except BaseException:
        server.stop()
        raise


def _wanted() -> Callable[[], bool]:
    """Whether the task that runs in this thread has not been given up: its program may have been ended."""
    worker = _distributed().get_worker()
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state != "cancelled"

    return wanted

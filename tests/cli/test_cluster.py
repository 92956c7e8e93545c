"""`aggmc batch --cluster` on a real cluster of Dask: a scheduler and workers, each a process, some of them killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_testing import ENDLESS, RING, Run, Write, alive, children, environment, is_paragraph, wait_for
from terminal import Terminal, started

pytest.importorskip("distributed")


class Cluster:
    """A scheduler and workers, as `dask scheduler` and `dask worker` start them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start("dask_scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard")
        wait_for(self.file.exists, 60)
        wait_for(lambda: "address" in self.file.read_text(), 10)
        self.address: str = json.loads(self.file.read_text())["address"]

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", "--scheduler-file", str(self.file), *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment(), cwd=self.folder,
            )  # fmt: skip

    def add_worker(self) -> subprocess.Popen[bytes]:
        arguments = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder))
        self.workers.append(self._start("dask_worker", *arguments))
        return self.workers[-1]

    def stop(self) -> None:
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


@pytest.fixture(name="cluster")
def cluster_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        cluster.add_worker()
        cluster.add_worker()
        yield cluster
    finally:
        cluster.stop()


def results_of(journal: Path) -> list[dict[str, Any]]:
    lines = journal.read_text().splitlines(keepends=True)[1:] if journal.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def lines_of(journal: Path) -> int:
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def offspring(pid: int) -> list[int]:
    direct = children(pid)
    return [*direct, *(p for child in direct for p in offspring(child))]


def test_worker_that_is_killed(cluster: Cluster, write: Write, tmp_path: Path) -> None:
    """200 checks, two workers, one of them killed in the middle: every result is there, once, and right."""
    write(RING, "ring.dve")
    formulas = [f"{'X ' * n}{atom}" for n in range(100) for atom in ("P.a", "!P.a")]
    true = [(n % 3 == 0) == (atom == "P.a") for n in range(100) for atom in ("P.a", "!P.a")]
    expected = ["holds" if t else "violated" for t in true]
    listed = ", ".join(f"'{formula}'" for formula in formulas)
    suite = write(f"[[check]]\nmodel = 'ring.dve'\nproduct = 'tgba'\nltl = [{listed}]\n", "suite.toml")
    journal, lines = tmp_path / "journal", tmp_path / "results.jsonl"
    first, second = cluster.workers
    with started("batch", suite, "--cluster", cluster.address, "--journal", journal, "--jsonl", lines) as process:
        wait_for(lambda: lines_of(journal) > 40 or process.poll() is not None, 120)
        lost = offspring(first.pid)
        assert lost  # it is at work
        first.kill()
        assert 40 < lines_of(journal) < 150
        wait_for(lambda: not any(map(alive, lost)), 10)
        out, err = process.communicate(timeout=200)
    assert (process.returncode, err) == (1, "")
    assert out.splitlines()[200] == "200 checks: 100 holds, 100 violated"
    assert Counter(r["key"] for r in results_of(journal)).most_common(1)[0][1] == 1
    found = [json.loads(line) for line in lines.read_text().splitlines()]
    assert [r["property"] for r in found] == formulas
    assert [r["verdict"] for r in found] == expected
    assert all("trace" in r for r in found if r["verdict"] == "violated")
    assert alive(second.pid)


def test_same_results_as_here(cluster: Cluster, run: Run, write: Write) -> None:
    write(RING, "ring.dve")
    write(ENDLESS, "endless.dve")
    suite = write(
        "[[check]]\nmodel = 'ring.dve'\nltl = ['G P.a', 'F P.q', 'G F P.a']\n"
        "[[check]]\nmodel = 'ring.dve'\nltl = 'X P.a'\nproduct = 'sog'\n"
        "[[check]]\nmodel = 'endless.dve'\nltl = 'F P.a'\nrace = 'slap,slap-tgta'\ncross_check = true\n"
        "[[check]]\nmodel = 'endless.dve'\nltl = 'G \"v0 < 256\"'\nproduct = 'tgba'\ntimeout = 2\n",
        "suite.toml",
    )
    found = []
    for extra in ([], ["--fresh", "--cluster", cluster.address]):
        done = run("batch", suite, "--format", "json", *extra)
        assert done.code == 2
        results = done.json["results"]
        for result in results:
            del result["seconds"]
            result["stats"].pop("bdd_nodes")  # with what else is in the manager
            for entrant in result.pop("race", []):
                assert entrant["verdict"] == "holds"
            result["product"] = None if result["asked"] == "slap,slap-tgta" else result["product"]
            result["stats"] = None if result["asked"] == "slap,slap-tgta" else result["stats"]
        found.append(results)
    for here, there in zip(*found, strict=True):
        assert here == there
    assert [r["outcome"] for r in found[1]] == ["failed", "error", "passed", "error", "passed", "unknown"]


LONG = "[[check]]\nmodel = 'endless.dve'\nltl = ['F P.a', 'G \"v0 < 256\"']\nproduct = 'tgba'\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_program_that_ends(cluster: Cluster, write: Write, number: int) -> None:
    """The workers stop what they do for it, and are ready for others."""
    write(ENDLESS, "endless.dve")
    suite = write(LONG.replace("'F P.a', ", ""), "suite.toml")
    with started("batch", suite, "--cluster", cluster.address) as process:
        wait_for(lambda: any(len(offspring(w.pid)) >= 2 for w in cluster.workers), 60)
        at_work = [pid for w in cluster.workers for pid in offspring(w.pid)]
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    if number == signal.SIGINT:
        assert err == f"note: 0 of 1 results are in {suite}.journal; the same command goes on\n"
    wait_for(lambda: not any(map(alive, at_work)), 60)
    assert all(alive(w.pid) for w in cluster.workers)


def test_server_that_is_killed(cluster: Cluster, write: Write) -> None:
    """The check is unknown; the worker goes on with another server."""
    write(ENDLESS, "endless.dve")
    suite = write(LONG.replace("'F P.a', 'G", "'G"), "suite.toml")
    with started("batch", suite, "--cluster", cluster.address, "--format", "json") as process:
        wait_for(lambda: any(len(offspring(w.pid)) >= 2 for w in cluster.workers), 60)
        (server,) = [pid for w in cluster.workers for pid in children(w.pid)]
        os.kill(server, signal.SIGKILL)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (3, "")
    assert "the working process was ended by SIGKILL" in out


def test_scheduler_that_is_lost(cluster: Cluster, write: Write) -> None:
    write(ENDLESS, "endless.dve")
    suite = write(LONG, "suite.toml")
    journal = Path(f"{suite}.journal")
    with started("batch", suite, "--cluster", cluster.address) as process:
        wait_for(lambda: any(len(offspring(w.pid)) >= 2 for w in cluster.workers), 60)
        time.sleep(0.5)
        cluster.scheduler.kill()
        _, err = process.communicate(timeout=120)
    assert process.returncode == 3
    assert f"in {journal}; the same command goes on\n" in err
    assert "error: the connection to the cluster was lost: start again to go on\n" in err
    assert "Traceback" not in err


def test_no_cluster(run: Run, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write(RING, "ring.dve")
    suite = write("[[check]]\nmodel = 'ring.dve'\nltl = 'true'\n", "suite.toml")
    monkeypatch.setattr("aggmc.batch.cluster.CONNECT_SECONDS", 1.0)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        done = run("batch", suite, "--cluster", address)
        assert (done.code, done.out) == (2, "")
        assert f"error: there is no Dask scheduler at `{address}`" in done.err
    assert "--jobs is for this machine" in run("batch", suite, "--cluster", "tcp://x", "--jobs", "2").err
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = run("batch", suite, "--cluster", "tcp://127.0.0.1:9")
    assert done.code == 2
    assert "install aggmc[cluster]" in done.err
    assert is_paragraph(done.err.split("\n", 1)[1]) if done.err.startswith("note") else is_paragraph(done.err)


def test_row_on_a_terminal(cluster: Cluster, write: Write, terminal: Callable[..., Terminal]) -> None:
    write(ENDLESS, "endless.dve")
    suite = write(LONG, "suite.toml")
    one = terminal("batch", suite, "--cluster", cluster.address, "--timeout", "4", columns=100)
    one.read(until=r"on the cluster +\d+\.\d s +workers: [12] *\r\n[01] of 2 checks done", seconds=60)
    one.read(60)
    assert one.process.wait(20) == 3
    assert "workers" not in one.shown[one.shown.rindex("\x1b[J") :]

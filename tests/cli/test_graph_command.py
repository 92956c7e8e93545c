"""`aggmc graph`."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from cli_testing import MODELS, RING, Run, Write

from aggmc.checker import METHODS

MUTEX = MODELS / "mutex.dve"


@pytest.mark.parametrize("product", METHODS)
def test_drawings(run: Run, tmp_path: Path, product: str) -> None:
    files = {ending: tmp_path / f"g{ending}" for ending in (".svg", ".dot", ".html")}
    asked = ["graph", MUTEX, "--ltl", "G F P_0.CS", "--product", product]
    for file in files.values():
        done = run(*asked, "-o", file)
        assert (done.code, done.out) == (0, "")
        assert done.err.endswith(f" nodes: {file}\n")
        first = file.read_text()
        run(*asked, "-o", file)
        assert file.read_text() == first
    found = run(*asked, "--format", "json").json
    assert found["verdict"] == "violated"
    root = ElementTree.fromstring(files[".svg"].read_text())
    drawn = [g for g in root.iter() if "node" in (g.get("class") or "").split()]
    assert len(drawn) == len(found["nodes"])
    assert files[".dot"].read_text().count(" -> ") == len(found["edges"]) + sum(n["initial"] for n in found["nodes"])
    assert "<svg" in files[".html"].read_text()


def test_as_text_and_json(run: Run, write: Write) -> None:
    asked = ["graph", write(RING), "--ltl", "G F P.a", "--product", "tgba"]
    text, found = run(*asked).out, run(*asked, "--format", "json").json
    assert list(found) == [
        *("version", "model", "verdict", "product", "formula", "complete", "explored_nodes", "explored_edges"),
        *("nodes", "edges", "path"),
    ]
    assert found["complete"] is True
    assert text.startswith("tgba: G F P.a\nthe whole graph: ")
    assert len(text.splitlines()) == 2 + len(found["nodes"]) + len(found["edges"])


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["-o", "x.png"], 2, "ends with one of .svg, .dot, .html"),
        (["-o", "no/such/x.svg"], 2, "cannot be written"),
        (["--product", "sogg"], 2, "did you mean"),
        (["--max-nodes", "0"], 2, "greater than or equal to 1"),
        (["--memory", "1"], 3, "memory limit of 1 MB reached"),
        (["--ltl", "G P.z"], 2, "no location"),
    ],
)
def test_errors(run: Run, write: Write, arguments: list[str], code: int, words: str) -> None:
    done = run("graph", write(RING), "--ltl", "G F P.a", *arguments)
    assert done.code == code
    assert words in done.err
    assert "Traceback" not in done.err

"""What Jupyter shows; and the notebook of the documents, executed."""

from __future__ import annotations

import html
import re
import warnings
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import aggmc

ROOT = Path(__file__).parents[2]


def violated() -> aggmc.Verdict:
    return aggmc.check(aggmc.load_model(ROOT / "models" / "mutex.dve"), "G F P_0.CS", graph=50)


def test_automata_and_graphs() -> None:
    graph = violated().graph
    assert graph is not None
    for shown in (aggmc.automaton("a U b"), aggmc.automaton("a U b", change_sets=True), graph):
        assert ElementTree.fromstring(shown._repr_svg_()).tag == "{http://www.w3.org/2000/svg}svg"


def test_verdicts_and_runs() -> None:
    verdict = violated()
    assert verdict.trace is not None
    for shown in (verdict._repr_html_(), verdict.trace._repr_html_()):
        inner = re.search(r'srcdoc="([^"]*)"', shown)
        assert inner is not None
        page = html.unescape(inner[1])
        assert page.startswith("<!DOCTYPE html>")
        assert page.rstrip().endswith("</html>")
        assert "G F P_0.CS" in page
    assert verdict.to_html() in html.unescape(verdict._repr_html_())


def test_a_verdict_without_run() -> None:
    verdict = aggmc.check(aggmc.load_model(ROOT / "models" / "mutex.dve"), 'G "turn < 2"')
    shown = verdict._repr_html_()
    assert "<b>holds</b> <code>G &quot;turn &lt; 2&quot;</code>" in shown
    assert "iframe" not in shown
    assert "holds" in verdict.to_html()


def test_the_notebook_of_the_documents() -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    notebook = nbformat.read(ROOT / "docs" / "notebook.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "the notebook is kept without outputs"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Jupyter's own parts
        nbclient.NotebookClient(
            notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(ROOT / "docs")}}
        ).execute()
    kinds = [set(o.get("data", {})) for cell in notebook.cells for o in cell.get("outputs", [])]
    assert sum("text/html" in kind for kind in kinds) >= 2
    assert sum("image/svg+xml" in kind for kind in kinds) == 3

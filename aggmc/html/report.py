"""The report of a counterexample: a page to step through it.

The page has the model's source with the line that fires, the state with what changes, a lane for each process, the
parts of the formula, and pictures of the automaton and of the explored graph, where the run is at each step.
"""

from __future__ import annotations

from html import escape
from typing import Any

from aggmc.html.page import asset, page
from aggmc.model.core import Model
from aggmc.pictures.automata import automaton_picture
from aggmc.pictures.svg import STYLE, to_svg
from aggmc.trace.aggregates import AggregateGraph
from aggmc.trace.formats.document import Document
from aggmc.trace.pictures import graph_picture
from aggmc.trace.trace import Step, Trace
from aggmc.trace.views.common import event
from aggmc.trace.views.lanes import cells


def report(model: Model, document: Document, graph: AggregateGraph | None = None) -> str:
    """The page of a run."""
    return trace_page(document, source=model.source, graph=graph)


def trace_page(document: Document, *, source: str = "", graph: AggregateGraph | None = None) -> str:
    """The page of a run whose model may be unknown."""
    trace = document.trace
    pictures = ""
    if trace.evidence is not None and trace.evidence.run:
        visited = frozenset(q for states in trace.evidence.run for q in states)
        drawn = to_svg(automaton_picture(trace.evidence.automaton, visited), within_page=True)
        pictures += _picture("automaton", "Automaton", drawn)
    if graph is not None:
        part = f" ({len(graph.nodes)} of {graph.explored_nodes} nodes)"
        cut = "" if len(graph.nodes) == graph.explored_nodes else part
        pictures += _picture("graph", f"Explored graph{cut}", to_svg(graph_picture(graph), within_page=True))
    title = f"{document.model}: {document.title}"
    body = _BODY.replace("@TITLE@", escape(document.property or document.title)).replace(
        "@FACTS@", escape(_facts(document))
    )
    body = body.replace("@PICTURES@", pictures)
    style = STYLE + asset("report.css")
    return page(title, body, style=style, script=asset("report.js"), data=_data(document, source, graph))


def _picture(name: str, title: str, svg: str) -> str:
    return (
        f'<section class="panel picture" id="{name}"><h2>{escape(title)}</h2>'
        f'<div class="scroll">{svg}</div></section>'
    )


def _facts(document: Document) -> str:
    trace = document.trace
    parts = [document.model, "violated" if document.kind == "ltl" else document.title]
    parts.append(f"{len(trace.prefix)} steps" + (f", then a cycle of {len(trace.cycle)}" if trace.cycle else ""))
    if trace.evidence is not None and trace.evidence.bad is not None:
        parts.append(f"after step {trace.evidence.bad}, whatever follows")
    return "; ".join(parts)


def _data(document: Document, source: str, graph: AggregateGraph | None) -> dict[str, Any]:
    trace = document.trace
    evidence = trace.evidence
    return {
        "variables": list(trace.initial),
        "states": [list(state.values()) for state in trace.states],
        "steps": [_step(step) for step in trace.steps],
        "loop": len(trace.prefix) if trace.cycle else None,
        "bad": evidence.bad if evidence is not None else None,
        "propositions": {n: list(row) for n, row in evidence.propositions.items()} if evidence is not None else {},
        "parts": [[p.text, p.depth, list(p.values)] for p in evidence.parts] if evidence is not None else [],
        "why": [[r.text, r.value, r.position, r.depth] for r in evidence.reasons] if evidence is not None else [],
        "automaton": [list(q) for q in evidence.run] if evidence is not None else [],
        "graph": [list(nodes) for nodes in graph.path] if graph is not None else [],
        "lanes": _lanes(trace),
        "source": source.split("\n") if source else [],
    }


def _step(step: Step) -> dict[str, Any]:
    lines = [actor.line for actor in (step.actor, step.partner) if actor is not None and actor.line is not None]
    return {"text": event(step), "lines": lines, "cells": cells(step)}


def _lanes(trace: Trace) -> list[str]:
    used = {name for step in trace.steps for name in cells(step)}
    known = [name for name in trace.initial if name in used]
    return known + sorted(used - set(known))


_BODY = """<header>
<h1>@TITLE@</h1>
<p class="facts">@FACTS@</p>
<nav aria-label="steps">
<button id="first" title="Home">&#8676;</button>
<button id="back" title="Left, or k">&#8592;</button>
<output id="where" aria-live="polite"></output>
<button id="next" title="Right, or j">&#8594;</button>
<button id="last" title="End">&#8677;</button>
<button id="play" title="Space">&#9654;</button>
<input id="slider" type="range" min="0" value="0" aria-label="position">
<label><input id="hide" type="checkbox"> <span>only what changes (h)</span></label>
<label><input id="lanes" type="checkbox"> <span>lanes (l)</span></label>
<button id="theme" title="t">light / dark</button>
</nav>
</header>
<main>
<section class="panel" id="steps"><h2>Steps</h2>
<div class="scroll"><table><thead></thead><tbody></tbody></table></div></section>
<section class="panel" id="state"><h2>State</h2><div class="scroll"><table><tbody></tbody></table></div></section>
<section class="panel" id="source"><h2>Source</h2><div class="scroll"><ol></ol></div></section>
<section class="panel" id="formula"><h2>Property</h2>
<div class="scroll"><table><tbody></tbody></table><ul id="why"></ul></div></section>
@PICTURES@
</main>"""

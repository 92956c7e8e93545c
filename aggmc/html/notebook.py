"""What Jupyter shows of verdicts and runs: the report, in a frame of its own."""

from __future__ import annotations

from html import escape
from typing import Any

from aggmc.html.page import asset, page
from aggmc.html.report import trace_page
from aggmc.trace.formats.document import Document
from aggmc.trace.trace import Trace

HEIGHT = 700


def verdict_page(verdict: Any) -> str:
    """The page of a verdict (`aggmc.Verdict`)."""
    trace = verdict.trace
    if trace is None:
        title = f"{verdict.verdict}: {verdict.property or verdict.kind}"
        body = f"<header><h1>{escape(title)}</h1><p class=\"facts\">{escape(_how(verdict))}</p></header>"
        return page(title, body, style=asset("report.css"))
    document = Document(
        trace, verdict.model, verdict.language, verdict.kind, verdict.property, verdict.deadlock
    )
    return trace_page(document, source=verdict.source, graph=verdict.graph)


def verdict_cell(verdict: Any) -> str:
    """A verdict in a notebook."""
    told = f"<b>{escape(verdict.verdict)}</b> <code>{escape(str(verdict.property or verdict.kind))}</code>"
    line = f"<div>{told}<br><small>{escape(_how(verdict))}</small></div>"
    return line if verdict.trace is None else line + _frame(verdict_page(verdict))


def trace_cell(trace: Trace) -> str:
    """A run in a notebook; it does not know its model."""
    formula = trace.evidence.formula if trace.evidence is not None else None
    return _frame(trace_page(Document(trace, "", "", "ltl" if formula else "simulation", formula)))


def _frame(text: str) -> str:
    return f'<iframe srcdoc="{escape(text)}" style="width: 100%; height: {HEIGHT}px; border: 0"></iframe>'


def _how(verdict: Any) -> str:
    stats = verdict.stats
    parts = [verdict.reason, verdict.product]
    if stats.aggregates is not None:
        parts.append(f"{stats.aggregates} nodes, {stats.edges} edges")
    return "; ".join(part for part in parts if part)

"""A run as a Graphviz graph: a node for each state, with what has changed."""

from __future__ import annotations

from aggmc.trace.formats.document import Document
from aggmc.trace.views.common import Look, event, first_state


def write(document: Document) -> str:
    """The text of a file."""
    trace = document.trace
    count = len(trace.states)
    lines = [
        "digraph run {",
        f"  label={_quoted(document.title)}; labelloc=t;",
        "  rankdir=TB; node [shape=box, fontname=monospace]; edge [fontname=monospace];",
        '  start [shape=point, label=""];',
        "  start -> s0;",
    ]
    for i in range(count):
        values = first_state(trace, Look())
        if i:
            values = {name: new for name, (_, new) in trace.steps[i - 1].changes.items()}
        text = "\n".join([f"{i}", *(f"{name} = {value}" for name, value in values.items())])
        style = ", style=filled, fillcolor=lightyellow" if trace.cycle and i >= len(trace.prefix) else ""
        lines.append(f"  s{i} [label={_quoted(text)}{style}];")
    for i, step in enumerate(trace.steps):
        target = i + 1 if i + 1 < count else len(trace.prefix)
        style = ", style=bold" if i >= len(trace.prefix) else ""
        lines.append(f"  s{i} -> s{target} [label={_quoted(event(step))}{style}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\l") + '"'

"""NuSMV's XML traces (`show_traces -p 4`; its `read_trace` loads them).

States are numbered from 1. A lasso ends with a copy of the state where its cycle begins, and `loops` names that one.
NuSMV has no events: they stand in comments.
"""

from __future__ import annotations

from html import escape  # not xml.sax: it takes a while to load

from aggmc.trace.formats.document import Document
from aggmc.trace.trace import Step


def write(document: Document) -> str:
    """The text of a file."""
    trace = document.trace
    states = [trace.initial, *(step.state for step in trace.steps)]
    type_number = 1 if document.kind == "simulation" else 0
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<counter-example type="{type_number}" id="1" desc="{escape(document.title)}" >',
    ]
    for number, state in enumerate(states, 1):
        lines.append(" <node>")
        if number > 1:
            lines.append(f"  <!-- {_comment(trace.steps[number - 2])} -->")
        lines.append(f'  <state id="{number}">')
        lines += [f'   <value variable="{escape(n)}">{escape(str(v), quote=False)}</value>' for n, v in state.items()]
        lines += ["  </state>", f'  <combinatorial id="{number + 1}">', "  </combinatorial>"]
        lines += [f'  <input id="{number + 1}">', "  </input>", " </node>"]
    loop = str(len(trace.prefix) + 1) if trace.cycle else ""
    lines += [f" <loops> {loop} </loops>", "</counter-example>"]
    return "\n".join(lines) + "\n"


def _comment(step: Step) -> str:
    text = step.event if step.event is not None else "the deadlock is repeated"
    if step.actor is not None and step.actor.line is not None:
        text += f", line {step.actor.line}"
    while "--" in text:  # no comment may have it; a location's name cannot
        text = text.replace("--", "- -")
    return text.rstrip("-")

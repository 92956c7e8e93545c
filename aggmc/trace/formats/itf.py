"""The Informal Trace Format of Apalache and Quint (Apalache's ADR 015).

A state is an object from variables to values; `loop` is the index of the state that follows the last one. Integers
beyond 2^53 are `{"#bigint": "…"}`; Quint writes all integers so. What is not a value of a variable stands in `#meta`.
"""

from __future__ import annotations

import json
import re
from typing import Any

from aggmc.trace.formats.document import Claim, ClaimedStep, Document
from aggmc.trace.formats.reading import Reader
from aggmc.trace.trace import Value

_SAFE = 1 << 53


def write(document: Document) -> str:
    """The text of a file."""
    trace = document.trace
    states: list[dict[str, Any]] = []
    for i, state in enumerate(trace.states):
        meta: dict[str, Any] = {"index": i}
        if i:
            step = trace.steps[i - 1]
            meta["event"] = step.event
            meta["line"] = step.actor.line if step.actor is not None else None
        states.append({"#meta": meta, **{name: _encoded(value) for name, value in state.items()}})
    content: dict[str, Any] = {
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "source": document.model,
            "description": f"aggmc: {document.title}",
            "kind": document.kind,
            "property": document.property,
            "deadlock": document.deadlock,
        },
        "params": [],
        "vars": list(trace.initial),
        "states": states,
    }
    if trace.cycle:
        content["loop"] = len(trace.prefix)
    return json.dumps(content, indent=1) + "\n"


def _encoded(value: Value) -> Any:
    return {"#bigint": str(value)} if isinstance(value, int) and abs(value) >= _SAFE else value


def read(text: str, file: str) -> Claim:
    """What a file says, of this tool or of others."""
    reader = Reader(text, file)
    root = reader.of_type(reader.root, dict, "")
    entries = reader.field(root, "states", list, "")
    if not entries:
        reader.fail("states", "a run has at least one state")
    states = []
    events: list[ClaimedStep] = []
    for i, entry in enumerate(entries):
        place = f"states[{i}]"
        state = reader.of_type(entry, dict, place)
        states.append({n: _decoded(reader, v, f"{place}.{n}") for n, v in state.items() if not n.startswith("#")})
        meta = state.get("#meta")
        name = meta.get("event") if isinstance(meta, dict) else None
        events.append(ClaimedStep(name if isinstance(name, str) else None))
    loop = reader.optional(root, "loop", int, "")
    if loop is not None and not 0 <= loop < len(states):
        reader.fail("loop", f"{loop} is not the index of a state: there are {len(states)}")
    if loop is not None:
        events.append(ClaimedStep())  # of the last step, back to the loop, nothing is said
    meta = root.get("#meta")
    told = {k: v for k, v in meta.items() if isinstance(v, str)} if isinstance(meta, dict) else {}
    return Claim(
        tuple(states), loop, tuple(events[1:]), told.get("kind"), told.get("property"), told.get("deadlock")
    )


def _decoded(reader: Reader, value: Any, place: str) -> Value:
    if isinstance(value, dict) and set(value) == {"#bigint"}:
        digits = reader.of_type(value["#bigint"], str, place)
        if not re.fullmatch(r"-?[0-9]{1,400}", digits):
            reader.fail(place, f"`{digits[:40]}` is no integer")
        return int(digits)
    if isinstance(value, bool):
        return int(value)
    return reader.value(value, place)

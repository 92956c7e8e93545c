"""aggmc's own format, JSON (docs/traces.md): a run with everything that is known of it."""

from __future__ import annotations

import json
from typing import Any

from aggmc.trace.formats.document import Claim, ClaimedStep, Document
from aggmc.trace.formats.reading import Reader
from aggmc.trace.trace import Value

FORMAT = "aggmc-trace"
VERSION = 1


def write(document: Document) -> str:
    """The text of a file."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "model": document.model,
        "language": document.language,
        "kind": document.kind,
        "property": document.property,
        "deadlock": document.deadlock,
        "trace": document.trace.to_dict(),
    }
    return json.dumps(content, indent=1) + "\n"


def read(text: str, file: str) -> Claim:
    """What a file says; raises InputError if it is not of this format."""
    reader = Reader(text, file)
    root = reader.of_type(reader.root, dict, "")
    if root.get("format") != FORMAT:
        known = 'an Informal Trace Format file is named ….itf.json' if "states" in root else f'`format` is "{FORMAT}"'
        reader.fail("", f"this is no trace of aggmc: {known}")
    version = reader.field(root, "version", int, "")
    if version != VERSION:
        reader.fail("version", f"{version} is not known; this program reads {VERSION}")
    trace = reader.field(root, "trace", dict, "")
    initial = reader.state(reader.field(trace, "initial", dict, "trace"), "trace.initial")
    states: list[dict[str, Value]] = [initial]
    steps: list[ClaimedStep] = []
    counts = []
    for part in ("prefix", "cycle"):
        entries = reader.field(trace, part, list, "trace")
        counts.append(len(entries))
        for i, entry in enumerate(entries):
            place = f"trace.{part}[{i}]"
            step = reader.of_type(entry, dict, place)
            states.append(reader.state(reader.field(step, "state", dict, place), f"{place}.state"))
            steps.append(_step(reader, step, place))
    loop = counts[0] if counts[1] else None
    closing = states.pop() if loop is not None else None
    return Claim(
        tuple(states),
        loop,
        tuple(steps),
        reader.optional(root, "kind", str, ""),
        reader.optional(root, "property", str, ""),
        reader.optional(root, "deadlock", str, ""),
        _propositions(reader, trace),
        closing,
    )


def _step(reader: Reader, step: dict[str, Any], place: str) -> ClaimedStep:
    event = reader.optional(step, "event", dict, place)
    name = reader.field(event, "name", str, f"{place}.event") if event is not None else None
    changes = None
    if "changes" in step:
        changes = {}
        for variable, pair in reader.field(step, "changes", dict, place).items():
            where = f"{place}.changes.{variable}"
            if len(reader.of_type(pair, list, where)) != 2:
                reader.fail(where, "the old and the new value are expected here")
            changes[variable] = (reader.value(pair[0], where), reader.value(pair[1], where))
    return ClaimedStep(name, "event" in step and event is None, changes)


def _propositions(reader: Reader, trace: dict[str, Any]) -> dict[str, tuple[bool, ...]]:
    found = {}
    for name, row in (reader.optional(trace, "propositions", dict, "trace") or {}).items():
        place = f"trace.propositions.{name}"
        found[name] = tuple(reader.of_type(v, bool, place) for v in reader.of_type(row, list, place))
    return found

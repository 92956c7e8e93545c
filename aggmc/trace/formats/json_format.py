"""aggmc's own format, JSON (docs/traces.md): a run with everything that is known of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from aggmc.trace.formats.document import KINDS, Claim, ClaimedStep, Document
from aggmc.trace.formats.reading import Reader
from aggmc.trace.trace import Value

FORMAT = "aggmc-trace"
VERSION = 1
_DEADLOCKS = ("stutter", "ignore", "error")


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
        _one_of(reader, root, "kind", KINDS),
        reader.optional(root, "property", str, ""),
        _one_of(reader, root, "deadlock", _DEADLOCKS),
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
    actor = _actor(reader, event, f"{place}.event") if event is not None else {}
    partner = reader.optional(step, "partner", dict, place)
    who = _actor(reader, partner, f"{place}.partner") if partner is not None else None
    return ClaimedStep(name, "event" in step and event is None, changes, actor, who)


def _actor(reader: Reader, given: dict[str, Any], place: str) -> dict[str, Value | None]:
    found: dict[str, Value | None] = {}
    for name in ("process", "from", "to", "line"):
        if name in given:
            found[name] = None if given[name] is None else reader.value(given[name], f"{place}.{name}")
    return found


def _one_of(reader: Reader, root: dict[str, Any], name: str, known: Sequence[str]) -> str | None:
    value = reader.optional(root, name, str, "")
    if value is not None and value not in known:
        reader.fail(name, f"`{value}` is not known: it is one of {', '.join(known)}")
    return value


def _propositions(reader: Reader, trace: dict[str, Any]) -> dict[str, tuple[bool, ...]]:
    found = {}
    for name, row in (reader.optional(trace, "propositions", dict, "trace") or {}).items():
        place = f"trace.propositions.{name}"
        found[name] = tuple(reader.of_type(v, bool, place) for v in reader.of_type(row, list, place))
    return found

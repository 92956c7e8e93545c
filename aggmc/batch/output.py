"""The results of a suite as JSON lines, CSV, and JUnit XML, which CI systems read."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from xml.etree import ElementTree

from aggmc.errors import InputError, Location

Results = Sequence[Mapping[str, Any]]  # as `work.described` gives them
OUTCOMES = ("passed", "failed", "unknown", "error", "fault")
COLUMNS = (
    "id", "model", "name", "kind", "property", "verdict", "expected", "outcome", "asked", "product", "deadlock",
    "seconds", "reason",
)  # fmt: skip
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def json_lines(_: str, results: Results) -> str:
    """A result a line."""
    return "".join(json.dumps(result) + "\n" for result in results)


def csv_table(_: str, results: Results) -> str:
    """A row a result, without statistics and runs."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for result in results:
        writer.writerow(["" if result.get(name) is None else result[name] for name in COLUMNS])
    return text.getvalue()


def junit(suite: str, results: Results) -> str:
    """A test suite for each model, a test case for each check.

    What is violated, or not as expected, is a failure; an error, a fault and a limit are errors.
    """
    root = ElementTree.Element("testsuites", _counted(suite, results))
    models = dict.fromkeys(result["model"] for result in results)
    for model in models:
        own = [result for result in results if result["model"] == model]
        group = ElementTree.SubElement(root, "testsuite", _counted(model, own))
        for result in own:
            _case(group, result)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _counted(name: str, results: Results) -> dict[str, str]:
    outcomes = [result["outcome"] for result in results]
    return {
        "name": _clean(name),
        "tests": str(len(results)),
        "failures": str(outcomes.count("failed")),
        "errors": str(sum(outcomes.count(word) for word in ("unknown", "error", "fault"))),
        "skipped": "0",
        "time": f"{sum(result['seconds'] for result in results):.3f}",
    }


def _case(group: ElementTree.Element, result: Mapping[str, Any]) -> None:
    name = result["id"].removeprefix(f"{result['model']}: ")
    attributes = {"name": _clean(name), "classname": _clean(result["model"]), "time": f"{result['seconds']:.3f}"}
    case = ElementTree.SubElement(group, "testcase", attributes)
    if result["outcome"] == "passed":
        return
    kind = "failure" if result["outcome"] == "failed" else "error"
    said = result.get("reason") or f"{result['verdict']}, expected {result['expected'] or 'holds'}"
    found = ElementTree.SubElement(case, kind, {"message": _clean(said), "type": result["outcome"]})
    told = [f"property: {result['property']}"] if result["property"] is not None else []
    trace = result.get("trace") or (result.get("error") or {}).get("trace")
    found.text = _clean("\n".join([*told, *(_run(trace) if trace is not None else [])]))


def _run(trace: Mapping[str, Any]) -> list[str]:
    lines = ["initially " + ", ".join(f"{name}={value}" for name, value in trace["initial"].items())]
    for number, step in enumerate((*trace["prefix"], *trace["cycle"])):
        if number == len(trace["prefix"]):
            lines.append("then, for ever:")
        event = step["event"]["name"] if step["event"] is not None else "(deadlock: the state is repeated)"
        changes = ", ".join(f"{name}: {old} -> {new}" for name, (old, new) in step["changes"].items())
        lines.append(f"{number + 1:>4}. {event}   {changes}".rstrip())
    return lines


def _clean(text: str) -> str:
    """Without what no XML document may have, not even quoted."""
    return _NO_XML.sub("\ufffd", text)


FORMATS: Mapping[str, Callable[[str, Results], str]] = {"jsonl": json_lines, "csv": csv_table, "junit": junit}


def write_file(path: str, text: str) -> None:
    """The whole file, or none; raises InputError if it cannot be written."""
    target = Path(path)
    if target.exists() and not target.is_file():  # a pipe, or /dev/stderr
        _attempt(path, lambda: target.write_text(text, encoding="utf-8", errors="backslashreplace"))
        return
    _attempt(path, lambda: _replace(target, text))


def _replace(target: Path, text: str) -> None:
    with NamedTemporaryFile(
        "w", dir=target.parent, prefix=f".{target.name}.", delete=False, encoding="utf-8", errors="backslashreplace"
    ) as file:
        try:
            file.write(text)
            file.close()
            os.chmod(file.name, 0o666 & ~_umask())
            os.replace(file.name, target)
        except BaseException:
            os.unlink(file.name)
            raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _attempt(path: str, write: Callable[[], object]) -> None:
    try:
        write()
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", Location(path)) from None

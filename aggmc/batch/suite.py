"""Suites: which models and properties to check, how, and what is expected. TOML, or a table in CSV.

Each entry (`[[check]]`, or a row) may stand for many checks: of every model that a pattern matches, every property,
every product and every meaning of a deadlock that it names. All keys are in `KEYS`; docs/batch.md explains them.
"""

from __future__ import annotations

import csv
import glob
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any, Literal

from aggmc.checker import ABSORPTIONS, DEADLOCKS, FIXPOINTS, PRODUCTS
from aggmc.errors import AggmcError, InputError, Location, did_you_mean
from aggmc.limits import Limits, parse_memory
from aggmc.model.load import read_text
from aggmc.properties import Written, read_properties
from aggmc.racing import DEFAULT, Field

Kind = Literal["ltl", "assert", "deadlock"]
RACE = "race"
EXPECTED = ("holds", "violated")


@dataclass(frozen=True, slots=True)
class Check:
    """One question about one model, how to answer it, and what is expected. It crosses process borders."""

    id: str  # unique in the suite
    model: str  # a path
    kind: Kind  # `assert` stands for all asserts of the model
    formula: str | None
    name: str | None
    where: Location  # of the formula, or the entry
    product: str = "auto"
    race: tuple[str, ...] = ()
    cross_check: bool = False
    deadlock: str = "stutter"
    fixpoint: str = "saturation"
    absorb: str = "all"
    reordering: bool | None = None  # of the variables of the diagrams; None: where the engine is native
    trace: bool = True
    limits: Limits = field(default_factory=Limits)
    expected: str | None = None


# --- what the keys take ---------------------------------------------------------------------------------------------


class _Wrong(Exception):
    """What is wrong with a value."""


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _Wrong("is a text")
    return value.strip()


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, list) and value:
        return tuple(map(_text, value))
    return (_text(value),)


def _names(value: Any) -> tuple[str, ...]:
    """A list; in CSV, and as on the command line, with commas."""
    return tuple(name for text in _texts(value) for name in re.split(r"\s*,\s*", text))


def _some_of(known: Sequence[str], value: Any) -> tuple[str, ...]:
    for name in _names(value):
        if name not in known:
            raise _Wrong(f"is one of {', '.join(known)}, not `{name}`{did_you_mean(name, known)}")
    return _names(value)


def _one_of(known: Sequence[str], value: Any) -> str:
    if value not in known:
        raise _Wrong(f"is one of {', '.join(known)}, not `{value}`{did_you_mean(str(value), known)}")
    return str(value)


def _flag(value: Any) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    found = value if isinstance(value, bool) else words.get(str(value).lower()) if isinstance(value, str) else None
    if found is None:
        raise _Wrong("is true or false")
    return found


def _seconds(value: Any) -> float:
    try:
        if isinstance(value, bool):
            raise ValueError
        return Limits(seconds=float(value)).seconds or 0.0
    except (TypeError, ValueError, InputError):
        raise _Wrong("is a positive number of seconds") from None


def _bytes(value: Any) -> int:
    try:
        return parse_memory(str(value))
    except InputError:
        raise _Wrong("is a number of MB, or as in 500M or 2G") from None


def _racers(value: Any) -> tuple[str, ...]:
    try:
        return Field(_names(value)).products
    except InputError as error:
        raise _Wrong(f"names products: {error}") from None


def _expectation(value: Any) -> str | dict[str, str]:
    if isinstance(value, dict):
        return {name: _one_of(EXPECTED, verdict) for name, verdict in value.items()}
    return _one_of(EXPECTED, value)


HOW: Mapping[str, Callable[[Any], Any]] = {
    "product": partial(_some_of, (*PRODUCTS, RACE)),
    "race": _racers,
    "cross_check": _flag,
    "deadlock": partial(_some_of, DEADLOCKS),
    "fixpoint": partial(_one_of, FIXPOINTS),
    "absorb": partial(_one_of, ABSORPTIONS),
    "reordering": _flag,
    "timeout": _seconds,
    "memory": _bytes,
}
KEYS: Mapping[str, Callable[[Any], Any]] = {
    "model": _texts,
    "ltl": _texts,
    "properties": _texts,
    "asserts": _flag,
    "deadlocks": _flag,
    "name": _text,
    "expected": _expectation,
    **HOW,
}


# --- reading --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands in the suite, each value as it should be."""

    values: Mapping[str, Any]
    where: Callable[[str], Location]  # of a key


def read_suite(path: str | os.PathLike[str], limits: Limits | None = None, *, trace: bool = True) -> list[Check]:
    """The checks of a suite, in order; raises InputError if it cannot be read. The limits are for those without."""
    file, text = Path(path), read_text(path)
    entries = _from_toml(text, str(path)) if file.suffix.lower() == ".toml" else _from_csv(text, str(path))
    checks: list[Check] = []
    seen: dict[str, int] = {}
    for entry in entries:
        for check in _checks(entry, file.parent, limits or Limits(), trace):
            seen[check.id] = number = seen.get(check.id, 0) + 1
            checks.append(check if number == 1 else replace(check, id=f"{check.id} #{number}"))
    if not checks:
        raise InputError("there is nothing to check in the suite", Location(str(path)))
    return checks


def _from_toml(text: str, path: str) -> Iterator[Entry]:
    lines = text.split("\n")
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _toml_error(error, lines, path) from None
    starts = [i for i, line in enumerate(lines) if re.match(r"\s*\[\[\s*check\s*\]\]", line)]
    defaults_at = next((i for i, line in enumerate(lines) if re.match(r"\s*\[\s*defaults\s*\]", line)), 0)
    for name in document:
        if name not in ("defaults", "check"):
            at = next((i for i, line in enumerate(lines) if re.match(rf"\s*\[*\s*{re.escape(name)}\b", line)), 0)
            raise InputError(
                f"`{name}` is not known{did_you_mean(name, ('defaults', 'check'))}: a suite has [defaults] and "
                "[[check]] entries",
                _at(path, lines, at),
            )
    defaults = document.get("defaults", {})
    if not isinstance(defaults, dict):
        raise InputError("`defaults` is a table: [defaults]", _at(path, lines, 0))
    common = _values(defaults, HOW, partial(_toml_key, path, lines, defaults_at))
    entries = document.get("check", [])
    if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
        raise InputError("`check` is a list of tables: [[check]]", _at(path, lines, 0))
    for number, entry in enumerate(entries):
        where = partial(_toml_key, path, lines, starts[number] if number < len(starts) else 0)
        yield Entry({**common, **_values(entry, KEYS, where)}, where)


def _toml_error(error: tomllib.TOMLDecodeError, lines: Sequence[str], path: str) -> InputError:
    told = re.fullmatch(r"(.*?) \(at (?:line (\d+), column (\d+)|end of document)\)", str(error), re.DOTALL)
    if told is None:
        return InputError(f"this is no TOML: {error}", Location(path))
    line = int(told[2]) if told[2] else len(lines)
    column = int(told[3]) if told[3] else len(lines[-1]) + 1
    said = told[1][:1].lower() + told[1][1:]
    return InputError(f"this is no TOML: {said}", Location(path, line, column, lines[line - 1]))


def _toml_key(path: str, lines: Sequence[str], start: int, key: str) -> Location:
    """Where a key of the table stands that begins in this line."""
    for i in range(start, len(lines)):
        if i > start and re.match(r"\s*\[", lines[i]) and not re.match(r"\s*\[\s*(\"|')", lines[i]):
            break
        match = re.match(rf"\s*[\"']?({re.escape(key)})[\"']?\s*[=.]", lines[i])
        if match is not None:
            return Location(path, i + 1, match.start(1) + 1, lines[i])
    return _at(path, lines, start)


def _at(path: str, lines: Sequence[str], index: int) -> Location:
    text = lines[index] if index < len(lines) else ""
    return Location(path, index + 1, len(text) - len(text.lstrip()) + 1, text)


def _from_csv(text: str, path: str) -> Iterator[Entry]:
    heading = text.partition("\n")[0]
    delimiter = max(",;\t", key=heading.count)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    columns: list[str] = []
    try:
        for cells in reader:
            where = Location(path, reader.line_num)
            if not columns:
                columns = _columns(cells, Location(path, reader.line_num, 1, heading))
            elif any(cell.strip() for cell in cells):
                if len(cells) != len(columns):
                    raise InputError(f"this row has {len(cells)} cells, the heading has {len(columns)}", where)
                given = {name: cell for name, cell in zip(columns, cells, strict=True) if cell.strip()}
                yield Entry(_values(given, KEYS, lambda _, where=where: where), lambda _, where=where: where)  # type: ignore[misc]
    except csv.Error as error:
        raise InputError(f"this is no CSV: {error}", Location(path, reader.line_num)) from None


def _columns(cells: Sequence[str], where: Location) -> list[str]:
    names = [cell.strip() for cell in cells]
    for name in names:
        if name not in KEYS:
            known = f"the columns are some of {', '.join(KEYS)}"
            raise InputError(f"column `{name}` is not known{did_you_mean(name, KEYS)}: {known}", where)
        if names.count(name) > 1:
            raise InputError(f"column `{name}` is there twice", where)
    if "model" not in names:
        raise InputError("the heading has no column `model`", where)
    return names


def _values(
    given: Mapping[str, Any], known: Mapping[str, Callable[[Any], Any]], where: Callable[[str], Location]
) -> dict[str, Any]:
    found = {}
    for name, value in given.items():
        if name not in known:
            close = did_you_mean(name, known)
            raise InputError(f"`{name}` is not known{close}: it is none of {', '.join(known)}", where(name))
        try:
            found[name] = known[name](value)
        except _Wrong as wrong:
            raise InputError(f"`{name}` {wrong}", where(name)) from None
    return found


# --- what an entry stands for ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Asked:
    kind: Kind
    formula: str | None
    name: str | None
    where: Location


def _checks(entry: Entry, folder: Path, limits: Limits, trace: bool) -> Iterator[Check]:
    values = entry.values
    own = Limits(values.get("timeout", limits.seconds), values.get("memory", limits.memory))
    products = (RACE,) if "race" in values else values.get("product", ("auto",))
    if "race" in values and values.get("product", (RACE,)) not in ((RACE,), ("auto",)):
        raise InputError("`product` and `race` contradict each other: give one of them", entry.where("race"))
    if values.get("cross_check") and products != (RACE,):
        raise InputError("`cross_check` is for a race: give `race`, or product = \"race\"", entry.where("cross_check"))
    asked = list(_asked(entry, folder))
    expected = _expected(entry, asked)
    for model in _models(entry, folder):
        for question, verdict in zip(asked, expected, strict=True):
            for deadlock in values.get("deadlock", ("stutter",)) if question.kind == "ltl" else ("",):
                for product in products if question.kind == "ltl" else ("auto",):
                    racing = product == RACE
                    yield Check(
                        id=_id(model, question, product, deadlock),
                        model=model,
                        kind=question.kind,
                        formula=question.formula,
                        name=question.name,
                        where=question.where,
                        product=product,
                        race=values.get("race", DEFAULT) if racing else (),
                        cross_check=racing and values.get("cross_check", False),
                        deadlock=deadlock or ("error" if question.kind == "deadlock" else "stutter"),
                        fixpoint=values.get("fixpoint", "saturation"),
                        absorb=values.get("absorb", "all"),
                        reordering=values.get("reordering"),
                        trace=trace,
                        limits=own,
                        expected=verdict,
                    )


def _id(model: str, question: _Asked, product: str, deadlock: str) -> str:
    plain = {"assert": "asserts", "deadlock": "no deadlock"}.get(question.kind)
    extra = [] if question.kind != "ltl" else [x for x in (product, deadlock) if x not in ("auto", "stutter")]
    told = f"{model}: {question.name or plain or question.formula}"
    return f"{told} [{', '.join(extra)}]" if extra else told


def _models(entry: Entry, folder: Path) -> list[str]:
    """Paths, relative to where we are; patterns are relative to the suite."""
    if "model" not in entry.values:
        raise InputError("the entry has no `model`", entry.where("model"))
    found = []
    for pattern in entry.values["model"]:
        path = folder / pattern
        names = [str(path)] if path.exists() else sorted(glob.glob(str(path), recursive=True))
        if not names:
            raise InputError(f"there is no model `{pattern}`", entry.where("model"))
        found += names
    return found


def _asked(entry: Entry, folder: Path) -> Iterator[_Asked]:
    values, name = entry.values, entry.values.get("name")
    place = entry.where("ltl")  # of the key: where in the line the formula stands is not known
    formulas = [Written(f, name, Location(f"{place.file}:{place.line}: ltl")) for f in values.get("ltl", ())]
    for file in values.get("properties", ()):
        try:
            formulas += read_properties(folder / file)
        except AggmcError as error:
            raise InputError(f"`properties`: {error}", entry.where("properties")) from None
    for formula in formulas:
        yield _Asked("ltl", formula.formula, formula.name, formula.where)
    if values.get("asserts"):
        yield _Asked("assert", None, name if not formulas else None, entry.where("asserts"))
    if values.get("deadlocks"):
        yield _Asked("deadlock", None, name if not formulas else None, entry.where("deadlocks"))
    if not formulas and not values.get("asserts") and not values.get("deadlocks"):
        keys = "`ltl`, `properties`, `asserts` or `deadlocks`"
        raise InputError(f"the entry asks nothing: give {keys}", entry.where("model"))


def _expected(entry: Entry, asked: Sequence[_Asked]) -> list[str | None]:
    given = entry.values.get("expected")
    if not isinstance(given, dict):
        return [given for _ in asked]
    names = [question.name for question in asked]
    for name in given:
        if name not in names:
            known = [n for n in names if n is not None]
            close = did_you_mean(name, known)
            raise InputError(f"`expected`: no property is named `{name}`{close}", entry.where("expected"))
    return [given.get(name) if name is not None else None for name in names]

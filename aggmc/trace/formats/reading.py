"""What readers of JSON share: every complaint names the file and the place in it."""

from __future__ import annotations

import json
from typing import Any, NoReturn, TypeVar

from aggmc.errors import InputError, Location
from aggmc.trace.trace import Value

Kind = TypeVar("Kind")
_NAMES = {dict: "an object", list: "a list", str: "a string", int: "an integer", bool: "true or false"}


class Reader:
    """Values of a JSON document, each with its place."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        try:
            self.root: Any = json.loads(text)
        except json.JSONDecodeError as error:
            lines = text.split("\n")
            place = Location(file, error.lineno, error.colno, lines[error.lineno - 1])
            raise InputError(f"this is no JSON: {error.msg[:1].lower()}{error.msg[1:]}", place) from None
        except RecursionError:
            raise InputError("this JSON is nested too deeply", Location(file)) from None
        except ValueError as error:  # an integer of too many digits
            raise InputError(f"this JSON cannot be read: {error}", Location(file)) from None

    def fail(self, place: str, message: str) -> NoReturn:
        """Complain about a place."""
        raise InputError(f"{place or 'the document'}: {message}", Location(self.file))

    def of_type(self, value: Any, kind: type[Kind], place: str) -> Kind:
        """The value, if it is of this type."""
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.fail(place, f"{_NAMES[kind]} is expected here")
        return value

    def field(self, value: dict[str, Any], name: str, kind: type[Kind], place: str) -> Kind:
        """A field that must be there."""
        if name not in value:
            self.fail(place, f"the field `{name}` is missing")
        return self.of_type(value[name], kind, f"{place}.{name}" if place else name)

    def optional(self, value: dict[str, Any], name: str, kind: type[Kind], place: str) -> Kind | None:
        """A field that may be absent or null."""
        return None if value.get(name) is None else self.field(value, name, kind, place)

    def value(self, value: Any, place: str) -> Value:
        """The value of a variable."""
        if isinstance(value, bool) or not isinstance(value, int | str):
            self.fail(place, "the value of a variable is an integer or a string")
        return value

    def state(self, value: Any, place: str) -> dict[str, Value]:
        """The values of all variables."""
        return {name: self.value(v, f"{place}.{name}") for name, v in self.of_type(value, dict, place).items()}

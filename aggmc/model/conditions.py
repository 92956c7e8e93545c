"""Conditions over named numbers, for the languages that have no expressions of their own (tables, nets).

    condition   comparisons of sums and products, with ! && || (or not, and, or) and brackets
    name        as the language has it, or in single quotes if it holds other characters: 'a-b'

What a name or a call means is the front-end's business (`Scope`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from aggmc.errors import InputError, Location
from aggmc.model.expr import FALSE, TRUE, Expr, const, make, truth

_DEEPEST = 100  # brackets within brackets
_LARGEST = 10**9
_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>\d+)
    | (?P<name>[A-Za-z_][\w$@\#:]*(?:\.[\w$@\#:]+|\[[^\[\]'"]*\])*)
    | '(?P<quoted>(?:[^'\\]|\\.)*)'
    | (?P<op>&&|\|\||==|!=|<=|>=|[-+*<>=!(),&|])
    )""",
    re.VERBOSE | re.DOTALL,
)
_WORDS = {"and": "&&", "or": "||", "not": "!", "&": "&&", "|": "||", "=": "=="}
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Term:
    """A number or a condition; `marked` is the condition that a number means where a condition is asked for."""

    expr: Expr
    is_condition: bool = False
    marked: Expr | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the text of a condition, for errors."""

    text: str
    offset: int

    def error(self, message: str) -> InputError:
        """An error that points here."""
        before = self.text[: self.offset]
        line = before.count("\n") + 1
        column = self.offset - (before.rfind("\n") + 1) + 1
        return InputError(message, Location(None, line, column, self.text.split("\n")[line - 1]))


class Scope(Protocol):
    """What names mean."""

    def name(self, name: str, place: Place) -> Term:
        """A name alone; raises `place.error` if it means nothing."""

    def call(self, function: str, arguments: Sequence[tuple[str, Place]], place: Place) -> Term:
        """`function(name, name, …)`; raises `place.error` if it means nothing."""


def condition(text: str, scope: Scope) -> Expr:
    """Read a condition; raises InputError with a column of the text."""
    parser = _Parser(text, scope)
    result = parser.either()
    if parser.kind:
        raise parser.place.error(f"unexpected `{parser.word}`")
    return parser.as_condition(result)


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read, and where it began."""

    term: Term
    place: Place


class _Parser:
    def __init__(self, text: str, scope: Scope) -> None:
        self.text = text
        self.scope = scope
        self.end = 0
        self.depth = 0
        self.kind = self.word = ""
        self.place = Place(text, 0)
        self.advance()

    def advance(self) -> None:
        found = _TOKEN.match(self.text, self.end)
        if found is None:
            rest = self.text[self.end :]
            self.end += len(rest) - len(rest.lstrip())
            self.place = Place(self.text, self.end)
            if rest.strip():
                raise self.place.error(f"`{rest.strip()[0]}` cannot stand here; put a name with it in single quotes")
            self.kind = self.word = ""
            return
        self.kind = found.lastgroup or ""
        self.word = found[self.kind]
        self.place = Place(self.text, found.start(self.kind) - (self.kind == "quoted"))
        self.end = found.end()
        if self.kind == "quoted":
            self.kind, self.word = "name", re.sub(r"\\(.)", r"\1", self.word)
        elif self.word in _WORDS:
            self.kind, self.word = "op", _WORDS[self.word]

    def takes(self, *operators: str) -> str:
        """The operator, if one of these comes next; it is then read."""
        word = self.word
        if self.kind != "op" or word not in operators:
            return ""
        self.advance()
        return word

    def as_condition(self, read: _Read) -> Expr:
        term = read.term
        if term.is_condition:
            return truth(term.expr)
        if term.marked is not None:
            return term.marked
        raise read.place.error("this is a number, not a condition: compare it, as in `x > 0`")

    def as_number(self, read: _Read) -> Expr:
        if read.term.is_condition:
            raise read.place.error("this is a condition, not a number")
        return read.term.expr

    def either(self) -> _Read:
        return self._junction("||", "or", self.both)

    def both(self) -> _Read:
        return self._junction("&&", "and", self.comparison)

    def _junction(self, sign: str, op: str, inner: object) -> _Read:
        assert callable(inner)
        first: _Read = inner()
        parts = [first]
        while self.takes(sign):
            parts.append(inner())
        if len(parts) == 1:
            return first
        return _Read(Term(make(op, *map(self.as_condition, parts)), True), first.place)

    def comparison(self) -> _Read:
        left = self.sum()
        op = self.takes(*_COMPARISONS)
        if not op:
            return left
        right = self.sum()
        compared = make(op, self.as_number(left), self.as_number(right))
        if self.kind == "op" and self.word in _COMPARISONS:
            raise self.place.error("comparisons do not chain: join them with &&")
        return _Read(Term(compared, True), left.place)

    def sum(self) -> _Read:
        result = self.product()
        while op := self.takes("+", "-"):
            right = self.product()
            result = _Read(Term(make(op, self.as_number(result), self.as_number(right))), result.place)
        return result

    def product(self) -> _Read:
        result = self.single()
        while self.takes("*"):
            right = self.single()
            result = _Read(Term(make("*", self.as_number(result), self.as_number(right))), result.place)
        return result

    def single(self) -> _Read:
        place = self.place
        self.depth += 1
        if self.depth > _DEEPEST:
            raise place.error(f"nested more than {_DEEPEST} deep")
        try:
            return self._single(place)
        finally:
            self.depth -= 1

    def _single(self, place: Place) -> _Read:
        if self.takes("!"):
            return _Read(Term(make("not", self.as_condition(self.single())), True), place)
        if self.takes("-"):
            return _Read(Term(make("neg", self.as_number(self.single()))), place)
        if self.takes("("):
            inside = self.either()
            self._close()
            return _Read(inside.term, place)
        word, kind = self.word, self.kind
        if kind == "number":
            if len(word) > 10 or int(word) > _LARGEST:
                raise place.error(f"this number is larger than {_LARGEST}")
            self.advance()
            return _Read(Term(const(int(word))), place)
        if kind == "name":
            self.advance()
            if self.takes("("):
                return _Read(self.scope.call(word, self._arguments(), place), place)
            if word in ("true", "false"):
                return _Read(Term(TRUE if word == "true" else FALSE, True), place)
            return _Read(self.scope.name(word, place), place)
        raise place.error(f"unexpected `{word}`" if kind else "something is missing here")

    def _arguments(self) -> list[tuple[str, Place]]:
        found = []
        while True:
            if self.kind not in ("name", "number"):
                raise self.place.error("a name is missing here")
            found.append((self.word, self.place))
            self.advance()
            if not self.takes(","):
                self._close()
                return found

    def _close(self) -> None:
        if not self.takes(")"):
            raise self.place.error("`)` is missing here")

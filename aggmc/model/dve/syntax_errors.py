"""Syntax errors in words: what was found, what could stand there, what was probably meant."""

from __future__ import annotations

import difflib
import re
from typing import NoReturn

from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from aggmc.errors import InputError
from aggmc.model.dve.ast import Source

_WORDS = {
    "NAME": "a name",
    "NUMBER": "a number",
    "TRUTH": "true or false",
    "BINARY": "an operator",
    "UNARY": "an expression",
    "LPAR": "(",
    "RPAR": ")",
    "LBRACE": "{",
    "RBRACE": "}",
    "LSQB": "[",
    "RSQB": "]",
    "SEMICOLON": ";",
    "COMMA": ",",
    "COLON": ":",
    "EQUAL": "=",
    "ARROW": "->",
    "LINK": "->",
    "STEP": "++",
    "DIRECTION": "! or ?",
    "TYPE": "byte or int",
    "STATES": "state, init, commit or accept",
    "$END": "the end of the text",
}
_STARTS_EXPRESSION = frozenset({"NAME", "NUMBER", "TRUTH", "UNARY", "LPAR"})
_KEYWORDS = frozenset(
    {"const", "byte", "int", "channel", "process", "state", "init", "commit", "accept", "assert", "trans", "guard"}
    | {"sync", "effect", "system", "async", "property", "true", "false", "not", "and", "or", "imply"}
)


def explain(source: Source, error: UnexpectedInput, start: str) -> NoReturn:
    """Turn a parser's error into a sentence."""
    expected: set[str]
    if isinstance(error, UnexpectedToken):
        token = error.token
        expected = set(error.accepts or error.expected)
        found = "the end of the text" if token.type == "$END" else f"{str(token)!r}"
    else:
        token = None
        expected = set(error.allowed or ()) if isinstance(error, UnexpectedCharacters) else set()
        character = source.text[error.pos_in_stream or 0 : (error.pos_in_stream or 0) + 1]
        found = f"the character {character!r}"
    if token is not None and token.type == "$END":
        lines = source.text.rstrip().split("\n")
        at = (len(lines), len(lines[-1]) + 1)
    else:
        at = (max(1, error.line), max(1, error.column))
    location = source.location(at)
    offset = error.pos_in_stream or 0
    if source.text.startswith("/*", offset):
        raise InputError("this comment is never closed: `*/` is missing", location) from None
    if not source.text.strip():
        raise InputError(f"the text is empty; a {start} was expected", location) from None
    single = re.search(r"(?<![=!<>])=(?!=)", source.text) if start == "proposition" else None
    if single is not None:  # a proposition is one line
        location = source.location((1, single.start() + 1))
        raise InputError("`=` only compares a process with a location; to compare, write `==`", location) from None
    if found == "'='" and "EQUAL" not in expected:
        raise InputError("`=` is an assignment; to compare, write `==`", location) from None
    message = f"found {found} where {_words(expected)} was expected"
    if token is not None and token in _KEYWORDS and "NAME" in expected:
        message += f" (`{token}` is a keyword)"
    elif token is not None and token.type == "NAME":
        near = difflib.get_close_matches(str(token), _keywords_in(expected), 1, 0.75)
        message += f"; did you mean `{near[0]}`?" if near else ""
    elif token is not None and token.type == "$END" and start == "model" and "_SYSTEM" in expected:
        message += "; a model ends with `system async;`"
    raise InputError(message, location) from None


def _words(expected: set[str]) -> str:
    if expected >= _STARTS_EXPRESSION:
        expected = (expected - _STARTS_EXPRESSION) | {"UNARY"}
    words: list[str] = []
    for name in sorted(expected, key=lambda n: (n not in _WORDS, n)):
        word = _WORDS.get(name, name.strip("_").lower())
        word = f"`{word}`" if not re.match(r"(an?|the|true|byte|state|!) ", word) else word
        if word not in words:
            words.append(word)
    if not words:
        return "something else"
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def _keywords_in(expected: set[str]) -> list[str]:
    words = {name.strip("_").lower() for name in expected}
    if "STATES" in expected:
        words |= {"state", "init", "commit", "accept"}
    if "TYPE" in expected:
        words |= {"byte", "int"}
    return sorted(words & _KEYWORDS)

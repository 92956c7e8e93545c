"""DVE text to syntax tree, with errors in words.

The grammar hands over expressions as flat runs of operands and operators; `_Builder._chain` applies the precedences.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, cast

from lark import Lark, Token, Transformer
from lark.exceptions import LarkError, UnexpectedInput

from aggmc.errors import InputError
from aggmc.model.dve.ast import (
    Assertion,
    Assignment,
    Binary,
    Channel,
    Declarator,
    Expression,
    Identifier,
    Item,
    Junction,
    Module,
    Number,
    Position,
    Process,
    Ref,
    Source,
    Sync,
    Transition,
    Unary,
)
from aggmc.model.dve.syntax_errors import explain

#: One spelling for each operator.
_SPELLING = {"&&": "and", "||": "or", "not": "!"}

#: Binary operators from loose to tight. `and` is above `or` here, unlike in DiVinE's interpreter: see the docs.
_LEVELS = (
    ("imply",),
    ("or",),
    ("and",),
    ("|", "&", "^"),
    ("==", "!="),
    ("<", "<=", ">=", ">"),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_LEVEL = {op: level for level, ops in enumerate(_LEVELS) for op in ops}
_ASSOCIATIVE = frozenset("+*&|^")
#: From this length on a chain of `+` and `-` is rearranged.
_LONG = 20

#: Larger literals can be no value of any variable; the bound keeps all arithmetic small.
_LARGEST_LITERAL = 2**31 - 1


def parse_model(text: str, path: str | None) -> Module:
    """The syntax tree of a model."""
    source = Source.of(text, path)
    builder = _Builder(source)
    items, is_sync, system_at = cast("tuple[tuple[Item, ...], bool, Position]", _parse(source, builder, "model"))
    return Module(source, items, is_sync, system_at, tuple(builder.mixed))


def parse_proposition(text: str) -> tuple[Expression, list[Position]]:
    """An expression as a property quotes it, and where it mixes `&&` and `||`. `P=loc` is read as `P.loc`."""
    source = Source.of(text, None)
    builder = _Builder(source)
    return cast(Expression, _parse(source, builder, "proposition")), builder.mixed


@cache
def _grammar() -> str:
    return Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")


@cache
def _lark() -> tuple[Lark, _Switch]:
    # Lark compiles the callbacks into its tables, so one parser serves all builders through a switch.
    switch = _Switch()
    lark = Lark(
        _grammar(),
        parser="lalr",
        lexer="contextual",
        start=["model", "proposition"],
        transformer=switch,
        propagate_positions=False,
    )
    return lark, switch


def _parse(source: Source, builder: _Builder, start: str) -> object:
    lark, switch = _lark()
    outer, switch.builder = switch.builder, builder
    try:
        return lark.parse(source.text, start=start)
    except UnexpectedInput as error:
        explain(source, error, start)
    except LarkError as error:  # pragma: no cover - an InputError raised by a callback is no LarkError
        raise InputError(f"this is no DVE: {error}", source.location((1, 1))) from error
    finally:
        switch.builder = outer


def _at(token: Token) -> Position:
    return (token.line or 1, token.column or 1)


def _identifier(token: Token) -> Identifier:
    return Identifier(str(token), _at(token))


class _Builder:
    """Builds the nodes of one text; a method for each rule or alias of the grammar."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.mixed: list[Position] = []

    def error(self, message: str, at: Position) -> NoReturn:
        """Refuse the text at a position."""
        raise InputError(message, self.source.location(at))

    # -- expressions

    def number(self, children: list[Token]) -> Number:
        token = children[0]
        if len(token) > 10 or int(token) > _LARGEST_LITERAL:
            self.error(f"this number is too large: at most {_LARGEST_LITERAL} is allowed", _at(token))
        return Number(int(token), _at(token))

    def truth(self, children: list[Token]) -> Number:
        return Number(int(children[0] == "true"), _at(children[0]), boolean=True)

    def plain(self, children: list[Any]) -> Ref:
        return Ref(None, None, str(children[0]), children[1] if len(children) > 1 else None, _at(children[0]))

    def member(self, children: list[Any]) -> Ref:
        process, link, name = children[:3]
        return Ref(str(process), str(link), str(name), children[3] if len(children) > 3 else None, _at(process))

    def unary(self, children: list[Any]) -> Expression:
        op, operand = children
        if op == "-" and isinstance(operand, Number) and not operand.boolean:
            return Number(-operand.value, _at(op))
        return Unary(_SPELLING.get(op, str(op)), operand, _at(op))

    def chain(self, children: list[Any]) -> Expression:
        operands: list[Expression] = children[0::2]
        tokens: list[Token] = children[1::2]
        return self._chain(operands, [_SPELLING.get(t, str(t)) for t in tokens], tokens)

    def _chain(self, operands: Sequence[Expression], ops: Sequence[str], tokens: Sequence[Token]) -> Expression:
        """The tree of a run of operands; it splits at the loosest operators, whose runs associate to the left."""
        if not ops:
            return operands[0]
        loosest = min(_LEVEL[op] for op in ops)
        if loosest == _LEVEL["or"] and "and" in ops:
            first = ops[0] if ops[0] in ("and", "or") else next(op for op in ops if op in ("and", "or"))
            other = next(i for i, op in enumerate(ops) if op in ("and", "or") and op != first)
            self.mixed.append(_at(tokens[other]))
        cuts = [i for i, op in enumerate(ops) if _LEVEL[op] == loosest]
        if len(cuts) == len(ops):
            parts = list(operands)
        else:
            parts = []
            start = 0
            for cut in (*cuts, len(ops)):
                parts.append(self._chain(operands[start : cut + 1], ops[start:cut], tokens[start:cut]))
                start = cut + 1
        joints = [(ops[i], _at(tokens[i])) for i in cuts]
        op = joints[0][0]
        if op in ("and", "or"):
            return Junction(op, tuple(parts), joints[0][1])
        if op in _ASSOCIATIVE and all(other == op for other, _ in joints):
            return _balanced(op, parts, [at for _, at in joints])
        if op in ("+", "-") and len(parts) > _LONG:
            # a - b + c - d as (a + c) - (b + d): the same number and the same errors, without the depth
            signs = ["+", *(op for op, _ in joints)]
            added, taken = ([p for p, sign in zip(parts, signs, strict=True) if sign == s] for s in "+-")
            at = joints[0][1]
            left = _balanced("+", added, [at] * (len(added) - 1))
            return Binary("-", left, _balanced("+", taken, [at] * (len(taken) - 1)), at)
        tree = parts[0]
        for (op, at), part in zip(joints, parts[1:], strict=True):
            tree = Binary(op, tree, part, at)
        return tree

    def condition(self, children: list[Expression]) -> Expression:
        return children[0]

    def location_test(self, children: list[Token]) -> Ref:
        process, location = children
        return Ref(str(process), "=", str(location), None, _at(process))

    # -- declarations

    def aggregate(self, children: list[Expression]) -> tuple[Expression, ...]:
        return tuple(children)

    def declarator(self, children: list[Any]) -> list[Any]:
        return children

    def declaration(self, children: list[Any]) -> list[Declarator]:
        const, kind, *declarators = children
        return [Declarator(_identifier(n), str(kind), const is not None, size, init) for n, size, init in declarators]

    def types(self, children: list[Token]) -> tuple[str, ...]:
        return tuple(map(str, children))

    def channel(self, children: list[Any]) -> list[Any]:
        return children

    def channels(self, children: list[Any]) -> list[Channel]:
        types, *channels = children
        return [Channel(_identifier(name), types, size) for name, size in channels]

    # -- processes

    def states(self, children: list[Token]) -> tuple[str, list[Identifier]]:
        if children[0] == "init" and len(children) > 2:
            self.error("a process has one initial location", _at(children[2]))
        return str(children[0]), [_identifier(c) for c in children[1:]]

    def assertion(self, children: list[Any]) -> Assertion:
        name, condition = children
        return Assertion(_identifier(name), condition, self._text_after(name))

    def _text_after(self, name: Token) -> str:
        """What was written after `name :` up to the `,` or `;` that ends it (for people)."""
        text = self.source.text[name.end_pos or 0 :].lstrip().removeprefix(":")
        depth = 0
        for i, character in enumerate(text):
            depth += (character in "([") - (character in ")]")
            if character == ";" or (character == "," and depth == 0):
                return " ".join(text[:i].split())
        return " ".join(text.split())

    def assertions(self, children: list[Assertion]) -> tuple[str, list[Assertion]]:
        return "assert", children

    def guard(self, children: list[Any]) -> tuple[Token, tuple[Expression, ...]]:
        return children[0], tuple(children[1:])

    def sync(self, children: list[Any]) -> tuple[Token, Sync]:
        keyword, channel, direction, payload = children
        values = () if payload is None else payload if isinstance(payload, tuple) else (payload,)
        return keyword, Sync(_identifier(channel), direction == "!", values)

    def effect(self, children: list[Any]) -> tuple[Token, tuple[Assignment, ...]]:
        return children[0], tuple(children[1:])

    def assign(self, children: list[Any]) -> Assignment:
        target, value = children
        return Assignment(target, value, target.at)

    def step(self, children: list[Any]) -> Assignment:
        target, op = children
        return Assignment(target, Binary(op[0], target, Number(1, _at(op)), _at(op)), target.at)

    def transition(self, children: list[Any]) -> tuple[Token | None, Token, Token, dict[str, Any]]:
        source, arrow, target, *parts = children
        found: dict[str, Any] = {}
        for keyword, content in parts:
            if str(keyword) in found:
                self.error(f"a transition has at most one `{keyword}`", _at(keyword))
            found[str(keyword)] = content
        return source, arrow, target, found

    def transitions(self, children: list[Any]) -> tuple[str, list[Transition]]:
        transitions: list[Transition] = []
        source: Token | None = None
        for written, arrow, target, parts in children:
            source = written or source
            if source is None:
                self.error("the first transition needs a source location: write `a -> b`", _at(arrow))
            transitions.append(
                Transition(
                    _identifier(source),
                    _identifier(target),
                    parts.get("guard", ()),
                    parts.get("sync"),
                    parts.get("effect", ()),
                    _at(written or arrow),
                )
            )
        return "trans", transitions

    def process(self, children: list[Any]) -> Process:
        name, *clauses = children
        found: dict[str, list[Any]] = {}
        for clause in clauses:
            keyword, content = clause if isinstance(clause, tuple) else ("declaration", clause)
            found.setdefault(keyword, []).extend(content)
        keywords = ("declaration", "state", "init", "commit", "accept", "assert", "trans")
        return Process(_identifier(name), *(tuple(found.get(keyword, ())) for keyword in keywords))

    def system(self, children: list[Any]) -> tuple[bool, Position]:
        kind, keyword, _ = children
        if keyword is not None:
            self.error(
                "property processes are not supported: give the property as a formula with `--ltl`", _at(keyword)
            )
        return kind == "sync", _at(kind)

    def model(self, children: list[Any]) -> tuple[tuple[Item, ...], bool, Position]:
        *items, (is_sync, at) = children
        flat: list[Item] = []
        for item in items:
            flat.extend(item if isinstance(item, list) else (item,))
        return tuple(flat), is_sync, at


def _balanced(op: str, parts: Sequence[Expression], joints: Sequence[Position]) -> Expression:
    """A chain of an associative operator as a shallow tree, so that long sums are no deep nesting."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    left, right = _balanced(op, parts[:half], joints[: half - 1]), _balanced(op, parts[half:], joints[half:])
    return Binary(op, left, right, joints[half - 1])


class _Switch(Transformer[Token, object]):
    """Passes the parser's callbacks to the builder of the text at hand."""

    builder: _Builder | None = None


def _forward(name: str) -> Any:
    def callback(self: _Switch, children: list[Any]) -> object:
        return getattr(self.builder, name)(children)

    return callback


for _name in vars(_Builder):
    if not _name.startswith("_") and _name != "error":
        setattr(_Switch, _name, _forward(_name))

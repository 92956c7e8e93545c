"""The front-end for Kripke structures in HOA, version 1.

Every state has a label that says of each proposition whether it holds. There may be several `Start:` lines, and states
without a successor. Acceptance must be `0 t`: fairness is not a matter of the model here. The model has one variable,
`state`, and one event, a table; a proposition is the name of an AP, with or without quotes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from aggmc.boolean import FALSE, TRUE, Bool, and_, evaluate, not_, or_, prop, substitute, support
from aggmc.errors import InputError, Location, did_you_mean
from aggmc.model.core import Actor, Event, Interpreter, Model, Proposition, Table, Variable, Warned
from aggmc.model.expr import Expr, const, make, truth, var
from aggmc.model.interpreter import CoreInterpreter

__all__ = ["Structure", "load", "read", "write"]

_STRING_OR_COMMENT = re.compile(r'/\*|"(?:\\.|[^"\\])*"', re.DOTALL)
_COMMENT_MARK = re.compile(r"/\*|\*/")
_LABEL_SIZE = 100_000  # operators of a label, aliases written out
_LABEL_DEPTH = 200
_ENUMERATED = 16  # of so many propositions at most, all valuations are tried on a label that is no conjunction


@dataclass(frozen=True, slots=True)
class Structure:
    """A Kripke structure: labels are bit masks over the propositions."""

    propositions: tuple[str, ...]
    labels: tuple[int, ...]
    successors: tuple[tuple[int, ...], ...]
    initial: tuple[int, ...]
    names: tuple[str | None, ...] | None = None
    name: str | None = None


def load(text: str, path: str | None) -> Model:
    """Read a HOA file as a model; raises InputError, with a place in the text, if it is none."""
    return model_of(read(text, path), text, path)


def model_of(structure: Structure, text: str = "", path: str | None = None) -> Model:
    """A structure as a model."""
    names = structure.names
    shown: tuple[str, ...] | None = None
    if names is not None and all(names) and len(set(names)) == len(names):
        shown = tuple(str(n) for n in names)
    rows = tuple(((s,), (t,)) for s, out in enumerate(structure.successors) for t in out)
    event = Event("step", Location(path), Actor(None, None, None, None), table=Table((0,), rows))
    frontend = HoaFrontend(structure)
    model = Model(
        name=structure.name or path or "structure",
        language="hoa",
        source=text,
        variables=(Variable("state", "state", 0, len(structure.labels) - 1, shown),),
        initial=tuple((s,) for s in structure.initial),
        events=(event,) if rows else (),
        frontend=frontend,
        path=path,
        index={"state": 0},
    )
    frontend.model = model
    return model


class HoaFrontend:
    """The front-end of one structure (a `core.Frontend`)."""

    model: Model

    def __init__(self, structure: Structure) -> None:
        self.structure = structure

    def interpreter(self) -> Interpreter:
        """An interpreter of the table."""
        return CoreInterpreter(self.model)

    def proposition(self, text: str, *, quoted: bool) -> tuple[Proposition, Sequence[Warned]]:
        """A proposition is the name of an AP."""
        known = self.structure.propositions
        if text not in known:
            raise InputError(
                f"`{text}` is no proposition of this structure{did_you_mean(text, known)}", Location(None, 1, 1, text)
            )
        bit = known.index(text)
        cells: list[Expr] = [const(label >> bit & 1) for label in self.structure.labels]
        return Proposition(text, truth(make("select", var(0), *cells))), ()


# -- reading ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _parser() -> Lark:
    grammar = files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=True)


def read(text: str, path: str | None = None) -> Structure:
    """Read a Kripke structure."""
    return _Reader(text, path).structure()


class _Reader:
    def __init__(self, text: str, path: str | None) -> None:
        self.path = path
        self.lines = text.split("\n")
        try:
            self.tree: Tree[Any] = _parser().parse(self._without_comments(text))
        except UnexpectedInput as error:
            raise self._syntax_error(error) from None
        self.aliases: dict[str, _Label] = {}
        self.propositions: tuple[str, ...] = ()
        self.count: Token | None = None
        self.starts: list[Token] = []
        self.name: str | None = None

    def _without_comments(self, text: str) -> str:
        """Comments nest in HOA; blanks in their place keep every position."""
        kept: list[str] = []
        start = at = 0
        while found := _STRING_OR_COMMENT.search(text, at):
            at = found.end()
            if found[0] != "/*":
                continue
            kept.append(text[start : found.start()])
            depth = 1
            while depth:
                mark = _COMMENT_MARK.search(text, at)
                if mark is None:
                    line = text.count("\n", 0, found.start()) + 1
                    column = found.start() - text.rfind("\n", 0, found.start())
                    raise InputError("this comment is never closed", self._location(line, column))
                depth += 1 if mark[0] == "/*" else -1
                at = mark.end()
            kept.append(re.sub(r"[^\n]", " ", text[found.start() : at]))
            start = at
        return "".join([*kept, text[start:]])

    def error(self, message: str, at: Token | Tree[Any] | None = None) -> InputError:
        if isinstance(at, Tree):
            line, column = (None, None) if at.meta.empty else (at.meta.line, at.meta.column)
        else:
            line, column = (at.line, at.column) if at is not None else (None, None)
        return InputError(message, self._location(line, column))

    def _location(self, line: int | None, column: int | None) -> Location:
        shown = self.lines[line - 1] if line is not None and 0 < line <= len(self.lines) else None
        return Location(self.path, line, column, shown)

    def _syntax_error(self, error: UnexpectedInput) -> InputError:
        if isinstance(error, UnexpectedToken) and error.token.type == "$END":
            last = max((n for n, line in enumerate(self.lines, 1) if line.strip()), default=1)
            return InputError("the file ends too early: `--END--` is missing", self._location(last, None))
        if isinstance(error, UnexpectedToken):
            what = f"unexpected {str(error.token)[:40]!r}"
        elif isinstance(error, UnexpectedCharacters):
            what = "this is not HOA"
        else:
            what = "the file ends too early"
        return InputError(what, self._location(error.line, error.column))

    def structure(self) -> Structure:
        version = self.tree.children[1]
        if version != "v1":
            raise self.error(f"HOA version {version} is not supported, only v1", version)
        headers = [child for child in self.tree.children if isinstance(child, Tree) and child.data != "state"]
        for header in headers:
            if header.data == "ap":
                self._read_propositions(header)
        for header in headers:
            self._read_header(header)
        states = [child for child in self.tree.children if isinstance(child, Tree) and child.data == "state"]
        return self._read_body(states)

    def _read_propositions(self, header: Tree[Any]) -> None:
        _, count, *names = _kids(header)
        if self.propositions:
            raise self.error("a second `AP:` line", header)
        if int(count) != len(names):
            raise self.error(f"`AP:` announces {count} propositions and names {len(names)}", count)
        self.propositions = tuple(_unquoted(n) for n in names)
        if len(set(self.propositions)) != len(names):
            raise self.error("a proposition is named twice", header)

    def _read_header(self, header: Tree[Any]) -> None:
        kids = _kids(header)
        match header.data:
            case "states":
                if self.count is not None:
                    raise self.error("a second `States:` line", kids[0])
                self.count = kids[1]
            case "start_state":
                if len(kids[1].children) > 1:
                    raise self.error("universal branching has no meaning in a Kripke structure", kids[1])
                self.starts.append(kids[1].children[0])
            case "alias":
                self.aliases[str(kids[1])] = self._label(kids[2])
            case "acceptance":
                condition = [str(i.children[0]) if i.children else "?" for i in kids[2:]]
                if int(kids[1]) or condition != ["t"]:
                    message = "acceptance of a Kripke structure must be `0 t`: fairness is not supported"
                    raise self.error(message, kids[1])
            case "other":
                name = str(kids[0])[:-1]
                if name == "name" and len(kids) == 2 and kids[1].children:
                    self.name = _unquoted(kids[1].children[0])
                elif name[0].isupper():
                    raise self.error(f"the header `{name}:` is not known, and may change the meaning", kids[0])

    def _read_body(self, states: list[Tree[Any]]) -> Structure:
        numbers = [int(_kids(s)[2]) for s in states]
        count = int(self.count) if self.count is not None else 1 + max(numbers, default=-1)
        if count == 0 or not states:
            raise self.error("the structure has no state", self.tree.children[0])
        if not self.starts:
            raise self.error("the structure has no `Start:` line", self.tree.children[0])
        declared: set[int] = set()
        for state in states:
            number = _kids(state)[2]
            if self._number(number, count) in declared:
                raise self.error(f"state {number} is declared twice", number)
            declared.add(int(number))
        if len(declared) < count:  # before anything as long as `count` is made
            missing = next(n for n in range(count) if n not in declared)
            raise self.error(f"state {missing} is not declared", self.count)
        labels = [0] * count
        successors: list[tuple[int, ...]] = [()] * count
        names: list[str | None] = [None] * count
        for state in states:
            _, label, number, name, marks, *edges = _kids(state)
            n = int(number)
            if marks is not None and marks.children:
                raise self.error("acceptance marks on a Kripke structure: fairness is not supported", marks)
            labels[n] = self._valuation(label, number)
            names[n] = _unquoted(name) if name is not None else None
            successors[n] = tuple(dict.fromkeys(self._edge(edge, count) for edge in edges))
        initial = tuple(dict.fromkeys(self._number(s, count) for s in self.starts))
        return Structure(
            self.propositions,
            tuple(labels),
            tuple(successors),
            initial,
            tuple(names) if any(names) else None,
            self.name,
        )

    def _number(self, token: Token, count: int) -> int:
        if int(token) >= count:
            raise self.error(f"state {token} does not exist: there are {count} states", token)
        return int(token)

    def _edge(self, edge: Tree[Any], count: int) -> int:
        label, conjunction, marks = _kids(edge)
        if label is not None:
            raise self.error("labels belong to the states of a Kripke structure, not to its edges", edge)
        if len(conjunction.children) > 1:
            raise self.error("universal branching has no meaning in a Kripke structure", conjunction)
        if marks is not None and marks.children:
            raise self.error("acceptance marks on a Kripke structure: fairness is not supported", edge)
        return self._number(conjunction.children[0], count)

    def _valuation(self, label: Any, state: Token) -> int:
        n = len(self.propositions)
        if label is None:
            if n:
                raise self.error(f"state {state} has no label", state)
            return 0
        expression = self._label(label).expression
        value = _conjunction(expression, n)
        if value is None and n <= _ENUMERATED:
            models = [v for v in range(1 << n) if evaluate(expression, v)]
            value = models[0] if len(models) == 1 else None
        if value is None:
            unsaid = [name for i, name in enumerate(self.propositions) if i not in support(expression)]
            hint = f" (it does not speak of {', '.join(unsaid[:5])})" if unsaid else ""
            raise self.error(f"the label of state {state} must settle every proposition{hint}", state)
        return value

    def _label(self, tree: Any, depth: int = 0) -> _Label:
        """An expression, without recursion over long `|` and `&` chains."""
        if depth > _LABEL_DEPTH:
            raise self.error(f"labels are nested more than {_LABEL_DEPTH} deep", tree)
        parts = [child for child in tree.children if child is not None]
        match tree.data:
            case "either" | "both":
                return self._joined(tree, _chain(tree), depth)
            case "negation" | "group":
                inner = self._label(parts[0], depth + 1)
                expression = not_(inner.expression) if tree.data == "negation" else inner.expression
                return _Label(expression, inner.size + 1, inner.depth + 1)
            case "number":
                number, known = parts[0], len(self.propositions)
                if int(number) >= known:
                    raise self.error(f"proposition {number} does not exist: there are {known}", number)
                return _Label(prop(int(number)))
            case "constant":
                if parts[0] not in ("t", "f"):
                    raise self.error(f"`{parts[0]}` cannot stand in a label", parts[0])
                return _Label(TRUE if parts[0] == "t" else FALSE)
            case _:
                if str(parts[0]) not in self.aliases:
                    raise self.error(f"the alias `{parts[0]}` is not defined", parts[0])
                return self.aliases[str(parts[0])]

    def _joined(self, tree: Tree[Any], parts: Sequence[Any], depth: int) -> _Label:
        labels = [self._label(part, depth + 1) for part in parts]
        size, deepest = 1 + sum(label.size for label in labels), 1 + max(label.depth for label in labels)
        if size > _LABEL_SIZE or deepest > _LABEL_DEPTH:
            raise self.error("this label is too large, with its aliases written out", tree)
        join = or_ if tree.data == "either" else and_
        return _Label(join(*(label.expression for label in labels)), size, deepest)


@dataclass(frozen=True, slots=True)
class _Label:
    """An expression, and how large it is: aliases can make it much larger than its text."""

    expression: Bool
    size: int = 1
    depth: int = 1


def _chain(tree: Tree[Any]) -> list[Any]:
    """The parts of a chain of one operator, which the grammar reads as nested to the left."""
    found: list[Any] = []
    node: Any = tree
    while isinstance(node, Tree) and node.data == tree.data:
        found.append(node.children[-1])
        node = node.children[0] if len(node.children) > 1 else None
    if node is not None:
        found.append(node)
    return found[::-1]


def _kids(tree: Tree[Any]) -> list[Any]:
    return tree.children


def _conjunction(expression: Bool, count: int) -> int | None:
    """The valuation, if the expression is a conjunction of one literal for each proposition."""
    value, seen = 0, 0
    for part in expression.args if expression.op == "and" else (expression,):
        literal = part.args[0] if part.op == "not" else part
        if literal.op != "prop":
            return None
        seen |= 1 << literal.index
        value |= (part.op == "prop") << literal.index
    consistent = evaluate(substitute(expression, [TRUE if value >> i & 1 else FALSE for i in range(count)]), 0)
    return value if seen == (1 << count) - 1 and consistent else None


def _unquoted(token: str) -> str:
    text = str(token)[1:-1]
    result, escaped = [], False
    for char in text:
        if char == "\\" and not escaped:
            escaped = True
        else:
            result.append(char)
            escaped = False
    return "".join(result)


# -- writing ---------------------------------------------------------------------------------------------------------


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def write(structure: Structure) -> str:
    """A structure as HOA text; `read` gives it back."""
    n = len(structure.propositions)
    lines = ["HOA: v1"]
    if structure.name is not None:
        lines.append(f"name: {_quoted(structure.name)}")
    lines.append(f"States: {len(structure.labels)}")
    lines += [f"Start: {s}" for s in structure.initial]
    lines.append(f"AP: {n}" + "".join(f" {_quoted(p)}" for p in structure.propositions))
    lines += ["acc-name: all", "Acceptance: 0 t", "properties: state-labels explicit-labels", "--BODY--"]
    for s, (label, out) in enumerate(zip(structure.labels, structure.successors, strict=True)):
        literals = "&".join(str(i) if label >> i & 1 else f"!{i}" for i in range(n)) or "t"
        name = structure.names[s] if structure.names else None
        lines.append(f"State: [{literals}] {s}" + (f" {_quoted(name)}" if name else ""))
        lines += [str(t) for t in out]
    return "\n".join([*lines, "--END--"]) + "\n"

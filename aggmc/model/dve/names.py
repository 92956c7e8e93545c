"""Looking up names and checking expressions: syntax tree to resolved nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from aggmc.errors import InputError, did_you_mean
from aggmc.model.core import Warned
from aggmc.model.dve import ast
from aggmc.model.dve.program import (
    At,
    Binary,
    Cell,
    Const,
    Junction,
    Node,
    Scope,
    Symbol,
    Target,
    Unary,
    Var,
)
from aggmc.model.expr import apply_op

#: Deeper expressions are refused: what reads the tree recurses, and Python takes at most 200 brackets in the code
#: that the interpreter generates (a level opens up to three).
MAX_DEPTH = 60

_FOLDED_UNARY = {"-": "neg", "~": "bitnot", "!": "not"}


class Resolver:
    """Resolves expressions in the scope of one process, of the model, or of a proposition."""

    def __init__(
        self, source: ast.Source, scope: Scope, process: str | None = None, *, in_proposition: bool = False
    ) -> None:
        self.source = source
        self.scope = scope
        self.process = process
        self.in_proposition = in_proposition
        self.warnings: list[Warned] = []
        self._own: Mapping[str, Symbol] = scope.locals[process] if process is not None else {}

    def error(self, message: str, at: ast.Position) -> NoReturn:
        """Refuse the input at a position."""
        raise InputError(message, self.source.location(at))

    # -- expressions

    def node(self, e: ast.Expression, depth: int = 0) -> Node:
        """The resolved form of an expression."""
        if depth > MAX_DEPTH:
            self.error(f"this expression is nested too deeply (more than {MAX_DEPTH} levels)", e.at)
        match e:
            case ast.Number():
                return Const(e.value, e.boolean)
            case ast.Ref():
                return self._reference(e, depth)
            case ast.Unary():
                return Unary(e.op, self.node(e.operand, depth + 1), e.at)
            case ast.Binary():
                return Binary(e.op, self.node(e.left, depth + 1), self.node(e.right, depth + 1), e.at)
            case ast.Junction():
                return Junction(e.op, tuple([self.node(o, depth + 1) for o in e.operands]))

    def constant(self, e: ast.Expression, what: str) -> int:
        """The value of an expression of constants only."""
        return self._fold(self.node(e), e, what)

    def _fold(self, node: Node, e: ast.Expression, what: str) -> int:
        match node:
            case Const():
                return node.value
            case Unary():
                return apply_op(_FOLDED_UNARY[node.op], [self._fold(node.operand, e, what)])
            case Binary():
                left, right = self._fold(node.left, e, what), self._fold(node.right, e, what)
                if node.op == "imply":
                    return int(not left or bool(right))
                if node.op in ("/", "%") and right == 0:
                    self.error("division by zero in a constant expression", node.at)
                if node.op in ("<<", ">>") and not 0 <= right <= 31:
                    self.error("a shift by less than 0 or more than 31 in a constant expression", node.at)
                return apply_op(node.op, [left, right])
            case Junction():
                return apply_op(node.op, [self._fold(o, e, what) for o in node.operands])
            case _:
                self.error(f"{what} must be a constant: variables may not occur in it", e.at)

    def target(self, ref: ast.Expression) -> tuple[Target, str]:
        """What an assignment or a receive writes to, and its type."""
        if not isinstance(ref, ast.Ref):
            self.error("only a variable or an array cell can be written to", ref.at)
        if ref.process is not None and ref.process != self.process:
            self.error(f"a process may write only its own and global variables: {ref} is of {ref.process}", ref.at)
        if ref.link == ".":
            self.error(f"{ref} is no variable that can be written to", ref.at)
        symbol = self._symbol(ref)
        if symbol.constants is not None:
            self.error(f"`{symbol.name}` is a constant and cannot be written to", ref.at)
        node = self._access(symbol, ref, 0)
        assert isinstance(node, Var | Cell)
        return node, symbol.type

    # -- names

    def _reference(self, ref: ast.Ref, depth: int) -> Node:
        if ref.process is None:
            return self._access(self._symbol(ref), ref, depth)
        self._known_process(ref)
        locations, variables = self.scope.locations[ref.process], self.scope.locals[ref.process]
        if ref.link != "->" and ref.index is None and ref.name in locations:
            if ref.name in variables and ref.link == "." and self.in_proposition:
                self.warnings.append(
                    Warned(
                        f"`{ref}` is read as the location; the variable of that name is `{ref.process}->{ref.name}`",
                        self.source.location(ref.at),
                    )
                )
            return At(self.scope.location_variables[ref.process], locations[ref.name])
        if ref.link == "=":
            near = did_you_mean(ref.name, locations)
            self.error(f"process `{ref.process}` has no location `{ref.name}`{near}", ref.at)
        if ref.link == ".":
            if not self.in_proposition and ref.name in variables:
                self.error(f"`{ref.name}` is a variable: write `{ref.process}->{ref.name}`", ref.at)
            if ref.name not in variables:
                what = "location or variable" if self.in_proposition else "location"
                near = did_you_mean(ref.name, [*locations, *variables] if self.in_proposition else locations)
                self.error(f"process `{ref.process}` has no {what} `{ref.name}`{near}", ref.at)
        return self._access(self._symbol(ref), ref, depth)

    def _known_process(self, ref: ast.Ref) -> None:
        assert ref.process is not None
        if ref.process in self.scope.locations:
            return
        if ref.link == "=" and ref.process in self.scope.globals:
            self.error(
                f"`=` only asks for a process's location; to compare, write `{ref.process} == {ref.name}`", ref.at
            )
        self.error(
            f"there is no process `{ref.process}`{did_you_mean(ref.process, self.scope.locations)}",
            ref.at,
        )

    def _symbol(self, ref: ast.Ref) -> Symbol:
        """The variable or constant that a reference names."""
        name = ref.name
        if ref.process is not None:
            self._known_process(ref)
            variables = self.scope.locals[ref.process]
            if name in variables:
                return variables[name]
            if name in self.scope.locations[ref.process]:
                self.error(f"`{name}` is a location of `{ref.process}`: write `{ref.process}.{name}`", ref.at)
            self.error(f"process `{ref.process}` has no variable `{name}`{did_you_mean(name, variables)}", ref.at)
        symbol = self._own.get(name) or self.scope.globals.get(name)
        if symbol is not None:
            return symbol
        self._unknown(name, ref.at)

    def _unknown(self, name: str, at: ast.Position) -> NoReturn:
        if name in self.scope.locations:
            example = next(iter(self.scope.locations[name]), "location")
            self.error(f"`{name}` is a process: write `{name}.{example}` to ask where it is", at)
        if name in self.scope.channels:
            self.error(f"`{name}` is a channel and has no value", at)
        for process, variables in self.scope.locals.items():
            if name in variables:
                self.error(f"`{name}` is a variable of process `{process}`: write `{process}->{name}`", at)
        for process, locations in self.scope.locations.items():
            if name in locations:
                self.error(f"`{name}` is a location of process `{process}`: write `{process}.{name}`", at)
        self.error(f"`{name}` is not declared{did_you_mean(name, [*self._own, *self.scope.globals])}", at)

    def _access(self, symbol: Symbol, ref: ast.Ref, depth: int) -> Node:
        if symbol.size is None:
            if ref.index is not None:
                self.error(f"`{symbol.name}` is no array and takes no index", ref.at)
            return Const(symbol.constants[0]) if symbol.constants is not None else Var(symbol.base)
        if ref.index is None:
            self.error(f"`{symbol.name}` is an array: write an index, as in `{ref}[0]`", ref.at)
        index = self.node(ref.index, depth + 1)
        if symbol.constants is not None:
            at = self._fold(index, ref.index, "the index of a constant array")
            if not 0 <= at < symbol.size:
                self.error(f"index {at} is outside `{symbol.name}`, which has {symbol.size} cells", ref.at)
            return Const(symbol.constants[at])
        if isinstance(index, Const):
            if 0 <= index.value < symbol.size:
                return Var(symbol.base + index.value)
            outside = f"index {index.value} is outside `{symbol.name}`, which has {symbol.size} cells"
            if self.in_proposition:
                self.error(outside, ref.at)
            self.warnings.append(
                Warned(f"{outside}: an error of the model if it is reached", self.source.location(ref.at))
            )
        return Cell(symbol.base, symbol.size, index, symbol.name, ref.at)

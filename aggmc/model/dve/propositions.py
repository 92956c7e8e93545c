"""Atomic propositions of a property: what they mean in a DVE model, and what to write instead if nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aggmc.errors import InputError, did_you_mean
from aggmc.model.core import Interpreter, Proposition, Warned
from aggmc.model.dve import ast
from aggmc.model.dve.interpreter import DveInterpreter
from aggmc.model.dve.lowering import SymbolicState
from aggmc.model.dve.names import Resolver
from aggmc.model.dve.parser import parse_proposition
from aggmc.model.dve.program import At, Const, Node, Program, is_boolean
from aggmc.model.expr import truth


class DveFrontend:
    """The front-end of one DVE model (a `core.Frontend`)."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def interpreter(self) -> Interpreter:
        """An interpreter that runs the resolved syntax tree."""
        return DveInterpreter(self.program, lambda text: resolve_proposition(self.program, text)[0])

    def proposition(self, text: str, *, quoted: bool) -> tuple[Proposition, Sequence[Warned]]:
        """What an atomic proposition means; raises InputError if it means nothing."""
        if not quoted:
            check_unquoted(self.program, text)
        node, warnings = resolve_proposition(self.program, text)
        value, error = SymbolicState().value(node)
        return Proposition(text, truth(value), error), warnings


def resolve_proposition(program: Program, text: str) -> tuple[Node, list[Warned]]:
    """A quoted proposition, looked up in the scope of the model."""
    source = ast.Source.of(text, None)
    tree, mixed = parse_proposition(text)
    resolver = Resolver(source, program.scope, in_proposition=True)
    node = resolver.node(tree)
    if not is_boolean(node):
        name = text.strip()
        simple = isinstance(tree, ast.Ref | ast.Number)
        raise InputError(
            f'`{name}` is a number, not a condition: write `"{name if simple else f"({name})"} != 0"`',
            source.location(tree.at),
        )
    if isinstance(node, Const):
        resolver.warnings.append(Warned(f"the proposition `{text}` is constant", source.location(tree.at)))
    resolver.warnings += [
        Warned("`&&` and `||` are mixed without brackets: `&&` binds tighter here", source.location(at)) for at in mixed
    ]
    return node, resolver.warnings


_NAME = r"[A-Za-z_][A-Za-z_0-9]*"


def check_unquoted(program: Program, text: str) -> None:
    """Without quotes only `P.loc` is taken: Spot would read `x=1` as x, and `P->v` as an implication."""
    scope = program.scope
    location = ast.Source.of(text, None).location((1, 1))
    if re.fullmatch(_NAME, text):
        if text in scope.locations:
            example = next(iter(scope.locations[text]))
            variable = next(iter(scope.locals[text]), None)
            value = f', or "{text}->{variable} == 1" to ask for a variable' if variable is not None else ""
            raise InputError(f'`{text}` is a process: write "{text}.{example}" to ask where it is{value}', location)
        if text in scope.globals:
            symbol = scope.globals[text]
            cell = text if symbol.size is None else f"{text}[0]"
            raise InputError(f'`{text}` is a variable: write a condition in quotes, as in "{cell} == 1"', location)
    match = re.fullmatch(rf"({_NAME})\.({_NAME})", text)
    if match is None:
        if re.fullmatch(_NAME, text):
            known = [*scope.globals, *scope.locations, *(f"{p}.{n}" for p, ns in scope.locations.items() for n in ns)]
            raise InputError(f"`{text}` is not declared{did_you_mean(text, known)}", location)
        raise InputError(f'without quotes only `P.location` can stand here: write "{text}" in quotes', location)
    process, name = match.groups()
    if process in scope.locations and name not in scope.locations[process] and name in scope.locals[process]:
        raise InputError(f'`{text}` is a variable: write a condition in quotes, as in "{text} == 1"', location)
    # anything else is said, with its suggestion, by the resolver
    node, _ = resolve_proposition(program, text)
    assert isinstance(node, At)

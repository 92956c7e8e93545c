"""An interpreter for any lowered model: it compiles the core events to Python.

Front-ends with a syntax tree worth running have an interpreter of their own; this one serves the others, and the
tests, which compare the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import cast

from aggmc.errors import ModelError
from aggmc.model.core import Event, Model, State, Table
from aggmc.model.expr import Expr, postorder, truncated_div, truncated_mod, wrapped

#: next states and whether the event errs, from a state
EventFunction = Callable[[State], tuple[list[State], bool]]

_NOTHING: tuple[list[State], bool] = ([], False)
_ERRS: tuple[list[State], bool] = ([], True)


def _shift_left(a: int, n: int) -> int:
    return a << n if 0 <= n <= 31 else 0


def _shift_right(a: int, n: int) -> int:
    return a >> n if 0 <= n <= 31 else 0


def _select(i: int, *cells: int) -> int:
    return cells[i] if 0 <= i < len(cells) else 0


_NAMESPACE: dict[str, object] = {
    "div": truncated_div,
    "mod": truncated_mod,
    "wrapped": wrapped,
    "shl": _shift_left,
    "shr": _shift_right,
    "select": _select,
    "NOTHING": _NOTHING,
    "ERRS": _ERRS,
}
_CALLS = {"/": "div", "%": "mod", "<<": "shl", ">>": "shr", "select": "select", "wrap": "wrapped"}


class CoreInterpreter:
    """Runs the events of a lowered model (a `core.Interpreter`)."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._functions: list[EventFunction | None] = [None] * len(model.events)
        # Events that move a location are looked at only where it is: indexed by their first move.
        self._by_location: dict[int, dict[int, list[int]]] = {}
        self._always: list[int] = []
        for number, event in enumerate(model.events):
            if event.moves:
                move = event.moves[0]
                self._by_location.setdefault(move.variable, {}).setdefault(move.source, []).append(number)
            else:
                self._always.append(number)
        self._tests: dict[str, Callable[[State], bool]] = {}

    def initial_states(self) -> list[State]:
        """The initial states."""
        return list(self._model.initial)

    def successors(self, state: State) -> list[tuple[int, State]]:
        """(event index, next state) for every step, in the order of the events; steps that err are left out."""
        return [(number, new) for number in self._candidates(state) for new in self._function(number)(state)[0]]

    def is_dead(self, state: State) -> bool:
        """No step leaves the state, not even one that errs."""
        return all(self._function(number)(state) == _NOTHING for number in self._candidates(state))

    def check_errors(self, state: State) -> None:
        """Raise the ModelError of the first event that errs here, if one does."""
        for number in self._candidates(state):
            if self._function(number)(state)[1]:
                event = self._model.events[number]
                raise ModelError(f"error of the model in the step `{event.name}`", event.location)

    def holds(self, proposition: str, state: State) -> bool:
        """The value of a proposition, in quotes or not; raises ModelError if it errs."""
        test = self._tests.get(proposition)
        if test is None:
            bare = (
                proposition[1:-1] if len(proposition) > 1 and proposition[0] == proposition[-1] == '"' else proposition
            )
            meaning, _ = self._model.frontend.proposition(bare, quoted=True)
            source = _define("def test(s):", [meaning.error, meaning.holds], "return {0}, {1}")
            both = cast("Callable[[State], tuple[int, int]]", source)

            def test(state: State) -> bool:
                errs, value = both(state)
                if errs:
                    raise ModelError(f"the proposition `{bare}` errs here: index out of range or division by zero")
                return bool(value)

            self._tests[proposition] = test
        return test(state)

    def _candidates(self, state: State) -> list[int]:
        found = list(self._always)
        for variable, by_source in self._by_location.items():
            found += by_source.get(state[variable], ())
        found.sort()
        return found

    def _function(self, number: int) -> EventFunction:
        function = self._functions[number]
        if function is None:
            event = self._model.events[number]
            function = _table_function(event, event.table) if event.table is not None else _event_function(event)
            self._functions[number] = function
        return function


def _event_function(event: Event) -> EventFunction:
    """Compile an event: first where it is, then whether it errs, then whether it may fire."""
    tests = [f"s[{m.variable}] == {m.source}" for m in event.moves]
    head = "def run(s):"
    if tests:
        head += f"\n if not ({' and '.join(tests)}): return NOTHING"
    lines = ["if {0}: return ERRS", "if not {1}: return NOTHING", "n = list(s)"]
    lines += [f"n[{m.variable}] = {m.target}" for m in event.moves]
    lines += [f"n[{variable}] = {{{i}}}" for i, (variable, _) in enumerate(event.updates, 2)]
    lines.append("return [tuple(n)], False")
    roots = [event.error, event.guard, *(e for _, e in event.updates)]
    return cast(EventFunction, _define(head, roots, "\n ".join(lines)))


def _table_function(event: Event, table: Table) -> EventFunction:
    """An event given by its steps, with whatever guard, moves and updates it has besides."""
    rest = _event_function(event)
    steps: dict[State, list[State]] = {}
    for before, after in table.rows:
        steps.setdefault(before, []).append(after)
    variables = table.variables

    def run(state: State) -> tuple[list[State], bool]:
        targets = steps.get(tuple([state[v] for v in variables]))
        if targets is None:
            return _NOTHING
        moved, errs = rest(state)
        if errs or not moved:
            return moved, errs
        found: list[State] = []
        for target in targets:
            new = list(moved[0])
            for variable, value in zip(variables, target, strict=True):
                new[variable] = value
            found.append(tuple(new))
        return found, False

    return run


def _define(head: str, roots: list[Expr], body: str) -> object:
    """A function: `head`, an assignment for every shared or large node below the roots, and `body` with the roots."""
    names, lines = _code(roots)
    text = "\n ".join([head, *lines, body.format(*names)])
    namespace = dict(_NAMESPACE)
    exec(compile(text, "<core event>", "exec"), namespace)  # the source is made of expressions only
    return next(v for k, v in namespace.items() if k in ("run", "test"))


def _code(roots: Iterable[Expr]) -> tuple[list[str], list[str]]:
    """Python for the roots; each operator node gets a line of its own, so that nothing nests."""
    roots = list(roots)
    names: dict[Expr, str] = {}
    lines: list[str] = []
    for e in postorder(roots):
        if e.op == "const":
            names[e] = f"({e.value})"
        elif e.op == "var":
            names[e] = f"s[{e.value}]"
        else:
            name = names[e] = f"x{len(lines)}"
            lines.append(f"{name} = {_operator(e.op, [names[a] for a in e.args])}")
    return [names[r] for r in roots], lines


def _operator(op: str, args: list[str]) -> str:
    match op:
        case "and" | "or":
            return f"1 if {f' {op} '.join(args)} else 0"
        case "not":
            return f"0 if {args[0]} else 1"
        case "neg":
            return f"-{args[0]}"
        case "bitnot":
            return f"~{args[0]}"
        case "ite":
            return f"{args[1]} if {args[0]} else {args[2]}"
        case "==" | "!=" | "<" | "<=" | ">" | ">=":
            return f"1 if {args[0]} {op} {args[1]} else 0"
        case _ if op in _CALLS:
            return f"{_CALLS[op]}({', '.join(args)})"
        case _:
            return f"{args[0]} {op} {args[1]}"

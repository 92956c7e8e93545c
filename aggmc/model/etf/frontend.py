"""Tables as a model, and what propositions over them mean."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aggmc.errors import InputError, Location, did_you_mean
from aggmc.model.conditions import Place, Term, condition
from aggmc.model.core import Actor, Event, Interpreter, Model, Proposition, State, Table, Variable, Warned
from aggmc.model.etf.reader import Column, Group, Map, Tables
from aggmc.model.expr import Expr, const, make, var
from aggmc.model.interpreter import CoreInterpreter

_MOST_NAMES = 1 << 16  # of a sort, as the names of a variable's values


def model_of(tables: Tables, text: str, path: str | None) -> Model:
    """Tables as a model: a column is a variable, a section of steps an event for each label."""
    variables = _variables(tables)
    frontend = EtfFrontend(tables, variables)
    model = Model(
        name=path or "tables",
        language="etf",
        source=text,
        variables=variables,
        initial=tuple(dict.fromkeys(tables.initial)),
        events=tuple(_events(tables, path)),
        frontend=frontend,
        path=path,
        index={v.name: i for i, v in enumerate(variables)},
    )
    frontend.model = model
    return model


def _variables(tables: Tables) -> tuple[Variable, ...]:
    columns = range(len(tables.columns))
    low = [min(state[c] for state in tables.initial) for c in columns]
    high = [max(state[c] for state in tables.initial) for c in columns]
    for group in tables.groups:
        for k, c in enumerate(group.columns):
            for row in group.rows:
                low[c] = min(low[c], row.before[k], row.after[k])
                high[c] = max(high[c], row.before[k], row.after[k])
    taken = {c.name for c in tables.columns}
    return tuple(
        _variable(column, _free_name(c, taken) if column.name is None else column.name, low[c], high[c], tables)
        for c, column in enumerate(tables.columns)
    )


def _free_name(number: int, taken: set[str | None]) -> str:
    name = f"column_{number}"
    while name in taken:
        name += "_"
    return name


def _variable(column: Column, name: str, low: int, high: int, tables: Tables) -> Variable:
    values = tables.sorts.get(column.sort, []) if column.sort is not None else []
    if values and low >= 0 and high - low < _MOST_NAMES:
        # a number without a name, which the format allows, is shown as a number
        names = tuple(values[i] if i < len(values) else str(i) for i in range(low, high + 1))
        return Variable(name, column.sort or "int", low, high, names)
    return Variable(name, column.sort or "int", low, high)


def _events(tables: Tables, path: str | None) -> list[Event]:
    result = []
    for group in tables.groups:
        by_labels: dict[tuple[str | int, ...], dict[tuple[State, State], None]] = {}
        for row in group.rows:
            by_labels.setdefault(row.labels, {})[row.before, row.after] = None
        for labels, rows in by_labels.items():
            name = _event_name(tables, group, labels)
            actor = Actor(None, None, None, group.line)
            table = Table(group.columns, tuple(rows))
            result.append(Event(name, Location(path, group.line), actor, table=table))
    return result


def _event_name(tables: Tables, group: Group, labels: tuple[str | int, ...]) -> str:
    if not labels:
        return f"step of line {group.line}"
    shown = [_value(tables, column.sort, label) for column, label in zip(tables.edges, labels, strict=True)]
    return " ".join(shown)


def _value(tables: Tables, sort: str | None, value: str | int) -> str:
    names = tables.sorts.get(sort, []) if sort is not None else []
    return names[value] if isinstance(value, int) and 0 <= value < len(names) else str(value)


class EtfFrontend:
    """The front-end of one file (a `core.Frontend`, and the scope of its propositions)."""

    model: Model

    def __init__(self, tables: Tables, variables: tuple[Variable, ...]) -> None:
        self._tables = tables
        self._variables = variables
        self._columns = {v.name: i for i, v in enumerate(variables)}
        self._maps = {m.name: m for m in tables.maps}

    def interpreter(self) -> Interpreter:
        """An interpreter of the tables."""
        return CoreInterpreter(self.model)

    def proposition(self, text: str, *, quoted: bool) -> tuple[Proposition, Sequence[Warned]]:
        """A condition over columns and maps."""
        if not quoted and not re.fullmatch(r"[A-Za-z_]\w*\.\w+", text):
            known = f'write "{text} == 1"' if text in self._columns else f'write "{text}"'
            raise InputError(f"without quotes only `P.value` can stand here: {known} in quotes", Location(None, 1, 1))
        return Proposition(text, condition(text, self)), ()

    def name(self, name: str, place: Place) -> Term:
        """A column, a map, or `column.value`."""
        if name in self._columns:
            return Term(var(self._columns[name]))
        if name in self._maps:
            return Term(self._map_value(self._maps[name]))
        dot = name.rfind(".")
        while dot > 0:
            owner, value = name[:dot], name[dot + 1 :]
            if owner in self._columns:
                return self._at(owner, value, place)
            if owner in self._maps:
                return self._map_at(self._maps[owner], value, place)
            dot = name.rfind(".", 0, dot)
        raise place.error(f"`{name}` is not a column{did_you_mean(name, [*self._columns, *self._maps])}")

    def call(self, function: str, arguments: Sequence[tuple[str, Place]], place: Place) -> Term:
        """Tables have no functions."""
        raise place.error(f"`{function}` is no function")

    def _at(self, owner: str, value: str, place: Place) -> Term:
        c = self._columns[owner]
        names = self._tables.sorts.get(self._tables.columns[c].sort or "", [])
        if value not in names:
            raise place.error(f"`{owner}` has no value `{value}`{did_you_mean(value, names)}")
        return Term(make("==", var(c), const(names.index(value))), is_condition=True)

    def _map_at(self, m: Map, value: str, place: Place) -> Term:
        names = self._tables.sorts.get(m.sort, [])
        results = {_value(self._tables, m.sort, result) for _, result in m.entries}
        if value not in results and value not in names:
            raise place.error(f"`{m.name}` has no value `{value}`{did_you_mean(value, results)}")
        expr: Expr = const(0)
        for pattern, result in reversed(m.entries):
            here = _value(self._tables, m.sort, result) == value
            expr = make("ite", _matches(pattern), const(int(here)), expr)
        return Term(make("!=", expr, const(0)), is_condition=True)

    def _map_value(self, m: Map) -> Expr:
        """The number of the map's value; values without a number count from the first that is free."""
        names = list(self._tables.sorts.get(m.sort, []))
        expr: Expr = const(0)
        for pattern, result in reversed(m.entries):
            if isinstance(result, str) and result not in names:
                names.append(result)
            number = result if isinstance(result, int) else names.index(result)
            expr = make("ite", _matches(pattern), const(number), expr)
        return expr


def _matches(pattern: tuple[int | None, ...]) -> Expr:
    return make("and", *(make("==", var(c), const(value)) for c, value in enumerate(pattern) if value is not None))

"""Declarations, checks and the list of actions: syntax tree to `Program`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from aggmc.errors import InputError, did_you_mean
from aggmc.model.core import Variable, Warned
from aggmc.model.dve import ast
from aggmc.model.dve.names import Resolver
from aggmc.model.dve.program import (
    RANGES,
    Action,
    Assertion,
    Assign,
    Channel,
    Process,
    Program,
    Receive,
    Scope,
    Symbol,
    Sync,
    Transition,
)
from aggmc.model.expr import wrapped

#: A synchronous system steps by tuples of transitions, which are listed one by one.
MAX_SYNC_ACTIONS = 100_000
#: No state could be larger; a typing error in an array's size should not fill the memory.
MAX_VARIABLES = 200_000


def resolve(module: ast.Module) -> Program:
    """Look up every name, check every use and list the actions."""
    return _Checker(module).program()


class _Checker:
    """Goes through a module twice: first all declarations, then all that uses them."""

    def __init__(self, module: ast.Module) -> None:
        self.module = module
        self.source = module.source
        self.globals: dict[str, Symbol] = {}
        self.locals: dict[str, dict[str, Symbol]] = {}
        self.locations: dict[str, dict[str, int]] = {}
        self.location_variables: dict[str, int] = {}
        self.channels: dict[str, Channel] = {}
        self.scope = Scope(self.globals, self.locals, self.locations, self.location_variables, self.channels)
        self.variables: list[Variable] = []
        self.initial: list[int] = []
        self.arities: dict[str, tuple[int, ast.Position]] = {}  # of the untyped channels, by their first use
        self.warnings = [
            Warned("`&&` and `||` are mixed without brackets: `&&` binds tighter here", self.source.location(at))
            for at in module.mixed
        ]

    def program(self) -> Program:
        """The resolved program."""
        taken: dict[str, ast.Position] = {}
        for item in self.module.items:
            self._unique(item.name, taken)
            match item:
                case ast.Declarator():
                    self._declare(item, self.globals, None)
                case ast.Channel():
                    self._declare_channel(item)
                case ast.Process():
                    self._declare_process(item)
        written = [item for item in self.module.items if isinstance(item, ast.Process)]
        if not written:
            raise InputError("the model has no process", self.source.location(self.module.system_at))
        assertions: list[Assertion] = []
        processes = [self._process(number, process, assertions) for number, process in enumerate(written)]
        actions = self._sync_actions(processes) if self.module.is_sync else _async_actions(processes)
        return Program(
            self.source,
            tuple(self.variables),
            tuple(self.initial),
            tuple(processes),
            tuple(actions),
            self.module.is_sync,
            tuple(assertions),
            self.scope,
            tuple(self.warnings),
            tuple([(number, p) for number, p in enumerate(processes) if p.committed]),
        )

    def _error(self, message: str, at: ast.Position) -> InputError:
        return InputError(message, self.source.location(at))

    def _warn(self, message: str, at: ast.Position) -> None:
        self.warnings.append(Warned(message, self.source.location(at)))

    def _unique(self, name: ast.Identifier, taken: dict[str, ast.Position]) -> None:
        if name.name in taken:
            raise self._error(f"`{name.name}` is declared twice; first in line {taken[name.name][0]}", name.at)
        taken[name.name] = name.at

    # -- declarations

    def _add(self, variable: Variable, initial: int, at: ast.Position) -> int:
        if len(self.variables) >= MAX_VARIABLES:
            raise self._error(f"the model has more than {MAX_VARIABLES} variables and array cells", at)
        self.variables.append(variable)
        self.initial.append(initial)
        return len(self.variables) - 1

    def _declare(self, d: ast.Declarator, table: dict[str, Symbol], process: str | None) -> None:
        name, at = d.name.name, d.name.at
        resolver = Resolver(self.source, self.scope, process)
        low, high = RANGES[d.type]
        size: int | None = None
        if d.size is not None:
            size = resolver.constant(d.size, "the size of an array")
            if size <= 0:
                raise self._error(f"the array `{name}` has the size {size}; it must be at least 1", at)
            if size > MAX_VARIABLES:
                raise self._error(f"the array `{name}` is too large: at most {MAX_VARIABLES} cells", at)
        if d.is_const and d.initial is None:
            raise self._error(f"the constant `{name}` needs a value", at)
        values: list[int] = []
        if isinstance(d.initial, tuple):
            if size is None:
                raise self._error(f"`{name}` is no array and takes one value without braces", at)
            values = [resolver.constant(e, "an initial value") for e in d.initial]
        elif d.initial is not None:
            if size is not None:
                raise self._error(f"`{name}` is an array: write its initial values in braces", at)
            values = [resolver.constant(d.initial, "an initial value")]
        cells = 1 if size is None else size
        if len(values) > cells:
            self._warn(f"`{name}` has {cells} cells but {len(values)} initial values: the rest is ignored", at)
        values = (values + [0] * cells)[:cells]
        for i, value in enumerate(values):
            values[i] = wrapped(value, low, high)
            if values[i] != value:
                self._warn(f"{value} is no {d.type}: `{name}` starts with {values[i]}", at)
        if d.is_const:
            table[name] = Symbol(name, d.type, size, constants=tuple(values))
            return
        prefix = f"{process}.{name}" if process is not None else name
        base = len(self.variables)
        for i, value in enumerate(values):
            cell = prefix if size is None else f"{prefix}[{i}]"
            self._add(Variable(cell, d.type, low, high), value, at)
        table[name] = Symbol(name, d.type, size, base)

    def _declare_channel(self, c: ast.Channel) -> None:
        name, at = c.name.name, c.name.at
        if self.module.is_sync:
            raise self._error("a synchronous system has no channels", at)
        size = 0
        if c.size is not None:
            size = Resolver(self.source, self.scope).constant(c.size, "the size of a channel")
        if size < 0:
            raise self._error(f"the channel `{name}` has the size {size}; it must not be negative", at)
        if size > 0 and c.types is None:
            raise self._error(f"a buffered channel needs types: write `channel {{byte}} {name}[{size}];`", at)
        length = first = len(self.variables)
        if size > 0:
            types = c.types or ()
            self._add(Variable(f"{name}.len", "length", 0, size), 0, at)
            first = length + 1
            for i in range(size):
                for j, type_name in enumerate(types):
                    cell = f"{name}[{i}]" if len(types) == 1 else f"{name}[{i}].{j}"
                    self._add(Variable(cell, type_name, *RANGES[type_name]), 0, at)
        self.channels[name] = Channel(name, c.types, size, length, first)

    def _declare_process(self, p: ast.Process) -> None:
        name = p.name.name
        table = self.locals[name] = {}
        numbers = self.locations[name] = {}
        taken: dict[str, ast.Position] = {}
        for state in p.states:
            self._unique(state, taken)
            numbers[state.name] = len(numbers)
        if not p.states:
            raise self._error(f"process `{name}` declares no locations: write `state a, b;`", p.name.at)
        if not p.inits:
            raise self._error(f"process `{name}` has no initial location: write `init {p.states[0].name};`", p.name.at)
        if len(p.inits) > 1:
            raise self._error(f"process `{name}` has two initial locations", p.inits[1].at)
        initial = self._location(name, p.inits[0])
        names = tuple(numbers)
        self.location_variables[name] = self._add(
            Variable(name, "location", 0, len(names) - 1, names), initial, p.name.at
        )
        names_taken: dict[str, ast.Position] = {}
        for declarator in p.declarations:
            self._unique(declarator.name, names_taken)
            self._declare(declarator, table, name)

    def _location(self, process: str, name: ast.Identifier) -> int:
        numbers = self.locations[process]
        if name.name not in numbers:
            near = did_you_mean(name.name, numbers)
            raise self._error(f"process `{process}` has no location `{name.name}`{near}", name.at)
        return numbers[name.name]

    # -- uses

    def _process(self, number: int, p: ast.Process, assertions: list[Assertion]) -> Process:
        name = p.name.name
        resolver = Resolver(self.source, self.scope, name)
        if p.commits and self.module.is_sync:
            raise self._error("a synchronous system has no committed locations", p.commits[0].at)
        committed = frozenset([self._location(name, state) for state in p.commits])
        for state in p.accepts:
            self._location(name, state)
        if p.accepts:
            self._warn(f"`accept` of process `{name}` is ignored: give the property as a formula", p.accepts[0].at)
        for a in p.assertions:
            location, condition = self._location(name, a.location), resolver.node(a.condition)
            assertions.append(Assertion(number, location, condition, a.text, a.location.at))
        transitions = tuple([self._transition(number, name, t, resolver) for t in p.transitions])
        self.warnings.extend(resolver.warnings)
        return Process(
            name, self.location_variables[name], tuple(self.locations[name]), committed, transitions, p.name.at
        )

    def _transition(self, number: int, process: str, t: ast.Transition, resolver: Resolver) -> Transition:
        effects = []
        for e in t.effects:
            target, type_name = resolver.target(e.target)
            effects.append(Assign(target, *RANGES[type_name], resolver.node(e.value), e.at))
        return Transition(
            number,
            self._location(process, t.source),
            self._location(process, t.target),
            tuple([resolver.node(g) for g in t.guards]),
            self._sync(t.sync, resolver) if t.sync is not None else None,
            tuple(effects),
            t.at,
        )

    def _sync(self, s: ast.Sync, resolver: Resolver) -> Sync:
        name, at = s.channel.name, s.channel.at
        if self.module.is_sync:
            raise self._error("a synchronous system has no channels", at)
        channel = self.channels.get(name)
        if channel is None:
            raise self._error(f"there is no channel `{name}`{did_you_mean(name, self.channels)}", at)
        count = len(s.payload)
        if channel.types is not None:
            if count != channel.arity:
                raise self._error(f"a message of `{name}` has {_values(channel.arity)}, not {count}", at)
        else:
            known, first = self.arities.setdefault(name, (count, at))
            if known != count:
                raise self._error(
                    f"a message of `{name}` has {_values(known)} in line {first[0]}, but {count} here", at
                )
        if s.is_send:
            return Sync(channel, True, tuple([resolver.node(e) for e in s.payload]), ())
        targets = []
        for e in s.payload:
            target, type_name = resolver.target(e)
            targets.append(Receive(target, *RANGES[type_name], e.at))
        return Sync(channel, False, (), tuple(targets))

    def _sync_actions(self, processes: Sequence[Process]) -> list[Action]:
        count = prod(len(p.transitions) for p in processes)
        if count > MAX_SYNC_ACTIONS:
            raise self._error(
                f"the synchronous system has {count} combinations of transitions; at most {MAX_SYNC_ACTIONS} are taken",
                self.module.system_at,
            )
        return [Action(combination) for combination in product(*(p.transitions for p in processes))]


def _values(count: int) -> str:
    return "1 value" if count == 1 else f"{count} values"


def _async_actions(processes: Sequence[Process]) -> list[Action]:
    """The actions in the order of their first transition (a rendezvous stands where its sender is written)."""
    receivers: dict[str, list[Transition]] = {}
    for process in processes:
        for t in process.transitions:
            if t.sync is not None and t.sync.channel.size == 0 and not t.sync.is_send:
                receivers.setdefault(t.sync.channel.name, []).append(t)
    actions: list[Action] = []
    for process in processes:
        for t in process.transitions:
            if t.sync is None or t.sync.channel.size > 0:
                actions.append(Action((t,)))
            elif t.sync.is_send:
                for r in receivers.get(t.sync.channel.name, ()):
                    # If only one side is committed, priority forbids the pair for ever.
                    same_priority = (t.source in process.committed) == (r.source in processes[r.process].committed)
                    if r.process != t.process and same_priority:
                        actions.append(Action((t, r), rendezvous=True))
    return actions

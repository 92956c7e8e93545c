"""Python source for the expressions and steps of a resolved program, for the interpreter.

In the generated code `s` is the old state (a tuple), `n` the new one (a list), `t` a scratch variable that is always
read right after it was written. An error of the model raises `Fault` with the number of its *site*.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from aggmc.model.core import Variable
from aggmc.model.dve.ast import Position
from aggmc.model.dve.program import (
    COMPARISONS,
    RANGES,
    Action,
    Assign,
    At,
    Binary,
    Cell,
    Channel,
    Const,
    Junction,
    Node,
    Receive,
    Target,
    Transition,
    Unary,
    Var,
)


class Fault(Exception):
    """An error of the model at a site, with the value that was wrong. It is kept without its traceback: the frames of
    one refer to the list that it is kept in, and to those of all callers."""

    def __init__(self, site: int, value: int) -> None:
        super().__init__(site, value)
        self.site = site
        self.value = value


@dataclass(frozen=True, slots=True)
class Site:
    """A place where an error may happen; `message` has a slot for the wrong value."""

    message: str
    at: Position


def fault(site: int, value: int) -> NoReturn:
    """Raise an error of the model (called from generated expressions)."""
    raise Fault(site, value)


def divide(a: int, b: int, site: int) -> int:
    """C's division."""
    if b == 0:
        raise Fault(site, b)
    return a // b if (a >= 0) == (b > 0) else -(-a // b)


def modulo(a: int, b: int, site: int) -> int:
    """C's remainder, which has the sign of `a`."""
    if b == 0:
        raise Fault(site, b)
    return a % abs(b) if a >= 0 else -(-a % abs(b))


#: What generated code may call.
NAMESPACE: Mapping[str, object] = {"fault": fault, "divide": divide, "modulo": modulo, "Fault": Fault}


class Coder:
    """Writes Python for nodes; collects the sites of possible errors."""

    def __init__(self, variables: tuple[Variable, ...], location_variables: tuple[int, ...]) -> None:
        self.variables = variables
        self.location_variables = location_variables  # by process number
        self.sites: list[Site] = []

    def _site(self, message: str, at: Position) -> int:
        self.sites.append(Site(message, at))
        return len(self.sites) - 1

    # -- expressions, on the state called `s`

    def test(self, node: Node, s: str) -> str:
        """An expression that Python takes for true where the node is not 0."""
        match node:
            case Junction():
                return "(" + f" {node.op} ".join([self.test(o, s) for o in node.operands]) + ")"
            case Unary() if node.op == "!":
                return f"(not {self.test(node.operand, s)})"
            case Binary() if node.op == "imply":
                return f"(not {self.test(node.left, s)} or {self.test(node.right, s)})"
            case _:
                return self.value(node, s)

    def value(self, node: Node, s: str) -> str:
        """An expression with the node's value (True and False may stand for 1 and 0)."""
        match node:
            case Const():
                return str(node.value) if node.value >= 0 else f"({node.value})"
            case Var():
                return f"{s}[{node.index}]"
            case Cell():
                return f"{s}[{self._cell(node, s)}]"
            case At():
                return f"({s}[{node.variable}] == {node.location})"
            case Unary() if node.op == "!":
                return f"(0 if {self.test(node.operand, s)} else 1)"
            case Unary():
                return f"({node.op}{self.value(node.operand, s)})"
            case Junction():
                return f"(1 if {self.test(node, s)} else 0)"
            case Binary():
                return self._binary(node, s)

    def _cell(self, cell: Cell, s: str) -> str:
        index = self.value(cell.index, s)
        site = self._site(f"index {{}} is outside `{cell.name}`, which has {cell.size} cells", cell.at)
        return f"{cell.base} + (t if 0 <= (t := {index}) < {cell.size} else fault({site}, t))"

    def _binary(self, node: Binary, s: str) -> str:
        if node.op == "imply":
            return f"(1 if {self.test(node, s)} else 0)"
        left, right = self.value(node.left, s), self.value(node.right, s)
        if node.op in ("/", "%"):
            if isinstance(node.right, Const) and node.right.value > 0:
                op = "//" if node.op == "/" else "%"
                if self._is_natural(node.left):
                    return f"({left} {op} {right})"
                return f"(t {op} {right} if (t := {left}) >= 0 else -(-t {op} {right}))"
            site = self._site("division by zero", node.at)
            return f"{'divide' if node.op == '/' else 'modulo'}({left}, {right}, {site})"
        if node.op in ("<<", ">>"):
            if isinstance(node.right, Const) and 0 <= node.right.value <= 31:
                return f"({left} {node.op} {right})"
            site = self._site("shift by {}, which is outside 0..31", node.at)
            return f"({left} {node.op} (t if 0 <= (t := {right}) <= 31 else fault({site}, t)))"
        return f"({left} {node.op} {right})"

    def _is_natural(self, node: Node) -> bool:
        """The value is certainly not negative (so Python's division is C's)."""
        match node:
            case Const():
                return node.value >= 0
            case Var():
                return self.variables[node.index].low >= 0
            case Cell():
                return self.variables[node.base].low >= 0
            case Binary():
                if node.op in COMPARISONS or node.op == "imply":
                    return True
                return node.op not in ("-", "^") and self._is_natural(node.left) and self._is_natural(node.right)
            case Unary():
                return node.op == "!"
            case _:
                return True

    # -- steps

    def _cut(self, text: str, low: int, high: int) -> str:
        if (low, high) == RANGES["byte"]:
            return f"{text} & 255"
        return f"({text} + 32768 & 65535) - 32768"

    def _store(self, target: Target, value: str) -> str:
        place = str(target.index) if isinstance(target, Var) else self._cell(target, "n")
        return f"n[{place}] = {value}"

    def assign(self, effect: Assign) -> str:
        """An effect, on `n`."""
        match effect.value:
            case Const(value=value) if effect.low <= value <= effect.high:
                return self._store(effect.target, str(value))
            case Var(index=i) if effect.low <= self.variables[i].low and self.variables[i].high <= effect.high:
                return self._store(effect.target, f"n[{i}]")
            case value:
                return self._store(effect.target, self._cut(self.value(value, "n"), effect.low, effect.high))

    def _receive(self, targets: Iterable[Receive]) -> list[str]:
        return [self._store(r.target, self._cut(f"v{j}", r.low, r.high)) for j, r in enumerate(targets)]

    def guards(self, transition: Transition) -> list[str]:
        """The tests of a transition that come before anything happens, in order."""
        return [self.test(g, "s") for g in transition.guards]

    def channel_test(self, transition: Transition) -> list[str]:
        """A buffered channel has room, or something to receive."""
        sync = transition.sync
        if sync is None or sync.channel.size == 0:
            return []
        return [f"s[{sync.channel.length}] < {sync.channel.size}" if sync.is_send else f"s[{sync.channel.length}]"]

    def step(self, action: Action) -> list[str]:
        """Statements that make the new state `n` of an action whose guards hold."""
        lines: list[str] = []
        first = action.transitions[0]
        sync = first.sync
        types = sync.channel.types if sync is not None else None
        for j, value in enumerate(sync.values if sync is not None else ()):
            text = self.value(value, "s")
            lines.append(f"v{j} = {text if types is None else self._cut(text, *RANGES[types[j]])}")
        lines.append("n = list(s)")
        for t in action.transitions:
            if t.source != t.target:
                lines.append(f"n[{self.location_variables[t.process]}] = {t.target}")
        if sync is not None:
            if action.rendezvous:
                other = action.transitions[1].sync
                assert other is not None
                lines += self._receive(other.targets)
            elif sync.is_send:
                lines += _push(sync.channel)
            else:
                lines += [*_pop(sync.channel), *self._receive(sync.targets)]
        for t in reversed(action.transitions) if action.rendezvous else action.transitions:
            lines += [self.assign(effect) for effect in t.effects]
        return lines


def _push(channel: Channel) -> list[str]:
    width = channel.arity
    lines = [f"t = {channel.first} + {width} * s[{channel.length}]"]
    lines += [f"n[t + {j}] = v{j}" for j in range(width)]
    return [*lines, f"n[{channel.length}] += 1"]


def _pop(channel: Channel) -> list[str]:
    width, first = channel.arity, channel.first
    end = first + width * channel.size
    lines = [f"v{j} = s[{first + j}]" for j in range(width)]
    lines.append(f"n[{first}:{end}] = (*s[{first + width}:{end}], {'0, ' * width})")
    return [*lines, f"n[{channel.length}] -= 1"]

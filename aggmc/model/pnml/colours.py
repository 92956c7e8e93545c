"""The colours of a symmetric net: sorts, terms under a binding of variables, conditions.

A colour of an atomic sort is the number of its element, one of a product sort the tuple of the numbers of its parts
(which are flat: a product of products is a tuple, too). A term stands for a multiset of colours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

from aggmc.errors import InputError
from aggmc.model.xmltree import Element

Colour = tuple[int, ...]
Multiset = dict[Colour, int]
Binding = Mapping[str, int]

_MOST_ELEMENTS = 100_000
_MOST_COLOURS = 200_000
_MOST_TOKENS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Atomic:
    """An atomic sort: the names of its elements; numbers begin at `start` in a range of integers."""

    names: tuple[str, ...]
    start: int = 0


@dataclass(frozen=True, slots=True)
class Sort:
    """A product of atomic sorts; an atomic sort is a product of one."""

    parts: tuple[Atomic, ...]

    @property
    def size(self) -> int:
        """How many colours."""
        return prod(len(part.names) for part in self.parts)

    def colours(self, at: Element) -> Iterator[Colour]:
        """All of them."""
        if self.size > _MOST_COLOURS:
            raise at.error(f"a sort has {self.size} colours; at most {_MOST_COLOURS} are unfolded")
        return product(*(range(len(part.names)) for part in self.parts))

    def show(self, colour: Colour) -> str:
        """A colour as people write it."""
        return ",".join(part.names[x] for part, x in zip(self.parts, colour, strict=True))


DOT = Sort((Atomic(("dot",)),))
BOOL = Sort((Atomic(("false", "true")),))
Value = tuple[Sort | None, Multiset]  # the sort is None where the multiset is empty


class Colours:
    """What a net declares, and the terms over it."""

    def __init__(self, net: Element) -> None:
        self.sorts: dict[str, Sort] = {}
        self.constants: dict[str, tuple[Sort, int]] = {}
        self.variables: dict[str, Sort] = {}
        self._waiting: dict[str, Element] = {}
        for declarations in _declarations(net):
            for e in declarations.children:
                if e.tag == "namedsort":
                    self._waiting[e.need("id")] = e
        for declarations in _declarations(net):
            for e in declarations.children:
                if e.tag == "namedsort":
                    self._named(e.need("id"), e, 0)
                elif e.tag not in ("variabledecl",):
                    raise e.error(f"<{e.tag}> is not supported in declarations")
        for declarations in _declarations(net):
            for e in declarations.all("variabledecl"):
                sort = self.sort(e.only())
                if len(sort.parts) != 1:
                    raise e.error("a variable has an atomic sort")
                self.variables[e.need("id")] = sort

    # -- sorts ---------------------------------------------------------------------------------------------------

    def _named(self, name: str, at: Element, depth: int) -> Sort:
        if name in self.sorts:
            return self.sorts[name]
        if name not in self._waiting or depth > 50:
            raise at.error(f"the sort `{name}` is not declared" if depth <= 50 else "sorts are declared in a circle")
        self.sorts[name] = sort = self.sort(self._waiting[name].only(), depth + 1)
        return sort

    def sort(self, e: Element, depth: int = 0) -> Sort:
        """A sort as it is written."""
        match e.tag:
            case "usersort":
                return self._named(e.need("declaration"), e, depth)
            case "dot":
                return DOT
            case "bool":
                return BOOL
            case "cyclicenumeration" | "finiteenumeration":
                found = list(e.all("feconstant"))
                names = tuple(c.attributes.get("name") or c.need("id") for c in found)
                sort = Sort((Atomic(names if len(set(names)) == len(names) else tuple(c.need("id") for c in found)),))
                for i, constant in enumerate(found):
                    if constant.need("id") in self.constants:
                        raise constant.error(f"the constant `{constant.need('id')}` is declared twice")
                    self.constants[constant.need("id")] = (sort, i)
            case "finiteintrange":
                start, end = _integer(e, "start"), _integer(e, "end")
                if end - start >= _MOST_ELEMENTS:
                    raise e.error(f"a range has {end - start + 1} numbers; at most {_MOST_ELEMENTS} are unfolded")
                sort = Sort((Atomic(tuple(map(str, range(start, end + 1))), start),))
            case "productsort":
                if depth > 50:
                    raise e.error("sorts are nested too deeply")
                sort = Sort(tuple(part for child in e.children for part in self.sort(child, depth + 1).parts))
            case _:
                raise e.error(f"the sort <{e.tag}> is not supported")
        if not sort.parts or not all(part.names for part in sort.parts):
            raise e.error("this sort has no elements")
        return sort

    # -- terms ---------------------------------------------------------------------------------------------------

    def value(self, e: Element, binding: Binding) -> Value:
        """The multiset that a term stands for."""
        try:
            return self._value(e, binding)
        except RecursionError:
            raise e.error("this term is nested too deeply") from None

    def _value(self, e: Element, binding: Binding) -> Value:
        match e.tag:
            case "subterm" | "structure":
                return self._value(e.only(), binding)
            case "variable":
                name = e.need("refvariable")
                if name not in self.variables:
                    raise e.error(f"the variable `{name}` is not declared")
                if name not in binding:
                    raise e.error("a variable cannot stand here")
                return self.variables[name], {(binding[name],): 1}
            case "useroperator":
                name = e.need("declaration")
                if name not in self.constants:
                    raise e.error(f"the constant `{name}` is not declared")
                sort, number = self.constants[name]
                return sort, {(number,): 1}
            case "dotconstant":
                return DOT, {(0,): 1}
            case "booleanconstant":
                return BOOL, {(int(e.need("value") == "true"),): 1}
            case "finiteintrangeconstant":
                sort = self.sort(e.only())
                number = _integer(e, "value") - sort.parts[0].start
                if not 0 <= number < sort.size:
                    raise e.error("this number is not in the range of its sort")
                return sort, {(number,): 1}
            case "all":
                sort = self.sort(e.only())
                return sort, dict.fromkeys(sort.colours(e), 1)
            case "empty":
                return None, {}
            case "successor" | "predecessor":
                sort_, inner = self._value(e.only(), binding)
                if sort_ is None or len(sort_.parts) != 1:
                    raise e.error(f"<{e.tag}> is of one colour of an atomic sort")
                step = 1 if e.tag == "successor" else -1
                return sort_, {((x + step) % sort_.size,): n for (x,), n in inner.items()}
            case "tuple":
                return self._tuple([self._value(child, binding) for child in e.children], e)
            case "add" | "subtract":
                return self._sum(e, [self._value(child, binding) for child in e.children])
            case "numberof" | "scalarproduct":
                if not e.children:
                    raise e.error(f"<{e.tag}> is empty")
                times = _count(e.children[0]) if len(e.children) > 1 else 1
                sort_, inner = self._value(e.children[-1], binding)
                return sort_, {colour: n * times for colour, n in inner.items() if n * times}
            case _:
                raise e.error(f"<{e.tag}> is not supported in a term")

    def _tuple(self, parts: list[Value], e: Element) -> Value:
        sorts = []
        result: Multiset = {(): 1}
        for sort, inner in parts:
            if sort is None:
                return None, {}
            sorts.append(sort)
            if len(result) * len(inner) > _MOST_COLOURS:
                raise e.error(f"a term stands for more than {_MOST_COLOURS} colours")
            result = {a + b: m * n for a, m in result.items() for b, n in inner.items()}
        return Sort(tuple(part for sort in sorts for part in sort.parts)), result

    def _sum(self, e: Element, parts: list[Value]) -> Value:
        sort = next((s for s, _ in parts if s is not None), None)
        total: Multiset = {}
        for number, (own, inner) in enumerate(parts):
            if own is not None and sort is not None and own.size != sort.size:
                raise e.error("terms of different sorts are added")
            sign = -1 if e.tag == "subtract" and number else 1
            for colour, n in inner.items():
                total[colour] = total.get(colour, 0) + sign * n
        if any(n < 0 for n in total.values()):
            raise e.error("more is subtracted than there is")
        return sort, {colour: n for colour, n in total.items() if n}

    # -- conditions ----------------------------------------------------------------------------------------------

    def holds(self, e: Element, binding: Binding) -> bool:
        """Whether a condition is true."""
        match e.tag:
            case "subterm" | "structure":
                return self.holds(e.only(), binding)
            case "booleanconstant":
                return e.need("value") == "true"
            case "and":
                return all(self.holds(child, binding) for child in e.children)
            case "or":
                return any(self.holds(child, binding) for child in e.children)
            case "not":
                return not self.holds(e.only(), binding)
            case "imply" | "implies":
                left, right = self._two(e)
                return not self.holds(left, binding) or self.holds(right, binding)
            case _ if e.tag in _COMPARISONS:
                one, other = (self._one(child, binding) for child in self._two(e))
                return _COMPARISONS[e.tag](one, other)
            case _:
                raise e.error(f"<{e.tag}> is not supported in a condition")

    def _two(self, e: Element) -> tuple[Element, Element]:
        if len(e.children) != 2:
            raise e.error(f"<{e.tag}> has two elements in it, not {len(e.children)}")
        return e.children[0], e.children[1]

    def _one(self, e: Element, binding: Binding) -> Colour:
        _, inner = self._value(e, binding)
        if len(inner) != 1:
            raise e.error("one colour is compared with one")
        return next(iter(inner))

    def variables_in(self, e: Element) -> set[str]:
        """The variables that occur in a term."""
        found, stack = set(), [e]
        while stack:
            e = stack.pop()
            if e.tag == "variable":
                name = e.need("refvariable")
                if name not in self.variables:
                    raise e.error(f"the variable `{name}` is not declared")
                found.add(name)
            stack.extend(e.children)
        return found


_COMPARISONS: dict[str, Callable[[Colour, Colour], bool]] = {
    "equality": lambda a, b: a == b,
    "inequality": lambda a, b: a != b,
    "lessthan": lambda a, b: a < b,
    "lessthanorequal": lambda a, b: a <= b,
    "greaterthan": lambda a, b: a > b,
    "greaterthanorequal": lambda a, b: a >= b,
}


_HOLDING = ("page", "declaration", "structure", "declarations")


def _declarations(net: Element) -> Iterator[Element]:
    stack = [net]
    while stack:
        e = stack.pop()
        if e.tag == "declarations":
            yield e
        else:
            stack.extend(c for c in reversed(e.children) if c.tag in _HOLDING)


def _integer(e: Element, attribute: str) -> int:
    text = e.need(attribute)
    if not text.lstrip("-").isdigit() or not text.isascii() or len(text) > 11:
        raise e.error(f"`{attribute}` should be a number, not `{text[:40]}`")
    return int(text)


def _count(e: Element) -> int:
    number = e.only() if e.tag == "subterm" else e
    if number.tag != "numberconstant":
        raise number.error("a number should stand here")
    count = _integer(number, "value")
    if not 0 <= count <= _MOST_TOKENS:
        raise InputError(f"this should be a number from 0 to {_MOST_TOKENS}", number.location)
    return count

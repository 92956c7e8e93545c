"""The contest's property files in XML.

An LTL formula becomes text over short atoms (`"@3"`), whose meaning the net's front-end keeps: a fireability over
thousands of transitions would be too long as text. What cannot be answered here (a path quantifier inside a formula, an
element that nobody knows) makes its own property unanswerable, not the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from aggmc.errors import InputError
from aggmc.model.expr import FALSE, TRUE, Expr, const, make
from aggmc.model.pnml.frontend import NetFrontend, total
from aggmc.model.ranges import simplify
from aggmc.model.xmltree import Element, read_xml

_DEEPEST = 400
_BOOLEAN = {"conjunction": ("and", "&"), "disjunction": ("or", "|")}
_COMPARISONS = {
    "integer-le": "<=",
    "integer-lt": "<",
    "integer-ge": ">=",
    "integer-gt": ">",
    "integer-eq": "==",
    "integer-ne": "!=",
}
_UNARY = {"globally": "G", "finally": "F", "next": "X"}


@dataclass(frozen=True, slots=True)
class ContestProperty:
    """A property: an LTL formula for all runs, a state that is reachable, an invariant, or the bound of places."""

    name: str
    kind: Literal["ltl", "reachable", "invariant", "bound", "unknown"]
    formula: str = ""  # in LTL, for all runs: of a reachable state, that it is not reachable
    condition: Expr = FALSE  # of a reachability property
    places: tuple[int, ...] = ()  # of a bound
    problem: InputError | None = None  # why it is unknown


def read_properties(text: str, path: str | None, frontend: NetFrontend) -> list[ContestProperty]:
    """The properties of a file; raises InputError if it is no property file."""
    root = read_xml(text, path)
    if root.tag != "property-set":
        raise root.error(f"this is no property file of the contest: the root is <{root.tag}>, not <property-set>")
    reader = _Reader(frontend)
    return [reader.property(element) for element in root.all("property")]


class _Reader:
    def __init__(self, frontend: NetFrontend) -> None:
        self.frontend = frontend
        self.bounds = frontend.bounds

    def property(self, element: Element) -> ContestProperty:
        named, formula = element.first("id"), element.first("formula")
        if named is None or not named.text:
            raise element.error("a property has an <id>")
        try:
            if formula is None:
                raise element.error("a property has a <formula>")
            return self._read(named.text, formula.only())
        except InputError as error:
            return ContestProperty(named.text, "unknown", problem=error)

    def _read(self, name: str, formula: Element) -> ContestProperty:
        if formula.tag == "place-bound":
            groups = [self._places(place) for place in formula.all("place")]
            return ContestProperty(name, "bound", places=tuple(p for group in groups for p in group))
        if formula.tag == "exists-path":
            inner = formula.only()
            if inner.tag != "finally":
                raise inner.error("of properties of some run, only E F is supported")
            wanted = self._state(inner.only(), 0)
            return ContestProperty(name, "reachable", f"G ! {self._atom(wanted)}", wanted)
        if formula.tag != "all-paths":
            raise formula.error(f"<{formula.tag}> is not expected here")
        inner = formula.only()
        if inner.tag == "globally" and _is_state(inner.only()):
            wanted = self._state(inner.only(), 0)
            return ContestProperty(name, "invariant", f"G {self._atom(wanted)}", wanted)
        return ContestProperty(name, "ltl", self._ltl(inner, 0))

    # -- LTL -----------------------------------------------------------------------------------------------------

    def _ltl(self, e: Element, depth: int) -> str:
        """The text of a formula, in brackets where it needs them."""
        if depth > _DEEPEST:
            raise e.error(f"the formula is nested more than {_DEEPEST} deep")
        match e.tag:
            case "globally" | "finally" | "next":
                return f"{_UNARY[e.tag]} {self._ltl(e.only(), depth + 1)}"
            case "negation":
                return f"! {self._ltl(e.only(), depth + 1)}"
            case "conjunction" | "disjunction":
                sign = f" {_BOOLEAN[e.tag][1]} "
                return "(" + sign.join(self._ltl(child, depth + 1) for child in e.children) + ")"
            case "implication" | "equivalence" | "exclusive-disjunction":
                left, right = self._two(e)
                sign = {"implication": "->", "equivalence": "<->", "exclusive-disjunction": "xor"}[e.tag]
                return f"({self._ltl(left, depth + 1)} {sign} {self._ltl(right, depth + 1)})"
            case "until":
                before, reach = e.first("before"), e.first("reach")
                if before is None or reach is None:
                    raise e.error("<until> has <before> and <reach>")
                return f"({self._ltl(before.only(), depth + 1)} U {self._ltl(reach.only(), depth + 1)})"
            case "all-paths" | "exists-path":
                raise e.error("a quantifier of runs inside of a formula: this is no LTL")
            case _:
                return self._atom(self._state(e, depth))

    def _atom(self, expr: Expr) -> str:
        if expr.op == "const":
            return "true" if expr.value else "false"
        return f'"{self.frontend.define(expr)}"'

    def _two(self, e: Element) -> tuple[Element, Element]:
        if len(e.children) != 2:
            raise e.error(f"<{e.tag}> has two elements in it, not {len(e.children)}")
        return e.children[0], e.children[1]

    # -- conditions of states ------------------------------------------------------------------------------------

    def _state(self, e: Element, depth: int) -> Expr:
        if depth > _DEEPEST:
            raise e.error(f"the formula is nested more than {_DEEPEST} deep")
        match e.tag:
            case "true":
                return TRUE
            case "false":
                return FALSE
            case "negation":
                return make("not", self._state(e.only(), depth + 1))
            case "conjunction" | "disjunction":
                return make(_BOOLEAN[e.tag][0], *(self._state(child, depth + 1) for child in e.children))
            case "implication" | "equivalence" | "exclusive-disjunction":
                left, right = (self._state(child, depth + 1) for child in self._two(e))
                if e.tag == "implication":
                    return make("or", make("not", left), right)
                return make("==" if e.tag == "equivalence" else "!=", left, right)
            case "is-fireable":
                return self.frontend.fireable([(t.text, t) for t in e.all("transition")])
            case "deadlock":
                everything = range(len(self.frontend.net.transitions))
                return make("not", self.frontend.some_enabled(everything))
            case _ if e.tag in _COMPARISONS:
                left, right = (self._number(child, depth + 1) for child in self._two(e))
                found = make(_COMPARISONS[e.tag], left, right)
                return simplify(found, lambda v: (0, self.bounds[v]))
            case _:
                raise e.error(f"<{e.tag}> is not supported here")

    def _number(self, e: Element, depth: int) -> Expr:
        match e.tag:
            case "integer-constant":
                text = e.text.strip()
                if not text.isascii() or not text.lstrip("-").isdigit() or len(text) > 12:
                    raise e.error("a number should stand here")
                return const(int(text))
            case "tokens-count":
                return total([var for place in e.all("place") for var in self.frontend.tokens(self._places(place))])
            case "integer-sum" | "integer-difference" | "integer-product" if e.children and depth <= _DEEPEST:
                sign = {"integer-sum": "+", "integer-difference": "-", "integer-product": "*"}[e.tag]
                parts = [self._number(child, depth + 1) for child in e.children]
                result = parts[0]
                for part in parts[1:]:
                    result = make(sign, result, part)
                return result
            case _:
                raise e.error(f"<{e.tag}> is no number")

    def _places(self, place: Element) -> Sequence[int]:
        return self.frontend.place_group(place.text, place)


_TEMPORAL = frozenset({*_UNARY, "until", "all-paths", "exists-path"})


def _is_state(root: Element) -> bool:
    stack = [root]
    while stack:
        e = stack.pop()
        if e.tag in _TEMPORAL:
            return False
        stack.extend(e.children)
    return True

"""Symmetric nets: unfolded into place/transition nets.

A place becomes one for each colour of its sort, a transition one for each binding of its variables that its condition
allows. Variables are bound one after the other, and each part of the condition is asked as soon as it can be. What can
never have a token, or never fire, is left out: places and transitions keep their meaning in propositions, as sums over
what they became.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from aggmc.model.pnml.colours import Colour, Colours, Sort
from aggmc.model.pnml.net import Arcs, Net, Place, Transition, arcs
from aggmc.model.pnml.nodes import Nodes, label
from aggmc.model.xmltree import Element

MOST_PLACES = 100_000
MOST_TRANSITIONS = 100_000
_MOST_BINDINGS = 3_000_000  # looked at


@dataclass(slots=True)
class _CodedPlace:
    """A place before it is unfolded."""

    element: Element
    sort: Sort
    number: dict[Colour, int] = field(default_factory=dict)  # colour -> unfolded place


@dataclass(slots=True)
class _Unfolded:
    places: list[Place] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)
    place_groups: dict[str, list[int]] = field(default_factory=dict)
    transition_groups: dict[str, list[int]] = field(default_factory=dict)


def unfold(nodes: Nodes) -> Net:
    """The net that a symmetric net stands for; raises InputError if it is too large."""
    return _Unfolder(nodes).net()


class _Unfolder:
    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.colours = Colours(nodes.net)
        self.places: dict[str, _CodedPlace] = {}
        self.found = _Unfolded()
        self.looked_at = 0
        self.links: dict[str, list[tuple[str, Element | None, bool, Element]]] = defaultdict(list)
        for arc, place, transition, into in nodes.links():
            inscription = arc.first("hlinscription")
            term = inscription.first("structure") if inscription is not None else None
            self.links[transition].append((place, term, into, arc))

    def net(self) -> Net:
        names = self.nodes.named(self.nodes.places)
        for name, element in self.nodes.places.items():
            self._place(name, names[name], element)
        names = self.nodes.named(self.nodes.transitions)
        for name, element in self.nodes.transitions.items():
            self._transition(name, names[name], element)
        return _without_dead(
            label(self.nodes.net, "name") or self.nodes.net.attributes.get("id") or "net", self.found
        )

    def _place(self, name: str, shown: str, element: Element) -> None:
        kind = element.first("type")
        structure = kind.first("structure") if kind is not None else None
        if structure is None:
            raise element.error(f"the place `{shown}` has no <type> with a <structure>")
        sort = self.colours.sort(structure.only())
        if len(self.found.places) + sort.size > MOST_PLACES:
            raise element.error(f"unfolding needs more than {MOST_PLACES} places (`{shown}` has {sort.size} colours)")
        place = self.places[name] = _CodedPlace(element, sort)
        marking = element.first("hlinitialMarking")
        term = marking.first("structure") if marking is not None else None
        initial = self._marking(term, sort, {}) if term is not None and term.children else {}
        group: list[int] = []
        for colour in sort.colours(element):
            place.number[colour] = len(self.found.places)
            group.append(len(self.found.places))
            text = shown if sort.size == 1 else f"{shown}({sort.show(colour)})"
            self.found.places.append(Place(text, initial.get(colour, 0), element.location))
        for key in {name, shown}:
            self.found.place_groups[key] = group

    def _marking(self, term: Element, sort: Sort, binding: dict[str, int]) -> dict[Colour, int]:
        own, colours = self.colours.value(term, binding)
        if own is not None and [len(p.names) for p in own.parts] != [len(p.names) for p in sort.parts]:
            raise term.error("these colours are of another sort than the place")
        return colours

    def _transition(self, name: str, shown: str, element: Element) -> None:
        condition = element.first("condition")
        structure = condition.first("structure") if condition is not None else None
        conjuncts = list(_conjuncts(structure.only())) if structure is not None and structure.children else []
        links = self.links[name]
        used: set[str] = set()
        for part in [*conjuncts, *(term for _, term, _, _ in links if term is not None)]:
            used |= self.colours.variables_in(part)
        variables = [v for v in self.colours.variables if v in used]
        group: list[int] = []
        for binding in self._bindings(element, shown, variables, conjuncts):
            inputs: dict[int, int] = {}
            outputs: dict[int, int] = {}
            for place, term, into, arc in links:
                weights = inputs if into else outputs
                for p, n in self._weights(self.places[place], term, arc, binding).items():
                    weights[p] = weights.get(p, 0) + n
            if len(self.found.transitions) >= MOST_TRANSITIONS:
                message = f"unfolding needs more than {MOST_TRANSITIONS} transitions (at `{shown}`)"
                raise element.error(message)
            values = ",".join(self.colours.variables[v].show((binding[v],)) for v in variables)
            text = f"{shown}({values})" if variables else shown
            group.append(len(self.found.transitions))
            self.found.transitions.append(Transition(text, arcs(inputs), arcs(outputs), element.location))
        for key in {name, shown}:
            self.found.transition_groups[key] = group

    def _weights(
        self, place: _CodedPlace, term: Element | None, arc: Element, binding: dict[str, int]
    ) -> dict[int, int]:
        if term is None or not term.children:
            if place.sort.size != 1:
                raise arc.error("this arc has no <hlinscription> with a <structure>")
            return {next(iter(place.number.values())): 1}
        return {place.number[colour]: n for colour, n in self._marking(term, place.sort, binding).items()}

    def _bindings(
        self, element: Element, shown: str, variables: list[str], conjuncts: list[Element]
    ) -> Iterator[dict[str, int]]:
        """All bindings that satisfy the condition, without recursion; each conjunct is asked as early as it can be."""
        place = {v: i for i, v in enumerate(variables)}
        asked: list[list[Element]] = [[] for _ in range(len(variables) + 1)]
        for conjunct in conjuncts:
            last = max((place[v] + 1 for v in self.colours.variables_in(conjunct)), default=0)
            asked[last].append(conjunct)
        if not all(self.colours.holds(conjunct, {}) for conjunct in asked[0]):
            return
        binding: dict[str, int] = {}
        stack = [iter(range(self.colours.variables[variables[0]].size))] if variables else []
        if not variables:
            yield {}
        while stack:
            level = len(stack)
            variable = variables[level - 1]
            value = next(stack[-1], None)
            if value is None:
                stack.pop()
                binding.pop(variable, None)
                continue
            self.looked_at += 1
            if self.looked_at > _MOST_BINDINGS:
                raise element.error(f"unfolding looks at more than {_MOST_BINDINGS} bindings (at `{shown}`)")
            binding[variable] = value
            if all(self.colours.holds(conjunct, binding) for conjunct in asked[level]):
                if level == len(variables):
                    yield dict(binding)
                else:
                    stack.append(iter(range(self.colours.variables[variables[level]].size)))


def _conjuncts(e: Element) -> Iterator[Element]:
    stack = [e]
    while stack:
        e = stack.pop()
        if e.tag == "and":
            stack.extend(reversed(e.children))
        elif e.tag == "subterm":
            stack.append(e.only())
        else:
            yield e


def _without_dead(name: str, found: _Unfolded) -> Net:
    """Without places that never have a token, and the transitions that they keep from firing."""
    marked = {p for p, place in enumerate(found.places) if place.initial}
    waiting: dict[int, set[int]] = {}
    needing: dict[int, list[int]] = defaultdict(list)
    ready = []
    for t, transition in enumerate(found.transitions):
        missing = {p for p, _ in transition.inputs if p not in marked}
        for p in missing:
            needing[p].append(t)
        waiting[t] = missing
        if not missing:
            ready.append(t)
    live = set(ready)
    while ready:
        for p, _ in found.transitions[ready.pop()].outputs:
            if p not in marked:
                marked.add(p)
                for t in needing[p]:
                    waiting[t].discard(p)
                    if not waiting[t] and t not in live:
                        live.add(t)
                        ready.append(t)
    new_place = {p: i for i, p in enumerate(sorted(marked))}
    new_transition = {t: i for i, t in enumerate(sorted(live))}

    def moved(weights: Arcs) -> Arcs:
        return tuple((new_place[p], w) for p, w in weights)

    places = tuple(found.places[p] for p in new_place)
    transitions = []
    for t in new_transition:
        old = found.transitions[t]
        transitions.append(Transition(old.name, moved(old.inputs), moved(old.outputs), old.location))
    place_groups: dict[str, tuple[int, ...]] = {place.name: (i,) for i, place in enumerate(places)}
    transition_groups: dict[str, tuple[int, ...]] = {transition.name: (i,) for i, transition in enumerate(transitions)}
    for key, group in found.place_groups.items():
        place_groups[key] = tuple(new_place[p] for p in group if p in marked)
    for key, group in found.transition_groups.items():
        transition_groups[key] = tuple(new_transition[t] for t in group if t in live)
    if not places:  # a model has variables
        places = (found.places[0],)
    return Net(name, places, tuple(transitions), place_groups, transition_groups, coloured=True)

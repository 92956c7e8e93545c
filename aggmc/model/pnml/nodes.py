"""The nodes of a PNML file: all pages, with references resolved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from aggmc.errors import did_you_mean
from aggmc.model.xmltree import Element

_MOST_NODES = 200_000


class Nodes:
    """The nodes of all pages of a net, with references resolved."""

    def __init__(self, net: Element) -> None:
        self.net = net
        self.places: dict[str, Element] = {}
        self.transitions: dict[str, Element] = {}
        self.arcs: list[Element] = []
        self._references: dict[str, Element] = {}
        kinds = {"place": self.places, "transition": self.transitions}
        references = ("referencePlace", "referenceTransition")
        for element in _pages(net):
            if element.tag == "arc":
                self.arcs.append(element)
                continue
            known = kinds.get(element.tag, self._references if element.tag in references else None)
            if known is None:
                continue
            name = element.need("id")
            if any(name in nodes for nodes in (self.places, self.transitions, self._references)):
                raise element.error(f"the id `{name}` is used twice")
            known[name] = element
        for nodes in (self.places, self.transitions):
            if len(nodes) > _MOST_NODES:
                raise net.error(f"the net has {len(nodes)} nodes of one kind; at most {_MOST_NODES} are read")
        if not self.places:
            raise net.error("the net has no place")

    def node(self, arc: Element, end: str) -> tuple[str, str]:
        """(kind, id) of the end of an arc."""
        name = arc.need(end)
        seen = set()
        while name in self._references and name not in seen:
            seen.add(name)
            name = self._references[name].need("ref")
        if name in self.places:
            return "place", name
        if name in self.transitions:
            return "transition", name
        if name in seen:
            raise arc.error(f"the reference `{name}` refers to itself")
        known = [*self.places, *self.transitions]
        raise arc.error(f"the {end} `{name}` of this arc does not exist{did_you_mean(name, known[:5000])}")

    def links(self) -> Iterator[tuple[Element, str, str, bool]]:
        """(arc, place, transition, whether it leads into the transition) for every arc."""
        for arc in self.arcs:
            kind = arc.first("type")
            if kind is not None and kind.attributes.get("value", kind.text) not in ("", "normal"):
                what = kind.attributes.get("value", kind.text)
                raise kind.error(f"arcs of the kind `{what}` are not supported: only ordinary ones are")
            (source_kind, source), (target_kind, target) = self.node(arc, "source"), self.node(arc, "target")
            if source_kind == target_kind:
                raise arc.error(f"this arc joins two {source_kind}s, `{source}` and `{target}`")
            into = source_kind == "place"
            yield arc, source if into else target, target if into else source, into

    def said_safe(self) -> bool:
        """Whether a NUPN section says that the net is safe."""
        specific = [t for e in _holders(self.net) for t in e.all("toolspecific")]
        structures = [s for t in specific if t.attributes.get("tool") == "nupn" for s in t.all("structure")]
        return any(s.attributes.get("safe") == "true" for s in structures)

    def named(self, nodes: dict[str, Element]) -> dict[str, str]:
        """id -> how it is called: by its name if all names are there and different, else by its id."""
        names = {node: label(element, "name") for node, element in nodes.items()}
        count = Counter(names.values())
        if all(n and count[n] == 1 for n in names.values()):
            return {node: name or node for node, name in names.items()}
        return {node: node for node in nodes}


def _holders(net: Element) -> Iterator[Element]:
    yield net
    for page in net.all("page"):
        yield from _holders(page)


def _pages(net: Element) -> Iterator[Element]:
    for holder in _holders(net):
        for child in holder.children:
            if child.tag not in ("page", "name", "toolspecific", "declaration", "graphics"):
                yield child


def label(element: Element, tag: str) -> str | None:
    """The text of a label, such as the name."""
    found = element.first(tag)
    text = found.first("text") if found is not None else None
    return text.text if text is not None and text.text else None

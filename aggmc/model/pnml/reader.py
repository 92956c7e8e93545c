"""Reading PNML (ISO/IEC 15909-2): pages, places, transitions, arcs and references to them."""

from __future__ import annotations

import re
from collections import defaultdict

from aggmc.model.pnml.coloured import unfold
from aggmc.model.pnml.net import Net, Place, Transition, arcs
from aggmc.model.pnml.nodes import Nodes, label
from aggmc.model.xmltree import Element, read_xml

_LARGEST = 2**31 - 1
_COLOURED = ("symmetricnet", "highlevelnet", "hlpng")


def read(text: str, path: str | None = None) -> Net:
    """Read a net; raises InputError, with its line, if it is none."""
    root = read_xml(text, path)
    if root.tag != "pnml":
        raise root.error(f"this is no PNML: the root is <{root.tag}>, not <pnml>")
    nets = list(root.all("net"))
    if len(nets) != 1:
        raise (nets[1] if nets else root).error(f"the file should have one <net>, not {len(nets)}")
    kind = nets[0].attributes.get("type", "").rstrip("/").rpartition("/")[2].lower()
    nodes = Nodes(nets[0])
    if any(word in kind for word in _COLOURED):
        return unfold(nodes)
    return _place_transition_net(nodes)


def number(element: Element, tag: str, default: int) -> int:
    """The number in a label; the default if there is none."""
    text = label(element, tag)
    if text is None:
        return default
    found = element.first(tag)
    assert found is not None
    plain = text.replace("Default,", "").strip()  # an old tool's way
    if not re.fullmatch(r"[0-9]{1,12}", plain) or int(plain) > _LARGEST:
        raise found.error(f"<{tag}> should be a number up to {_LARGEST}, not `{text[:40]}`")
    return int(plain)


def _place_transition_net(nodes: Nodes) -> Net:
    index = {name: i for i, name in enumerate(nodes.places)}
    place_names, transition_names = nodes.named(nodes.places), nodes.named(nodes.transitions)
    inputs: dict[str, dict[int, int]] = defaultdict(dict)
    outputs: dict[str, dict[int, int]] = defaultdict(dict)
    for arc, place, transition, into in nodes.links():
        weight = number(arc, "inscription", 1)
        weights = (inputs if into else outputs)[transition]
        weights[index[place]] = weights.get(index[place], 0) + weight
    places = tuple(
        Place(place_names[name], number(element, "initialMarking", 0), element.location)
        for name, element in nodes.places.items()
    )
    transitions = tuple(
        Transition(transition_names[name], arcs(inputs[name]), arcs(outputs[name]), element.location)
        for name, element in nodes.transitions.items()
    )
    return Net(
        name=label(nodes.net, "name") or nodes.net.attributes.get("id") or "net",
        places=places,
        transitions=transitions,
        place_groups=_groups(nodes.places, place_names),
        transition_groups=_groups(nodes.transitions, transition_names),
        said_safe=nodes.said_safe(),
    )


def _groups(nodes: dict[str, Element], names: dict[str, str]) -> dict[str, tuple[int, ...]]:
    """By id and, where that is no other node's id, by name."""
    groups: dict[str, tuple[int, ...]] = {names[node]: (i,) for i, node in enumerate(nodes)}
    groups.update({node: (i,) for i, node in enumerate(nodes)})
    return groups

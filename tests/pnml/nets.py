"""Nets made by programs: the families that scale, and random ones."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping

Weights = Mapping[str, int]
Transitions = Mapping[str, tuple[Weights, Weights]]


def pnml(places: Weights, transitions: Transitions, *, name: str = "net") -> str:
    """The text of a net."""
    lines = [
        '<?xml version="1.0"?>',
        '<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">',
        f'<net id="{name}" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="page">',
    ]
    for place, tokens in places.items():
        marking = f"<initialMarking><text>{tokens}</text></initialMarking>" if tokens else ""
        lines.append(f'<place id="{place}"><name><text>{place}</text></name>{marking}</place>')
    number = 0
    for transition, (inputs, outputs) in transitions.items():
        lines.append(f'<transition id="{transition}"/>')
        ends = [(p, transition, w) for p, w in inputs.items()] + [(transition, p, w) for p, w in outputs.items()]
        for source, target, weight in ends:
            inscription = f"<inscription><text>{weight}</text></inscription>" if weight != 1 else ""
            lines.append(f'<arc id="a{number}" source="{source}" target="{target}">{inscription}</arc>')
            number += 1
    return "\n".join([*lines, "</page></net></pnml>"])


def ones(*names: str) -> Weights:
    return dict.fromkeys(names, 1)


def philosophers(n: int) -> str:
    """Each takes one fork after the other, in any order: 3**n states."""
    places: dict[str, int] = {}
    transitions: dict[str, tuple[Weights, Weights]] = {}
    for i in range(n):
        left, right = f"fork_{i}", f"fork_{(i + 1) % n}"
        places |= {f"think_{i}": 1, f"left_{i}": 0, f"right_{i}": 0, f"eat_{i}": 0, f"fork_{i}": 1}
        transitions |= {
            f"take_left_{i}": (ones(f"think_{i}", left), ones(f"left_{i}")),
            f"take_right_{i}": (ones(f"think_{i}", right), ones(f"right_{i}")),
            f"then_right_{i}": (ones(f"left_{i}", right), ones(f"eat_{i}")),
            f"then_left_{i}": (ones(f"right_{i}", left), ones(f"eat_{i}")),
            f"done_{i}": (ones(f"eat_{i}"), ones(f"think_{i}", left, right)),
        }
    return pnml(places, transitions)


def kanban(n: int) -> str:
    """Ciardo's kanban system with n cards in each of four cells."""
    places: dict[str, int] = {}
    transitions: dict[str, tuple[Weights, Weights]] = {}
    for c in range(1, 5):
        places |= {f"m{c}": 0, f"back{c}": 0, f"out{c}": 0, f"free{c}": n}
        transitions |= {
            f"redo{c}": (ones(f"m{c}"), ones(f"back{c}")),
            f"ok{c}": (ones(f"m{c}"), ones(f"out{c}")),
            f"again{c}": (ones(f"back{c}"), ones(f"m{c}")),
        }
    transitions |= {
        "enter": (ones("free1"), ones("m1")),
        "split": (ones("out1", "free2", "free3"), ones("free1", "m2", "m3")),
        "join": (ones("out2", "out3", "free4"), ones("free2", "free3", "m4")),
        "leave": (ones("out4"), ones("free4")),
    }
    return pnml(places, transitions)


def manufacturing(n: int) -> str:
    """A flexible manufacturing system: parts of three kinds, machines that they share, pallets."""
    places: dict[str, int] = {"P1": n, "P2": n, "P3": n, "M1": 3, "M2": 1, "M3": 2}
    places |= dict.fromkeys(["P1wM1", "P1M1", "P1d", "P1s", "P2wM2", "P2M2", "P2d", "P2s", "P12", "P12wM3"], 0)
    places |= dict.fromkeys(["P12M3", "P12s", "P3M2", "P3s"], 0)
    moves: list[tuple[str, Iterable[str], Iterable[str]]] = [
        ("tP1", ["P1"], ["P1wM1"]),
        ("tP1M1", ["P1wM1", "M1"], ["P1M1"]),
        ("tP1e", ["P1M1"], ["P1d", "M1"]),
        ("tP1j", ["P1d"], ["P1s"]),
        ("tP1s", ["P1s"], ["P1"]),
        ("tP2", ["P2"], ["P2wM2"]),
        ("tP2M2", ["P2wM2", "M2"], ["P2M2"]),
        ("tP2e", ["P2M2"], ["P2d", "M2"]),
        ("tP2j", ["P2d"], ["P2s"]),
        ("tP2s", ["P2s"], ["P2"]),
        ("tx", ["P1d", "P2d"], ["P12"]),
        ("tP12", ["P12"], ["P12wM3"]),
        ("tP12M3", ["P12wM3", "M3"], ["P12M3"]),
        ("tP12e", ["P12M3"], ["P12s", "M3"]),
        ("tP12s", ["P12s"], ["P1", "P2"]),
        ("tP3M2", ["P3", "M2"], ["P3M2"]),
        ("tP3e", ["P3M2"], ["P3s", "M2"]),
        ("tP3s", ["P3s"], ["P3"]),
    ]
    return pnml(places, {name: (ones(*a), ones(*b)) for name, a, b in moves})


def token_ring(n: int) -> str:
    """n stations on a ring; whoever has the token may work."""
    places: dict[str, int] = {}
    transitions: dict[str, tuple[Weights, Weights]] = {}
    for i in range(n):
        places |= {f"token_{i}": int(i == 0), f"idle_{i}": 1, f"ready_{i}": 0, f"work_{i}": 0}
        transitions |= {
            f"want_{i}": (ones(f"idle_{i}"), ones(f"ready_{i}")),
            f"begin_{i}": (ones(f"ready_{i}", f"token_{i}"), ones(f"work_{i}")),
            f"end_{i}": (ones(f"work_{i}"), ones(f"idle_{i}", f"token_{(i + 1) % n}")),
            f"pass_{i}": (ones(f"idle_{i}", f"token_{i}"), ones(f"idle_{i}", f"token_{(i + 1) % n}")),
        }
    return pnml(places, transitions)


def random_net(seed: int) -> str:
    """A small net; most are bounded, some are not."""
    rng = random.Random(seed)
    names = [f"p{i}" for i in range(rng.randint(2, 6))]
    places = {name: rng.choice([0, 0, 1, 1, 2]) for name in names}
    transitions = {}
    for t in range(rng.randint(1, 6)):
        inputs = {p: rng.choice([1, 1, 1, 2]) for p in rng.sample(names, rng.randint(1, min(3, len(names))))}
        size = len(inputs) if rng.random() < 0.8 else rng.randint(0, 2)
        outputs = {p: rng.choice([1, 1, 1, 2]) for p in rng.sample(names, min(size, len(names)))}
        if sum(outputs.values()) > sum(inputs.values()) and rng.random() < 0.9:
            outputs = dict.fromkeys(outputs, 1)
        transitions[f"t{t}"] = (inputs, outputs)
    return pnml(places, transitions)

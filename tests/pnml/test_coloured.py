"""Symmetric nets: what they unfold to, limits, errors."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from aggmc.checker import Checker, check
from aggmc.errors import InputError
from aggmc.model.core import Model, reachable
from aggmc.model.pnml import coloured, load

BENCH = Path(__file__).parents[2].parent / "shared" / "bench"
NETS = sorted(p.name for p in (BENCH / "mcc-col").glob("*-COL-*"))


def sub(*terms: str) -> str:
    return "".join(f"<subterm>{t}</subterm>" for t in terms)


X, Y = '<variable refvariable="x"/>', '<variable refvariable="y"/>'
ONE = '<numberconstant value="1"><positive/></numberconstant>'
TWO = '<numberconstant value="2"><positive/></numberconstant>'
SITE = '<usersort declaration="site"/>'


def times(number: str, term: str) -> str:
    return f"<numberof>{sub(number, term)}</numberof>"


def place(name: str, sort: str, marking: str = "") -> str:
    initial = f"<hlinitialMarking><structure>{marking}</structure></hlinitialMarking>" if marking else ""
    return f'<place id="{name}"><type><structure>{sort}</structure></type>{initial}</place>\n'


def arc(source: str, target: str, term: str) -> str:
    inscription = f"<hlinscription><structure>{term}</structure></hlinscription>"
    return f'<arc id="{source}-{target}" source="{source}" target="{target}">{inscription}</arc>\n'


def net(body: str, *, size: int = 3) -> str:
    elements = "".join(f'<feconstant id="s{i}" name="{i}"/>' for i in range(size))
    return f"""<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
<net id="n" type="http://www.pnml.org/version-2009/grammar/symmetricnet">
<declaration><structure><declarations>
<namedsort id="site" name="Site"><cyclicenumeration>{elements}</cyclicenumeration></namedsort>
<namedsort id="pair" name="Pair"><productsort>{SITE}{SITE}</productsort></namedsort>
<variabledecl id="x" name="x">{SITE}</variabledecl>
<variabledecl id="y" name="y">{SITE}</variabledecl>
</declarations></structure></declaration>
<page id="p">
{body}</page></net></pnml>"""


ALL = f"<all>{SITE}</all>"
RING = net(
    place("at", SITE, times(ONE, '<useroperator declaration="s1"/>'))
    + '<transition id="go"/>\n'
    + arc("at", "go", times(ONE, X))
    + arc("go", "at", f"<successor>{sub(X)}</successor>")
)


ODD = "<condition><structure><odd/></structure></condition>"


def count(model: Model) -> int:
    checker = Checker(model)
    states = checker.reachable
    return checker.encoding.count(states)


def test_ring() -> None:
    model = load(RING, None)
    assert [v.name for v in model.variables] == ["at(0)", "at(1)", "at(2)"]
    assert [e.name for e in model.events] == ["go(0)", "go(1)", "go(2)"]
    assert list(reachable(model.frontend.interpreter())) == [(0, 1, 0), (0, 0, 1), (1, 0, 0)]
    for formula in ('G "at == 1"', "G F \"'at(0)' == 1\"", 'G "fireable(go)"', "G(\"'at(2)'\" -> X \"'at(0)'\")"):
        assert check(model, formula).holds, formula


def test_terms_and_conditions() -> None:
    """A pair of different sites takes two tokens from x and gives one to all sites but x."""
    rest = f"<subtract>{sub(ALL, X)}</subtract>"
    smaller = f"<lessthan>{sub(X, Y)}</lessthan>"
    same = f"<equality>{sub(Y, X)}</equality>"
    wanted = f"<and>{sub(smaller, f'<not>{sub(same)}</not>')}</and>"
    body = (
        place("from", SITE, f"<add>{sub(times(TWO, ALL), '<empty/>')}</add>")
        + place("pairs", '<usersort declaration="pair"/>')
        + place("to", SITE)
        + place("dots", "<dot/>")
        + f'<transition id="t"><condition><structure>{wanted}</structure></condition></transition>\n'
        + arc("from", "t", times(TWO, X))
        + arc("t", "pairs", f"<tuple>{sub(X, Y)}</tuple>")
        + arc("t", "to", rest)
        + arc("t", "dots", times(TWO, "<dotconstant/>"))
    )
    model = load(net(body), None)
    names = [v.name for v in model.variables]
    assert [n for n in names if n.startswith("pairs")] == ["pairs(0,1)", "pairs(0,2)", "pairs(1,2)"]
    assert [e.name for e in model.events] == ["t(0,1)", "t(0,2)", "t(1,2)"]
    first = dict(model.frontend.interpreter().successors(model.initial[0]))[0]
    shown = {k: v for k, v in model.show_state(first).items() if v}
    assert shown == {"from(1)": 2, "from(2)": 2, "pairs(0,1)": 1, "to(1)": 1, "to(2)": 1, "dots": 2}
    assert count(model) == len(list(reachable(model.frontend.interpreter()))) == 6


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('refvariable="x"', 'refvariable="z"', "variable `z` is not declared"),
        ('declaration="s1"', 'declaration="s9"', "constant `s9` is not declared"),
        ('declaration="site"/></productsort>', 'declaration="size"/></productsort>', "`size` is not"),
        ("<successor>", "<mystery>", "is not supported in a term"),
        ("<cyclicenumeration>", "<partition>", "<partition> is not supported"),
        ('<numberconstant value="1">', '<numberconstant value="x">', "should be a number"),
        ('<transition id="go"/>', f'<transition id="go">{ODD}</transition>', "<odd> is not supported in a condition"),
    ],
)
def test_errors(old: str, new: str, words: str) -> None:
    text = RING.replace(old, new)
    for opening in ("<successor>", "<cyclicenumeration>"):
        if old == opening:
            text = text.replace(opening.replace("<", "</"), new.replace("<", "</"))
    with pytest.raises(InputError) as caught:
        load(text, "c.pnml")
    assert words in str(caught.value)
    assert caught.value.location is not None and caught.value.location.line


def test_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    body = place("p", '<usersort declaration="pair"/>') + place("q", SITE)
    with pytest.raises(InputError, match="more than 100000 places"):
        load(net(body, size=400), None)
    pairs = place("p", SITE, ALL) + '<transition id="t"/>' + arc("p", "t", f"<add>{sub(X, Y)}</add>")
    monkeypatch.setattr(coloured, "MOST_TRANSITIONS", 8)
    with pytest.raises(InputError, match="more than 8 transitions"):
        load(net(pairs), None)
    monkeypatch.undo()
    monkeypatch.setattr(coloured, "_MOST_BINDINGS", 8)
    with pytest.raises(InputError, match="more than 8 bindings"):
        load(net(pairs), None)


@pytest.mark.shared
@pytest.mark.parametrize("name", NETS)
def test_contest_sizes(name: str) -> None:
    with (BENCH / "mcc-col" / "verdicts.csv").open() as file:
        rows = [r for r in csv.DictReader(file) if r["instance"] == name and "StateSpace" in r["formula"]]
    model = load((BENCH / "mcc-col" / name / "model.pnml").read_text(), name)
    assert count(model) == int(rows[0]["verdict"])

"""Reading formulas: what is an atom, and what errors say."""

from __future__ import annotations

import pytest

from aggmc.errors import InputError, Location
from aggmc.ltl.formula import Atom, parse


def atoms(text: str) -> list[tuple[str, bool, int]]:
    return [(atom.text, atom.quoted, atom.column) for atom in parse(text, None).atoms]


def test_unquoted() -> None:
    assert atoms("GFa") == [("a", False, 3)]
    assert atoms("P_0.CS U x") == [("P_0.CS", False, 1), ("x", False, 10)]
    assert atoms("xa2 & a2 & XXa2") == [("xa2", False, 1), ("a2", False, 7)]
    assert parse("GFa", None).formula == "GFp0"


def test_what_spot_misreads_comes_back_unquoted() -> None:
    assert parse("x=1", None).atoms == (Atom("x", False, 1, compared=True),)
    assert parse("x=0", None).formula == "!p0"
    assert atoms("P->v") == [("P", False, 1), ("v", False, 4)]


def test_operators_glued_to_a_word() -> None:
    """Spot reads Foo.b as F oo.b: what the user may have meant comes with the atom."""
    assert parse("F Foo.b", None).atoms == (Atom("oo.b", False, 4, glued=(("Foo.b", 1, 3),)),)
    (atom,) = parse("a U\nGFx".replace("a U", "1 U"), None).atoms
    assert atom.glued == (("GFx", 2, 1), ("Fx", 2, 2))
    assert all(not atom.glued for atom in parse('F oo.b && "Foo.b"', None).atoms)


def test_quoted() -> None:
    text = 'G("P_0.j > 2 && pos[1] == 2" -> F" q")'
    assert atoms(text) == [("P_0.j > 2 && pos[1] == 2", True, 4), ("q", True, 36)]
    assert parse(text, None).formula == "G(p0 -> Fp1)"
    assert atoms('GF"a"U"b"W"c -> d"') == [("a", True, 4), ("b", True, 8), ("c -> d", True, 12)]
    assert atoms('"G a" & "1" & "true"') == [("G a", True, 2), ("1", True, 10), ("true", True, 16)]
    assert parse(r'"a\"b"', None).atoms[0].text == 'a"b'
    assert atoms('q_0 & "x"') == [("q_0", False, 1), ("x", True, 8)]


def test_same_atom_quoted_and_not() -> None:
    assert atoms('"x" U x') == [("x", False, 7)]
    assert parse('"x" & "x"', None).formula == "p0"


def test_comments() -> None:
    assert atoms('a /* "b" { */ & "c /* d"') == [("a", False, 1), ("c /* d", True, 18)]
    assert parse('/* it is 1" long */ a', None).formula == "p0"


def test_atoms_that_simplify_away_are_still_listed() -> None:
    assert atoms('0 & "no such thing"') == [("no such thing", True, 6)]


def test_other_spellings() -> None:
    assert parse("[](a -> <>b)", None).formula == "G(p0 -> Fp1)"
    assert parse("a && b || !c", None).atoms[2].text == "c"


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("", 1, "empty"),
        ("   ", 1, "empty"),
        ("a &", 3, "no right operand"),
        ('"b" U ( "x y" & ) c', 15, "no right operand"),
        ("(a", 1, "never closed"),
        ('F "long atom" & (a', 17, "never closed"),
        ("a b", 3, "operator is missing"),
        ('a | "p >= 3" q', 14, "operator is missing"),
        ('a U "b c"  "d"', 12, "operator is missing"),
        ("a ) b", 3, "unexpected closing parenthesis"),
        ('"x == 1" ) b', 10, "unexpected closing parenthesis"),
        ('G "a', 3, "never closed"),
        ('""', 1, "nothing between"),
        ('"x"=1', 4, "inside the double quotes"),
        ("a\0b", 2, "code 0"),
        ("a & é", 5, "not an ASCII"),
        ('"é"', 2, "not an ASCII"),
        ("pos[1] == 2", 4, "double quotes"),
        ("x == 1", 3, "double quotes"),
        ("P.x<=3", 4, "double quotes"),
        ("{a;b}|->c", 1, "PSL"),
        ("a & {b}", 5, "PSL"),
        ("a & /* b", 5, "never closed"),
        ("X[!]a", 2, "finite"),
        ("X[100000]a", 2, "sum to more"),
        ("(" * 500 + "a" + ")" * 500, 201, "nested more"),
        ("X" * 5000 + "a", 1, "nested more"),
        ("!" * 3, 3, "no right operand"),
    ],
)
def test_errors(text: str, column: int, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        parse(text, None)
    location = caught.value.location
    assert location is not None
    assert (location.line, location.column) == (1, column)
    assert location.text == text
    assert "\n" not in caught.value.message


def test_huge() -> None:
    for text in (
        "(" * 20_000 + "a" + ")" * 20_000,
        "X" * 100_000,
        "a U " * 6_000 + "a",
        "(" * 9_000,
        "a->b->" * 2_500 + "c",
    ):
        with pytest.raises(InputError):
            parse(text, None)
    assert parse("a->" * 5_000 + "a", None).formula == "1"  # Spot simplifies it away, without running out of stack


def test_places() -> None:
    with pytest.raises(InputError) as caught:
        parse("a\n & b ) c", None)
    assert caught.value.location == Location(None, 2, 6, " & b ) c")
    with pytest.raises(InputError) as caught:
        parse("a b", Location("props.txt", 7))
    assert caught.value.location == Location("props.txt", 7, 3, "a b")
    with pytest.raises(InputError) as caught:
        parse("a b", Location("props.txt", 7, 10, "property a b;"))
    assert caught.value.location == Location("props.txt", 7, 12, "property a b;")

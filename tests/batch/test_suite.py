"""Suites: what they stand for, in TOML and in CSV, and what is wrong with those that cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from aggmc.batch.suite import KEYS, Check, read_suite
from aggmc.errors import InputError
from aggmc.limits import Limits

Read = Callable[..., list[Check]]


@pytest.fixture(name="read")
def read_fixture(tmp_path: Path) -> Read:
    for name in ("a.dve", "b.dve", "deep/c.dve"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "some.properties").write_text("# two\none: G P.a\nG F P.b // unnamed\n")

    def read(text: str, name: str = "suite.toml", **options: object) -> list[Check]:
        (tmp_path / name).write_text(text)
        return read_suite(tmp_path / name, **options)  # type: ignore[arg-type]

    return read


def test_one_check(read: Read, tmp_path: Path) -> None:
    (check,) = read('[[check]]\nmodel = "a.dve"\nltl = "G P.a"\n')
    assert check.id == f"{tmp_path}/a.dve: G P.a"
    assert (check.model, check.kind, check.formula, check.name) == (f"{tmp_path}/a.dve", "ltl", "G P.a", None)
    assert (check.product, check.race, check.cross_check) == ("auto", (), False)
    assert (check.deadlock, check.fixpoint, check.reordering, check.trace) == ("stutter", "saturation", None, True)
    assert (check.limits, check.expected) == (Limits(), None)
    assert str(check.where) == f"{tmp_path}/suite.toml:3: ltl"


def test_all_keys(read: Read) -> None:
    (check,) = read(
        '[[check]]\nmodel = "a.dve"\nltl = "G P.a"\nname = "n"\nexpected = "violated"\nproduct = "sog"\n'
        'deadlock = "ignore"\nfixpoint = "chaining"\nreordering = true\ntimeout = 2.5\nmemory = "2G"\n',
        trace=False,
    )
    assert (check.name, check.expected, check.product, check.deadlock) == ("n", "violated", "sog", "ignore")
    assert (check.fixpoint, check.reordering, check.trace) == ("chaining", True, False)
    assert check.limits == Limits(2.5, 2 << 30)
    assert check.id.endswith("a.dve: n [sog, ignore]")


def test_an_entry_stands_for_many(read: Read) -> None:
    checks = read(
        '[[check]]\nmodel = ["*.dve", "deep/c.dve"]\nltl = ["true", "false"]\nproperties = "some.properties"\n'
        'asserts = true\ndeadlocks = true\nproduct = ["slap", "sog"]\ndeadlock = ["stutter", "ignore"]\n'
    )
    assert len(checks) == 3 * (4 * 2 * 2 + 2)
    own = [c for c in checks if c.model.endswith("c.dve")]
    assert [c.model.rpartition("/")[2] for c in checks[::18]] == ["a.dve", "b.dve", "c.dve"]
    assert [(c.kind, c.formula, c.name) for c in own[::4]] == [
        ("ltl", "true", None),
        ("ltl", "false", None),
        ("ltl", "G P.a", "one"),
        ("ltl", "G F P.b", None),
        ("assert", None, None),
    ]
    assert [(c.deadlock, c.product) for c in own[:4]] == [
        ("stutter", "slap"), ("stutter", "sog"), ("ignore", "slap"), ("ignore", "sog"),
    ]  # fmt: skip
    assert [(c.kind, c.deadlock, c.product) for c in own[-2:]] == [
        ("assert", "stutter", "auto"),
        ("deadlock", "error", "auto"),
    ]
    assert len({c.id for c in checks}) == len(checks)


def test_same_question_twice(read: Read) -> None:
    checks = read('[[check]]\nmodel = "a.dve"\nltl = ["true", "true"]\n')
    assert [c.id.rpartition(": ")[2] for c in checks] == ["true", "true #2"]


def test_defaults(read: Read) -> None:
    first, second = read(
        '[defaults]\nproduct = "sog"\ntimeout = 9\n[[check]]\nmodel = "a.dve"\nltl = "true"\n'
        '[[check]]\nmodel = "b.dve"\nltl = "true"\nproduct = "slap"\ntimeout = 1\n',
        limits=Limits(5, 100 << 20),
    )
    assert (first.product, first.limits) == ("sog", Limits(9, 100 << 20))
    assert (second.product, second.limits) == ("slap", Limits(1, 100 << 20))


@pytest.mark.parametrize(
    ("how", "race", "cross_check"),
    [
        ('product = "race"', ("slap", "slap-tgta"), False),
        ('race = ["sog", "tgba"]', ("sog", "tgba"), False),
        ('race = "sog, tgba"\ncross_check = true', ("sog", "tgba"), True),
    ],
)
def test_race(read: Read, how: str, race: tuple[str, ...], cross_check: bool) -> None:
    (check,) = read(f'[[check]]\nmodel = "a.dve"\nltl = "true"\n{how}\n')
    assert (check.product, check.race, check.cross_check) == ("race", race, cross_check)


def test_expected_by_name(read: Read) -> None:
    checks = read(
        '[[check]]\nmodel = "a.dve"\nproperties = "some.properties"\n[check.expected]\none = "violated"\n'
    )
    assert [c.expected for c in checks] == ["violated", None]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv(read: Read, tmp_path: Path, delimiter: str) -> None:
    rows = [
        ["model", "ltl", "name", "expected", "race", "timeout", "asserts"],
        ["a.dve", '"G(""x, y; == 2"" -> F P.b)"', "n", "holds", '"slap,sog"', "3", ""],
        ["b.dve", "", "", "", "", "", "yes"],
        [],
    ]
    first, second = read("\n".join(delimiter.join(row) for row in rows) + "\n", "suite.csv")
    assert (first.formula, first.name, first.expected) == ('G("x, y; == 2" -> F P.b)', "n", "holds")
    assert (first.race, first.limits.seconds) == (("slap", "sog"), 3.0)
    assert str(first.where) == f"{tmp_path}/suite.csv:2: ltl"
    assert (second.kind, second.product, second.limits) == ("assert", "auto", Limits())


ENTRY = '[[check]]\nmodel = "a.dve"\nltl = "true"\n'


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("", "suite.toml: ", "nothing to check"),
        ("[[check]\n", "suite.toml:1:", "no TOML"),
        ('[[check]]\nmodel = "a', "suite.toml:2:", "no TOML"),
        ("x = [", "suite.toml:1:6: ", "no TOML"),
        (ENTRY + "[[chek]]\n", "suite.toml:4:1: ", "did you mean `check`"),
        ("check = 3\n", "suite.toml:1:1: ", "list of tables"),
        ("defaults = 3\n" + ENTRY, "suite.toml:1:1: ", "is a table"),
        ('[defaults]\nltl = "true"\n' + ENTRY, "suite.toml:2:1: ", "`ltl` is not known"),
        (ENTRY + 'produkt = "slap"\n', "suite.toml:4:1: ", "did you mean `product`"),
        (ENTRY + "  product = 'slag'\n", "suite.toml:4:3: ", "did you mean `slap`"),
        (ENTRY + ENTRY + "timeout = 0\n", "suite.toml:7:1: ", "positive number of seconds"),
        (ENTRY + "timeout = true\n", "suite.toml:4:1: ", "positive number of seconds"),
        (ENTRY + 'memory = "much"\n', "suite.toml:4:1: ", "number of MB"),
        (ENTRY + 'expected = "hold"\n', "suite.toml:4:1: ", "did you mean `holds`"),
        (ENTRY + 'expected = { nme = "holds" }\n', "suite.toml:4:1: ", "no property is named `nme`"),
        (ENTRY + 'race = "slap,slap"\n', "suite.toml:4:1: ", "twice in the race"),
        (ENTRY + 'race = "slap"\nproduct = "sog"\n', "suite.toml:4:1: ", "contradict"),
        (ENTRY + "cross_check = true\n", "suite.toml:4:1: ", "is for a race"),
        (ENTRY + 'asserts = "perhaps"\n', "suite.toml:4:1: ", "true or false"),
        ('[[check]]\nltl = "true"\n', "suite.toml:1:1: ", "no `model`"),
        ('[[check]]\nmodel = "a.dve"\n', "suite.toml:2:1: ", "asks nothing"),
        ('[[check]]\nmodel = "d.dve"\nltl = "true"\n', "suite.toml:2:1: ", "no model `d.dve`"),
        ('[[check]]\nmodel = []\nltl = "true"\n', "suite.toml:2:1: ", "is a text"),
        ('[[check]]\nmodel = "a.dve"\nproperties = "no"\n', "suite.toml:3:1: ", "cannot be read"),
    ],
)
def test_what_cannot_be_read(read: Read, text: str, place: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert place in str(caught.value)
    assert said in str(caught.value)
    assert "\n\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("", "suite.csv: ", "nothing to check"),
        ("model,ltl\n", "suite.csv: ", "nothing to check"),
        ("ltl\ntrue\n", "suite.csv:1:1: ", "no column `model`"),
        ("modell,ltl\n", "suite.csv:1:1: ", "did you mean `model`"),
        ("model,ltl,ltl\n", "suite.csv:1:1: ", "twice"),
        ("model,ltl\na.dve\n", "suite.csv:2: ", "has 1 cells, the heading has 2"),
        ("model,ltl\na.dve,true\n\nx.dve,true\n", "suite.csv:4: ", "no model `x.dve`"),
        ('model,ltl\na.dve,"true\n', "suite.csv:2: ", "no CSV"),
        ("model,ltl,timeout\na.dve,true,soon\n", "suite.csv:2: ", "positive number of seconds"),
    ],
)
def test_table_that_cannot_be_read(read: Read, text: str, place: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text, "suite.csv")
    assert place in str(caught.value)
    assert said in str(caught.value)


def test_no_suite(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_suite(tmp_path / "none.toml")


def test_keys_are_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "batch.md").read_text()
    for key in KEYS:
        assert f"| `{key}` |" in page, key

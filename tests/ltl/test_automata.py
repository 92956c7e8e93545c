"""TGBA, TGTA and plain change-set automata recognize what they should."""

from __future__ import annotations

import csv
import json
import pickle
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
import spot  # type: ignore[import-untyped]
from words import random_formulas, random_word, satisfies, tgba_accepts, tgta_accepts

from aggmc.boolean import TRUE, and_, not_, prop
from aggmc.errors import UnsupportedError
from aggmc.ltl import tgta as construction
from aggmc.ltl.automata import Tgba, TgbaEdge, Tgta, TgtaEdge
from aggmc.ltl.formula import parse
from aggmc.ltl.output import to_dict, to_dot, to_hoa, to_text
from aggmc.ltl.tgta import change_set_automaton, tgta
from aggmc.ltl.translate import Property, prepare

FIGURE_FORMULA = "a U b"
VERDICTS = Path(__file__).parents[3] / "shared" / "bench" / "verdicts.csv"


def automaton_of(formula: str) -> Property:
    """The property whose automaton is that of the formula itself."""
    return prepare(parse(formula, None), negate=False)


def test_figure_1a() -> None:
    tgba = prepare(parse(f"!({FIGURE_FORMULA})", None)).tgba
    a, b = prop(0), prop(1)
    assert tgba.propositions == ("a", "b")
    assert tgba.marks == 1
    assert tgba.initial == 0
    assert set(tgba.edges[0]) == {TgbaEdge(and_(a, not_(b)), 0, 0), TgbaEdge(b, 0, 1)}
    assert tgba.edges[1:] == ((TgbaEdge(TRUE, 1, 1),),)
    assert tgba.automaton_class == "terminal"
    assert tgba.self_label(0) == and_(a, not_(b))
    assert tgba.self_label(1) == TRUE


def test_figure_2a() -> None:
    automaton = prepare(parse(f"!({FIGURE_FORMULA})", None)).tgta()
    nothing, every = frozenset({0}), frozenset(range(4))
    assert set(automaton.initial) == {(0, frozenset({0b01})), (1, frozenset({0b10, 0b11}))}
    assert set(automaton.edges[0]) == {TgtaEdge(nothing, 0, 0), TgtaEdge(frozenset({0b10, 0b11}), 0, 1)}
    assert automaton.edges[1:] == ((TgtaEdge(every, 1, 1),),)
    assert automaton.self_changes(1) == every


def normalized(automaton: Tgta) -> bool:
    """Definition 4: stuttering edges are the self-loops, and every state has one."""
    return all(
        {edge.target for edge in out if 0 in edge.changes} == {state} for state, out in enumerate(automaton.edges)
    )


def check(formula: str, rng: random.Random, words: int) -> tuple[int, bool]:
    """How many words were compared, and whether a TGTA was."""
    found = automaton_of(formula)
    n = len(found.atoms)
    plain = found.change_set_automaton()
    testing = found.tgta() if found.stutter_invariant else None
    if testing is not None:
        assert normalized(testing), formula
    for number in range(words):
        word = random_word(rng, n)
        expected = satisfies(found.formula, word)
        over = tuple([found.valuation(letter) for letter in part] for part in word)
        observed = (over[0], over[1])
        assert tgba_accepts(found.tgba, observed) == expected, (formula, word)
        assert tgta_accepts(plain, observed) == expected, (formula, word)
        if testing is not None:
            assert tgta_accepts(testing, observed) == expected, (formula, word)
        if number < 2:
            assert found.accepts_lasso(*word) == expected, (formula, word)
    return words, testing is not None


@pytest.mark.parametrize("seed", range(4))
def test_languages(seed: int) -> None:
    rng = random.Random(seed)
    stuttering = 0
    for formula in random_formulas(60, 2 + seed % 2, seed, with_next=seed % 2 == 1):
        stuttering += check(formula, rng, 15)[1]
    assert stuttering > 10


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(100, 120))
def test_languages_campaign(seed: int) -> None:
    rng = random.Random(seed)
    for formula in random_formulas(400, 1 + seed % 4, seed, with_next=seed % 3 == 0):
        check(formula, rng, 30)


HARD = [
    "Fa & (Fa U G!a)",
    "GFa & GFb",
    "FGa | GFb",
    "G(a -> Fb)",
    "F(a & F(!a & Fa))",
    "(a U b) | G a",
    "G((a & Xa) | (!a & X!a))",
    "X a",
    "a & X(a -> X b)",
    "F(a & XXa)",
    "FG((Xa U !c) & FG(b & !c))",  # stutter-invariant, although not over the merged propositions
    "a U (b U (a & !b))",
    "GF(a & F!a) -> FG b",
    "F(G a | G !a)",
    "true",
    "false",
    "a | !a",
    "a & !a",
    '"x > 1"',
]


@pytest.mark.parametrize("formula", HARD)
def test_hard_formulas(formula: str) -> None:
    check(formula, random.Random(formula), 150)


@pytest.mark.parametrize("formula", ["Fa & (Fa U G!a)", "FGa | GFb", "G(a -> Fb)", "a U b"])
def test_unreduced_translation(formula: str) -> None:
    """The construction is right for less tidy TGBAs too: "low" gave Spot's own construction false violations."""
    from aggmc.ltl.translate import from_spot

    plain = parse(formula, None)
    raw = spot.translate(spot.formula(plain.formula), "GeneralizedBuchi", "Low", "Any")
    tgba, used = from_spot(raw, [f"p{i}" for i in range(len(plain.atoms))])
    assert used == list(range(len(plain.atoms)))
    rng = random.Random(1)
    testing, changes = tgta(tgba), change_set_automaton(tgba)
    for _ in range(300):
        word = random_word(rng, len(used))
        expected = satisfies(plain.formula, word)
        assert tgta_accepts(testing, word) == tgta_accepts(changes, word) == expected, word


def broken_loops(rows: object, all_marks: int) -> object:
    """The all-marks loop on all of G."""
    right = RIGHT(rows, all_marks)  # type: ignore[arg-type]
    return construction._Stuttering(right.accepting | frozenset(right.representative), {})


def broken_copies(rows: object, all_marks: int) -> object:
    """No step 4."""
    return construction._Stuttering(RIGHT(rows, all_marks).accepting, {})  # type: ignore[arg-type]


RIGHT = construction._stuttering


@pytest.mark.parametrize("broken", [broken_loops, broken_copies])
def test_broken_variants_are_found(broken: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """The random test sees the two known ways to get the construction wrong."""
    monkeypatch.setattr(construction, "_stuttering", broken)
    wrong = 0
    rng = random.Random(5)
    for formula in ["F(a & G!a)", "F(!a & F(a & GF!b))", *random_formulas(250, 2, 77, with_next=False)]:
        found = automaton_of(formula)
        if not found.stutter_invariant:
            continue
        testing = found.tgta()
        for _ in range(15):
            word = random_word(rng, len(found.atoms))
            observed = tuple([found.valuation(letter) for letter in part] for part in word)
            wrong += tgta_accepts(testing, (observed[0], observed[1])) != satisfies(found.formula, word)
    assert wrong > 0


def test_letters() -> None:
    """Only the letters that the model can satisfy: the same answer on words of these, fewer states and edges."""
    rng = random.Random(3)
    for formula in random_formulas(60, 3, 9, with_next=False):
        found = automaton_of(formula)
        n = len(found.propositions)
        letters = sorted(rng.sample(range(1 << n), max(1, (1 << n) // 2)))
        automata = [found.change_set_automaton(letters)] + ([found.tgta(letters)] if found.stutter_invariant else [])
        for automaton in automata:
            assert all(u <= set(letters) for _, u in automaton.initial)
            for _ in range(10):
                prefix, cycle = random_word(rng, 6)
                word = ([letters[i % len(letters)] for i in prefix], [letters[i % len(letters)] for i in cycle])
                assert tgta_accepts(automaton, word) == tgba_accepts(found.tgba, word), (formula, letters, word)


def test_no_letters() -> None:
    assert automaton_of("a U b").tgta([]).states == 0


def test_empty_acceptance_set() -> None:
    """A set that no edge carries makes the language empty; no set at all accepts every run."""
    from aggmc.ltl.translate import from_spot

    text = 'HOA: v1 States: 1 Start: 0 AP: 1 "a" Acceptance: {} --BODY-- State: 0 [t] 0 --END--\n'
    empty, _ = from_spot(spot.automaton(text.replace("{}", "1 Inf(0)")), ["a"])
    assert not any(empty.edges)
    assert empty.marks == 1
    full, _ = from_spot(spot.automaton(text.replace("{}", "0 t")), ["a"])
    assert full.edges == ((TgbaEdge(TRUE, 1, 0),),)
    assert full.marks == 1


def test_constants() -> None:
    for text, accepts in (("true", False), ("false", True), ("G(a | !a)", False), ("F(a & !a)", True)):
        found = prepare(parse(text, None))
        assert found.propositions == ()
        assert found.stutter_invariant
        for automaton in (found.tgta(), found.change_set_automaton(), found.tgta([0])):
            assert tgta_accepts(automaton, ([], [0])) is accepts
        assert tgba_accepts(found.tgba, ([], [0])) is accepts
        assert found.accepts_lasso([], [0]) is accepts


def test_classes() -> None:
    assert automaton_of("a U b").automaton_class == "terminal"
    assert automaton_of("G a").automaton_class == "weak"
    assert automaton_of("G F a").automaton_class == "general"
    assert automaton_of("a U b").tgta().automaton_class == "terminal"
    assert automaton_of("G a").tgta().automaton_class == "weak"


def test_merged_propositions() -> None:
    found = prepare(parse('G(("x > 1" & !"P.CS") -> F("y" | "z" & "w"))', None))
    assert found.proposition_names == ('"x > 1" & !"P.CS"', "y | (z & w)")
    assert found.stutter_invariant
    assert prepare(parse("G(a|b|c|d|e|f|g|h|i|j|k|l)", None)).tgba.states == 2
    assert len(prepare(parse("G(a|b|c|d|e|f|g|h|i|j|k|l)", None)).propositions) == 1


def test_unused_propositions_are_dropped() -> None:
    found = prepare(parse("(G a) | (F b & G !b)", None))
    assert [atom.text for atom in found.atoms] == ["a", "b"]
    assert found.proposition_names == ("a",)


def test_stutter_invariance() -> None:
    assert prepare(parse("F(a & X !a) | G a | G !a | F(!a & X a)", None)).stutter_invariant
    assert not prepare(parse("X a", None)).stutter_invariant
    assert prepare(parse("FG((Xa U !c) & FG(b & !c))", None)).stutter_invariant  # !c and b & !c are merged apart
    assert not prepare(parse("(Xa U !c) & F(b & !c)", None)).stutter_invariant
    assert not prepare(parse("X" * 60 + "a", None)).stutter_invariant


def test_limit() -> None:
    wide = Tgba(tuple("abcdefghijk"), 0, ((TgbaEdge(prop(10), 1, 0),),), 1)
    with pytest.raises(UnsupportedError, match="slap"):
        tgta(wide)
    assert tgta(wide, [1 << 10, 0]).states == 1


def test_ten_propositions() -> None:
    text = (
        " & ".join(f"GF p{i}" for i in range(4))
        + " & G("
        + " & ".join(f"(p{i} -> F p{i + 1})" for i in range(4, 9))
        + ")"
    )
    found = automaton_of(text)
    assert len(found.propositions) == 10


def test_pickle() -> None:
    found = automaton_of("a U b")
    assert pickle.loads(pickle.dumps(found)) == found


DETERMINISM = """
import hashlib, random, sys
from aggmc.ltl.formula import parse
from aggmc.ltl.translate import prepare
formulas = [line for line in open(sys.argv[1]).read().split("\\n") if line]
order = list(range(len(formulas)))
random.Random(int(sys.argv[2])).shuffle(order)
kept, results = [], {}
for i in order + order[:30]:
    found = prepare(parse(formulas[i], None))
    text = repr((found, found.change_set_automaton(), found.tgta() if found.stutter_invariant else None))
    assert results.setdefault(i, text) == text, formulas[i]
print(hashlib.sha256(repr(sorted(results.items())).encode()).hexdigest())
"""


def test_determinism(tmp_path: Path) -> None:
    formulas = [f for seed in (1, 2) for f in random_formulas(60, 3, seed, with_next=seed == 2)] + HARD
    (tmp_path / "formulas").write_text("\n".join(formulas))
    found = set()
    for seed in range(4):
        command = [sys.executable, "-c", DETERMINISM, str(tmp_path / "formulas"), str(seed)]
        environment = {"PYTHONHASHSEED": str(seed), "PYTHONPATH": ":".join(p for p in sys.path if p)}
        run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert run.returncode == 0, run.stderr
        found.add(run.stdout)
    assert len(found) == 1


@pytest.mark.shared
def test_benchmark_formulas_are_quick() -> None:
    with VERDICTS.open() as file:
        formulas = sorted({row["formula"] for row in csv.DictReader(file)})
    for formula in formulas:
        found = prepare(parse(formula, None))
        start = time.perf_counter()
        if found.stutter_invariant:
            found.tgta()
        found.change_set_automaton()
        assert time.perf_counter() - start < 3, formula
        assert len(found.propositions) <= 5


@pytest.mark.parametrize("formula", [*HARD, "GFa & GFb & GFc & (a U b)"])
def test_output(formula: str) -> None:
    found = automaton_of(formula)
    back = spot.automaton(to_hoa(found.tgba, formula))
    names = [ap.ap_name() for ap in back.ap()]
    assert names == list(found.proposition_names)
    assert back.acc().is_generalized_buchi()
    assert back.num_sets() == found.tgba.marks
    rename = spot.relabeling_map()
    for i, expr in enumerate(found.propositions):
        rename[spot.formula.ap(found.proposition_names[i])] = spot.formula(repr(expr))
    spot.relabel_here(back, rename)
    assert spot.are_equivalent(back, spot.formula(found.formula).translate())
    automata: list[Tgba | Tgta] = [found.tgba, found.change_set_automaton()]
    if found.stutter_invariant:
        automata.append(found.tgta())
    for automaton in automata:
        assert to_text(automaton).count("->") >= sum(map(len, automaton.edges))
        assert to_dot(automaton).startswith("digraph")
        value = json.loads(json.dumps(to_dict(automaton)))
        assert len(value["edges"]) == sum(map(len, automaton.edges))
        if automaton.states and isinstance(automaton, Tgta):
            assert spot.automaton(to_hoa(automaton)).num_states() >= automaton.states

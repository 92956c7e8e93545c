"""From a formula to the automata of its negation.

Sources: A.-E. Ben Salem and M. Graiet, *Combining Explicit and Symbolic LTL Model Checking Using Generalized Testing
Automata* (A_¬φ, TGBA); R. Bloem, K. Ravi, F. Somenzi, *Efficient Decision Procedures for Model Checking of Linear Time
Logic Properties* (terminal, weak and general automata). Spot translates.

    φ, A_¬φ                    `Property.formula`, `Property.tgba` (of ¬φ, or of φ itself with `negate=False`)
    AP as the user wrote it    `Property.atoms`
    AP that automata read      `Property.propositions`, each a Boolean expression over the atoms

1. Maximal Boolean subformulas become one proposition each (`spot.relabel_bse`), which is then what every product
   observes. Propositions that the translation turned out not to need are dropped.
2. Stutter invariance is decided semantically (`spot.is_stutter_invariant`) on the formula over the merged
   propositions. Where that one is stutter-invariant, so is the formula over the atoms. The converse fails where merged
   propositions share atoms (Spot merges `!c` and `b & !c` into two), so then the formula over the atoms is asked too.
   If only that one is stutter-invariant, testing automata and SOGs over the merged propositions are right all the same,
   on the words that a model has: give each valuation of the propositions that occurs one valuation of the atoms, and
   stutter-equivalent words of the former become stutter-equivalent words of the latter. Formulas with more than
   `MAX_X` X above one another are taken as not stutter-invariant without asking, which is safe: only some products
   refuse them.
3. The automaton is a TGBA with at least one acceptance set: without one, every run is accepted, so one set with every
   edge marked is made. It is trimmed, and marks on edges outside accepting components are dropped.

Determinism: Spot orders operands by the age of its formula objects, and its BDD variables by the history of a
dictionary. So each translation starts from text, in a dictionary of its own, keeps nothing alive, and states, edges
and labels are brought into an order of ours.

A translation can take minutes on a nasty formula, and Python cannot interrupt it: bound it from another process.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from aggmc.boolean import (
    FALSE,
    TRUE,
    Bool,
    and_,
    evaluate,
    from_table,
    not_,
    or_,
    prop,
    show,
    substitute,
    support,
    table,
)
from aggmc.errors import InternalError
from aggmc.ltl import given
from aggmc.ltl.automata import Tgba, TgbaEdge, Tgta, accepting_components, useful
from aggmc.ltl.formula import Atom, Parsed, renumber
from aggmc.ltl.given import Automaton
from aggmc.ltl.tgta import TGTA_PROPOSITION_LIMIT, change_set_automaton, tgta

__all__ = ["MAX_X", "TGTA_PROPOSITION_LIMIT", "Property", "from_spot", "prepare"]

MAX_X = 50
TABLE_LIMIT = 12  # labels over more propositions are not brought into the canonical form of `from_table`


@dataclass(frozen=True, slots=True)
class Property:
    """A property and the automaton of the runs that violate it. No Spot object is kept: it can be pickled."""

    text: str
    atoms: tuple[Atom, ...]
    formula: str  # over the atoms p0, p1, …, as it was given
    negated: bool  # the automaton is that of ¬formula
    propositions: tuple[Bool, ...]  # over the atoms
    proposition_names: tuple[str, ...]
    stutter_invariant: bool
    tgba: Tgba
    given: Automaton | None = None  # in place of a formula

    @property
    def automaton_class(self) -> str:
        """`terminal`, `weak` or `general`."""
        return self.tgba.automaton_class

    def valuation(self, atoms: int) -> int:
        """The valuation of the propositions, given that of the atoms."""
        return sum(evaluate(expr, atoms) << i for i, expr in enumerate(self.propositions))

    def tgta(self, letters: Collection[int] | None = None) -> Tgta:
        """The testing automaton; `letters` are the valuations of the propositions that the model can satisfy."""
        if not self.stutter_invariant:
            raise InternalError(f"a testing automaton of a property that is not stutter-invariant: {self.text}")
        return tgta(self.tgba, letters)

    def change_set_automaton(self, letters: Collection[int] | None = None) -> Tgta:
        """The plain change-set automaton, for any property."""
        return change_set_automaton(self.tgba, letters)

    def accepts_lasso(self, prefix: Sequence[int], cycle: Sequence[int]) -> bool:
        """Whether prefix·cycle^ω violates the property; letters are valuations of the *atoms*. Spot decides.

        The formula over the atoms is translated anew, without the merging of Boolean subformulas.
        """
        if not cycle:
            raise ValueError("the cycle of a lasso is not empty")
        import spot

        dictionary = spot.make_bdd_dict()
        if self.given is not None:  # as it was given: good runs are accepted, bad ones are not, or the other way round
            accepted = given.load(self.given, dictionary).intersects(
                _lasso(prefix, cycle, len(self.atoms), dictionary)
            )
            return bool(accepted) == self.given.bad
        automaton = spot.translate(
            _spot_formula(self.formula, self.negated), "GeneralizedBuchi", "Low", dict=dictionary
        )
        return bool(automaton.intersects(_lasso(prefix, cycle, len(self.atoms), dictionary)))


def prepare(parsed: Parsed, *, negate: bool = True) -> Property:
    """Translate a formula: its negation, or with `negate=False` itself (if it says already what must not happen)."""
    if isinstance(parsed, given.Given):
        return _prepare_automaton(parsed)
    merged, propositions = _merge(parsed.formula, len(parsed.atoms))
    stutter_invariant = _is_stutter_invariant(merged) or (
        _share_atoms(propositions) and _is_stutter_invariant(parsed.formula)
    )
    names = [atom.text for atom in parsed.atoms]
    tgba, used = _translate(merged, negate, len(propositions))
    kept = tuple(propositions[i] for i in used)
    shown = tuple(names[expr.index] if expr.op == "prop" else show(expr, names) for expr in kept)
    tgba = Tgba(shown, tgba.initial, tgba.edges, tgba.marks, tgba.automaton_class)
    return Property(parsed.text, parsed.atoms, parsed.formula, negate, kept, shown, stutter_invariant, tgba)


def _prepare_automaton(parsed: given.Given) -> Property:
    automaton, invariant = given.violations(parsed.automaton, parsed.text)
    tgba, used = from_spot(automaton, [f"p{i}" for i in range(len(parsed.atoms))])
    shown = tuple(parsed.atoms[i].text for i in used)
    tgba = Tgba(shown, tgba.initial, tgba.edges, tgba.marks, tgba.automaton_class)
    kept = tuple(prop(i) for i in used)
    return Property(parsed.text, parsed.atoms, "", True, kept, shown, invariant, tgba, parsed.automaton)


# --- formulas -------------------------------------------------------------------------------------------------------


def _spot_formula(text: str, negated: bool) -> Any:
    import spot

    formula = spot.formula(text)
    return spot.formula.Not(formula) if negated else formula


def _merge(formula: str, atoms: int) -> tuple[str, list[Bool]]:
    """The formula over merged propositions, numbered by the first atom that they speak of; and these."""
    import spot

    relabeling = spot.relabeling_map()
    merged = spot.relabel_bse(spot.formula(formula), spot.Pnn, relabeling)
    text = str(merged)
    found: list[tuple[str, Bool]] = []
    for new, old in relabeling.items():
        if re.search(rf"{new}(?!\d)", text):
            found.append((str(new), _boolean(old, atoms)))
    found.sort(key=lambda item: (sorted(support(item[1])), show(item[1], None)))
    return renumber(text, {name: i for i, (name, _) in enumerate(found)}), [expr for _, expr in found]


def _share_atoms(propositions: Sequence[Bool]) -> bool:
    supports = [support(expr) for expr in propositions]
    return sum(map(len, supports)) > len(frozenset().union(*supports))


def _boolean(formula: Any, atoms: int) -> Bool:
    """A Boolean formula of Spot over p0, p1, …; canonical where it is over few atoms."""
    expr = _convert(formula, {f"p{i}": i for i in range(atoms)})
    used = sorted(support(expr))
    if len(used) <= TABLE_LIMIT:
        short = substitute(expr, [prop(used.index(i)) if i in used else FALSE for i in range(atoms)])
        expr = substitute(from_table(table(short, len(used)), len(used)), [prop(i) for i in used])
    return expr


def _convert(formula: Any, number_of: dict[str, int]) -> Bool:
    """A Boolean formula of Spot over the numbers of its atoms."""
    import spot

    kind = formula.kind()
    if kind == spot.op_ap:
        return prop(number_of[formula.ap_name()])
    args = [_convert(child, number_of) for child in formula]
    if kind == spot.op_tt:
        return TRUE
    if kind == spot.op_ff:
        return FALSE
    if kind == spot.op_Not:
        return not_(args[0])
    if kind == spot.op_And:
        return and_(*args)
    if kind == spot.op_Or:
        return or_(*args)
    if kind == spot.op_Implies:
        return or_(not_(args[0]), args[1])
    if kind == spot.op_Xor:
        return or_(and_(args[0], not_(args[1])), and_(not_(args[0]), args[1]))
    if kind == spot.op_Equiv:
        return or_(and_(args[0], args[1]), and_(not_(args[0]), not_(args[1])))
    raise InternalError(f"not a Boolean formula: {formula}")


def _is_stutter_invariant(text: str) -> bool:
    import spot

    formula = spot.formula(text)
    if _nested_next(formula, {}) > MAX_X:
        return False
    return bool(spot.is_stutter_invariant(formula))


def _nested_next(formula: Any, known: dict[int, int]) -> int:
    import spot

    number = formula.id()
    if number not in known:
        inner = max((_nested_next(child, known) for child in formula), default=0)
        known[number] = inner + (formula.kind() == spot.op_X)
    return known[number]


# --- automata -------------------------------------------------------------------------------------------------------


def _translate(text: str, negate: bool, propositions: int) -> tuple[Tgba, list[int]]:
    """The automaton, over those of the propositions p0, p1, … that it needs; and their numbers."""
    import spot

    dictionary = spot.make_bdd_dict()
    automaton = spot.translate(_spot_formula(text, negate), "GeneralizedBuchi", "Small", "High", dict=dictionary)
    return from_spot(automaton, [f"p{i}" for i in range(propositions)])


def from_spot(automaton: Any, names: Sequence[str]) -> tuple[Tgba, list[int]]:
    """A Spot automaton with generalized Büchi acceptance, over those of the named propositions that its labels need;
    and the numbers of these. Its language is kept, also if it has no acceptance set, or one that no edge carries.
    """
    import spot

    if not automaton.acc().is_generalized_buchi():
        raise InternalError(f"acceptance is {automaton.get_acceptance()}, not generalized Büchi")
    automaton = spot.scc_filter(automaton, True)
    if spot.is_terminal_automaton(automaton):
        kind = "terminal"
    elif spot.is_weak_automaton(automaton):
        kind = "weak"
    else:
        kind = "general"
    labels, used = _labels(automaton, names)
    marks = int(automaton.num_sets())
    edges: list[list[TgbaEdge]] = [[] for _ in range(automaton.num_states())]
    for edge in automaton.edges():
        mask = sum(1 << i for i in edge.acc.sets()) if marks else 1
        edges[edge.src].append(TgbaEdge(labels[automaton.edge_number(edge)], mask, edge.dst))
    return _normal(int(automaton.get_init_state_number()), edges, max(marks, 1), used, kind)


def _labels(automaton: Any, names: Sequence[str]) -> tuple[dict[int, Bool], list[int]]:
    """The label of each edge, by number, over the propositions in use; and the numbers of these."""
    import spot

    number_of = {name: i for i, name in enumerate(names)}
    dictionary = automaton.get_dict()
    raw: dict[int, Bool] = {}
    by_label: dict[int, Bool] = {}
    for edge in automaton.edges():
        if edge.cond.id() not in by_label:  # the edge keeps the node alive
            formula = spot.bdd_to_formula(edge.cond, dictionary)
            by_label[edge.cond.id()] = _convert(formula, number_of)
        raw[automaton.edge_number(edge)] = by_label[edge.cond.id()]
    used = sorted(frozenset().union(*(support(label) for label in raw.values())))
    renamed = [prop(used.index(i)) if i in used else FALSE for i in range(len(names))]
    result: dict[int, Bool] = {}
    for number, label in raw.items():
        short = substitute(label, renamed)
        result[number] = from_table(table(short, len(used)), len(used)) if len(used) <= TABLE_LIMIT else short
    return result, used


def _normal(
    initial: int, edges: list[list[TgbaEdge]], marks: int, used: list[int], kind: str
) -> tuple[Tgba, list[int]]:
    """Trimmed; marks inside accepting components only; parallel edges merged; states in breadth-first order.

    Edges into states whose self-loops carry all marks come first: violations are then found sooner.
    """
    all_marks = (1 << marks) - 1
    component, accepting = accepting_components(edges, all_marks)
    keep = useful(component, accepting, edges)
    merged: list[dict[tuple[int, int], Bool]] = [{} for _ in edges]
    for state, out in enumerate(edges):
        for edge in out:
            if keep[state] and keep[edge.target] and edge.label != FALSE:
                inside = component[state] == component[edge.target] and accepting[component[state]]
                key = (edge.target, edge.marks if inside else 0)
                merged[state][key] = _or(merged[state].get(key, FALSE), edge.label, len(used))
    loops = [0] * len(edges)
    for state, row in enumerate(merged):
        for target, mask in row:
            loops[state] |= mask if target == state else 0
    names = tuple(f"p{i}" for i in used)
    number = {initial: 0}
    queue = [initial]
    result: list[list[TgbaEdge]] = []
    for state in queue:
        out = [TgbaEdge(label, mask, target) for (target, mask), label in merged[state].items()]
        out.sort(
            key=lambda e: (loops[e.target] != all_marks, e.target != state, show(e.label, None), e.marks, e.target)
        )
        for edge in out:
            if edge.target not in number:
                number[edge.target] = len(queue)
                queue.append(edge.target)
        result.append(out)
    final = tuple(tuple(TgbaEdge(e.label, e.marks, number[e.target]) for e in out) for out in result)
    return Tgba(names, 0, final, marks, kind), used


def _or(a: Bool, b: Bool, n: int) -> Bool:
    both = or_(a, b)
    return from_table(table(both, n), n) if n <= TABLE_LIMIT else both


def _lasso(prefix: Sequence[int], cycle: Sequence[int], atoms: int, dictionary: Any) -> Any:
    """The automaton of the one word prefix·cycle^ω over the atoms."""
    import spot

    word = spot.make_twa_graph(dictionary)
    letters: dict[int, Any] = {}
    valuations = [*prefix, *cycle]
    word.new_states(len(valuations))
    for i, valuation in enumerate(valuations):
        if valuation not in letters:
            literals = [f"p{bit}" if valuation >> bit & 1 else f"!p{bit}" for bit in range(atoms)]
            letters[valuation] = spot.formula_to_bdd(spot.formula(" & ".join(literals) or "1"), dictionary, word)
        word.new_edge(i, i + 1 if i + 1 < len(valuations) else len(prefix), letters[valuation])
    word.set_init_state(0)
    word.register_aps_from_dict()
    return word

"""Oracles on lasso words, written apart from the code under test: LTL semantics, TGBA runs, TGTA runs."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import spot  # type: ignore[import-untyped]

from aggmc.boolean import evaluate
from aggmc.ltl.automata import Tgba, Tgta

Word = tuple[list[int], list[int]]  # prefix, cycle: valuations


def random_word(rng: random.Random, n: int) -> Word:
    """Words that stutter often."""

    def letters(count: int) -> list[int]:
        result: list[int] = []
        for _ in range(count):
            result.append(result[-1] if result and rng.random() < 0.5 else rng.randrange(1 << n))
        return result

    return letters(rng.randrange(5)), letters(rng.randrange(1, 5))


def satisfies(formula: str, word: Word) -> bool:
    """The semantics of LTL over p0, p1, … on prefix·cycle^ω, by fixpoints over the positions."""
    prefix, cycle = word
    letters = [*prefix, *cycle]
    size = len(letters)

    def after(i: int) -> int:
        return i + 1 if i + 1 < size else len(prefix)

    def fixpoint(start: bool, step: Callable[[int, bool], bool]) -> list[bool]:
        values = [start] * size
        while True:
            fresh = [step(i, values[after(i)]) for i in range(size)]
            if fresh == values:
                return values
            values = fresh

    def go(f: Any) -> list[bool]:
        kind = f.kind()
        if kind == spot.op_ap:
            bit = int(f.ap_name()[1:])
            return [bool(letter >> bit & 1) for letter in letters]
        if kind in (spot.op_tt, spot.op_ff):
            return [kind == spot.op_tt] * size
        args = [go(child) for child in f]
        a, b = args[0], args[-1]
        if kind == spot.op_Not:
            return [not v for v in a]
        if kind == spot.op_And:
            return [all(vs) for vs in zip(*args, strict=True)]
        if kind == spot.op_Or:
            return [any(vs) for vs in zip(*args, strict=True)]
        if kind == spot.op_Implies:
            return [not x or y for x, y in zip(a, b, strict=True)]
        if kind == spot.op_Equiv:
            return [x == y for x, y in zip(a, b, strict=True)]
        if kind == spot.op_Xor:
            return [x != y for x, y in zip(a, b, strict=True)]
        if kind == spot.op_X:
            return [a[after(i)] for i in range(size)]
        if kind == spot.op_F:
            return fixpoint(False, lambda i, nxt: a[i] or nxt)
        if kind == spot.op_G:
            return fixpoint(True, lambda i, nxt: a[i] and nxt)
        if kind in (spot.op_U, spot.op_W):
            return fixpoint(kind == spot.op_W, lambda i, nxt: b[i] or (a[i] and nxt))
        if kind in (spot.op_M, spot.op_R):
            return fixpoint(kind == spot.op_R, lambda i, nxt: b[i] and (a[i] or nxt))
        raise AssertionError(f"operator of {f}")

    return go(spot.formula(formula))[0]


def tgba_accepts(automaton: Tgba, word: Word) -> bool:
    prefix, cycle = word
    letters = [*prefix, *cycle]

    def successors(node: tuple[int, int]) -> Iterable[tuple[int, tuple[int, int]]]:
        state, i = node
        j = i + 1 if i + 1 < len(letters) else len(prefix)
        return [(e.marks, (e.target, j)) for e in automaton.edges[state] if evaluate(e.label, letters[i])]

    return accepting_run([(automaton.initial, 0)], successors, automaton.marks)


def tgta_accepts(automaton: Tgta, word: Word) -> bool:
    """Definition 4: U on the first letter, then ℓ(i) ⊕ ℓ(i+1)."""
    prefix, cycle = word
    letters = [*prefix, *cycle]

    def successors(node: tuple[int, int]) -> Iterable[tuple[int, tuple[int, int]]]:
        state, i = node
        j = i + 1 if i + 1 < len(letters) else len(prefix)
        change = letters[i] ^ letters[j]
        return [(e.marks, (e.target, j)) for e in automaton.edges[state] if change in e.changes]

    return accepting_run([(s, 0) for s, u in automaton.initial if letters[0] in u], successors, automaton.marks)


def accepting_run(initial: Sequence[Any], successors: Callable[[Any], Iterable[tuple[int, Any]]], marks: int) -> bool:
    """Whether a reachable strongly connected component has a cycle with all marks (Kosaraju's algorithm)."""
    edges: dict[Hashable, list[tuple[int, Any]]] = {}
    order: list[Any] = []
    for root in initial:
        if root in edges:
            continue
        edges[root] = list(successors(root))
        stack = [(root, iter(edges[root]))]
        while stack:
            node, rest = stack[-1]
            for _, target in rest:
                if target not in edges:
                    edges[target] = list(successors(target))
                    stack.append((target, iter(edges[target])))
                    break
            else:
                order.append(node)
                stack.pop()
    back: dict[Hashable, list[Any]] = {node: [] for node in edges}
    for node, out in edges.items():
        for _, target in out:
            back[target].append(node)
    component: dict[Hashable, int] = {}
    for number, root in enumerate(reversed(order)):
        todo = [root]
        while todo:
            node = todo.pop()
            if node not in component:
                component[node] = number
                todo.extend(back[node])
    union: dict[int, int] = {}
    for node, out in edges.items():
        for mark, target in out:
            if component[node] == component[target]:
                union[component[node]] = union.get(component[node], 0) | mark
    return any(found == (1 << marks) - 1 for found in union.values())


def random_formulas(count: int, atoms: int, seed: int, *, with_next: bool) -> list[str]:
    """Formulas over p0, p1, … as text."""
    # Spot cuts the text of the priorities up in place: it must be a string that nobody else holds
    options = None if with_next else f"X={int(with_next)}"
    generator = spot.randltl(
        [f"p{i}" for i in range(atoms)], n=count, seed=seed, tree_size=(4, 14), ltl_priorities=options
    )
    return [str(formula) for formula in generator]

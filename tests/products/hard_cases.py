"""Structures and formulas made by hand to catch what random ones seldom meet."""

from __future__ import annotations

from aggmc.model.hoa import Structure


def structure(labels: str, edges: str, initial: tuple[int, ...] = (0,)) -> Structure:
    """Labels as words over a, b, c (`-` is none), one a state; edges as `01 12 …`."""
    words = labels.split()
    successors: list[list[int]] = [[] for _ in words]
    for edge in edges.split():
        successors[int(edge[0])].append(int(edge[1]))
    masks = tuple(sum(1 << "abc".index(c) for c in word if c != "-") for word in words)
    return Structure(("a", "b", "c"), masks, tuple(map(tuple, successors)), initial)


DEAD_A = structure("a", "")
CHAIN = structure("a - a b", "01 12 23")  # all of it is gone under `ignore`
STUTTERS = structure("- - a -", "00 01 12 23 33")
ENTERS = structure("a -", "01 11")  # an edge that is marked for GFa leads into a cycle that is not
TWO = structure("a - b", "00 11 22", (0, 1, 2))
LIVELOCK = structure("a a a -", "01 12 21 03 33")
MOVES = structure("a - a -", "01 12 23 30")
BRANCH = structure("a ab - a", "01 12 00 22 03")  # 3 is dead

# marked edges into cycles that lack the mark, in aggregate products too
LEAVES = structure("a b", "01 11")
ALTERNATES = structure("a - b", "01 12 21")

SIX = structure("b a ab a a ab", "02 05 04 10 21 24 23 33 41 50 52 53", (4, 5))

HARD: list[tuple[Structure, str, str, str]] = [  # … verdict under `stutter`, under `ignore`
    (ENTERS, "!GFa", "holds", "holds"),
    (ENTERS, "!(a & FG!a)", "violated", "violated"),
    (ENTERS, "!(GFa & GF!a)", "holds", "holds"),
    (LEAVES, "!(GFa & GFb)", "holds", "holds"),
    (LEAVES, "!(GFb & GFa)", "holds", "holds"),
    (structure("b a", "01 11"), "!(GFa & GFb)", "holds", "holds"),
    (ALTERNATES, "!GFa", "holds", "holds"),
    (ALTERNATES, "!(GFa & GFb)", "holds", "holds"),
    (ALTERNATES, "!GFb", "violated", "violated"),
    (STUTTERS, "!(Fa & (Fa U G!a))", "violated", "violated"),
    (STUTTERS, "Fa & (Fa U G!a)", "violated", "violated"),
    (MOVES, "!(Fa & (Fa U G!a))", "holds", "holds"),
    (TWO, "!(Fa & (Fa U G!a))", "holds", "holds"),
    (DEAD_A, "Ga", "holds", "holds"),
    (DEAD_A, "Fb", "violated", "holds"),
    (DEAD_A, "0", "violated", "holds"),
    (DEAD_A, "1", "holds", "holds"),
    (DEAD_A, "!GFa", "violated", "holds"),
    (DEAD_A, "Xb", "violated", "holds"),
    (CHAIN, "!Fb", "violated", "holds"),
    (CHAIN, "GFb", "holds", "holds"),
    (CHAIN, "XXXXX!b", "violated", "holds"),
    (CHAIN, "0", "violated", "holds"),
    (TWO, "Ga", "violated", "violated"),
    (TWO, "Ga | Gb", "violated", "violated"),
    (TWO, "Ga | Gb | G(!a & !b)", "holds", "holds"),
    (LIVELOCK, "!FGa", "violated", "violated"),
    (LIVELOCK, "FGa", "violated", "violated"),
    (LIVELOCK, "a U !a", "violated", "violated"),
    (LIVELOCK, "Fc", "violated", "violated"),  # G!c: no acceptance set
    (LIVELOCK, "G!c", "holds", "holds"),
    (LIVELOCK, "a & Xa & XXa", "violated", "violated"),
    (MOVES, "GFa & GF!a", "holds", "holds"),
    (MOVES, "!(GFa & GF!a)", "violated", "violated"),
    (MOVES, "G(a -> X!a)", "holds", "holds"),
    (MOVES, "!(GFa & GFb)", "holds", "holds"),
    (structure("b ab - a", "01 10 12 22"), "!FG((Xa U !c) & FG(b & !c))", "violated", "violated"),
    (structure("bc a b b", "01 12 23 30"), "!FG((Xa U !c) & FG(b & !c))", "holds", "holds"),
    (BRANCH, "GFb -> Fa", "holds", "holds"),
    (BRANCH, "!FGa", "violated", "violated"),
    (BRANCH, "F!a", "violated", "violated"),
    (structure("a ab - a", "01 12 22 03"), "F!a", "violated", "holds"),  # only the dead state keeps a
    (structure("a ab - a", "01 12 22 03"), "X(b | !a)", "violated", "holds"),
    (structure("a b - a", "01 10 12 22"), "!(GFa & GFb & F(!a & !b))", "holds", "holds"),
    # a marked self-loop in a larger component: the run takes it, leaves, and comes back
    (structure("a a -", "01 12 20"), "!GF(a & Xa)", "violated", "violated"),
    # self-loops that read changes only: a dead state has none
    (structure("a -", "01"), "!GF(a xor Xa)", "holds", "holds"),
    (structure("a -", "01"), "!G(a xor Xa)", "holds", "holds"),
    # several aggregates of one automaton state, the first without a fair cycle
    (structure("a - - a", "01 23 20 30 33", (2,)), "F!a & G(!a U a)", "violated", "holds"),
    (SIX, "F((a -> X!b) & GFb)", "violated", "violated"),
    (structure("b abc c abc b c", "00 03 11 23 30 43 41 54 53", (4,)), "Ga | GFc", "violated", "violated"),
    (structure("a b - a", "01 10 12 20"), "!(GFa & GFb & GF(!a & !b))", "violated", "violated"),
]

"""The model as a Kripke structure of sets: images, filtered images, and their closures.

    SuccF(a, φ)   successors(a, Into(φ))        filter on the target       SOG, SOG-TGTA
    FSucc(a, φ)   successors(a, From(φ))        filter on the source       SLAP
    Succ⊕(a, φ)   successors(a, Changing(D))    filter on the change-set   SLAP-TGTA
    ReachF, FReach, Reach⊕                      closure(a, step)

A filter is pushed into the relations once, and only into those that write what it speaks of; the others keep their few
variables, and saturation its locality. Under `stutter`, a dead state loops on itself: that loop belongs to every step
(it is added here by intersection with the set at hand; it adds no state to a closure).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from aggmc.boolean import TRUE, Bool
from aggmc.model.core import State
from aggmc.model.expr import Expr, variables_of
from aggmc.model.ranges import Interval, refine
from aggmc.symbolic.bitvector import Bdd
from aggmc.symbolic.encode import Encoding, clusters
from aggmc.symbolic.relation import Relation
from aggmc.symbolic.steps import Demand, Steps, steps_of


@dataclass(frozen=True, slots=True)
class Into:
    """Steps whose target satisfies the label."""

    label: Bool


@dataclass(frozen=True, slots=True)
class From:
    """Steps whose source satisfies the label."""

    label: Bool


@dataclass(frozen=True, slots=True)
class Changing:
    """Steps whose change-set (the propositions that differ between source and target) is one of these masks."""

    changes: frozenset[int]


Step = Into | From | Changing


class SymbolicKripke:
    """Sets of states of a model, labelled by the propositions of one property."""

    def __init__(
        self,
        encoding: Encoding,
        propositions: Sequence[Expr] = (),
        *,
        deadlock: str = "stutter",
        fixpoint: str = "saturation",
    ) -> None:
        self.encoding = encoding
        self.true, self.false = encoding.true, encoding.false
        self.initial: Bdd = encoding.initial
        self.stutter = deadlock == "stutter"
        self.fixpoint = fixpoint
        self._expressions = tuple(propositions)
        self.propositions: list[Bdd] = [encoding.truth(p) for p in propositions]
        self._relations = encoding.relations
        self._operators: dict[object, Steps] = {}
        self._version = encoding.version
        self._labels: dict[Bool, Bdd] = {}
        self._dead_clusters: list[Bdd] | None = None
        self._difference_list: list[list[Bdd] | None] | None = None

    # -- labels --------------------------------------------------------------------------------------------------

    def label(self, expression: Bool) -> Bdd:
        """The states whose propositions satisfy the expression."""
        found = self._labels.get(expression)
        if found is None:
            found = self._labels[expression] = self._label(expression)
        return found

    def _label(self, expression: Bool) -> Bdd:
        match expression.op:
            case "true":
                return self.true
            case "false":
                return self.false
            case "prop":
                return self.propositions[expression.index]
            case "not":
                return ~self.label(expression.args[0])
            case "and":
                result = self.true
                for part in expression.args:
                    result = result & self.label(part)
                return result
            case "or":
                result = self.false
                for part in expression.args:
                    result = result | self.label(part)
                return result

    def letters(self) -> list[int]:
        """The valuations that some state may have, reachable or not, in order.

        Not only the encoded ones, where a step may leave the codes: what an automaton leaves out is never explored,
        so that nobody would notice. A proposition of a variable with more values than codes may be true and false
        wherever the static analysis does not exclude it.
        """
        encoded = {mask for mask, _ in self.split(self.true)}
        if not self.encoding.escapes:
            return sorted(encoded)
        settled = sum(
            1 << i for i, p in enumerate(self._expressions) if variables_of(p).isdisjoint(self.encoding.narrowed)
        )
        patterns = {mask & settled for mask in encoded}
        return [mask for mask in sorted(self._conceivable()) if mask in encoded or mask & settled in patterns]

    def _conceivable(self) -> list[int]:
        """The valuations that the static analysis does not exclude."""
        anywhere = self.encoding.static.variables.__getitem__
        found: list[tuple[int, dict[int, Interval]]] = [(0, {})]
        for i, p in enumerate(self._expressions):
            longer = []
            for mask, bounds in found:
                for bit in (0, 1):
                    narrower = dict(bounds)
                    if refine(narrower, p, anywhere, wanted=bool(bit)):
                        longer.append((mask | (bit << i), narrower))
            found = longer
        return [mask for mask, _ in found]

    def split(self, states: Bdd) -> list[tuple[int, Bdd]]:
        """A set, cut by valuation."""
        found = [(0, states)] if states != self.false else []
        for i, p in enumerate(self.propositions):
            found = [
                (mask | (bit << i), part)
                for mask, s in found
                for bit, part in ((0, s & ~p), (1, s & p))
                if part != self.false
            ]
        return sorted(found, key=lambda pair: pair[0])

    # -- one step ------------------------------------------------------------------------------------------------

    def dead(self, states: Bdd) -> Bdd:
        """The states of the set that have no step (a step that errs counts as one)."""
        if self._dead_clusters is None:
            self._dead_clusters = clusters(
                [~g for g in self.encoding.enabled], self.true, lambda a, b: a & b
            )
        for cluster in self._dead_clusters:
            states = states & cluster
            if states == self.false:
                break
        return states

    def _dead_loops(self, states: Bdd) -> Bdd:
        return self.dead(states) if self.stutter else self.false

    def post(self, states: Bdd) -> Bdd:
        """All successors."""
        self.encoding.check_codes(states)
        return self._all().image(states) | self._dead_loops(states)

    def pre(self, states: Bdd) -> Bdd:
        """All predecessors; among states that are never reached there may be meaningless ones."""
        return self._all().preimage(states) | self._dead_loops(states)

    def _all(self) -> Steps:
        return self._operator("all", lambda: self._relations)

    def _operator(self, key: object, relations: Callable[[], Sequence[Relation]]) -> Steps:
        """The operator of a list of relations, made once for each order of the variables."""
        if self._version != self.encoding.version:
            self._operators.clear()
            self._version = self.encoding.version
        found = self._operators.get(key)
        if found is None:
            found = self._operators[key] = steps_of(self.encoding, relations(), self.fixpoint)
        return found

    def successors(self, states: Bdd, step: Step) -> Bdd:
        """The targets of the steps of this kind from the set."""
        match step:
            case Into(label):
                return self.post(states) & self.label(label)
            case From(label):
                return self.post(states & self.label(label))
            case Changing(changes):
                self.encoding.check_codes(states)
                found = self._changing(changes).image(states)
                return found | self._dead_loops(states) if 0 in changes else found

    def predecessors(self, states: Bdd, step: Step, within: Bdd) -> Bdd:
        """The sources, in `within`, of the steps of this kind into the set."""
        match step:
            case Into(label):
                return self.pre(states & self.label(label)) & within
            case From(label):
                return self.pre(states) & self.label(label) & within
            case Changing(changes):
                found = self._changing(changes).preimage(states) & within
                return found | (self._dead_loops(states) & within) if 0 in changes else found

    # -- closures ------------------------------------------------------------------------------------------------

    def reachable(self) -> Bdd:
        """Every reachable state."""
        return self._close(self.initial, self._all)

    def explored(self, pauses: int) -> Bdd:
        """Some reachable states: all that are found before the order of the variables is changed so many times."""
        return self._close(self.initial, self._all, pauses)

    def closure(self, states: Bdd, step: Step | None) -> Bdd:
        """The least superset closed under the steps of this kind (None: no steps)."""
        match step:
            case None:
                return states
            case Into(label):
                return self._reach_into(states, label)
            case From(label):
                return self._reach_from(states, label)
            case Changing(changes):
                return self._close(states, lambda: self._changing(changes))

    def _reach_into(self, states: Bdd, label: Bool) -> Bdd:
        inside = self.label(label)
        start = states & inside
        if start != states:
            start = start | (self.post(states) & inside)
        return states | self._close(start, lambda: self._into(label))

    def _reach_from(self, states: Bdd, label: Bool) -> Bdd:
        """FReach(a, φ) = a ∪ L ∪ post(L) with L = ReachF(a ∩ φ, φ): events that leave φ fire once, at the end."""
        inside = self.label(label)
        closed = self._close(states & inside, lambda: self._into(label))
        return states | closed | self._leaving(label).image(closed)

    def _leaving(self, label: Bool) -> Steps:
        """The relations that write what the label speaks of."""

        def relations() -> list[Relation]:
            support = self._supports(label)
            return [r for r in self._relations if not r.variables.isdisjoint(support)]

        return self._operator(("leaving", label), relations)

    def _supports(self, label: Bool) -> frozenset[int]:
        return self.encoding.support(self.label(label))

    def _into(self, label: Bool) -> Steps:
        """The relations with the label on the target, for sources that satisfy it."""
        if label == TRUE:
            return self._all()

        def relations() -> list[Relation]:
            inside, support = self.label(label), self._supports(label)
            return [
                r if r.variables.isdisjoint(support) else replace(r, bdd=r.bdd & self._after(inside, r))
                for r in self._relations
            ]

        return self._operator(("into", label), lambda: self._possible(relations()))

    def _changing(self, changes: frozenset[int]) -> Steps:
        """The relations cut down to these change-sets."""

        def relations() -> list[Relation]:
            found = []
            for r, differences in zip(self._relations, self._differences(), strict=True):
                if differences is not None:
                    found.append(replace(r, bdd=r.bdd & self._allowed(changes, differences, 0, 0)))
                elif 0 in changes:
                    found.append(r)
            return found

        return self._operator(("changing", changes), lambda: self._possible(relations()))

    def _possible(self, relations: Iterable[Relation]) -> list[Relation]:
        return [r for r in relations if r.bdd != self.false]

    def _differences(self) -> list[list[Bdd] | None]:
        """For each relation and proposition p: p(x) ⊕ p(x'); None if it writes nothing that is observed."""
        if self._difference_list is None:
            supports = [self.encoding.support(p) for p in self.propositions]
            self._difference_list = []
            for r in self._relations:
                if all(r.variables.isdisjoint(s) for s in supports):
                    self._difference_list.append(None)
                else:
                    xor = self.encoding.arithmetic.xor
                    self._difference_list.append([xor(p, self._after(p, r)) for p in self.propositions])
        return self._difference_list

    def _allowed(self, changes: frozenset[int], differences: Sequence[Bdd], i: int, mask: int) -> Bdd:
        """Where the change-set is one of these, given that the first i propositions' changes are `mask`."""
        low_bits = (1 << i) - 1
        if not any(c & low_bits == mask for c in changes):
            return self.false
        if i == len(differences):
            return self.true
        changed = self._allowed(changes, differences, i + 1, mask | (1 << i))
        unchanged = self._allowed(changes, differences, i + 1, mask)
        return changed if changed == unchanged else self.encoding.bdd.ite(differences[i], changed, unchanged)

    def _after(self, states: Bdd, r: Relation) -> Bdd:
        """`states` after a step of r, over y where r writes and x elsewhere."""
        mentioned = self.encoding.bdd.support(states)
        renaming = {f"x{k}": self.encoding.y[k] for k in r.writes if f"x{k}" in mentioned}
        return self.encoding.bdd.let(renaming, states) if renaming else states

    def _close(self, states: Bdd, steps: Callable[[], Steps], pauses: int | None = None) -> Bdd:
        """The closure; or, if the order of the variables would have to change more often than that, a part of it."""
        if states == self.false:
            return states
        finished = False
        last = None if pauses is None else self.encoding.version + pauses
        while not finished and (last is None or self.encoding.version <= last):
            room = self.encoding.room()
            if room is None:
                states, finished = steps().closure(states), True
            else:
                states, finished = steps().closure_up_to(states, len(states) + room)
            self.encoding.check_codes(states)
        return states

    # -- cycles --------------------------------------------------------------------------------------------------

    def hull(self, states: Bdd, inside: Step | None, fair: Sequence[Step] = ()) -> Bdd:
        """The states of the set that fair cycles in it lead to, by steps `inside`.

        A cycle of steps `inside` is fair if it has a step of each kind in `fair`: special cases of `inside`, and of
        its class (of an `Into`, only itself). This is the greatest Z in which every state is reached from a step of
        each kind: empty if and only if there is no fair cycle in the set.
        """
        if inside is None or states == self.false:
            return self.false
        self.encoding.check_codes(states)
        self.encoding.room()
        steps = self._moves(inside)
        if not isinstance(inside, Changing):
            states = states & self.label(inside.label)  # where cycles are
        return steps.hull(states, [self._demand(step, inside, states) for step in fair or (inside,)])

    def _moves(self, step: Step) -> Steps:
        """The steps of a kind; of those from or into a label, the ones from states that satisfy it into others."""
        return self._changing(step.changes) if isinstance(step, Changing) else self._into(step.label)

    def _demand(self, step: Step, inside: Step, states: Bdd) -> Demand:
        loops = self._resting(states, step)
        if step == inside or isinstance(step, Changing):
            return self._moves(step), self.true, loops
        if type(step) is not type(inside) or isinstance(step, Into):
            raise ValueError(f"{step} is no special case of {inside}")
        sources = self.label(step.label)
        return self._moves(inside), self.true if states & ~sources == self.false else sources, loops

    def _resting(self, states: Bdd, step: Step) -> Bdd:
        """The dead states of the set whose loop is a step of this kind."""
        match step:
            case Changing(changes):
                return self._dead_loops(states) if 0 in changes else self.false
            case From(label) | Into(label):
                return self._dead_loops(states & self.label(label))

    def resting(self, states: Bdd, fair: Sequence[Step]) -> Bdd:
        """The dead states of the set whose loops alone are fair cycles."""
        for step in fair:
            states = self._resting(states, step)
        return states

    def has_fair_cycle(self, states: Bdd, inside: Step | None, fair: Sequence[Step] = ()) -> bool:
        """Whether the set has a cycle of steps `inside`, with a step of each kind in `fair`."""
        if inside is None:
            return False
        if self.resting(states, fair or (inside,)) != self.false:
            return True
        return bool(self.hull(states, inside, fair) != self.false)

    # -- states --------------------------------------------------------------------------------------------------

    def some_state(self, states: Bdd) -> State:
        """A state of a set that is not empty."""
        return self.encoding.some_state(states)

    def cube(self, state: State) -> Bdd:
        """The set of just this state."""
        return self.encoding.cube(state)

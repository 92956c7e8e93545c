"""From a model and a property to a verdict: the pipeline, and the table of products.

A step that errs (an index out of range, a division by zero) does not exist. A violation whose run replays without error
is a violation; before `holds` is said, no error of the model may be reachable. So all products say the same, although
each sees another part of the states.
"""

from __future__ import annotations

import builtins
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import import_module
from typing import Any, Literal, TypeVar

from aggmc.boolean import Bool
from aggmc.emptiness.ascc import Effort, search
from aggmc.errors import InputError, InternalError, Location, ModelError, UnsupportedError
from aggmc.ltl.automata import Tgba, Tgta
from aggmc.ltl.formula import Atom, Parsed, parse
from aggmc.ltl.translate import TGTA_PROPOSITION_LIMIT, Property, prepare
from aggmc.model.core import Assertion, Interpreter, Model, Proposition, State, Warned, reachable
from aggmc.model.expr import FALSE, Expr, const, make
from aggmc.model.ranges import Ranges, infer, refine
from aggmc.products.explicit import ExplicitKripke, ExplicitTgba, ExplicitTgta
from aggmc.products.slap import Settle, slap, slap_tgta
from aggmc.products.sog import Sog, SogTgta
from aggmc.symbolic.domains import Escaped, Guess
from aggmc.symbolic.encode import Encoding
from aggmc.symbolic.kripke import SymbolicKripke
from aggmc.trace.aggregates import AggregateGraph, Recorder, Walk, collect
from aggmc.trace.lasso import Lasso, aggregate_lasso, explicit_lasso, finite_run
from aggmc.trace.shorten import Arena, Shortened, shorten
from aggmc.trace.spaces import ExplicitSpace, Space, SymbolicSpace
from aggmc.trace.trace import Trace, replay

Deadlock = Literal["stutter", "ignore", "error"]
Fixpoint = Literal["saturation", "chaining"]
Absorb = Literal["all", "covered"]
DEADLOCKS: tuple[str, ...] = ("stutter", "ignore", "error")
FIXPOINTS: tuple[str, ...] = ("saturation", "chaining")
#: how much is done for a shorter counterexample: the effort over decision diagrams, and over single states
SHORTENING = {"none": (0, 0), "bounded": (400_000, 20_000), "shortest": (400_000_000, 5_000_000)}
_LATE = 2  # changes of the order of the variables: much was done in vain if a value without a code is met after them
_SHORTENING_STATES = 4000  # and twice what the search has seen: then bounded shortening ends
ABSORPTIONS: tuple[str, ...] = ("all", "covered")
Tick = Callable[[str], None]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Method:
    """A product: which properties it takes, which automaton it reads, and how it is built."""

    help: str
    build: Callable[..., Any]  # from a Kripke structure and an automaton
    change_sets: bool = False  # reads an automaton over change-sets
    explicit: bool = False  # over single states
    stutter_invariant_only: bool = False
    self_loops: bool = False  # `build` takes `absorb`


def _slap(help: str, settle: Settle) -> Method:
    return Method(help, partial(slap, settle=settle), self_loops=True)


def _slap_tgta(help: str, settle: Settle) -> Method:
    return Method(help, partial(slap_tgta, settle=settle), change_sets=True, self_loops=True)


METHODS: dict[str, Method] = {
    "slap": _slap("self-loop aggregation with a TGBA", Settle.NONE),
    "slap-fst": _slap("slap, terminal states settled at once", Settle.FST),
    "slap-fsa": _slap("slap, accepting self-loops settled at once", Settle.FSA),
    "slap-plus": _slap("slap-fsa, self-loops of lone states never followed", Settle.PLUS),
    "slap-tgta": _slap_tgta("self-loop aggregation with a testing automaton", Settle.NONE),
    "slap-fst-tgta": _slap_tgta("slap-fst with a testing automaton", Settle.FST),
    "slap-fsa-tgta": _slap_tgta("slap-fsa with a testing automaton", Settle.FSA),
    "slap-plus-tgta": _slap_tgta("slap-plus with a testing automaton", Settle.PLUS),
    "sog": Method("symbolic observation graph with a TGBA", Sog, stutter_invariant_only=True),
    "sog-tgta": Method(
        "symbolic observation graph with a testing automaton", SogTgta, change_sets=True, stutter_invariant_only=True
    ),
    "tgba": Method("state by state with a TGBA", ExplicitTgba, explicit=True),
    "tgta": Method("state by state with a testing automaton", ExplicitTgta, change_sets=True, explicit=True),
}
PRODUCTS = ("auto", *METHODS)


@dataclass(frozen=True, slots=True)
class Options:
    """What holds for all properties of a run."""

    deadlock: str = "stutter"
    fixpoint: str = "saturation"
    reordering: bool | None = None  # of the variables of the diagrams; None: where the engine is native
    trace: bool = True
    shorten: str = "bounded"
    graph: int = 0  # the most nodes of the explored graph that are wanted, as data
    order: str | tuple[str, ...] = "auto"  # of the variables: a way to find one, or their names
    max_memory: int | None = None  # bytes that the decision diagrams may take
    absorb: str = "all"

    def __post_init__(self) -> None:
        _one_of("deadlock", self.deadlock, DEADLOCKS)
        _one_of("fixpoint", self.fixpoint, FIXPOINTS)
        _one_of("shorten", self.shorten, tuple(SHORTENING))
        _one_of("absorb", self.absorb, ABSORPTIONS)


def _one_of(what: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise InputError(f"{what} `{value}` is not known: it is one of {', '.join(known)}")


@dataclass(frozen=True, slots=True)
class Stats:
    """How a verdict was reached; None where it does not apply."""

    automaton_states: int | None = None
    automaton_class: str | None = None
    stutter_invariant: bool | None = None
    aggregates: int | None = None  # nodes of the product (single states if it is explicit)
    edges: int | None = None
    bdd_nodes: int | None = None
    found_steps: int | None = None  # of the run as it was found
    shortest: bool | None = None  # the run that is shown is known to have the least number of steps

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON format."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to one question about a model."""

    kind: Literal["ltl", "assert", "deadlock"]
    name: str | None
    property: str | None
    verdict: Literal["holds", "violated", "unknown"]
    deadlock: str
    product: str | None = None
    reason: str | None = None  # why it is unknown
    seconds: float = 0.0
    trace_seconds: float | None = None  # of the processor: finding the run in the product, shortening, replaying
    stats: Stats = field(default_factory=Stats)
    trace: Trace | None = None
    graph: AggregateGraph | None = None
    model: str = ""  # where it was read from, its language and its text: for reports
    language: str = ""
    source: str = field(default="", repr=False)

    def to_html(self) -> str:
        """A page for a browser: the verdict and, if there is one, the run, to step through."""
        return str(import_module("aggmc.html.notebook").verdict_page(self))

    def _repr_html_(self) -> str:
        return str(import_module("aggmc.html.notebook").verdict_cell(self))

    @builtins.property  # the plain name is a field here
    def holds(self) -> bool:
        """Whether the property was shown to hold."""
        return self.verdict == "holds"

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON format."""
        result: dict[str, Any] = {
            "kind": self.kind,
            "name": self.name,
            "property": self.property,
            "verdict": self.verdict,
            "product": self.product,
            "deadlock": self.deadlock,
            "seconds": round(self.seconds, 4),
            "stats": self.stats.to_dict(),
        }
        if self.reason is not None:
            result["reason"] = self.reason
        if self.trace is not None:
            result["trace"] = self.trace.to_dict()
        return result


@dataclass(frozen=True, slots=True)
class Question:
    """An LTL property of a model: read, and its propositions looked up."""

    parsed: Parsed
    atoms: tuple[Proposition, ...]
    name: str | None = None
    warnings: tuple[Warned, ...] = ()


def ask(model: Model, formula: str, *, name: str | None = None, where: Location | None = None) -> Question:
    """Read a formula and look up its propositions; raises InputError, with a column of the formula."""
    return understand(model, parse(formula, where), name=name)


def understand(model: Model, parsed: Parsed, *, name: str | None = None) -> Question:
    """Look up the propositions of a property that was read; raises InputError, with its place."""
    atoms: list[Proposition] = []
    warnings: list[Warned] = []
    for atom in parsed.atoms:
        _refuse_glued(model, parsed, atom)
        try:
            meaning, warned = model.frontend.proposition(atom.text, quoted=atom.quoted)
        except InputError as error:
            if atom.glued:
                error = type(error)(f"{error.message}; {_split(atom, atom.glued[0][0])}", error.location)
            raise _in_formula(error, parsed, atom) from None
        atoms.append(meaning)
        warnings += [Warned(w.message, _moved(w.location, parsed, atom)) for w in warned]
    refuse_compared(parsed)
    return Question(parsed, tuple(atoms), name, tuple(warnings))


def refuse_compared(parsed: Parsed) -> None:
    """Refuse `x=1`, which is read as x."""
    for atom in parsed.atoms:
        if atom.compared:
            spelled = f'"{atom.text} == …"'
            place = parsed.location(atom.line, atom.column)
            raise InputError(f"`=` after an unquoted proposition: write the comparison in quotes, {spelled}", place)


def _refuse_glued(model: Model, parsed: Parsed, atom: Atom) -> None:
    """Refuse `Foo.b` where the model has a Foo.b: it is read as F oo.b, which may be a proposition, too."""
    for word, line, column in atom.glued:
        try:
            model.frontend.proposition(word, quoted=False)
        except InputError:
            continue
        raise InputError(_split(atom, word), parsed.location(line, column))


def _split(atom: Atom, word: str) -> str:
    operators = " ".join(word[: -len(atom.text)])
    return f'`{word}` is read as {operators} {atom.text}: write "{word}" in quotes, or a space after the operator'


def _moved(location: Location | None, parsed: Parsed, atom: Atom) -> Location:
    inner = (location.column or 1) - 1 if location is not None and (location.line or 1) == 1 else 0
    return parsed.location(atom.line, atom.column + inner)


def _in_formula(error: InputError, parsed: Parsed, atom: Atom) -> InputError:
    return type(error)(error.message, _moved(error.location, parsed, atom))


def _with_trace(error: ModelError, trace: Trace | None) -> ModelError:
    """Raised without a name: an exception and the frame that names it are a cycle, which keeps BDDs alive."""
    error.trace = trace
    return error


class Checker:
    """Answers questions about one model; the encoding and the reachable states are computed once."""

    def __init__(self, model: Model, options: Options | None = None, tick: Tick | None = None) -> None:
        self.model = model
        self.options = options or Options()
        self.effort = Effort()  # of the search that is going on, or was the last one
        self._tick = tick
        self._learned: Sequence[str] | None = None  # the order of the variables that work in vain has found
        self._errors_checked = False
        self._searched = 0.0
        self._recorder: Recorder | None = None

    @cached_property
    def interpreter(self) -> Interpreter:
        """The model's interpreter."""
        return self.model.frontend.interpreter()

    @cached_property
    def ranges(self) -> Ranges:
        """The values that the static analysis leaves possible."""
        return infer(self.model)

    @cached_property
    def _guess(self) -> Guess:
        return Guess(self.model, self.ranges.variables)

    @cached_property
    def encoding(self) -> Encoding:
        """The model as BDDs."""
        self._say("encoding the model")
        return Encoding(
            self.model,
            ranges=self.ranges,
            domains=self._guess.domains(),
            max_memory=self.options.max_memory,
            reordering=self.options.reordering if self._learned is None else True,
            order=self.options.order if self._learned is None else self._learned,
        )

    def _settled(self, work: Callable[[], Result]) -> Result:
        """Do some work on the encoding; again, with wider domains, whenever a value without a code is met."""
        while True:
            try:
                return work()
            except Escaped as escaped:
                late = self.encoding.version >= _LATE
                self._widen(escaped)
            if late:
                self._meet_escapes()

    def _widen(self, escaped: Escaped) -> None:
        self._guess.widen(escaped)
        if self.encoding.version:
            self._learned = self.encoding.current_order()
        for name in ("encoding", "kripke", "reachable"):
            self.__dict__.pop(name, None)

    def _meet_escapes(self) -> None:
        """Look for further values without codes where that is cheap, before a long search begins anew."""
        while True:
            try:
                self.kripke.explored(_LATE)
                return
            except Escaped as escaped:
                self._widen(escaped)

    def bdd_nodes(self) -> int | None:
        """How many nodes of decision diagrams are in memory; None if there is no encoding yet."""
        encoding = self.__dict__.get("encoding")
        return encoding.nodes() if encoding is not None else None

    @cached_property
    def kripke(self) -> SymbolicKripke:
        """The model as a structure without propositions."""
        return self._kripke(())

    @cached_property
    def reachable(self) -> Any:
        """The set of reachable states, in the encoding that is there *afterwards*."""
        self._say("computing the reachable states")
        return self._settled(lambda: self.kripke.reachable())

    def _say(self, message: str) -> None:
        if self._tick is not None:
            self._tick(message)

    def _kripke(self, propositions: Sequence[Expr]) -> SymbolicKripke:
        return SymbolicKripke(
            self.encoding, propositions, deadlock=self._semantics, fixpoint=self.options.fixpoint
        )

    @property
    def _semantics(self) -> str:
        """Under `error` a deadlock is reported for itself, and LTL speaks of infinite runs only."""
        return "stutter" if self.options.deadlock == "stutter" else "ignore"

    # -- errors of the model -------------------------------------------------------------------------------------

    def check_errors(self, *, explicit: bool = False) -> None:
        """Raise the ModelError of a reachable error, if there is one; its `trace` leads there."""
        self._settled(lambda: self._check_errors(explicit))

    @cached_property
    def _may_err(self) -> bool:
        """Whether the static analysis cannot exclude that an event errs."""
        ranges = self.ranges
        return any(
            event.error != FALSE
            and ranges.before_guard[i] is not None
            and refine({}, event.error, ranges.environment_before(i))
            for i, event in enumerate(self.model.events)
        )

    def _check_errors(self, explicit: bool) -> None:
        if self._errors_checked or not self._may_err:
            return
        if explicit:
            self._say("looking for errors of the model")
            for state in reachable(self.interpreter):
                self.interpreter.check_errors(state)
        else:
            reachable_states = self.reachable  # first: it settles the encoding
            wrong = self.encoding.false
            for _, states in self.encoding.errors:
                wrong = wrong | states
            found = reachable_states & wrong
            if found != self.encoding.false:
                self._raise_error(found, lambda state: self.interpreter.check_errors(state))
        self._errors_checked = True

    def _raise_error(self, found: Any, evaluate: Callable[[State], object]) -> None:
        run = finite_run(self.kripke, self.reachable, found)
        trace = replay(self.model, self.interpreter, run)
        try:
            evaluate(run.states[-1])
        except ModelError as error:
            error.trace = trace
            raise
        raise InternalError("the encoding and the interpreter disagree on an error of the model")

    def _check_propositions(self, question: Question, *, explicit: bool) -> None:
        """A proposition that errs in a reachable state has no value there."""
        anywhere = self.ranges.variables.__getitem__
        erring = [(i, a) for i, a in enumerate(question.atoms) if a.error != FALSE and refine({}, a.error, anywhere)]
        for i, atom in erring:
            text = question.parsed.atoms[i].text
            try:
                if explicit:
                    for state in reachable(self.interpreter):
                        self.interpreter.holds(text, state)
                else:
                    reachable_states = self.reachable
                    found = self.encoding.truth(atom.error) & reachable_states
                    if found != self.encoding.false:
                        self._raise_error(found, lambda state, text=text: self.interpreter.holds(text, state))  # type: ignore[misc]
            except ModelError as error:
                where = _moved(error.location, question.parsed, question.parsed.atoms[i])
                raise _with_trace(ModelError(error.message, where), error.trace) from None

    # -- LTL -----------------------------------------------------------------------------------------------------

    def ltl(self, question: Question, product: str = "auto") -> Verdict:
        """The verdict on an LTL property."""
        started = time.perf_counter()
        return self._settled(lambda: self._ltl(question, product, started))

    def _ltl(self, question: Question, product: str, started: float) -> Verdict:
        _one_of("product", product, PRODUCTS)
        self._say("translating the property")
        prop = prepare(question.parsed)
        if product == "auto":
            product = choose(prop)
        method = METHODS[product]
        refuse(prop, product)
        self._check_propositions(question, explicit=method.explicit)
        effort = self.effort = Effort()
        lasso, automaton = (self._explicit if method.explicit else self._symbolic)(prop, question, method, effort)
        trace = None
        shortest = None
        if lasso is None:
            self.check_errors(explicit=method.explicit)
        else:
            trace, shortest = self._witness(prop, question, method, lasso)
        trace_seconds = None if lasso is None else time.process_time() - self._searched
        graph = self._graph(prop, question, method, product, trace)
        stats = Stats(
            automaton_states=automaton.states,
            automaton_class=automaton.automaton_class,
            stutter_invariant=prop.stutter_invariant,
            aggregates=effort.nodes,
            edges=effort.edges,
            bdd_nodes=None if method.explicit else self.encoding.nodes(),
            found_steps=None if lasso is None else len(lasso.states),
            shortest=shortest,
        )
        return Verdict(
            kind="ltl",
            name=question.name,
            property=question.parsed.text,
            verdict="holds" if lasso is None else "violated",
            deadlock=self.options.deadlock,
            product=product,
            trace_seconds=trace_seconds,
            graph=graph,
            **self._origin(),
            seconds=time.perf_counter() - started,
            stats=stats,
            trace=trace if self.options.trace else None,
        )

    def _origin(self) -> dict[str, Any]:
        model = self.model
        return {"model": model.path or model.name, "language": model.language, "source": model.source}

    def _progress(self, effort: Effort) -> None:
        if self._tick is not None:
            self._tick(f"searching: {effort.nodes} nodes, {effort.edges} edges")

    def _symbolic(
        self, prop: Property, question: Question, method: Method, effort: Effort
    ) -> tuple[Lasso | None, Tgba | Tgta]:
        kripke = self._kripke([_expression(p, question.atoms) for p in prop.propositions])
        automaton = _automaton(prop, method, kripke.letters() if method.change_sets else None)
        settings = {"absorb": self.options.absorb} if method.self_loops else {}
        product = self._recorded(method.build(kripke, automaton, **settings))
        run = search(product, effort, self._progress)
        self._searched = time.process_time()
        if run is None:
            return None, automaton
        self._say("extracting a counterexample")
        return aggregate_lasso(product, run, kripke), automaton

    def _explicit_kripke(self, prop: Property) -> ExplicitKripke:
        holds = self.interpreter.holds
        texts = [atom.text for atom in prop.atoms]
        known: dict[int, int] = {}
        cache: dict[State, int] = {}

        def valuation(state: State) -> int:
            found = cache.get(state)
            if found is None:
                atoms = 0
                for i, text in enumerate(texts):
                    if holds(text, state):
                        atoms |= 1 << i
                if atoms not in known:
                    known[atoms] = prop.valuation(atoms)
                found = cache[state] = known[atoms]
            return found

        return ExplicitKripke(self.interpreter, valuation, stutter=self._semantics == "stutter")

    def _recorded(self, product: Any) -> Any:
        if not self.options.graph:
            return product
        self._recorder = Recorder(product)
        return self._recorder

    def _graph(
        self, prop: Property, question: Question, method: Method, product: str, trace: Trace | None
    ) -> AggregateGraph | None:
        if self._recorder is None:
            return None
        self._say("describing the graph")
        explicit = self._explicit_kripke(prop)
        kripke = None if method.explicit else self._kripke([_expression(p, question.atoms) for p in prop.propositions])
        walk = None
        if trace is not None:
            states = [self.model.read_state(state) for state in trace.states]
            walk = Walk(states, [explicit.valuation(s) for s in states], len(trace.prefix))
        return collect(
            self._recorder,
            product=product,
            formula=prop.text,
            names=prop.proposition_names,
            kripke=kripke,
            valuation=explicit.valuation,
            walk=walk,
            most=self.options.graph,
        )

    def _witness(self, prop: Property, question: Question, method: Method, lasso: Lasso) -> tuple[Trace, bool]:
        """The run to show, replayed; and whether it is known to be the shortest."""
        stutter = self._semantics == "stutter"
        self._say("replaying the counterexample")
        trace = replay(self.model, self.interpreter, lasso, prop, stutter=stutter)
        if self.options.shorten == "none":
            return trace, False
        # not before it was replayed: from a wrong run, a right one might be made
        self._say("shortening the counterexample")
        shortened = self._shortened(prop, question, method, lasso)
        if shortened.lasso != lasso:
            trace = replay(self.model, self.interpreter, shortened.lasso, prop, stutter=stutter)
        return trace, shortened.shortest

    def _shortened(self, prop: Property, question: Question, method: Method, lasso: Lasso) -> Shortened:
        explicit = self._explicit_kripke(prop)
        diagrams, states = SHORTENING[self.options.shorten]
        if self.options.shorten == "bounded":  # in proportion to the check: some models' steps are costly
            states = min(states, _SHORTENING_STATES + 2 * self.effort.nodes)
        space: Space
        if method.explicit:
            space = ExplicitSpace(explicit.initial(), explicit.successors, explicit.valuation, states)
        else:
            kripke = self._kripke([_expression(p, question.atoms) for p in prop.propositions])
            space = SymbolicSpace(kripke, diagrams)
        arena = Arena(prop.tgba, explicit.valuation, explicit.successors)
        return shorten(lasso, arena, space, exact=self.options.shorten == "shortest")

    def _explicit(
        self, prop: Property, question: Question, method: Method, effort: Effort
    ) -> tuple[Lasso | None, Tgba | Tgta]:
        kripke = self._explicit_kripke(prop)
        automaton = _automaton(prop, method, None)
        product = self._recorded(method.build(kripke, automaton))
        run = search(product, effort, self._progress)
        self._searched = time.process_time()
        return (explicit_lasso(product, run) if run is not None else None), automaton

    # -- states --------------------------------------------------------------------------------------------------

    def assertions(self) -> list[Verdict]:
        """One verdict for each assert of the model."""
        return [self.assertion(a) for a in self.model.assertions]

    def assertion(self, a: Assertion) -> Verdict:
        """Whether an assert of the model holds in every reachable state."""
        started = time.perf_counter()
        reachable = self.reachable
        wrong = self.encoding.truth(a.error)
        failing = reachable & ~self.encoding.truth(a.holds) & ~wrong
        if failing == self.encoding.false and (wrong := wrong & reachable) != self.encoding.false:
            trace = replay(self.model, self.interpreter, finite_run(self.kripke, reachable, wrong))
            raise _with_trace(ModelError(f"the assertion `{a.text}` errs in a reachable state", a.location), trace)
        return self._state_verdict("assert", a.name, a.text, failing, started)

    def deadlocks(self) -> Verdict:
        """Whether a state without a step is reachable."""
        started = time.perf_counter()
        reachable = self.reachable  # first: it settles the encoding
        return self._state_verdict("deadlock", None, None, self.kripke.dead(reachable), started)

    def _state_verdict(
        self, kind: Literal["assert", "deadlock"], name: str | None, text: str | None, bad: Any, started: float
    ) -> Verdict:
        trace = None
        if bad == self.encoding.false:
            self.check_errors()
        else:
            lasso = finite_run(self.kripke, self.reachable, bad)
            trace = replay(self.model, self.interpreter, lasso)
            if kind == "deadlock" and not self.interpreter.is_dead(lasso.states[-1]):
                raise InternalError("the encoding and the interpreter disagree on a deadlock")
        return Verdict(
            kind=kind,
            name=name,
            property=text,
            verdict="holds" if trace is None else "violated",
            deadlock=self.options.deadlock,
            seconds=time.perf_counter() - started,
            stats=Stats(bdd_nodes=self.encoding.nodes()),
            trace=trace if self.options.trace else None,
            **self._origin(),
        )


def _expression(p: Bool, atoms: Sequence[Proposition]) -> Expr:
    match p.op:
        case "true":
            return const(1)
        case "false":
            return const(0)
        case "prop":
            return atoms[p.index].holds
        case _:
            return make(p.op, *(_expression(a, atoms) for a in p.args))


def _automaton(prop: Property, method: Method, letters: Sequence[int] | None) -> Tgba | Tgta:
    if not method.change_sets:
        return prop.tgba
    return prop.tgta(letters) if prop.stutter_invariant else prop.change_set_automaton(letters)


def choose(prop: Property) -> str:
    """The rule of `auto`: slap-tgta, or slap where change-sets would be too many."""
    return "slap" if len(prop.propositions) > TGTA_PROPOSITION_LIMIT else "slap-tgta"


def refuse(prop: Property, product: str) -> None:
    """Raise UnsupportedError if the product does not take the property, naming those that do."""
    if takes(prop, product):
        return
    others = ", ".join(name for name in METHODS if takes(prop, name))
    if METHODS[product].stutter_invariant_only and not prop.stutter_invariant:
        reason = f"the property is not stutter-invariant, as the product {product} needs: {prop.text}"
    else:
        reason = (
            f"the property observes {len(prop.propositions)} propositions, and the product {product} "
            f"takes at most {TGTA_PROPOSITION_LIMIT}"
        )
    raise UnsupportedError(f"{reason}; use one of {others}")


def takes(prop: Property, product: str) -> bool:
    """Whether a product can answer for a property."""
    method = METHODS[product]
    if method.stutter_invariant_only and not prop.stutter_invariant:
        return False
    return not method.change_sets or len(prop.propositions) <= TGTA_PROPOSITION_LIMIT


def check(
    model: Model,
    formula: str,
    product: str = "auto",
    *,
    deadlock: Deadlock = "stutter",
    fixpoint: Fixpoint = "saturation",
    absorb: Absorb = "all",
    reordering: bool | None = None,
    trace: bool = True,
    shorten: str = "bounded",
    graph: int = 0,
) -> Verdict:
    """Check an LTL property of a model.

    The verdict is `holds` or `violated`; a violation comes with a `trace` that has been replayed. Raises
    `aggmc.InputError` if the formula cannot be read or the product does not take it, `aggmc.ModelError` if the model
    errs. `aggmc.PRODUCTS` are the products. `shorten` is `none`, `bounded` or `shortest`; with `graph=n`, the verdict
    has at most n nodes of the explored graph as `graph`.
    """
    options = Options(deadlock, fixpoint, reordering, trace, shorten=shorten, graph=graph, absorb=absorb)
    return Checker(model, options).ltl(ask(model, formula), product)


def automaton(formula: str, *, change_sets: bool = False) -> Tgba | Tgta:
    """The automaton of a formula's negation, which accepts the runs that violate the formula.

    With `change_sets` a testing automaton, or, if the formula is not stutter-invariant, a plain change-set automaton.
    """
    prop = prepare(parse(formula))
    if not change_sets:
        return prop.tgba
    return prop.tgta() if prop.stutter_invariant else prop.change_set_automaton()

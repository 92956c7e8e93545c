"""The explicit interpreter of DVE: it runs the resolved syntax tree, so that it is a check on the lowering.

For every process and location a Python function is generated, when it is first needed, that appends the steps whose
first transition leaves that location. Actions are numbered by their first transition, so calling these functions
process by process gives the steps in order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from aggmc.errors import ModelError
from aggmc.model.core import State
from aggmc.model.dve.ast import Source
from aggmc.model.dve.codegen import NAMESPACE, Coder, Fault
from aggmc.model.dve.program import Action, Node, Program, Transition

Steps = list[tuple[int, State]]
Faults = list[Fault]
#: Appends the steps from a state, and the errors of those that err.
StepFunction = Callable[[State, Steps, Faults], None]
#: For every process: its location variable, and for every location the function or None.
Dispatch = list[tuple[int, list[StepFunction | None]]]


class DveInterpreter:
    """Runs a program one state at a time (a `core.Interpreter`)."""

    def __init__(self, program: Program, resolve: Callable[[str], Node]) -> None:
        """`resolve` reads a proposition."""
        self.program = program
        self._resolve = resolve
        self._coder = Coder(program.variables, tuple(p.variable for p in program.processes))
        self._committed = [(p.variable, p.committed) for _, p in program.committed_processes]
        self._propositions: dict[str, Callable[[State], bool]] = {}
        self._normal: Dispatch = []
        self._urgent: Dispatch = []  # only what leaves committed locations
        self._sync: _SyncStepper | None = None
        if program.is_sync:
            self._sync = _SyncStepper(program, self._coder)
        else:
            self._normal = self._dispatch(list(enumerate(program.actions)))
            self._urgent = self._dispatch(
                [(i, a) for i, a in enumerate(program.actions) if program.is_committed(a.transitions[0])]
            )

    def initial_states(self) -> list[State]:
        """The initial state."""
        return [self.program.initial]

    def successors(self, state: State) -> Steps:
        """(action number, next state) for every step without an error, in the order of the actions."""
        steps: Steps = []
        self._run(state, steps, [])
        return steps

    def is_dead(self, state: State) -> bool:
        """No step leaves the state, not even one that errs."""
        steps: Steps = []
        faults: Faults = []
        self._run(state, steps, faults)
        return not steps and not faults

    def check_errors(self, state: State) -> None:
        """Raise the ModelError of the first step from this state that errs, if one does."""
        faults: Faults = []
        self._run(state, [], faults)
        if faults:
            raise self._model_error(faults[0], self._coder, self.program.source)

    def holds(self, proposition: str, state: State) -> bool:
        """The value of a proposition; raises ModelError if it errs."""
        test = self._propositions.get(proposition)
        if test is None:
            test = self._propositions[proposition] = self._compile_proposition(proposition)
        return test(state)

    def _run(self, state: State, steps: Steps, faults: Faults) -> None:
        if self._sync is not None:
            self._sync.run(state, steps, faults)
            return
        dispatch = self._normal
        for variable, committed in self._committed:
            if state[variable] in committed:
                dispatch = self._urgent
                break
        for variable, functions in dispatch:
            function = functions[state[variable]]
            if function is not None:
                function(state, steps, faults)

    def _model_error(self, fault: Fault, coder: Coder, source: Source) -> ModelError:
        site = coder.sites[fault.site]
        return ModelError(f"error of the model: {site.message.format(fault.value)}", source.location(site.at))

    def _compile_proposition(self, text: str) -> Callable[[State], bool]:
        bare = text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text
        coder = Coder(self.program.variables, ())
        code = coder.test(self._resolve(bare), "s")
        test = cast("Callable[[State], object]", define(f"def test(s):\n return {code}", "test"))
        source = Source.of(bare, None)

        def holds(state: State) -> bool:
            try:
                return bool(test(state))
            except Fault as fault:
                raise self._model_error(fault, coder, source) from None

        return holds

    # -- generated step functions

    def _dispatch(self, actions: list[tuple[int, Action]]) -> Dispatch:
        grouped: dict[tuple[int, int], list[tuple[int, Action]]] = {}
        for number, action in actions:
            first = action.transitions[0]
            grouped.setdefault((first.process, first.source), []).append((number, action))
        dispatch: Dispatch = []
        for number, process in enumerate(self.program.processes):
            functions: list[StepFunction | None] = [None] * len(process.locations)
            for location in range(len(functions)):
                if (number, location) in grouped:
                    functions[location] = self._stub(grouped[number, location], functions, location)
            if any(functions):
                dispatch.append((process.variable, functions))
        return dispatch

    def _stub(
        self, actions: list[tuple[int, Action]], functions: list[StepFunction | None], location: int
    ) -> StepFunction:
        """A step function that on its first call puts the compiled one into its place."""

        def compile_first(state: State, steps: Steps, faults: Faults) -> None:
            functions[location] = compiled = self._compile(actions)
            compiled(state, steps, faults)

        return compile_first

    def _compile(self, actions: list[tuple[int, Action]]) -> StepFunction:
        lines = ["def step(s, steps, faults):"]
        previous: Transition | None = None
        shared = False  # the tests of the first transition are made once for all its rendezvous
        for number, action in actions:
            first = action.transitions[0]
            if first is not previous:
                previous = first
                sites = len(self._coder.sites)
                tests = self._coder.guards(first)
                shared = action.rendezvous and len(self._coder.sites) == sites
                if shared:
                    lines.append(f" if {' and '.join(tests) or 'True'}:")
            lines += self._action_lines(number, action, 2 if shared else 1, guard_first=not shared)
        return cast(StepFunction, define("\n".join(lines), "step"))

    def _action_lines(self, number: int, action: Action, indent: int, *, guard_first: bool) -> list[str]:
        coder = self._coder
        sites = len(coder.sites)
        first = action.transitions[0]
        tests: list[str] = []
        if action.rendezvous:
            receiver = action.transitions[1]
            tests.append(f"s[{self.program.processes[receiver.process].variable}] == {receiver.source}")
            if guard_first:
                tests += coder.guards(first)
            tests += coder.guards(receiver)
        else:
            tests += coder.guards(first)
            tests += coder.channel_test(first)
        body = [*coder.step(action), f"steps.append(({number}, tuple(n)))"]
        lines = [f"if {' and '.join(tests)}:", *(" " + line for line in body)] if tests else body
        if len(coder.sites) > sites:
            caught = ["except Fault as caught:", " faults.append(caught.with_traceback(None))"]
            lines = ["try:", *(" " + line for line in lines), *caught]
        return [" " * indent + line for line in lines]


class _SyncStepper:
    """The steps of a synchronous system: one transition of every process, guards on the old state."""

    def __init__(self, program: Program, coder: Coder) -> None:
        self._processes = []
        radix = len(program.actions)
        for process in program.processes:
            # action number = sum of (number of the transition in its process) * weight, first process heaviest
            radix //= max(1, len(process.transitions))
            choices: list[list[_Choice]] = [[] for _ in process.locations]
            for number, t in enumerate(process.transitions):
                choices[t.source].append(_Choice(t, number * radix, process.variable, coder))
            self._processes.append((process.variable, choices))

    def run(self, state: State, steps: Steps, faults: Faults) -> None:
        """Append the steps and errors from a state."""
        levels: list[list[tuple[_Choice, bool, Fault | None]]] = []
        for variable, choices in self._processes:
            level = [(choice, *choice.test(state)) for choice in choices[state[variable]]]
            if not level:
                return
            levels.append(level)
        self._combine(state, levels, [], steps, faults)

    def _combine(
        self,
        state: State,
        levels: list[list[tuple[_Choice, bool, Fault | None]]],
        chosen: list[_Choice],
        steps: Steps,
        faults: Faults,
    ) -> None:
        if len(chosen) == len(levels):
            new = list(state)
            try:
                for choice in chosen:
                    new[choice.variable] = choice.target
                for choice in chosen:
                    choice.effects(new)
            except Fault as fault:
                faults.append(fault.with_traceback(None))
            else:
                steps.append((sum(choice.weight for choice in chosen), tuple(new)))
            return
        for choice, enabled, guard_fault in levels[len(chosen)]:
            if guard_fault is not None:
                faults.append(guard_fault)
            elif enabled:
                self._combine(state, levels, [*chosen, choice], steps, faults)


class _Choice:
    """A transition of a synchronous system, compiled."""

    def __init__(self, t: Transition, weight: int, variable: int, coder: Coder) -> None:
        self.weight = weight
        self.variable = variable
        self.target = t.target
        guard = " and ".join(coder.guards(t)) or "True"
        self._guard = cast("Callable[[State], object]", define(f"def guard(s):\n return {guard}", "guard"))
        body = "\n ".join([coder.assign(effect) for effect in t.effects] or ["pass"])
        self.effects = cast("Callable[[list[int]], None]", define(f"def effects(n):\n {body}", "effects"))

    def test(self, state: State) -> tuple[bool, Fault | None]:
        """Whether the guard holds, or how it errs."""
        try:
            return bool(self._guard(state)), None
        except Fault as fault:
            return False, fault.with_traceback(None)


def define(source: str, name: str) -> object:
    """The function `name` that generated source defines."""
    namespace: dict[str, object] = dict(NAMESPACE)
    exec(compile(source, f"<dve {name}>", "exec"), namespace)  # the source is ours: names never get into it
    return namespace[name]

"""Walks through a model, by hand or at random: each step is one of the interpreter's."""

from __future__ import annotations

import random
from dataclasses import dataclass

from aggmc.errors import ModelError
from aggmc.model.core import Model, State
from aggmc.trace.lasso import Lasso
from aggmc.trace.trace import Step, Trace, replay, step_of


@dataclass(frozen=True, slots=True)
class Choice:
    """A step that can be made."""

    event: int
    target: State
    step: Step


class Simulation:
    """A walk that can be taken back."""

    def __init__(self, model: Model, *, seed: int = 0) -> None:
        self.model = model
        self.interpreter = model.frontend.interpreter()
        self.states: list[State] = []
        self._events: list[int] = []
        self._random = random.Random(seed)

    def initial(self) -> list[State]:
        """Where it can begin."""
        return list(dict.fromkeys(self.interpreter.initial_states()))

    def begin(self, state: State) -> None:
        """Begin there, and forget what was."""
        self.states = [state]
        self._events = []

    @property
    def state(self) -> State:
        """Where it is."""
        return self.states[-1]

    def choices(self) -> list[Choice]:
        """The steps that can be made; raises the ModelError of a step that errs."""
        self.interpreter.check_errors(self.state)
        found = dict.fromkeys(self.interpreter.successors(self.state))
        return [Choice(event, target, step_of(self.model, event, self.state, target)) for event, target in found]

    def take(self, choice: Choice) -> None:
        """Make a step."""
        self.states.append(choice.target)
        self._events.append(choice.event)

    def undo(self) -> bool:
        """Take the last step back, if there is one."""
        if not self._events:
            return False
        self.states.pop()
        self._events.pop()
        return True

    def random_start(self) -> None:
        """Begin somewhere."""
        starts = self.initial()
        self.begin(starts[self._random.randrange(len(starts))])

    def random_steps(self, count: int) -> str | None:
        """Make so many steps; says why, if it stops before."""
        for _ in range(count):
            try:
                choices = self.choices()
            except ModelError as error:
                return str(error)
            if not choices:
                return "a deadlock is reached"
            self.take(choices[self._random.randrange(len(choices))])
        return None

    def trace(self) -> Trace:
        """The walk as a run that has been replayed."""
        trace = replay(self.model, self.interpreter, Lasso(tuple(self.states), None))
        pairs = zip(self._events, self.states, self.states[1:], strict=False)
        return Trace(trace.initial, tuple(step_of(self.model, event, a, b) for event, a, b in pairs), ())

"""Helpers: every question is asked of the interpreter of the syntax tree and of the lowered events."""

from __future__ import annotations

from aggmc.errors import ModelError
from aggmc.model.core import Interpreter, Model, State
from aggmc.model.dve import load
from aggmc.model.expr import evaluate
from aggmc.model.interpreter import CoreInterpreter


def model(text: str) -> Model:
    """A model; `system async;` is added if the text says nothing."""
    return load(text if "system" in text else text + "\nsystem async;", "test.dve")


def one(body: str, head: str = "") -> Model:
    """A model with one process P that has locations a, b and c."""
    return model(f"{head} process P {{ {body.replace('LOC', 'state a, b, c; init a;')} }}")


def by_events(m: Model, state: State) -> tuple[list[tuple[int, State]], bool]:
    """The successors by evaluating the core events one by one, and whether one errs: slow and obvious."""
    found: list[tuple[int, State]] = []
    errs = False
    for number, event in enumerate(m.events):
        if any(state[move.variable] != move.source for move in event.moves):
            continue
        if evaluate(event.error, state):
            errs = True
        elif evaluate(event.guard, state):
            new = list(state)
            for variable, e in event.updates:
                new[variable] = evaluate(e, state)
            for move in event.moves:
                new[move.variable] = move.target
            found.append((number, tuple(new)))
    return found, errs


def raises(interpreter: Interpreter, state: State) -> bool:
    """`check_errors` finds an error here."""
    try:
        interpreter.check_errors(state)
    except ModelError:
        return True
    return False


def assert_agree(m: Model, limit: int = 3000, plain: bool = True) -> int:
    """Interpreter, core interpreter and (`plain`) the evaluated events agree on the first reachable states."""
    tree, core = m.frontend.interpreter(), CoreInterpreter(m)
    seen = dict.fromkeys(tree.initial_states())
    assert list(seen) == core.initial_states()
    queue = list(seen)
    done = 0
    while queue and done < limit:
        fresh: list[State] = []
        for state in queue:
            steps = tree.successors(state)
            errs = raises(tree, state)
            assert steps == core.successors(state), m.show_state(state)
            assert errs == raises(core, state), m.show_state(state)
            assert tree.is_dead(state) == core.is_dead(state) == (not steps and not errs)
            if plain:
                assert (steps, errs) == by_events(m, state), m.show_state(state)
            for variable, value in zip(m.variables, state, strict=True):
                assert type(value) is int and variable.low <= value <= variable.high
            for _, new in steps:
                if new not in seen:
                    seen[new] = None
                    fresh.append(new)
            done += 1
            if done >= limit:
                break
        queue = fresh
    return done


def run(m: Model, *choices: int) -> dict[str, int | str]:
    """The state after taking successor number `choices[0]`, then `choices[1]`, …; both interpreters must agree."""
    assert_agree(m, 500)
    interpreter = m.frontend.interpreter()
    state = m.initial[0]
    for choice in choices or (0,):
        state = interpreter.successors(state)[choice][1]
    return m.show_state(state)


def value_of(expression: str, head: str = "") -> int | str:
    """The value of an expression, as assigned to an int by a step."""
    return run(one(f"LOC trans a -> b {{ effect r = {expression}; }};", f"int r; {head}"))["r"]


def states(m: Model) -> int:
    """The number of reachable states."""
    interpreter = m.frontend.interpreter()
    seen = set(interpreter.initial_states())
    queue = list(seen)
    for state in queue:
        for _, new in interpreter.successors(state):
            if new not in seen:
                seen.add(new)
                queue.append(new)
    return len(seen)

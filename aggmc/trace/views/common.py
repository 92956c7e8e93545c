"""What all views share: options, colours, and how a step is named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from aggmc.model.core import Actor
from aggmc.trace.trace import Step, Trace, Value

SMALL_STATE = 12  # variables up to which a first state is shown in full
_COLOURS = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


@dataclass(frozen=True, slots=True)
class Look:
    """How a run is shown."""

    full_states: bool = False  # every variable at every step
    full_run: bool = False  # also what follows a bad prefix
    colour: bool = False
    width: int = 100
    indent: str = "  "

    def paint(self, text: str, *styles: str) -> str:
        """The text in colour, if colours are wanted."""
        if not self.colour or not text:
            return text
        return f"\x1b[{';'.join(_COLOURS[s] for s in styles)}m{text}\x1b[0m"


@dataclass(frozen=True, slots=True)
class Row:
    """A step, its number, whether it is shown as part of the cycle, and whether the cycle begins with it."""

    number: int
    step: Step
    in_cycle: bool
    opens_cycle: bool


def rows(trace: Trace, look: Look) -> Iterator[Row]:
    """The steps that are shown."""
    shown = shown_steps(trace, look)
    whole = bool(trace.cycle) and shown == len(trace.steps)
    start = len(trace.prefix) + 1
    for number, step in enumerate(trace.steps[:shown], 1):
        yield Row(number, step, whole and number >= start, whole and number == start)


def shown_steps(trace: Trace, look: Look) -> int:
    """All, or those of the bad prefix."""
    bad = trace.evidence.bad if trace.evidence is not None else None
    return len(trace.steps) if bad is None or look.full_run else min(bad, len(trace.steps))


def folded(trace: Trace, look: Look) -> list[str]:
    """What is said instead of the steps after a bad prefix."""
    left = len(trace.steps) - shown_steps(trace, look)
    if trace.evidence is None or trace.evidence.bad is None or not (left or look.full_run):
        return []
    if look.full_run:
        return [look.paint(f"(after step {trace.evidence.bad}, every continuation violates the property)", "dim")]
    return [look.paint(f"whatever follows, the property is violated ({left} more with --full-run)", "dim")]


def endless(trace: Trace) -> str:
    """How a cycle is announced."""
    return "then, for ever:" if trace.prefix else "for ever:"


def who(actor: Actor, name: str) -> str:
    """An actor of an event: process, locations, line."""
    if actor.process is None:
        return name if actor.line is None else f"{name} (line {actor.line})"
    where = f" (line {actor.line})" if actor.line is not None else ""
    if actor.source is None:
        return f"{actor.process}: {name}{where}"
    return f"{actor.process}: {actor.source} -> {actor.target}{where}"


def event(step: Step) -> str:
    """What a step does."""
    if step.event is None or step.actor is None:
        return "(deadlock: the state is repeated)"
    text = who(step.actor, step.event)
    if step.partner is not None:
        text += f"  with  {who(step.partner, '')}"
    return text


def told_apart(step: Step) -> dict[str, tuple[Value, Value]]:
    """The changes that the event's own name does not tell."""
    told = {}
    for actor in (step.actor, step.partner):
        if actor is not None and actor.process is not None:
            told[actor.process] = (actor.source, actor.target)
    return {name: pair for name, pair in step.changes.items() if told.get(name) != pair}


def first_state(trace: Trace, look: Look) -> dict[str, Value]:
    """The variables of the first state that are worth showing: all, if they are few, else those that change."""
    state = trace.initial
    if look.full_states or len(state) <= SMALL_STATE:
        return dict(state)
    changing = {name for step in trace.steps[: shown_steps(trace, look)] for name in step.changes}
    mentioned = trace.evidence.formula if trace.evidence is not None else ""
    return {name: value for name, value in state.items() if name in changing or name in mentioned}


def shown_state(state: Mapping[str, Value]) -> str:
    """Values by name."""
    return ", ".join(f"{name}={value}" for name, value in state.items())

"""`aggmc simulate`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from aggmc.cli.codes import HOLDS
from aggmc.cli.options import (
    AsLanes,
    AsTable,
    Format,
    FullStates,
    HtmlFile,
    ModelPath,
    TraceFile,
    keep,
    keep_report,
    limits_of,
    look_of,
    read_model,
    view_of,
)
from aggmc.cli.streams import asked, emit, note, warn
from aggmc.errors import InputError, ModelError
from aggmc.html.report import report
from aggmc.progress import Progress
from aggmc.report import simulation_dict, to_json
from aggmc.simulation import Simulation
from aggmc.trace.formats.all import ending_of
from aggmc.trace.formats.document import Document
from aggmc.trace.views.all import show
from aggmc.trace.views.common import Look, event, shown_state, told_apart

DEFAULT_STEPS = 20
_HELP = "a number: that step; Enter: one at random; r N: N at random; u: undo; s: the state; t: the run so far; q: quit"


def simulate(
    model: ModelPath,
    steps: Annotated[
        int | None,
        typer.Option(min=0, help=f"Walk so many steps at random (without a terminal: {DEFAULT_STEPS})."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same walk.")] = 0,
    choose: Annotated[
        str | None,
        typer.Option(metavar="N,N,…", help="Make these choices, as numbered by hand; then go on as otherwise."),
    ] = None,
    output: Format = "text",
    full_states: FullStates = False,
    table: AsTable = False,
    lanes: AsLanes = False,
    trace: TraceFile = None,
    html: HtmlFile = None,
) -> int:
    """Walk through a model, by hand (on a terminal) or at random.

    \b
    aggmc simulate mutex.dve                          step by step, by hand
    aggmc simulate mutex.dve --steps 30 --seed 7      30 steps at random
    aggmc simulate mutex.dve --choose 2,1,1 --steps 0 --trace run.json
    """
    view, look = view_of(table, lanes), look_of(full_states, False)
    if trace is not None:
        ending_of(trace)
    progress = Progress(sys.stderr)
    loaded = read_model(model, limits_of(None, None), progress)
    warn(loaded.warnings)
    walk = Simulation(loaded, seed=seed)
    chosen = _numbers(choose) if choose is not None else []
    _start(walk, chosen)
    by_hand = steps is None and output == "text" and _is_terminal()
    stopped = None
    if by_hand:
        _by_hand(walk, look)
    elif steps is not None or not chosen:
        stopped = walk.random_steps(DEFAULT_STEPS if steps is None else steps)
    found = walk.trace()
    document = Document(found, model, loaded.language, "simulation")
    keep(trace, document, [])
    if html is not None:
        keep_report(html, report(loaded, document), document, [])
    if output == "json":
        emit(to_json(simulation_dict(model, seed, stopped, found)))
    else:
        emit(show(found, view, look))
        if stopped is not None:
            note(f"note: the walk ends after {len(found.prefix)} steps: {stopped}")
    return HOLDS


def _is_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise InputError(f"--choose takes numbers with commas between them, not `{text}`") from None


def _start(walk: Simulation, chosen: list[int]) -> None:
    """The first state, and the choices that were given; with several initial states, the first number is of these."""
    starts = walk.initial()
    rest = list(chosen)
    if rest and len(starts) > 1:
        walk.begin(starts[_checked(rest.pop(0), len(starts), "initial states")])
    else:
        walk.random_start()
    for place, number in enumerate(rest, 1):
        choices = walk.choices()
        walk.take(choices[_checked(number, len(choices), f"steps before step {place}")])


def _checked(number: int, count: int, what: str) -> int:
    if not 1 <= number <= count:
        raise InputError(f"--choose: {number} is not among the {count} {what}")
    return number - 1


def _by_hand(walk: Simulation, look: Look) -> None:
    """Ask for each step."""
    emit(look.paint(_HELP, "dim"))
    emit(f"initially  {shown_state(walk.model.show_state(walk.state))}")
    while True:
        try:
            choices = walk.choices()
        except ModelError as error:
            note(f"error: {error}")
            choices = []
        if not choices:
            emit(look.paint("no step can be made: u takes one back, q ends", "yellow"))
        for number, choice in enumerate(choices, 1):
            changes = ", ".join(f"{name}: {old} -> {new}" for name, (old, new) in told_apart(choice.step).items())
            emit(f"{number:>4}. {look.paint(event(choice.step), 'bold')}   {changes}".rstrip())
        said = asked(f"step {len(walk.states)}> ")
        if said is None or said in ("q", "quit", "exit"):
            return
        if said in ("h", "?", "help"):
            emit(_HELP)
        elif said == "u":
            if not walk.undo():
                emit("this is the first state")
        elif said == "s":
            emit(shown_state(walk.model.show_state(walk.state)))
        elif said == "t":
            emit(show(walk.trace(), "steps", look))
        elif said == "" or said.startswith("r"):
            count = said[1:].strip() or "1"
            known = count.isdecimal() and len(count) < 7
            stopped = walk.random_steps(int(count)) if known else "r N: a number of steps"
            emit(stopped or show(walk.trace(), "steps", look).splitlines()[-1])
        elif said.isdecimal() and 1 <= int(said) <= len(choices):
            walk.take(choices[int(said) - 1])
        else:
            emit(f"`{said}` is not understood; {_HELP}")

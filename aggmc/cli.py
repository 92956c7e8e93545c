"""The command line: arguments, exit codes, and what goes to which stream; no logic.

0 all hold; 1 something is violated; 2 bad input or usage, or an error of the model; 3 nothing is violated and something
is unknown; 4 a fault of aggmc; 130 Ctrl-C. Of several, 4 goes before 2, 2 before 1, 1 before 3, 3 before 0.
"""

from __future__ import annotations

import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from errno import ENOMEM
from io import TextIOWrapper
from itertools import pairwise
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from aggmc import __version__
from aggmc.checker import METHODS, PRODUCTS, Options
from aggmc.errors import AggmcError, InputError, InternalError, LimitReached, did_you_mean
from aggmc.info import gather
from aggmc.limits import Limits, Tick, parse_memory, watched
from aggmc.ltl.output import to_dot, to_hoa
from aggmc.model.core import Model, Warned
from aggmc.model.load import load_model
from aggmc.progress import Progress
from aggmc.report import (
    answer_text,
    automaton_dict,
    automaton_text,
    check_dict,
    error_dict,
    error_text,
    info_text,
    summary_text,
    to_json,
)
from aggmc.run import Answer, answers, queries, questions, translate, written

HOLDS, VIOLATED, BAD_INPUT, UNKNOWN, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 4, 130
_GRAVEST_FIRST = (INTERNAL, BAD_INPUT, VIOLATED, UNKNOWN, HOLDS)
_NO_MEMORY = re.compile("failed to map segment|cannot allocate memory", re.IGNORECASE)  # said of a library
# a line of a file that is no text at all could tell a terminal things
_CONTROLS = {code: "?" for code in [*range(32), *range(127, 160)] if chr(code) not in "\t\n"}


# --- the program ----------------------------------------------------------------------------------------------------


class Program(TyperGroup):
    """The commands, with our own way to say what went wrong."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command; every error becomes a message and an exit code."""
        arguments = sys.argv[1:] if args is None else list(args)
        _open_streams()
        sys.set_int_max_str_digits(0)  # numbers of states have more digits than Python writes by default
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # names from a model on an ASCII terminal

        def command() -> int:
            # not `super()`: it would be the class of the function's first argument
            code = TyperGroup.main(self, arguments, "aggmc", standalone_mode=False, **extra)
            return code if isinstance(code, int) else HOLDS

        code = _guarded(command, as_json=_wants_json(arguments))
        if standalone_mode:
            sys.exit(code)
        return code


app = typer.Typer(
    cls=Program,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code."""
    code: int = app(arguments, standalone_mode=False)
    return code


def _guarded(command: Callable[[], int], *, as_json: bool) -> int:
    try:
        return command()
    except KeyboardInterrupt:
        return INTERRUPTED
    except typer.TyperException as error:
        return _failed(_usage(error), as_json)
    except (AggmcError, InternalError) as error:
        return _failed(error, as_json)
    except (MemoryError, RecursionError) as error:
        kind = "memory" if isinstance(error, MemoryError) else "stack"
        return _failed(LimitReached(f"out of {kind}"), as_json)
    except OSError as error:  # reading is guarded where it is done: this is a page of help on a full disk
        return _failed(LimitReached("out of memory") if error.errno == ENOMEM else _unwritable(error), as_json)
    except SystemExit:  # how typer leaves when nobody reads a page of help
        return HOLDS
    except Exception as error:
        if isinstance(error, ImportError) and _NO_MEMORY.search(str(error)):
            return _failed(LimitReached("out of memory"), as_json)
        error.add_note(traceback.format_exc())
        return _failed(error, as_json)


def _usage(error: typer.TyperException) -> InputError:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "aggmc"
    message = error.format_message().strip().rstrip(".").replace("Value error, ", "")
    return InputError(f"{message[:1].lower()}{message[1:]} (try `{path} --help`)")


def _failed(error: Exception, as_json: bool) -> int:
    if as_json:
        try:
            _emit(to_json({"error": error_dict(error)}))
        except InputError:
            pass  # it is on stderr too
    _tell(error)
    if isinstance(error, LimitReached):
        return UNKNOWN
    return BAD_INPUT if isinstance(error, AggmcError) else INTERNAL


def _wants_json(arguments: Sequence[str]) -> bool:
    """Also where the arguments cannot be understood."""
    return "--format=json" in arguments or ("--format", "json") in pairwise(arguments)


# --- streams --------------------------------------------------------------------------------------------------------


def _emit(text: str) -> bool:
    """Write to stdout; False if nobody reads it. Raises InputError where it cannot be written."""
    try:
        if sys.stdout is None:
            raise OSError("it is closed")
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        _silence()
        return False
    except OSError as error:
        _silence()
        raise _unwritable(error) from None
    return True


def _unwritable(error: OSError) -> InputError:
    return InputError(f"standard output cannot be written: {error.strerror or error}")


def _silence() -> None:
    """What is left in the buffer would fail again when the interpreter ends."""
    try:
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, sys.stdout.fileno())
        os.close(sink)
    except (OSError, AttributeError):
        pass  # no real file: nothing is written at the end


def _open_streams() -> None:
    """Where a stream is closed, its number goes to nothing: or else to the next file, for C code to write into."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free


def _note(text: str) -> None:
    if sys.stderr is None:
        return  # `print` would take stdout instead
    try:
        print(text.translate(_CONTROLS), file=sys.stderr, flush=True)
    except OSError:
        pass  # there is no other place to say it


def _tell(error: Exception) -> None:
    _note(error_text(error))
    if not isinstance(error, AggmcError) and os.environ.get("AGGMC_DEBUG"):
        for note in getattr(error, "__notes__", []):
            _note(note.rstrip())


def _warn(warnings: Iterable[Warned]) -> None:
    for text in dict.fromkeys(map(str, warnings)):
        _note(f"warning: {text}")


def _ticking(progress: Progress) -> Tick | None:
    return progress if progress.active else None


# --- options that several commands share ----------------------------------------------------------------------------

Format = Annotated[Literal["text", "json"], typer.Option("--format", help="How results are written.")]
Timeout = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="Give up after this time; `check` counts it for each property.")
]
Memory = Annotated[
    str | None, typer.Option(metavar="MB", help="Give up above this much memory: a number of MB, or as in 500M or 2G.")
]
Fixpoint = Annotated[Literal["saturation", "chaining"], typer.Option(help="How sets of reachable states are computed.")]
Reordering = Annotated[
    bool, typer.Option("--reordering", help="Let the decision diagrams change their variable order.")
]
ModelPath = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model (.dve), tables (.etf), or a Kripke structure (.hoa).")
]


def _limits(timeout: float | None, memory: str | None) -> Limits:
    return Limits(timeout, parse_memory(memory) if memory is not None else None)


def _known_product(name: str) -> str:
    if name not in PRODUCTS:
        raise InputError(
            f"product `{name}` is not known{did_you_mean(name, PRODUCTS)}: it is one of {', '.join(PRODUCTS)}"
        )
    return name


def _read_model(path: str, limits: Limits, progress: Progress) -> Model:
    try:
        with watched("reading the model", limits, _ticking(progress)):
            return load_model(path)
    finally:
        progress.clear()


def _products() -> str:
    lines = {"auto": "chosen for the property; the result names it"}
    lines |= {name: method.help for name, method in METHODS.items()}
    width = max(map(len, lines))
    return "\b\nProducts:\n" + "\n".join(f"  {name:<{width}}  {text}" for name, text in lines.items())


# --- commands -------------------------------------------------------------------------------------------------------


@app.callback(invoke_without_command=True)
def aggmc(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """A model checker for LTL on graphs of symbolic aggregates.

    \b
    aggmc check mutex.dve --ltl 'G F P_0.CS'     does every run satisfy the property?
    aggmc info mutex.dve                         how many states has the model?
    aggmc automaton 'G(a -> F b)'                what does a property become?

    \b
    Exit codes: 0 all hold, 1 something is violated, 2 bad input or usage, 3 unknown
    (a limit was reached), 4 a fault of aggmc, 130 interrupted.
    """
    if version:
        _emit(f"aggmc {__version__}")
        raise typer.Exit(HOLDS)
    if context.invoked_subcommand is None:
        raise InputError("missing command: it is one of check, info, automaton (try `aggmc --help`)")


@app.command(epilog=_products())
def check(
    model: ModelPath,
    ltl: Annotated[
        list[str] | None, typer.Option(metavar="FORMULA", help="An LTL property; may be given several times.")
    ] = None,
    properties: Annotated[
        str | None, typer.Option(metavar="FILE", help="LTL properties, one a line, as `name: formula` or `formula`.")
    ] = None,
    product: Annotated[str, typer.Option(metavar="|".join(PRODUCTS), help="The method: see below.")] = "auto",
    deadlock: Annotated[
        Literal["stutter", "ignore", "error"],
        typer.Option(
            help="A state without successor is repeated for ever, ends no run, or is itself a violation.",
        ),
    ] = "stutter",
    timeout: Timeout = None,
    memory: Memory = None,
    fixpoint: Fixpoint = "saturation",
    reordering: Reordering = False,
    output: Format = "text",
    no_trace: Annotated[bool, typer.Option("--no-trace", help="Show no counterexamples.")] = False,
    stats: Annotated[bool, typer.Option("--stats", help="Say more about how a verdict was reached.")] = False,
) -> int:
    """Check LTL properties, the asserts of a model, and deadlocks.

    Propositions are locations (P_0.CS), or in double quotes any condition of the model's language. The asserts of
    a model are checked whenever it has some.

    \b
    aggmc check mutex.dve --ltl 'G !(P_0.CS && P_1.CS)' --ltl 'G(P_0.wait -> F P_0.CS)'
    aggmc check mutex.dve --ltl 'G("x > 2" -> F "x == 0")' --product sog-tgta
    aggmc check mutex.dve --properties mutex.properties --timeout 60 --memory 2G --format json
    aggmc check phils.dve --deadlock error
    """
    limits = _limits(timeout, memory)
    options = Options(deadlock, fixpoint, reordering, not no_trace, limits.memory)
    product = _known_product(product)
    progress = Progress(sys.stderr)
    loaded = _read_model(model, limits, progress)
    asked = questions(loaded, written(ltl or [], properties))
    wanted = queries(loaded, asked, product, options)
    _warn(loaded.warnings)
    _warn(warned for question in asked for warned in question.warnings)
    found: list[Answer] = []
    told: set[str] = set()
    read = True
    try:
        for answer in answers(loaded, wanted, options, limits, _ticking(progress)):
            progress.clear()
            found.append(answer)
            if answer.failure is not None and error_text(answer.failure) not in told:
                told.add(error_text(answer.failure))
                _tell(answer.failure)
            if output == "text" and not (read := _emit(answer_text(answer, stats=stats))):
                break
            progress.prefix = f"{len(found) + 1} of {len(wanted)}: "
    finally:
        progress.clear()
    if output == "json":
        _emit(to_json(check_dict(model, found)))
    elif read and len(found) > 1:
        _emit(summary_text(found))
    return _check_code(found, complete=len(found) == len(wanted))


def _check_code(found: Sequence[Answer], *, complete: bool) -> int:
    codes = {HOLDS if complete else UNKNOWN}
    for answer in found:
        if answer.failure is not None:
            codes.add(BAD_INPUT if isinstance(answer.failure, AggmcError) else INTERNAL)
        elif answer.verdict.verdict != "holds":
            codes.add(VIOLATED if answer.verdict.verdict == "violated" else UNKNOWN)
    return next(code for code in _GRAVEST_FIRST if code in codes)


@app.command()
def info(
    model: ModelPath,
    timeout: Timeout = None,
    memory: Memory = None,
    fixpoint: Fixpoint = "saturation",
    reordering: Reordering = False,
    output: Format = "text",
) -> int:
    """Show the processes, variables and events of a model, and count its reachable states.

    \b
    aggmc info mutex.dve
    aggmc info phils.dve --format json --timeout 60
    """
    limits = _limits(timeout, memory)
    progress = Progress(sys.stderr)
    loaded = _read_model(model, limits, progress)
    _warn(loaded.warnings)
    try:
        facts, failure = gather(
            loaded,
            Options(fixpoint=fixpoint, reordering=reordering, max_memory=limits.memory),
            limits,
            _ticking(progress),
        )
    finally:
        progress.clear()
    if failure is not None:
        if not isinstance(failure, AggmcError) or facts.states is None:
            raise failure
        _note(f"warning: an error of the model is reachable: {failure}")
    _emit(to_json(facts.to_dict()) if output == "json" else info_text(facts))
    return HOLDS if facts.reason is None else UNKNOWN


@app.command()
def automaton(
    formula: Annotated[str, typer.Argument(metavar="FORMULA", help="An LTL formula.")],
    tgta: Annotated[
        bool,
        typer.Option("--tgta", help="The automaton over change-sets: a testing automaton if the formula allows one."),
    ] = False,
    timeout: Timeout = None,
    memory: Memory = None,
    output: Annotated[
        Literal["text", "json", "dot", "hoa"], typer.Option("--format", help="How the automaton is written.")
    ] = "text",
) -> int:
    """Show the automaton of a formula's negation, which accepts the runs that violate the formula.

    \b
    aggmc automaton 'G(a -> F b)'
    aggmc automaton 'a U b' --tgta --format dot | dot -Tsvg > automaton.svg
    aggmc automaton 'F G "x > 1"' --format hoa
    """
    started = time.perf_counter()
    progress = Progress(sys.stderr)
    try:
        prop, found = translate(formula, _limits(timeout, memory), _ticking(progress), change_sets=tgta)
    finally:
        progress.clear()
    seconds = time.perf_counter() - started
    if output == "json":
        _emit(to_json(automaton_dict(prop, found, seconds)))
    elif output == "text":
        _emit(automaton_text(prop, found, seconds))
    else:
        invariant = "" if prop.stutter_invariant else " not"
        _note(f"note: the automaton of the negation; the formula is{invariant} stutter-invariant")
        name = f"!({prop.text})"
        _emit((to_hoa(found, name) if output == "hoa" else to_dot(found)).rstrip("\n"))
    return HOLDS

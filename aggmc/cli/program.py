"""The program: its commands, and how it ends whatever happens."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Sequence
from errno import ENOMEM
from io import TextIOWrapper
from itertools import pairwise
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from aggmc import __version__
from aggmc.cli import automaton, batch, check, graph, info, mcc, replay, simulate
from aggmc.cli.codes import BAD_INPUT, HOLDS, INTERNAL, INTERRUPTED, UNKNOWN
from aggmc.cli.options import products_help
from aggmc.cli.streams import emit, open_streams, tell, unwritable
from aggmc.errors import AggmcError, InputError, InternalError, LimitReached
from aggmc.report import error_dict, to_json

_NO_MEMORY = re.compile("failed to map segment|cannot allocate memory", re.IGNORECASE)  # said of a library


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
        open_streams()
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
        return _failed(LimitReached("out of memory") if error.errno == ENOMEM else unwritable(error), as_json)
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
            emit(to_json({"error": error_dict(error)}))
        except InputError:
            pass  # it is on stderr too
    tell(error)
    if isinstance(error, LimitReached):
        return UNKNOWN
    return BAD_INPUT if isinstance(error, AggmcError) else INTERNAL


def _wants_json(arguments: Sequence[str]) -> bool:
    """Also where the arguments cannot be understood."""
    return "--format=json" in arguments or ("--format", "json") in pairwise(arguments)


@app.callback(invoke_without_command=True)
def aggmc(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """A model checker for LTL on graphs of symbolic aggregates.

    \b
    aggmc check mutex.dve --ltl 'G F P_0.CS'     does every run satisfy the property?
    aggmc batch suite.toml                       and many properties of many models?
    aggmc info mutex.dve                         how many states has the model?
    aggmc automaton 'G(a -> F b)'                what does a property become?
    aggmc mcc DIR --examination StateSpace       a net of the Model Checking Contest

    \b
    Exit codes: 0 all hold, 1 something is violated, 2 bad input or usage, 3 unknown
    (a limit was reached), 4 a fault of aggmc, 130 interrupted.
    """
    if version:
        emit(f"aggmc {__version__}")
        raise typer.Exit(HOLDS)
    if context.invoked_subcommand is None:
        raise InputError(f"missing command: it is one of {', '.join(COMMANDS)} (try `aggmc --help`)")


#: command -> the function behind it, and what stands below its help
COMMANDS: dict[str, tuple[Callable[..., int], str | None]] = {
    "check": (check.check, products_help(race=True)),
    "batch": (batch.batch, None),
    "info": (info.info, None),
    "automaton": (automaton.automaton, None),
    "replay": (replay.replay, None),
    "simulate": (simulate.simulate, None),
    "graph": (graph.graph, products_help()),
    "mcc": (mcc.mcc, None),
}
for _name, (_function, _epilog) in COMMANDS.items():
    app.command(_name, epilog=_epilog)(_function)

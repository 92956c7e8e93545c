"""The program: its commands, and how it ends whatever happens."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Sequence
from errno import ENOMEM
from importlib import import_module
from io import TextIOWrapper
from itertools import pairwise
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from aggmc import __version__
from aggmc.cli.codes import BAD_INPUT, HOLDS, INTERNAL, INTERRUPTED, UNKNOWN
from aggmc.cli.streams import emit, open_streams, tell, unwritable
from aggmc.errors import AggmcError, InputError, InternalError, LimitReached, did_you_mean

_NO_MEMORY = re.compile("failed to map segment|cannot allocate memory", re.IGNORECASE)  # said of a library


#: command -> what it does, in a line. `aggmc.cli.NAME` has the function NAME, and perhaps an EPILOG of its help; it is
#: imported when the command is called.
COMMANDS = {
    "check": "Check LTL properties, the asserts of a model, and deadlocks.",
    "batch": "Check many properties of many models, and go on where an earlier run was interrupted.",
    "info": "Show the processes, variables and events of a model, and count its reachable states.",
    "automaton": "Show the automaton of a formula's negation, which accepts the runs that violate the formula.",
    "replay": "Check a run step by step against a model and a property, and say where it goes wrong.",
    "simulate": "Walk through a model, by hand (on a terminal) or at random.",
    "graph": "Draw the graph that a check explores, and the counterexample's way through it.",
    "mcc": "Answer an examination of the Model Checking Contest, in the contest's own lines.",
}
_SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class Program(TyperGroup):
    """The commands, with our own way to say what went wrong."""

    def list_commands(self, ctx: Any) -> list[str]:
        """In the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the command."""
        if cmd_name not in COMMANDS:
            near = did_you_mean(cmd_name, COMMANDS)
            raise InputError(f"there is no command `{cmd_name}`{near}: it is one of {', '.join(COMMANDS)}")
        module = import_module(f"aggmc.cli.{cmd_name}")
        alone = typer.Typer(**_SETTINGS)
        alone.command(cmd_name, epilog=getattr(module, "EPILOG", None))(getattr(module, cmd_name))
        return typer.main.get_command(alone)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List them, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

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


app = typer.Typer(cls=Program, **_SETTINGS)


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
        from aggmc.report import error_dict, to_json

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

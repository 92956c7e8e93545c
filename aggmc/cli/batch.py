"""`aggmc batch`."""

from __future__ import annotations

from typing import Annotated

import typer

from aggmc.cli.codes import BAD_INPUT, GRAVEST_FIRST, HOLDS, INTERNAL, UNKNOWN, VIOLATED
from aggmc.cli.options import Format, Memory, Timeout, limits_of
from aggmc.cli.streams import emit, note


def batch(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="Models and properties: TOML, or a table in CSV.")],
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="How many checks at a time. [default: one for each processor]")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler that does them instead, as in tcp://host:8786.")
    ] = None,
    journal: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where results are kept as they come. [default: SUITE.journal]")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what is in the journal.")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Do again what the journal has no verdict for.")] = False,
    timeout: Timeout = None,
    memory: Memory = None,
    output: Format = "text",
    jsonl: Annotated[str | None, typer.Option(metavar="FILE", help="Write the results as JSON lines.")] = None,
    csv: Annotated[str | None, typer.Option(metavar="FILE", help="Write them as a table in CSV.")] = None,
    junit: Annotated[str | None, typer.Option(metavar="FILE", help="Write them as JUnit XML, for CI systems.")] = None,
    no_trace: Annotated[bool, typer.Option("--no-trace", help="Keep no counterexamples.")] = False,
) -> int:
    """Check many properties of many models, and go on where an earlier run was interrupted.

    The limits are those of checks that have none in the suite. A check passes if its verdict is the expected one;
    where none is expected, if it holds. With --format json there is one document at the end.

    \b
    aggmc batch suite.toml --jobs 4 --timeout 60 --junit results.xml
    aggmc batch table.csv --cluster tcp://10.0.0.1:8786 --jsonl results.jsonl
    """
    from aggmc.cli.suite import Request, run_suite

    limits = limits_of(timeout, memory)
    files = {"jsonl": jsonl, "csv": csv, "junit": junit}
    as_json = output == "json"
    request = Request(suite, jobs, cluster, journal, fresh, retry, limits, not no_trace, as_json, files)
    outcomes = run_suite(request, emit, note)
    codes = {"fault": INTERNAL, "error": BAD_INPUT, "failed": VIOLATED, "unknown": UNKNOWN, "passed": HOLDS}
    return next(code for code in GRAVEST_FIRST if code in {codes[outcome] for outcome in outcomes})

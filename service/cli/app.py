"""The command `nightgrid`: every command's place, and how errors reach people."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from nightgrid.service.cli import count as counting
from nightgrid.service.cli import doctor, ondemand
from nightgrid.service.cli import generate as generating
from nightgrid.service.cli import night as nights
from nightgrid.service.cli import reduce as reducing
from nightgrid.service.cli import solve as solving
from nightgrid.service.cli import worker as working
from nightgrid.service.terminal.console import Exit, complain, note, prepare_streams
from nightgrid.solvers.errors import NightgridError, PermanentError, TransientError

TRACEBACK_VARIABLE = "NIGHTGRID_TRACEBACK"
"""Set to 1, an unexpected error shows where in the program it arose."""

app = typer.Typer(
    name="nightgrid",
    no_args_is_help=False,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

COMMANDS: tuple[tuple[Callable[..., int], str, str], ...] = (
    (nights.demo, "See everything at work on the bundled sample archive.", "nightgrid demo"),
    (
        nights.nightly,
        "Fetch an archive and solve what is new.",
        "nightgrid nightly --source archive/pips --lake lake",
    ),
    (
        counting.count,
        "Count a corpus of puzzles, from a hundred to a million.",
        "nightgrid count pips:n=10000,seed=7 --lake lake",
    ),
    (
        solving.solve,
        "Solve puzzles here and now.",
        "nightgrid solve board.json --best 5 --words 6",
    ),
    (
        solving.show,
        "Draw puzzles without solving them.",
        "nightgrid show 2026-01-05.json --level easy --solution",
    ),
    (
        ondemand.submit,
        "Queue puzzles to be solved soon.",
        "nightgrid submit 2026-01-05.json --ask count",
    ),
    (
        ondemand.status,
        "Show where on-demand jobs are.",
        "nightgrid status --watch",
    ),
    (
        ondemand.result,
        "Print what became of a job.",
        "nightgrid result 0123456789abcdef0123456789abcdef --wait 10",
    ),
    (
        generating.generate,
        "Generate payloads of random solvable boards.",
        "nightgrid generate --out sample --days 30 --seed 2026",
    ),
    (
        reducing.reduce,
        "Turn hard problems into boards.",
        "nightgrid reduce planar-strands --random 5 --solve",
    ),
    (
        working.worker,
        "Run supervised workers until stopped.",
        "nightgrid worker --lake lake --processes 4",
    ),
    (working.warmup, "Compile the kernels.", "nightgrid warmup"),
    (doctor.doctor, "Check that everything needed is here.", "nightgrid doctor --lake lake"),
)
"""Every command with its line in the list of commands and an example of its use."""

for _command, _line, _example in COMMANDS:
    app.command(_command.__name__, short_help=_line, epilog=f"Example: {_example}")(_command)


def _say_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"nightgrid {version('nightgrid')}")
        raise typer.Exit


@app.callback(invoke_without_command=True, epilog="Example: nightgrid demo")
def _root(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> int:
    """Solve and count grid puzzles: one file, a queue of them, or an archive every night.

    Answers go to standard output, everything else to standard error; --json makes every answer
    one JSON object a line. Settings are environment variables that begin with NIGHTGRID_.
    """
    if context.invoked_subcommand is None:
        print(context.get_help())
    return Exit.OK


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. No error leaves as a traceback."""
    prepare_streams()
    try:
        code = run(arguments)
        if code != Exit.BROKEN_PIPE:
            sys.stdout.flush()
            return code
    except BrokenPipeError:
        pass
    # The interpreter flushes once more at its end, and would fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Exit.BROKEN_PIPE


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; turn every error but a broken pipe into one line and an exit code."""
    try:
        result: Any = app(
            args=None if arguments is None else list(arguments),
            prog_name="nightgrid",
            standalone_mode=False,
        )
    except typer.TyperException as error:
        complain(f"{error.format_message().rstrip('.')}. Help: nightgrid --help")
        return Exit.BAD_INPUT
    except NightgridError as error:
        again = " (trying again may help)" if isinstance(error, TransientError) else ""
        complain(f"{error}{again}")
        return Exit.BAD_INPUT if isinstance(error, PermanentError) else Exit.FAILED
    except BrokenPipeError:
        raise
    except ModuleNotFoundError as error:
        complain(_missing(error))
        return Exit.FAILED
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        complain(f"{place}{error.strerror or error}")
        return Exit.FAILED
    except SystemExit as error:
        # Typer's own end of a program whose reader went away.
        if isinstance(error.__context__, BrokenPipeError):
            return Exit.BROKEN_PIPE
        raise
    except (KeyboardInterrupt, typer.Abort):
        return Exit.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last resort: one line instead of a traceback
        return _unexpected(error)
    if result == Exit.INTERRUPTED:
        note("interrupted")
    return int(result or Exit.OK)


def _missing(error: ModuleNotFoundError) -> str:
    """Say which extra brings a package that is not installed."""
    package = (error.name or "").partition(".")[0]
    extras = {"prefect": "flows", "celery": "worker", "redis": "worker", "httpx": "archive"}
    extra = extras.get(package, "flows")
    return f"this needs {package or error}, which is missing: pip install 'nightgrid[{extra}]'"


def _unexpected(error: Exception) -> Exit:
    if os.environ.get(TRACEBACK_VARIABLE) == "1":
        traceback.print_exc()
    kind = type(error).__name__
    complain(f"unexpected {kind}: {error}. {TRACEBACK_VARIABLE}=1 shows where it arose")
    return Exit.FAILED


if __name__ == "__main__":
    sys.exit(main())

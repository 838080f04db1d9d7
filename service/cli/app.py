"""The command `nightgrid`: loads and runs one command, and reports errors as sentences."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand

from nightgrid.archive.skipped_files import forget, skipped_files
from nightgrid.service import games as service_games
from nightgrid.service.cli.commands import COMMANDS
from nightgrid.service.terminal.console import complain, note, prepare_streams
from nightgrid.service.terminal.exit_codes import Exit
from nightgrid.solvers.errors import NightgridError, PermanentError, RefusalError, TransientError
from nightgrid.solvers.registry import game_plug

TRACEBACK_VARIABLE = "NIGHTGRID_TRACEBACK"
"""If set to 1, an unexpected error is printed with its traceback."""


def _say_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"nightgrid {version('nightgrid')}")
        raise typer.Exit


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

    Answers go to standard output, everything else to standard error; with --json every answer is
    one JSON object a line. Settings are environment variables that start with NIGHTGRID_, or keys
    of nightgrid.toml.
    """
    if context.invoked_subcommand is None:
        print(context.get_help())
    return Exit.OK


class _Command(TyperCommand):
    """A command whose help names no Python types, and lists the rules of each game last."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for parameter in self.params:
            if isinstance(parameter, TyperArgument):
                parameter.display_type_rich = lambda **_: ""  # type: ignore[method-assign]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, then, for a command with --rule, the rules grouped by game."""
        super().format_options(ctx, formatter)
        if not any("--rule" in parameter.opts for parameter in self.params):
            return
        for game, plug in service_games.ALL.items():
            if plug.rule_options:
                with formatter.section(f"Rules of {game_plug(game).title}, for --rule"):
                    formatter.write_dl(
                        [(f"{o.name}={o.values}", o.help) for o in plug.rule_options]
                    )


def make_app(name: str | None = None) -> typer.Typer:
    """Return the command line with only the command `name`, or with all if no command has that
    name.

    Loading only one command saves a solve the imports of nights.
    """
    app = typer.Typer(
        name="nightgrid",
        no_args_is_help=False,
        add_completion=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback(invoke_without_command=True, epilog="Example: nightgrid demo")(_root)
    named = [command for command in COMMANDS if command.name == name]
    for command in named or COMMANDS:
        decorate = app.command(
            command.name,
            cls=_Command,
            short_help=command.line(),
            epilog=f"Example: nightgrid {command.example}",
        )
        decorate(command.load())
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. No error ends in a traceback."""
    if not prepare_streams():
        complain("standard output is closed; expected a file, a pipe or a terminal")
        return Exit.FAILED
    if arguments is None:
        # The source location of a warning is of no use to people.
        warnings.formatwarning = lambda message, *_, **__: f"nightgrid: warning: {message}\n"
        # Otherwise Numba imports colorama, which writes an escape code to the terminal at exit.
        os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
    try:
        code = run(arguments)
        if code != Exit.BROKEN_PIPE:
            sys.stdout.flush()
            return code
    except BrokenPipeError:
        pass
    # The interpreter flushes again at exit, and would fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Exit.BROKEN_PIPE


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; turn every error but a broken pipe into one line and an exit code."""
    try:
        words = sys.argv[1:] if arguments is None else list(arguments)
        result: Any = make_app(_command_of(words))(
            args=words,
            prog_name="nightgrid",
            standalone_mode=False,
        )
    except typer.TyperException as error:
        names = [command.name for command in COMMANDS if command.name == _command_of(words)]
        # Pydantic says "Input should be a valid integer, unable to parse string ...".
        text = error.format_message().rstrip(".").partition(", unable to")[0]
        text = text.replace("Input should be ", "expected ").replace("Value error, ", "")
        stop = "" if text.endswith("?") else "."
        complain(f"{text}{stop} Help: {' '.join(['nightgrid', *names])} --help")
        return Exit.BAD_INPUT
    except NightgridError as error:
        # A refusal lasts until its cause is fixed: a port, a missing server.
        is_passing = isinstance(error, TransientError) and not isinstance(error, RefusalError)
        again = " (a retry may help)" if is_passing else ""
        complain(f"{error}{again}{_mend(error)}")
        return Exit.BAD_INPUT if isinstance(error, PermanentError) else Exit.FAILED
    except BrokenPipeError:
        raise
    except UnicodeEncodeError as error:
        # The name of a file, as those of other systems may be.
        complain(f"{error.object!r:.80} is not UTF-8; expected a name that is")
        return Exit.BAD_INPUT
    except ModuleNotFoundError as error:
        complain(_missing(error, _command_of(words)))
        return Exit.FAILED
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        complain(f"{place}{error.strerror or error}")
        return Exit.FAILED
    except SystemExit as error:
        # Typer's exit when the reader of its output has gone away.
        if isinstance(error.__context__, BrokenPipeError):
            return Exit.BROKEN_PIPE
        raise
    except (KeyboardInterrupt, typer.Abort):
        return Exit.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last resort: one line instead of a traceback
        return _unexpected(error)
    if result == Exit.INTERRUPTED and not isinstance(result, Exit):
        # Typer's exit by Ctrl-C; commands that end this way say what stopped.
        note("interrupted")
    if _name_skipped_files() and not result and _command_of(words) in ("nightly", "count"):
        result = Exit.LOOK
    return int(result or Exit.OK)


def _mend(error: NightgridError) -> str:
    """Return what to do about a damaged file of the lake."""
    # If the slow module of lakes was never loaded, no file of a lake was read.
    faults = sys.modules.get("nightgrid.archive.lake.faults")
    is_damage = faults is not None and isinstance(error, faults.DamagedFileError)
    return "; nightgrid lake repair fixes what it can" if is_damage else ""


def _name_skipped_files() -> bool:
    """Report files that were skipped as damaged or foreign; return whether there were any."""
    files = skipped_files()
    for why in files.values():
        note(f"skipped: {why}; nightgrid lake check says more")
    forget(*files)
    return bool(files)


def _command_of(words: Sequence[str]) -> str | None:
    """Return the command among the words."""
    return next((word for word in words if not word.startswith("-")), None)


def _missing(error: ModuleNotFoundError, name: str | None) -> str:
    """Return which extra to install for a command with a missing package."""
    package = (error.name or "").partition(".")[0]
    extra = next((command.extra for command in COMMANDS if command.name == name), "flows")
    if extra == "worker" and package == "httpx":
        # The command only talks to a service.
        extra = "archive"
    # The project is on no package index: extras are installed from the folder of a clone.
    return (
        f"this needs {package or error}, which is missing; in the folder of the clone: "
        f"pip install '.[{extra}]' --constraint constraints.txt"
    )


def _unexpected(error: Exception) -> Exit:
    if os.environ.get(TRACEBACK_VARIABLE) == "1":
        traceback.print_exc()
    kind = type(error).__name__
    complain(f"unexpected {kind}: {error}. {TRACEBACK_VARIABLE}=1 shows where it arose")
    return Exit.FAILED


if __name__ == "__main__":
    sys.exit(main())

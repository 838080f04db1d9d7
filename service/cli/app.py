"""The command `nightgrid`: one command is loaded and run, and errors reach people as sentences."""

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
"""Set to 1, an unexpected error shows where in the program it arose."""


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

    Answers go to standard output, everything else to standard error; --json makes every answer
    one JSON object a line. Settings are environment variables that begin with
    NIGHTGRID_, or keys of nightgrid.toml.
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
        """Write the options, then, for a command with --rule, the rules under each game's name."""
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
    """Make the command line with the command `name`, or with all of them where none has it.

    A command loads what it needs: with one alone, a solve does not wait for what nights import.
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
    """Run one command and return its exit code. No error leaves as a traceback."""
    if not prepare_streams():
        complain("standard output is closed; expected a file, a pipe or a terminal")
        return Exit.FAILED
    if arguments is None:
        # Where in a program a warning arose says nothing to people.
        warnings.formatwarning = lambda message, *_, **__: f"nightgrid: warning: {message}\n"
        # Else Numba brings in colorama, which writes an escape code to the terminal at the end.
        os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
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
        words = sys.argv[1:] if arguments is None else list(arguments)
        result: Any = make_app(_command_of(words))(
            args=words,
            prog_name="nightgrid",
            standalone_mode=False,
        )
    except typer.TyperException as error:
        names = [command.name for command in COMMANDS if command.name == _command_of(words)]
        # The library of values says "Input should be a valid integer, unable to parse string ...".
        text = error.format_message().rstrip(".").partition(", unable to")[0]
        text = text.replace("Input should be ", "expected ").replace("Value error, ", "")
        stop = "" if text.endswith("?") else "."
        complain(f"{text}{stop} Help: {' '.join(['nightgrid', *names])} --help")
        return Exit.BAD_INPUT
    except NightgridError as error:
        # A refusal stays until what it names is changed: a port, a server that is not there.
        is_passing = isinstance(error, TransientError) and not isinstance(error, RefusalError)
        again = " (trying again may help)" if is_passing else ""
        complain(f"{error}{again}{_mend(error)}")
        return Exit.BAD_INPUT if isinstance(error, PermanentError) else Exit.FAILED
    except BrokenPipeError:
        raise
    except ModuleNotFoundError as error:
        complain(_missing(error, _command_of(words)))
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
    if result == Exit.INTERRUPTED and not isinstance(result, Exit):
        # Typer's own end by Ctrl-C: commands that end by it say what stopped.
        note("interrupted")
    if _name_skipped_files() and not result and _command_of(words) in ("nightly", "count"):
        result = Exit.LOOK
    return int(result or Exit.OK)


def _mend(error: NightgridError) -> str:
    """Describe what to do about a damaged file of the lake."""
    # Where nothing of a lake was loaded, which takes long, no file of it was read.
    faults = sys.modules.get("nightgrid.archive.lake.faults")
    is_damage = faults is not None and isinstance(error, faults.DamagedFileError)
    return "; nightgrid lake repair mends what can be mended" if is_damage else ""


def _name_skipped_files() -> bool:
    """Name the files that were left out because they are damaged or foreign; tell if any was."""
    files = skipped_files()
    for why in files.values():
        note(f"passed over: {why}; nightgrid lake check says more")
    forget(*files)
    return bool(files)


def _command_of(words: Sequence[str]) -> str | None:
    """Return the command among the words."""
    return next((word for word in words if not word.startswith("-")), None)


def _missing(error: ModuleNotFoundError, name: str | None) -> str:
    """Return which extra brings what a command needs, of which a package is not installed."""
    package = (error.name or "").partition(".")[0]
    extra = next((command.extra for command in COMMANDS if command.name == name), "flows")
    if extra == "worker" and package == "httpx":
        # The command asks a service, and works nothing itself.
        extra = "archive"
    # The project is on no index: an extra is installed from the folder of a clone.
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

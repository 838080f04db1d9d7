"""Options that several commands share, and their values."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nightgrid.service.terminal.console import note
from nightgrid.service.terminal.formats import Format
from nightgrid.solvers.algebra import MAX_BUDGET_S, MEANT, Ask, Budget
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import GAMES
from nightgrid.workers.runs.unanswered_jobs import Retry

if TYPE_CHECKING:
    from nightgrid.flows.runs import RunSettings
    from nightgrid.workers.settings import Settings


SETTINGS_PREFIX = "NIGHTGRID_"
SETTINGS_FILE = "nightgrid.toml"
"""Without this file and without variables of this prefix, every setting has its default."""


def one_of(names: Sequence[str]) -> str:
    """Join names for a sentence: "a, b or c"."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def game_name(text: str) -> str:
    """Validate the name of a game. Raises PermanentError for an unknown one."""
    if text not in GAMES:
        raise PermanentError(f"--game is {text!r:.40}; expected one of {', '.join(GAMES)}")
    return text


def date_of(option: str) -> Callable[[str], dt.date]:
    """Return a parser of YYYY-MM-DD, which raises a PermanentError that names the option."""

    def read(text: str) -> dt.date:
        from nightgrid.archive.payloads.envelopes import iso_date

        date = iso_date(text)
        if date is None:
            raise PermanentError(f"{option} is {text!r:.40}; expected a date as YYYY-MM-DD")
        return date

    return read


Json = Annotated[bool, typer.Option("--json", help="Write one JSON object a line.")]
FormatName = Annotated[
    Format | None,
    typer.Option(
        "--format",
        metavar="table|csv|json|parquet",
        help="Write rows as a drawn table, CSV, JSON lines or Parquet.",
    ),
]
LIMIT_MAX = 999_999_999
"""Largest limit that the text of an ask has digits for."""
SECONDS_MIN = 0.001
DEADLINE_MAX_S = 30 * 24 * 3600.0
Deadline = Annotated[
    float | None,
    typer.Option(
        min=SECONDS_MIN,
        max=DEADLINE_MAX_S,
        metavar="S",
        help="A job that has no answer after S seconds expires, and its kernels stop.",
    ),
]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the rows to FILE; .csv, .json or .parquet says the format.",
    ),
]
Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE|REFERENCE",
        help="Payloads or puzzles, folders of payloads, or puzzles of the lake: "
        "GAME/DATE[/LEVEL], or a puzzle id or a prefix of one. '-' or nothing: standard input.",
    ),
]
Levels = Annotated[
    list[str] | None,
    typer.Option(
        "--level",
        "-l",
        metavar="LEVEL",
        help="Only puzzles of this level; may be repeated.",
    ),
]
Sides = Annotated[
    str | None,
    typer.Option(
        metavar="SIDES",
        help="A board of Letter Boxed by its sides, such as TAP,ERD,NIL,YCO, instead of files.",
    ),
]
GameName = Annotated[
    str | None,
    typer.Option(
        metavar="GAME",
        parser=game_name,
        help=f"{one_of(GAMES)}. Default: what the file or corpus holds.",
    ),
]
Games = Annotated[
    list[str] | None,
    typer.Option(
        "--game", metavar="GAME", parser=game_name, help="Only this game; may be repeated."
    ),
]
Since = Annotated[
    dt.date | None,
    typer.Option("--from", metavar="DATE", parser=date_of("--from"), help="First date."),
]
Until = Annotated[
    dt.date | None,
    typer.Option("--to", metavar="DATE", parser=date_of("--to"), help="Last date."),
]
AskOption = Annotated[
    Ask | None,
    typer.Option(
        "--ask",
        metavar="ASK",
        parser=Ask.parse,
        help="count (the default), first, all, all(LIMIT), best(K) or meant(K); for Tiles "
        "first (the default) or best(1).",
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option(
        min=SECONDS_MIN,
        max=MAX_BUDGET_S,
        metavar="S",
        help="Give up after S seconds a puzzle. Default: NIGHTGRID_BUDGET_SECONDS, else 90.",
    ),
]
First = Annotated[bool, typer.Option("--first", help="Find one solution.")]
Count = Annotated[bool, typer.Option("--count", help="Count all solutions, exactly.")]
All = Annotated[bool, typer.Option("--all", help="List every solution.")]
Limit = Annotated[
    int | None,
    typer.Option(min=1, max=LIMIT_MAX, metavar="N", help="List at most N solutions (with --all)."),
]
Best = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=LIMIT_MAX,
        metavar="K",
        help="Find the K best solutions, best first: the most probable ones of Strands, fewest "
        "words and letters of Letter Boxed, fewest moves of Tiles (K = 1).",
    ),
]
BatchProcesses = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=1024,
        metavar="N",
        help="Processes for batches. Default: NIGHTGRID_BATCH_PROCESSES, else one a core.",
    ),
]
InteractiveProcesses = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=64,
        metavar="N",
        help="Processes for on-demand solves. Default: NIGHTGRID_INTERACTIVE_PROCESSES, else 1.",
    ),
]
Inline = Annotated[
    bool, typer.Option("--inline", help="Solve in this process, with no server and no workers.")
]
Plain = Annotated[
    bool, typer.Option("--no-prefect", help="Run without Prefect, even if it is installed.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show every figure, and where the tables are.")
]
RetryOption = Annotated[
    Retry | None,
    typer.Option(
        "--retry",
        metavar="poison|over_budget|invalid|all",
        help="Retry, within the same budget, jobs that earlier runs gave up for this reason.",
    ),
]
LakeOption = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER|URL",
        help="A folder, or s3://, gs:// or az://BUCKET/PREFIX. Default: NIGHTGRID_LAKE, else "
        "./lake.",
    ),
]


def chosen_ask(
    *,
    ask: Ask | None = None,
    first: bool = False,
    count: bool = False,
    all_: bool = False,
    limit: int | None = None,
    best: int | None = None,
    rank: bool = False,
    other: str | None = None,
) -> Ask | None:
    """Return the ask of the options, of which at most one may be given.

    `other` is an option for something other than an ask. Returns None if no ask is given. Raises
    PermanentError if several are, or for --limit without --all.
    """
    asks = {
        "--ask": ask,
        "--first": Ask(kind="first") if first else None,
        "--count": Ask(kind="count") if count else None,
        "--all": Ask(kind="all", limit=limit) if all_ else None,
        "--best": None if best is None else Ask(kind="best", limit=best),
        "--rank": MEANT if rank else None,
    }
    given = {option: ask for option, ask in asks.items() if ask is not None}
    chosen = [*given, *filter(None, [other])]
    if len(chosen) > 1:
        raise PermanentError(f"{' and '.join(chosen)} exclude one another; give one of them")
    if limit is not None and not all_:
        raise PermanentError("--limit goes with --all")
    return next(iter(given.values()), None)


def check_order(since: dt.date | None, until: dt.date | None) -> None:
    """Raise PermanentError for --from after --to."""
    if since is not None and until is not None and since > until:
        raise PermanentError(f"--from is {since}, after --to, which is {until}; expected no later")


def read_settings(*, writes: bool = True, **given: Any) -> Settings:
    """Load the settings; options that are not None override environment and file.

    Commands that take a lake pass `lake`, maybe None: an invalid location is rejected, and so is a
    read-only one unless the command only reads (`writes` is False). Raises PermanentError that
    names the option, variable or key of every invalid value.
    """
    if given.get("lake") == "":
        raise PermanentError("--lake is empty; expected a folder or a URL")
    from nightgrid.workers.settings import load_settings

    settings = load_settings(**given)
    if settings.log_format:
        # Imported only if needed: a command that logs nothing starts sooner.
        from nightgrid.workers.logs import use_format

        use_format(settings.log_format)
    if "lake" in given:
        from nightgrid.archive.lake.location import check_location, name_of_others

        check_location(settings.lake, writes=writes)
        other = name_of_others(settings.lake) if writes else None
        if other is not None:
            note(
                f"warning: {settings.lake} is not a lake yet, and holds files such as {other}: "
                "a lake is created next to them; --lake or NIGHTGRID_LAKE names another folder"
            )
    return settings


def check_is_there(settings: Settings) -> None:
    """Raise PermanentError if there is no lake; buckets are not checked."""
    from nightgrid.archive.lake.location import is_missing

    if is_missing(settings.lake):
        raise PermanentError(
            f"there is no lake at {settings.lake} yet; name one with --lake or NIGHTGRID_LAKE"
        )


def default_budget() -> Budget:
    """Return the budget of the settings.

    If nothing is set, it is the solvers' default, so that solving one board need not wait for the
    settings library.
    """
    is_set = any(name.upper().startswith(SETTINGS_PREFIX) for name in os.environ)
    # Not Path.exists, which raises if the current folder is not accessible.
    if is_set or os.path.exists(SETTINGS_FILE):  # noqa: PTH110
        return read_settings().budget
    return Budget()


def run_options(
    lake: str | None,
    processes: int | None,
    *,
    inline: bool,
    rank: bool = False,
    writes: bool = True,
) -> dict[str, Any]:
    """Return the flow settings of a run, how and where it is solved; see `read_settings`."""
    executor = "inline" if inline else "celery"
    given: dict[str, Any] = {"batch_processes": processes, "rank": rank or None}
    return {"executor": executor, "workers": read_settings(lake=lake, writes=writes, **given)}


def solved_by(settings: RunSettings) -> str:
    """Describe what solves a run, for people."""
    return "this process" if settings.executor == "inline" else "Celery workers"

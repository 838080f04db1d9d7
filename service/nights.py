"""`nightgrid nightly` and `nightgrid demo`: an archive from its source to counts in Parquet."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.console import complain, emit, note, say, say_table
from service.exits import Exit
from service.options import (
    BatchProcesses,
    Json,
    LakeOption,
    check_game,
    parse_date,
    read_settings,
)
from service.progress import ProgressLine, warm
from service.rule_options import GameRules, with_game_rules
from service.summary import counts_by_date, official_ranks, say_counts, say_runtimes
from solvers.errors import PermanentError

if TYPE_CHECKING:
    from flows.report import NightlyReport
    from flows.settings import NightlySettings

SAMPLES = {name: Path(__file__).with_name("sample") / name for name in ("pips", "strands")}
"""The bundled archive of every game: what `nightgrid generate` writes when nothing else is said."""
DEMO_LAKE = "var/demo/lake"
MAX_FAILURES_SHOWN = 10
"""Dates that could not be fetched are named one by one up to this number."""

Inline = Annotated[
    bool, typer.Option("--inline", help="Solve in this process, with no server and no workers.")
]
Plain = Annotated[
    bool,
    typer.Option("--no-prefect", help="Run without Prefect, though it is installed."),
]


@with_game_rules
def nightly(
    *,
    source: Annotated[
        str,
        typer.Option(
            metavar="FOLDER|URL",
            help="A folder of DATE.json payloads, or the base URL of an HTTP archive.",
        ),
    ],
    lake: LakeOption = None,
    from_: Annotated[
        str | None,
        typer.Option("--from", metavar="DATE", help="First date. Default: all the source has."),
    ] = None,
    to: Annotated[
        str | None, typer.Option(metavar="DATE", help="Last date. Default: all the source has.")
    ] = None,
    refresh_days: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Ask again for the last N days, because published puzzles change. Default: 14.",
        ),
    ] = None,
    game: Annotated[
        str, typer.Option(metavar="GAME", help="pips (the default) or strands.")
    ] = "pips",
    ask: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ASK",
            help="count, first, all, all(LIMIT) or, for words, best(K); may be given several "
            "times. Default: count; for strands best(10), which counts as well.",
            show_default=False,
        ),
    ] = None,
    rules: GameRules,
    workers: BatchProcesses = None,
    inline: Inline = False,
    no_prefect: Plain = False,
    json: Json = False,
) -> int:
    """Fetch an archive, normalise it, solve what is new, and write results and tables.

    A night that was killed is ended by the same command; a second night over the same data solves
    nothing and says so. Dates that cannot be fetched are named and cost nothing else, but a source
    that fails for every date asked for is a failure. Exit code: 0 done, 1 the source or something
    else outside failed, 3 bad input.
    """
    settings = _night(
        source=source,
        lake=lake,
        since=None if from_ is None else parse_date(from_, "--from"),
        until=None if to is None else parse_date(to, "--to"),
        refresh_days=refresh_days,
        game=game,
        asks=ask or (),
        rules=_rules_of(rules, game),
        lexicon=rules.lexicon,
        workers=workers,
        inline=inline,
    )
    report = _run(settings, prefect=False if no_prefect else None)
    if report is None:
        return Exit.INTERRUPTED
    if json:
        emit(report.to_json())
    else:
        say_table(("what", "figure"), report.rows(), numbers=("figure",))
        _say_end(report)
    return _exit(report)


def demo(
    lake: Annotated[
        str, typer.Option("--lake", metavar="FOLDER|URL", help="Where the results go.")
    ] = DEMO_LAKE,
    game: Annotated[
        str | None,
        typer.Option(metavar="GAME", help="pips or strands alone. Default: one after the other."),
    ] = None,
    workers: BatchProcesses = None,
    inline: Inline = False,
    no_prefect: Plain = False,
    json: Json = False,
) -> int:
    """Run the nightly job over the bundled sample archives and show what it found.

    The boards are the project's own: random ones of Pips, random layouts of a few themes of
    Strands. Exit code: 0 done, 1 something outside failed.
    """
    check_game(game)
    worst = Exit.OK
    for name in SAMPLES if game is None else (game,):
        settings = _night(
            source=str(SAMPLES[name]), lake=lake, game=name, workers=workers, inline=inline
        )
        report = _run(settings, prefect=False if no_prefect else None)
        if report is None:
            return Exit.INTERRUPTED
        _show(settings, report, json=json)
        worst = max(worst, _exit(report))
    return worst


def _show(settings: NightlySettings, report: NightlyReport, *, json: bool) -> None:
    counts = list(counts_by_date(settings))
    if json:
        for row in counts:
            emit(row)
        emit(report.to_json())
        return
    say_counts(counts, official_ranks(settings))
    say_runtimes(settings)
    _say_end(report)
    say()


def _rules_of(rules: GameRules, game: str) -> str:
    line = rules.rules(game)
    if game == "strands" and rules.words not in (None, "any", "given"):
        raise PermanentError(
            f"--words is {rules.words}; expected any or given, since every board has its own number"
        )
    return line


def _night(
    *,
    source: str,
    lake: str | None,
    since: dt.date | None = None,
    until: dt.date | None = None,
    refresh_days: int | None = None,
    game: str = "pips",
    asks: Sequence[str] = (),
    rules: str = "",
    lexicon: str | None = None,
    workers: int | None = None,
    inline: bool = False,
) -> NightlySettings:
    from flows.settings import NightlySettings
    from solvers.algebra import Ask

    given: dict[str, Any] = {} if refresh_days is None else {"refresh_days": refresh_days}
    return NightlySettings(
        source=source,
        since=since,
        until=until,
        game=game,
        asks=tuple(Ask.parse(ask) for ask in asks),
        rules=rules,
        lexicon=lexicon,
        executor="inline" if inline else "celery",
        workers=read_settings(lake=lake, batch_processes=workers),
        **given,
    )


def _run(settings: NightlySettings, *, prefect: bool | None) -> NightlyReport | None:
    """Run the night with its progress on standard error; None when a signal stopped it."""
    from flows.nightly import run_nightly
    from flows.steps import NightStoppedError, SourceDownError

    hands = "this process" if settings.executor == "inline" else "Celery workers"
    note(f"nightly: {settings.source} -> {settings.workers.lake}, solved by {hands}")
    warm(settings.game)
    progress = ProgressLine()
    try:
        report = run_nightly(settings, prefect=prefect, on_progress=progress)
    except SourceDownError as error:
        report = error.report
    except NightStoppedError as error:
        progress.close()
        note(str(error))
        return None
    finally:
        progress.close()
    _note_failures(report)
    return report


def _note_failures(report: NightlyReport) -> None:
    """Tell what could not be fetched: the night goes on without it."""
    for failure in report.fetch_failures[:MAX_FAILURES_SHOWN]:
        note(f"not fetched: {failure}")
    if len(report.fetch_failures) > MAX_FAILURES_SHOWN:
        note(f"not fetched: {len(report.fetch_failures) - MAX_FAILURES_SHOWN:,} more dates")
    if report.source_trouble:
        complain(report.source_trouble)


def _exit(report: NightlyReport) -> Exit:
    return Exit.FAILED if report.source_failed else Exit.OK


def _say_end(report: NightlyReport) -> None:
    say()
    say(report.sentence())
    say()
    say("The Parquet lies in:")
    width = max((len(name) for name in report.paths), default=0)
    for name, path in report.paths.items():
        say(f"  {name:<{width}}  {path}")

"""`nightgrid nightly`: from the sources of archives to counts in Parquet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nightgrid.service.games import service_plug
from nightgrid.service.options.game_rules import GameRules, Lexicon, RuleTexts, read_rules
from nightgrid.service.options.shared_options import (
    BatchProcesses,
    Inline,
    Json,
    LakeOption,
    Plain,
    RetryOption,
    Since,
    Until,
    Verbose,
    check_order,
    game_name,
    run_options,
    solved_by,
)
from nightgrid.service.terminal.console import (
    complain,
    emit,
    note,
    say,
    say_attention,
    say_end,
    say_figures,
    sentence_of,
    warn_of_poison,
)
from nightgrid.service.terminal.exit_codes import Exit, exit_for_many
from nightgrid.service.terminal.progress import ProgressLine, waited, warm_games
from nightgrid.service.terminal.running import STOPPED, run_shown
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.registry import DEFAULT_GAME, game_plug

if TYPE_CHECKING:
    from nightgrid.flows.night.report import GameReport
    from nightgrid.flows.night.settings import NightGame, NightSettings

COUNTS = "counts by date"
"""The reports' name of the main table."""
MAX_FAILURES_SHOWN = 10
"""Most failed dates that are listed one by one."""


Sources = Annotated[
    list[str],
    typer.Option(
        "--source",
        metavar="[GAME=]FOLDER|URL",
        help="A folder or file with an archive in any layout, or the URL of an HTTP archive; may "
        "be repeated.",
    ),
]
RefreshDays = Annotated[
    int | None,
    typer.Option(
        "--refresh-days",
        min=0,
        metavar="N",
        help="Fetch the last N days again, as puzzles change. Default: 14.",
    ),
]
SourceGame = Annotated[
    str | None,
    typer.Option(
        "--game",
        metavar="GAME",
        parser=game_name,
        help="The game of a --source that names none. Default: those of its payloads, else "
        f"{DEFAULT_GAME}.",
    ),
]
Asks = Annotated[
    list[Ask] | None,
    typer.Option(
        "--ask",
        metavar="ASK",
        parser=Ask.parse,
        help="count, first, all, all(LIMIT) or, for words, best(K); may be repeated. Default: "
        "count, for words best(10).",
    ),
]


def nightly(
    *,
    source: Sources,
    lake: LakeOption = None,
    since: Since = None,
    until: Until = None,
    refresh_days: RefreshDays = None,
    game: SourceGame = None,
    ask: Asks = None,
    rule: RuleTexts = None,
    lexicon: Lexicon = None,
    rank: Annotated[
        bool,
        typer.Option(
            "--rank",
            help="Rank Strands boards too, as nightgrid rank does. Default: NIGHTGRID_RANK.",
        ),
    ] = False,
    workers: BatchProcesses = None,
    inline: Inline = False,
    no_prefect: Plain = False,
    retry: RetryOption = None,
    verbose: Verbose = False,
    json: Json = False,
) -> int:
    """Fetch an archive and solve what is new.

    The report is a line for each game, followed by what needs attention. The same command finishes
    a night that was killed; a second night over the same data solves nothing. Dates that cannot be
    fetched are reported and affect nothing else.

    Exit code: 0 done, 5 done and something new needs attention (quarantine, a source without dates,
    a puzzle that is unsolvable, over budget or invalid), 1 a source or something else outside
    failed, or a puzzle is poison, 3 bad input.
    """
    check_order(since, until)
    games = night_games(
        source,
        game,
        read_rules(rule, lexicon),
        ask,
        since=since,
        until=until,
        refresh_days=refresh_days,
    )
    from nightgrid.flows.night.settings import NightSettings

    night = NightSettings(
        games=games,
        retry=retry,
        **run_options(lake, workers, inline=inline, rank=rank),
    )

    reports: list[GameReport] = []

    def show(report: GameReport) -> None:
        reports.append(report)
        if json:
            emit(report.to_json())
        else:
            say(report.line())

    code = work_night(night, show, prefect=False if no_prefect else None)
    if not json:
        _say_rest(reports, verbose=verbose)
    return code


def night_games(
    sources: Sequence[str],
    game: str | None,
    rules: GameRules,
    asks: Sequence[Ask] | None,
    **others: Any,
) -> tuple[NightGame, ...]:
    """Build the games of a night from its options.

    Raises PermanentError for options that no night can have.
    """
    from nightgrid.flows.night.settings import NightGame, night_sources

    places = night_sources(sources, game)
    for name in places:
        service_plug(name).check_night(rules.said)
    given = {name: value for name, value in others.items() if value is not None}
    return tuple(
        NightGame(
            source=address,
            game=name,
            asks=tuple(asks or ()),
            rules=own.rules(name),
            lexicon=own.lexicon,
            **given,
        )
        for (name, address), own in zip(places.items(), rules.among(list(places)), strict=True)
    )


def _say_rest(reports: Sequence[GameReport], *, verbose: bool) -> None:
    """Print what needs attention, and the paths of the tables, below the lines of all games."""
    for report in reports:
        say_attention(report.attention_sections())
        if report.without_models:
            say(sentence_of(report.without_models))
    if verbose:
        for report in reports:
            say()
            say_figures(report.table(), game_plug(report.game).title)
            say_end(report.paths)
        return
    path = next((r.paths[COUNTS] for r in reports if r.editions and COUNTS in r.paths), None)
    if path is not None:
        say()
        say(f"Counts by date: {path}")
        say("Every figure and table: --verbose")


def work_night(
    night: NightSettings, show: Callable[[GameReport], None], *, prefect: bool | None
) -> Exit:
    """Run the night with its progress on standard error; print each game's report when done."""
    from nightgrid.flows.night.report import NightFailedError
    from nightgrid.flows.runs import StoppedError, Watch
    from nightgrid.flows.start import run_night

    progress = ProgressLine(names_game=len(night.games) > 1)
    told: set[str] = set()

    def tell_trouble(game: str, sentence: str) -> None:
        told.add(sentence)
        complain(f"{game}: {sentence}")

    def tell(report: GameReport) -> None:
        progress.close()
        _note_failures(report, told)
        if report.poisoned_jobs:
            warn_of_poison(report.game, report.poisoned_jobs)
        show(report)

    watch = Watch(
        on_trouble=tell_trouble,
        on_work=warm_games,
        on_progress=progress,
        waiting=waited,
        on_report=tell,
        on_note=note,
    )
    try:
        with run_shown(night, "night"), closing(progress):
            for source in dict.fromkeys(game.source for game in night.games):
                lake, by = night.workers.lake, solved_by(night)
                note(f"nightly: {source} -> {lake}, solved by {by}")
            done = run_night(night, watch, prefect=prefect)
    except NightFailedError:
        return Exit.FAILED
    except (StoppedError, KeyboardInterrupt) as error:
        # Ctrl-C before or after any run is in progress.
        note(str(error) or STOPPED)
        return Exit.INTERRUPTED
    return exit_for_many(poisoned=done.poisoned, needs_attention=done.needs_attention)


def _note_failures(report: GameReport, told: Collection[str] = ()) -> None:
    """Print dates that could not be fetched, unless printed before; the night continues."""
    for failure in report.fetch_failures[:MAX_FAILURES_SHOWN]:
        note(f"not fetched: {failure}")
    if len(report.fetch_failures) > MAX_FAILURES_SHOWN:
        note(f"not fetched: {len(report.fetch_failures) - MAX_FAILURES_SHOWN:,} more dates")
    for damage in report.made_anew:
        note(f"{report.game}: {damage}")
    for trouble in (report.source_trouble, report.failure):
        if trouble and trouble not in told:
            complain(f"{report.game}: {trouble}")

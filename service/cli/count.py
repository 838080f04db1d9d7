"""`nightgrid count`: answer every puzzle of a corpus, and store the answers as Parquet."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nightgrid.service.drawing import bar
from nightgrid.service.options.game_rules import Lexicon, RuleTexts, read_rules
from nightgrid.service.options.shared_options import (
    AskOption,
    BatchProcesses,
    GameName,
    Inline,
    Json,
    LakeOption,
    Plain,
    RetryOption,
    Verbose,
    read_settings,
    run_options,
    solved_by,
)
from nightgrid.service.terminal.console import (
    duration,
    emit,
    note,
    say,
    say_attention,
    say_end,
    say_figures,
    say_table,
    warn_of_poison,
)
from nightgrid.service.terminal.exit_codes import Exit, exit_for_many
from nightgrid.service.terminal.progress import (
    BAR_PATIENCE_S,
    READY_PATIENCE_S,
    OnceLine,
    ProgressLine,
    waited,
    warm_games,
)
from nightgrid.service.terminal.running import STOPPED, run_shown
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import DEFAULT_GAME, game_plug
from nightgrid.solvers.sentences import plural

if TYPE_CHECKING:
    from nightgrid.archive.corpus.corpus import Corpus
    from nightgrid.flows.count.report import CountReport
    from nightgrid.flows.count.settings import CountSettings
    from nightgrid.workers.driver.progress import Progress

SPREAD_CHARS = 30
"""Width of the longest bar of the distribution."""
VALUES_SHOWN = 20


def count(
    corpus: Annotated[
        str | None,
        typer.Argument(
            metavar="CORPUS",
            help="An archive in any layout, a Parquet file or folder, lake (every puzzle of the "
            "lake), or a generator spec such as pips:n=1000000,mix=published,seed=7.",
        ),
    ] = None,
    lake: LakeOption = None,
    game: GameName = None,
    ask: AskOption = None,
    *,
    rule: RuleTexts = None,
    lexicon: Lexicon = None,
    workers: BatchProcesses = None,
    inline: Inline = False,
    no_prefect: Plain = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Load the corpus and estimate the work, without solving.",
        ),
    ] = False,
    cancel: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Cancel a run, wherever it is running; nothing is lost."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the cancelled run of this corpus.")
    ] = False,
    retry: RetryOption = None,
    verbose: Verbose = False,
    json: Json = False,
) -> int:
    """Count a corpus of puzzles, from a hundred to a million.

    Each different puzzle is answered once, and none whose answer the lake has. The same command
    continues a count that was stopped or killed. Rows that break a rule go to the corpus's
    quarantine. A generator spec is GAME:n=BOARDS,seed=SEED, with options of the game after commas;
    the error for a wrong one lists them.

    Exit code: 0 done, 5 done and something needs attention (quarantine, over budget, invalid), 1
    something outside failed or a puzzle is poison, 3 bad input, 130 stopped or cancelled.
    """
    if cancel is not None:
        if corpus is not None or dry_run or resume or retry:
            raise PermanentError(
                "--cancel names a run and takes no CORPUS, --dry-run, --resume or --retry"
            )
        return _cancel(cancel, lake, json=json)
    if corpus is None:
        raise PermanentError(
            "there is no CORPUS; expected a folder, a Parquet file, lake, or a generator spec such "
            f"as {DEFAULT_GAME}:n=1000,seed=7"
        )
    # Set before pyarrow is imported, which reads it once. Other allocators keep their peak: 60 MB
    # more for a hundred thousand boards.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    from nightgrid.archive.corpus.corpus import game_of_corpus
    from nightgrid.flows.count.settings import CountSettings

    rules = read_rules(rule, lexicon)
    # The asks and rules depend on the game. Report errors now rather than after starting Prefect's
    # server or generating a million boards.
    of = game_of_corpus(corpus, game)
    settings = CountSettings(
        corpus=corpus,
        game=of,
        ask=ask or game_plug(of).usual_ask,
        rules=rules.rules(of),
        lexicon=lexicon,
        resume=resume,
        retry=retry,
        **run_options(lake, workers, inline=inline, writes=not dry_run),
    )
    if dry_run:
        return _tell_estimate(settings, json=json)
    prefect = False if no_prefect else None
    return _work(settings, prefect=prefect, json=json, verbose=verbose)


def _cancel(run_id: str, lake: str | None, *, json: bool) -> Exit:
    """Cancel a run of a lake, and print what is left of it."""
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.solvers.canonical import is_id
    from nightgrid.workers.runs.status import cancel_run

    if not is_id(run_id):
        raise PermanentError(
            f"--cancel is {run_id!r:.60}; expected the id of a run, 32 hexadecimal digits, which "
            "the count has printed"
        )
    settings = read_settings(lake=lake)
    status = cancel_run(Lake.open(settings.lake), run_id)
    if json:
        emit(dataclasses.asdict(status))
        return Exit.OK
    if status.finished:
        say(f"Run {run_id} had finished: there is nothing to cancel.")
        return Exit.OK
    say(
        f"Run {run_id} of {plural(status.jobs, 'job')} was cancelled at {status.cancelled_at}: "
        f"{plural(status.chunks_done, 'chunk')} done, {status.chunks_left:,} left. Its driver "
        "and workers stop within seconds; nightgrid count CORPUS --resume continues."
    )
    return Exit.OK


def _work(settings: CountSettings, *, prefect: bool | None, json: bool, verbose: bool) -> Exit:
    """Run a count and print its report; `prefect` None: under Prefect if it is installed."""
    from nightgrid.flows.runs import StoppedError, Watch, stopped
    from nightgrid.flows.start import run_count

    rows, line, starting = OnceLine("corpus", BAR_PATIENCE_S), ProgressLine(), ExitStack()
    runs: list[str] = []

    def on_corpus(corpus: Corpus) -> None:
        rows.close()
        if settings.executor == "inline":
            warm_games([corpus.game])
        else:
            # Workers compile them before they take work; this process needs none.
            text = (
                f"still planning, or starting workers; kernels of {corpus.game} that were never "
                "compiled here take a minute or two, once"
            )
            starting.enter_context(waited(text, READY_PATIENCE_S))

    def on_progress(progress: Progress) -> None:
        starting.close()
        if progress.run_id not in runs:
            runs.append(progress.run_id)
            note(f"run {progress.run_id}; nightgrid count --cancel {progress.run_id} cancels it")
        line(progress)

    watch = Watch(
        on_rows=rows, on_corpus=on_corpus, on_progress=on_progress, waiting=waited, on_note=note
    )
    try:
        with run_shown(settings, "count"), closing(rows), closing(line), starting:
            lake, by = settings.workers.lake, solved_by(settings)
            note(f"count: {settings.corpus} -> {lake}, solved by {by}")
            report = run_count(settings, watch, prefect=prefect)
    except (StoppedError, KeyboardInterrupt) as error:
        # The error says how far it got and how to continue, whether the driver or this process was
        # stopped.
        is_told = isinstance(error, StoppedError) and error.run_id is not None
        known = error if is_told or not runs else stopped(settings, runs[-1])
        note(str(known) or STOPPED)
        return Exit.INTERRUPTED
    if report.poisoned:
        warn_of_poison(report.game, report.figures.statuses["poison"])
    if json:
        emit(report.to_json())
    else:
        say_count(report, verbose=verbose)
    return exit_for_many(poisoned=report.poisoned, needs_attention=report.needs_attention)


def say_count(report: CountReport, *, verbose: bool) -> None:
    """Print the report of a count: its line, what needs attention, its distribution."""
    say(report.line())
    if report.finished_before:
        say(report.nothing_to_do())
    say_attention(report.attention_sections())
    if verbose:
        say()
        say_figures(report.table())
    say()
    figures = report.figures
    spread = figures.distribution()
    # An ask for the first solutions does not count the others.
    counted = report.ask != "first" and not report.ask.startswith("all(")
    if spread and report.ask != "first":
        say_spread("solutions" if counted else "solutions found", spread)
    values = sorted(figures.values.items())
    if values:
        rows = [(f"{value:,}", number) for value, number in values[:VALUES_SHOWN]]
        more = sum(number for _, number in values[VALUES_SHOWN:])
        say_spread("fewest", [*rows, ("more", more)] if more else rows)
    if counted and figures.largest_count is not None:
        say(f"Most solutions: {figures.largest_count:,}, of puzzle {figures.largest_puzzle}.")
    if figures.longest_puzzle is not None:
        say(f"Longest in the kernel: {duration(figures.longest_ns)}, {figures.longest_puzzle}.")
    if verbose:
        say_end(report.paths)
    else:
        say("Every figure and table: --verbose")
    say()
    say("Query it further, for example for the boards that stand out:")
    say(f"  {report.command()}")


def say_spread(heading: str, spread: list[tuple[str, int]]) -> None:
    """Draw the distribution of puzzles over some quantity."""
    total, most = sum(number for _, number in spread), max(number for _, number in spread)
    rows = [
        (span, f"{number:,}", _percent(number, total), bar(number / most, SPREAD_CHARS))
        for span, number in spread
    ]
    say_table((heading, "puzzles", "share", ""), rows, numbers=(heading, "puzzles", "share"))


def _percent(number: int, total: int) -> str:
    """Format a share to a tenth of a percent; smaller ones are not rounded to 0."""
    text = f"{100 * number / total:.1f} %"
    return "< 0.1 %" if number and text == "0.0 %" else text


def _tell_estimate(settings: CountSettings, *, json: bool) -> Exit:
    """Print the estimate for a count of the corpus, which is loaded first if the lake lacks it."""
    from nightgrid.flows.count.count import begun_run, bring_corpus, estimate_count
    from nightgrid.flows.runs import Watch, how_far
    from nightgrid.workers.runs.status import is_cancelled

    with closing(OnceLine("corpus", BAR_PATIENCE_S)) as line:
        corpus = bring_corpus(settings, Watch(on_rows=line))
    estimate, begun = estimate_count(settings, corpus), begun_run(settings, corpus)
    value: dict[str, Any] = {
        "corpus": corpus.name,
        "corpus_id": corpus.corpus_id,
        "game": corpus.game,
        "ask": str(settings.ask),
        "rows": corpus.row_count,
        "quarantined": corpus.quarantined,
        "jobs": estimate.job_count,
        "repeated": estimate.repeated_count,
        "already_known": estimate.answered_count,
        "chunks": estimate.chunk_count,
        "core_seconds": estimate.cost_s,
        "workers": settings.processes,
        "wall_seconds": estimate.cost_s / settings.processes,
        "begun_run": begun,
        "cancelled": begun is not None and is_cancelled(settings.lake, begun),
        "largest": estimate.largest,
    }
    if json:
        emit(value)
        return Exit.OK
    _say_estimate(value)
    if run_id := value["begun_run"]:
        cancelled = value["cancelled"]
        what = "cancelled" if cancelled else "begun"
        say(f"Run {run_id} is {what}: {how_far(settings, run_id, cancelled=cancelled)}.")
    return Exit.OK


def _say_estimate(value: Mapping[str, Any]) -> None:
    """Print an estimate, in the names of --dry-run --json."""
    from nightgrid.workers.driver.progress import clock_time

    rows = []
    for name, figure in value.items():
        if name.endswith("_seconds"):
            # Starting and planning vary by a second anyway.
            rows.append((name.removesuffix("_seconds") + " time", clock_time(figure)))
        elif isinstance(figure, str | int) and name not in ("corpus_id", "begun_run", "cancelled"):
            text = figure if isinstance(figure, str) else f"{figure:,}"
            rows.append((name.replace("_", " "), text))
    say_figures(rows, title="Estimate")
    if value["largest"]:
        largest = [
            (job["puzzle_id"], f"{job['size']:,}", duration(round(job["seconds"] * 1e9)))
            for job in value["largest"]
        ]
        headings = ("largest jobs", "size", "estimated time")
        say_table(headings, largest, numbers=headings[1:])

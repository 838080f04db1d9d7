"""`nightgrid count`: every puzzle of a corpus answered, and the answers as Parquet."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nightgrid.service.cli.tables.count_tables import say_count, say_estimate, write_spread
from nightgrid.service.options.completion import ASKS, offer
from nightgrid.service.options.game_options import GameRules, with_game_rules
from nightgrid.service.options.shared_options import (
    BatchProcesses,
    FormatName,
    Inline,
    Json,
    LakeOption,
    OutputFile,
    Plain,
    RetryOption,
    Split,
    Verbose,
    check_game,
    one_of,
    read_settings,
    run_options,
    solved_by,
)
from nightgrid.service.terminal.console import (
    Exit,
    emit,
    exit_for_many,
    note,
    same_command,
    say,
    warn_of_poison,
)
from nightgrid.service.terminal.formats import Format, chosen_format
from nightgrid.service.terminal.outage_line import outages_shown
from nightgrid.service.terminal.progress import (
    READY_PATIENCE_S,
    ProgressLine,
    SlicesLine,
    patient,
    waited,
    warm_games,
)
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import DEFAULT_GAME, GAMES, game_plug
from nightgrid.solvers.sentences import plural

if TYPE_CHECKING:
    from nightgrid.archive.corpus.corpus import Corpus
    from nightgrid.flows.count.settings import CountSettings
    from nightgrid.workers.driver.progress import Progress


def count_help() -> str:
    """Name what generator specs take, game by game."""
    from nightgrid.archive.games import archive_plug, has_plug

    told = []
    for name in filter(has_plug, GAMES):
        plug = archive_plug(name)
        options = [
            f"{option} ({plug.corpus_values[option]})" if option in plug.corpus_values else option
            for option in plug.corpus_options or ()
        ]
        if options:
            told.append(f"for {game_plug(name).title} {', '.join(options)}")
    return f"Options of generator specs: {'; '.join(told)}."


@with_game_rules
def count(
    corpus: Annotated[
        str | None,
        typer.Argument(
            metavar="CORPUS",
            help="What to count: a folder of payloads, a Parquet file or folder, lake (every "
            "puzzle that nights have normalised into the lake), or a generator spec such as "
            "pips:n=1000000,mix=published,seed=7.",
        ),
    ] = None,
    lake: LakeOption = None,
    game: Annotated[
        str | None,
        typer.Option(
            metavar="GAME",
            autocompletion=offer(GAMES),
            help=f"{one_of(GAMES)}. Default: what the corpus holds; for lake, {DEFAULT_GAME}.",
        ),
    ] = None,
    ask: Annotated[
        str | None,
        typer.Option(
            metavar="ASK",
            autocompletion=offer(ASKS),
            help="count, first, all, all(LIMIT), or in some games best(K). Default: count; for "
            "Tiles, which has no counts, first.",
        ),
    ] = None,
    *,
    rules: GameRules,
    workers: BatchProcesses = None,
    split: Split = None,
    inline: Inline = False,
    no_prefect: Plain = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Tell what there is to do and about how long it takes; solve nothing."
        ),
    ] = False,
    cancel: Annotated[
        str | None,
        typer.Option(
            metavar="RUN", help="Cancel a run, wherever it is being worked; nothing of it is lost."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run of this corpus that is cancelled.")
    ] = False,
    retry: RetryOption = None,
    verbose: Verbose = False,
    format_: FormatName = None,
    output: OutputFile = None,
    json: Json = False,
) -> int:
    """Answer every puzzle of a corpus, on all cores, and write the answers as Parquet.

    The report is one line; then it names what deserves a look, and shows how many puzzles have how
    many solutions, which is what --format writes; --json has the whole report in one object.

    Each different puzzle is answered once, and none that the lake has the answer to. A count that
    was stopped or killed is ended by the same command; once it has ended, the same command does
    nothing and says so; --retry works again what it gave up. Rows that break a rule go to the
    corpus's quarantine. A generator spec is GAME:n=BOARDS,seed=SEED with the game's options, named
    below, between commas as well.
    Exit code: 0 done, 5 done and something deserves a look (a row in quarantine, a puzzle over
    budget or invalid; one without a solution is answered), 1 something outside failed or a puzzle
    is poison, 3 bad input, 130 stopped or cancelled.
    """
    form = chosen_format(format_, output, json=json)
    if output is not None and form is Format.JSON:
        raise PermanentError("--output takes the distribution, as csv or parquet")
    json = form is Format.JSON
    if (dry_run or cancel is not None) and form not in (None, Format.JSON):
        raise PermanentError(f"--format {form} writes a distribution; here there is --json alone")
    if cancel is not None:
        if corpus is not None or dry_run or resume or retry:
            raise PermanentError(
                "--cancel names a run and takes no CORPUS, --dry-run, --resume or --retry"
            )
        return _cancel(cancel, lake, json=json)
    if corpus is None:
        from nightgrid.archive.games.generator_spec import EXAMPLE

        raise PermanentError(
            "there is no CORPUS; expected a folder, a Parquet file, lake, or a generator spec such "
            f"as {EXAMPLE}"
        )
    check_game(game)
    # Read when pyarrow is imported. Its own allocators keep what they had at the peak: of a hundred
    # thousand boards 60 MB more.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    from nightgrid.archive.corpus.corpus import game_of_corpus
    from nightgrid.flows.count.settings import CountSettings

    rules.check()
    # Which asks and rules there are depends on the game. What is wrong is told at once: not after
    # Prefect's server has started, nor after a million boards have been made.
    of = game_of_corpus(corpus, game)
    settings = CountSettings(
        corpus=corpus,
        game=of,
        ask=game_plug(of).usual_ask if ask is None else Ask.parse(ask),
        rules=rules.rules(of),
        lexicon=rules.lexicon,
        resume=resume,
        retry=retry,
        **run_options(lake, workers, inline=inline, split=split),
    )
    with _signals_as_interrupt():
        try:
            if dry_run:
                return _dry_run(settings, json=json)
            code = _count(
                settings,
                prefect=False if no_prefect else None,
                form=form,
                output=output,
                verbose=verbose,
            )
        except KeyboardInterrupt:
            note("stopped; the same command goes on")
            code = Exit.INTERRUPTED
    if code == Exit.INTERRUPTED:
        # Told above, in more words than `run` has.
        raise typer.Abort
    return code


@contextmanager
def _signals_as_interrupt() -> Iterator[None]:
    """Let SIGTERM end what is under way as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        # The main thread has the signals.
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _count(
    settings: CountSettings,
    *,
    prefect: bool | None,
    form: Format | None,
    output: Path | None,
    verbose: bool,
) -> Exit:
    from nightgrid.flows.runs import StoppedError, Watch
    from nightgrid.flows.start import run_count
    from nightgrid.workers.logs import logged_to
    from nightgrid.workers.tracing import begin_tracing

    begin_tracing(settings.workers.trace_url, "count")
    note(f"count: {settings.corpus} -> {settings.workers.lake}, solved by {solved_by(settings)}")
    slices, progress = SlicesLine(), ProgressLine()
    told: list[str] = []
    waiting = ExitStack()

    def make_ready(corpus: Corpus) -> None:
        slices.close()
        if settings.executor == "inline":
            warm_games([corpus.game])
        else:
            # Workers compile them before they take work, and this process needs none.
            text = (
                f"still planning, or starting workers; kernels of {corpus.game} that were never "
                "compiled here take a minute or two, once"
            )
            waiting.enter_context(patient(text, READY_PATIENCE_S))

    def show(state: Progress) -> None:
        waiting.close()
        if state.run_id not in told:
            told.append(state.run_id)
            note(f"run {state.run_id}; nightgrid count --cancel {state.run_id} cancels it")
        progress(state)

    def wait(what: str) -> AbstractContextManager[None]:
        slices.close()
        return waited(what)

    def tell(sentence: str) -> None:
        slices.close()
        note(sentence)

    watch = Watch(
        on_slices=slices,
        on_rows=slices.rows,
        on_corpus=make_ready,
        on_progress=show,
        waiting=wait,
        on_note=tell,
    )
    log = settings.workers.driver_log_path
    try:
        with closing(slices), closing(progress), waiting, outages_shown(), logged_to(log):
            report = run_count(settings, watch, prefect=prefect)
    except (StoppedError, KeyboardInterrupt) as error:
        note(_why_stopped(settings, error, told))
        if getattr(error, "cancelled", False):
            note(f"it goes on with: {same_command('--resume')}")
        return Exit.INTERRUPTED
    if report.poisoned:
        warn_of_poison(report.game, report.figures.statuses["poison"])
    if form is Format.JSON:
        emit(report.to_json())
    elif form is None:
        say_count(report, verbose=verbose)
    else:
        note(report.line())
        write_spread(report, form, output)
    return exit_for_many(failed=False, poisoned=report.poisoned, wants_look=report.wants_look)


def _why_stopped(settings: CountSettings, error: BaseException, runs: Sequence[str]) -> str:
    """Say how far it came and how to go on, whether the driver or this process was stopped."""
    from nightgrid.flows.runs import StoppedError, stopped

    if isinstance(error, StoppedError) and error.run_id is not None:
        return str(error)
    return str(stopped(settings, runs[-1])) if runs else "stopped; the same command goes on"


def _dry_run(settings: CountSettings, *, json: bool) -> Exit:
    from nightgrid.flows.count.count import bring_corpus, estimate_count, open_count
    from nightgrid.flows.runs import Watch
    from nightgrid.workers.driver.progress import Left

    with closing(SlicesLine()) as slices:
        corpus = bring_corpus(settings, Watch(on_slices=slices, on_rows=slices.rows))
    estimate = estimate_count(settings, corpus)
    begun = open_count(settings, corpus, estimate)
    processes = settings.processes
    whole = Left(core_s=estimate.cost_s, wall_s=estimate.cost_s / processes, at_least=False)
    left = whole if begun is None else begun.left
    value = {
        "corpus": corpus.name,
        "corpus_id": corpus.corpus_id,
        "game": corpus.game,
        "ask": str(settings.ask),
        "rows": corpus.row_count,
        "quarantined": corpus.quarantined,
        "jobs": estimate.job_count if begun is None else begun.jobs_left,
        "repeated": estimate.repeated_count,
        "already_known": estimate.answered_count,
        "chunks": estimate.chunk_count if begun is None else begun.chunks_left,
        "core_seconds": left.core_s,
        "workers": processes,
        "wall_seconds": left.wall_s,
        "at_least": left.at_least,
        "begun_run": None if begun is None else begun.run_id,
        "planned": None if begun is None else begun.planned,
        "cancelled": begun is not None and begun.cancelled,
        "jobs_done": None if begun is None else begun.jobs_done,
        "chunks_done": None if begun is None else begun.chunks_done,
        "largest": [
            {"puzzle_id": job.puzzle_id, "size": job.size, "seconds": job.cost_s}
            for job in estimate.largest
        ],
    }
    if json:
        emit(value)
        return Exit.OK
    say_estimate(value)
    if begun is not None:
        say(begun.sentence())
        if begun.cancelled:
            say(f"  {same_command('--resume', without=['--dry-run'])}")
    return Exit.OK


def _cancel(run_id: str, lake: str | None, *, json: bool) -> Exit:
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.workers.broker.stop_calls import call_off
    from nightgrid.workers.runs.notes import cancel_run

    settings = read_settings(lake=lake)
    remains = cancel_run(Lake.open(settings.lake), run_id)
    if not remains.finished:
        call_off(settings, run_id)
    if json:
        emit(asdict(remains))
        return Exit.OK
    if remains.finished:
        say(f"Run {run_id} had finished: there is nothing to cancel.")
        return Exit.OK
    say(
        f"Run {run_id} of {plural(remains.jobs, 'job')} is cancelled since {remains.cancelled_at}: "
        f"{plural(remains.chunks_done, 'chunk')} done, {remains.chunks_left:,} left. Its driver "
        "and workers stop within seconds; nightgrid count CORPUS --resume goes on."
    )
    return Exit.OK

"""`nightgrid count`: every puzzle of a corpus answered, and the answers as Parquet."""

from __future__ import annotations

import dataclasses
import os
from typing import Annotated

import typer

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
)
from nightgrid.service.terminal.console import Exit, emit, say
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import DEFAULT_GAME, game_plug
from nightgrid.solvers.sentences import plural


def count(
    corpus: Annotated[
        str | None,
        typer.Argument(
            metavar="CORPUS",
            help="A folder of payloads, a Parquet file or folder, lake (every puzzle of the "
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
            help="Estimate what there is to do; solve and write nothing.",
        ),
    ] = False,
    cancel: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Cancel a run, wherever it is worked; nothing is lost."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run of this corpus that is cancelled.")
    ] = False,
    retry: RetryOption = None,
    verbose: Verbose = False,
    json: Json = False,
) -> int:
    """Count a corpus of puzzles, from a hundred to a million.

    Each different puzzle is answered once, and none that the lake has the answer to. A count that
    was stopped or killed is ended by the same command. Rows that break a rule go to the corpus's
    quarantine. A generator spec is GAME:n=BOARDS,seed=SEED, with options of the game after commas;
    a wrong one is answered with those that there are.

    Exit code: 0 done, 5 done and something deserves a look (quarantine, over budget, invalid), 1
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
    # Read when pyarrow is imported. Its own allocators keep what they had at the peak: of a hundred
    # thousand boards 60 MB more.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    from nightgrid.archive.corpus.corpus import game_of_corpus
    from nightgrid.flows.count.settings import CountSettings

    rules = read_rules(rule, lexicon)
    # Which asks and rules there are depends on the game. What is wrong is told at once: not after
    # Prefect's server has started, nor after a million boards have been made.
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
    from nightgrid.service.cli.counting import shown

    if dry_run:
        return shown.tell_estimate(settings, json=json)
    prefect = False if no_prefect else None
    return shown.work_count(settings, prefect=prefect, json=json, verbose=verbose)


def _cancel(run_id: str, lake: str | None, *, json: bool) -> Exit:
    """Cancel a run of a lake, and say what is left of it."""
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.solvers.canonical import is_id
    from nightgrid.workers.runs.status import cancel_run

    if not is_id(run_id):
        raise PermanentError(
            f"--cancel is {run_id!r:.60}; expected the id of a run, 32 hexadecimal digits, which "
            "the count has told"
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
        f"Run {run_id} of {plural(status.jobs, 'job')} is cancelled since {status.cancelled_at}: "
        f"{plural(status.chunks_done, 'chunk')} done, {status.chunks_left:,} left. Its driver "
        "and workers stop within seconds; nightgrid count CORPUS --resume goes on."
    )
    return Exit.OK

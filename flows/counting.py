"""The four steps of a count as plain functions: corpus, plan, solve, report.

Each reads from the lake what is left to do, so a count that was killed anywhere is ended by the
same call.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any

from archive.cancelling import Remains, is_cancelled, remains_of, take_up_run
from archive.child_processes import pool_of
from archive.corpus import Corpus, OnSlices, open_corpus
from archive.counted import Figures, figures_of_puzzles, figures_of_run
from archive.games import bind_game
from archive.generated import is_generator_spec
from archive.lake import Lake
from archive.runfiles import folder, read_json, write_json
from archive.runs import Estimate, estimate_run, open_run, plan_run, read_done
from flows.cluster import executor
from flows.settings import ExecutorKind
from solvers.algebra import Ask, Game, canonical_json, digest
from solvers.errors import NightgridError, PermanentError, TransientError
from solvers.lexicon.lexicon import Lexicon
from solvers.registry import OWN_WORDS, WORD_GAMES, check_ask
from workers.driver import Progress, drive
from workers.settings import Settings

OnProgress = Callable[[Progress], None]


class CountStoppedError(NightgridError):
    """A signal asked the count to stop, or its run is cancelled."""

    def __init__(self, message: str, run_id: str | None = None, *, cancelled: bool = False) -> None:
        super().__init__(message)
        self.run_id = run_id
        self.cancelled = cancelled


@dataclass(frozen=True, slots=True, kw_only=True)
class CountSettings:
    """One count. Raises PermanentError for a value that no count can have."""

    corpus: str
    """A folder of payloads, a Parquet file or folder, `lake`, or a generator spec."""
    game: str | None = None
    """None: what the corpus holds."""
    ask: Ask = field(default_factory=lambda: Ask(kind="count"))
    rules: str = ""
    """Rules that differ from the game's own, as name=value with spaces between them."""
    lexicon: str | None = None
    """A word list for a game of words; None: the default lexicon, or a board's own words."""
    resume: bool = False
    """Go on with a run that is cancelled."""
    executor: ExecutorKind = "celery"
    workers: Settings = field(default_factory=Settings)
    """Lake, server, processes, budgets."""

    def __post_init__(self) -> None:
        if not self.corpus:
            raise PermanentError(
                "the corpus is empty; expected a folder, a Parquet file, lake or a generator spec"
            )
        if self.executor not in ("celery", "inline"):
            raise PermanentError(f"unknown executor {self.executor!r}; expected celery or inline")

    @property
    def lake(self) -> Lake:
        """Open the lake."""
        return Lake.open(self.workers.lake)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCount:
    """The run that answers a corpus."""

    run_id: str
    job_count: int
    already_known: int
    """Puzzles that had their answer when the run was planned."""
    rules: str
    lexicon_id: str
    solver_version: str
    resumed: bool = False
    """Whether an earlier call has begun it."""
    finished: bool = False
    """Whether nothing is left to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SolvedCount:
    """How the run went in this call."""

    chunks_worked: int = 0
    chunks_found: int = 0
    """Chunks that earlier calls had worked."""
    jobs_worked: int = 0
    states: int = 0
    """States kept in what this call has worked."""
    failures: int = 0
    seconds: float = 0.0


def bring_corpus(settings: CountSettings, on_slices: OnSlices | None = None) -> Corpus:
    """Bring the corpus into the lake, as far as it is not there."""
    processes = 1 if settings.executor == "inline" else settings.workers.batch_processes
    corpus = open_corpus(
        settings.lake,
        settings.corpus,
        game=settings.game,
        processes=processes,
        on_slices=on_slices,
    )
    check_ask(settings.ask, corpus.game)
    if settings.lexicon is not None and corpus.game not in WORD_GAMES:
        raise PermanentError(f"{corpus.game} is not played with words; expected no lexicon")
    return corpus


def plan_count(settings: CountSettings, corpus: Corpus) -> PlannedCount:
    """Take up the run that an earlier call has begun over this corpus, or plan it.

    With workers that is done in a process of its own: planning wants the game's kernels and room
    for many puzzles at once, the driver neither.
    """
    if settings.executor == "inline":
        return _plan(settings, corpus)
    try:
        with pool_of(1) as pool:
            return pool.submit(_plan, settings, corpus).result()
    except BrokenProcessPool as error:
        raise TransientError("the process that planned the count was killed") from error


def _plan(settings: CountSettings, corpus: Corpus) -> PlannedCount:
    lake = settings.lake
    game = count_game(settings, corpus)
    note = note_path(settings, corpus, game)
    known = read_json(lake, note)
    if known is not None and lake.exists(f"{folder(known['run_id'])}/plan.json"):
        run_id, resumed = str(known["run_id"]), True
    else:
        run_id, resumed = (
            plan_run(
                lake,
                game,
                corpus.tables(),
                settings.ask,
                settings.workers.budget,
                worker_count=settings.workers.batch_processes,
            ),
            False,
        )
        about = {"run_id": run_id, "corpus_id": corpus.corpus_id, "corpus": corpus.name}
        write_json(lake, note, about)
    run = open_run(lake, run_id)
    return PlannedCount(
        run_id=run_id,
        job_count=run.job_count,
        already_known=run.answered_count,
        rules=game.rules,
        lexicon_id=game.lexicon_id,
        solver_version=game.solver_version,
        resumed=resumed,
        finished=not run.job_count or read_done(lake, run_id) is not None,
    )


def open_count(settings: CountSettings, corpus: Corpus) -> Remains | None:
    """Look how far the run is that an earlier call has begun; None: there is no open one."""
    lake = settings.lake
    known = read_json(lake, note_path(settings, corpus, count_game(settings, corpus)))
    if known is None or not lake.exists(f"{folder(known['run_id'])}/plan.json"):
        return None
    left = remains_of(lake, known["run_id"])
    return None if left.finished else left


def estimate_count(settings: CountSettings, corpus: Corpus) -> Estimate:
    """Look what planning and solving would come to; no run is written."""
    return estimate_run(
        settings.lake,
        count_game(settings, corpus),
        corpus.tables(),
        settings.ask,
        settings.workers.budget,
        worker_count=settings.workers.batch_processes,
    )


def solve_count(
    settings: CountSettings, planned: PlannedCount, on_progress: OnProgress | None = None
) -> SolvedCount:
    """Work the run to its end.

    Raises TransientError when workers or lake stay away, CountStoppedError after a signal and for
    a run that is cancelled.
    """
    if planned.finished:
        return SolvedCount()
    lake, run_id = settings.lake, planned.run_id
    if settings.resume:
        take_up_run(lake, run_id)
    elif is_cancelled(lake, run_id):
        raise stopped(lake, run_id, cancelled=True)
    seen: list[Progress] = []

    def show(progress: Progress) -> None:
        seen[1:] = [progress]
        if on_progress is not None:
            on_progress(progress)

    game = open_run(lake, run_id).game
    with executor(settings.executor, lake, settings.workers, game) as hands:
        summary = drive(lake, run_id, hands, show, settings=settings.workers)
    if not summary.finished:
        raise stopped(lake, run_id, cancelled=summary.cancelled)
    first, last = (seen[0], seen[-1]) if seen else (None, None)
    return SolvedCount(
        chunks_worked=summary.chunks_total - summary.chunks_resumed,
        chunks_found=summary.chunks_resumed,
        jobs_worked=last.rows_done - first.rows_done if first and last else 0,
        states=last.states - first.states if first and last else 0,
        failures=summary.failures,
        seconds=summary.seconds,
    )


def count_figures(settings: CountSettings, corpus: Corpus, planned: PlannedCount) -> Figures:
    """Add up the results of the corpus, whichever runs they are from."""
    lake = settings.lake
    if planned.already_known:
        return figures_of_puzzles(lake, count_game(settings, corpus), settings.ask, corpus.paths)
    return figures_of_run(lake, planned.run_id)


def count_game(settings: CountSettings, corpus: Corpus) -> Game[Any, Any]:
    """Bind the corpus's game to the rules and words of the count."""
    words: Lexicon | str | None = settings.lexicon
    if words is None and corpus.game in OWN_WORDS and is_generator_spec(corpus.name):
        # Generated boards bring no words of their own.
        from archive.lexicons import default_lexicon

        words = default_lexicon()
    return bind_game(corpus.game, settings.rules, words, settings.lake)


def note_path(settings: CountSettings, corpus: Corpus, game: Game[Any, Any]) -> str:
    """Name the note which run answers this question about this corpus.

    It spares the same command from planning a million jobs again.
    """
    budget = settings.workers.budget
    limits = {"nodes": budget.nodes, "bytes": budget.table_bytes, "seconds": budget.seconds}
    name = digest(
        "count",
        corpus.corpus_id,
        str(settings.ask),
        game.rules,
        game.lexicon_id,
        game.solver_version,
        canonical_json(limits),
    )
    return f"runs/count/{name}.json"


def stopped(lake: Lake, run_id: str, *, cancelled: bool = False) -> CountStoppedError:
    """Say what is done of a run that stopped, what is left, and how to go on."""
    left = remains_of(lake, run_id)
    done = "1 chunk is done" if left.chunks_done == 1 else f"{left.chunks_done:,} chunks are done"
    how = f"{done}, {left.chunks_left:,} {'is' if left.chunks_left == 1 else 'are'} left"
    if cancelled:
        text = f"run {run_id} is cancelled: {how}; the same command with --resume goes on"
    else:
        text = f"stopped run {run_id}: {how}; the same command goes on"
    return CountStoppedError(text, run_id, cancelled=cancelled)


def count_paths(settings: CountSettings, corpus: Corpus, planned: PlannedCount) -> dict[str, str]:
    """Say where the tables of a count lie, as globs that DuckDB reads."""
    lake = settings.lake
    results = "results/*.parquet"
    if not planned.already_known:
        done = read_done(lake, planned.run_id) or {}
        results = str(done.get("results") or results)
    paths = {"results": results, "rows": f"{corpus.rows_path}/*.parquet"}
    if settings.ask.kind in ("first", "best", "all"):
        paths["solutions"] = "solutions/*.parquet"
    if corpus.quarantined:
        paths["quarantine"] = f"{corpus.quarantine_path}/*.parquet"
    return {name: f"{lake.url.rstrip('/')}/{path}" for name, path in paths.items()}

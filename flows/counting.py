"""The four steps of a count as plain functions: corpus, plan, solve, report.

Each reads from the lake what is left to do, so a count that was killed anywhere is ended by the
same call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from archive.cancelling import is_cancelled, remains_of, take_up_run
from archive.corpus import Corpus, OnSlices, open_corpus
from archive.counted import Figures, figures_of_puzzles, figures_of_run
from archive.lake import Lake
from archive.runfiles import has_plan, has_run
from archive.runs import Estimate, estimate_run, read_done
from flows.cluster import executor
from flows.count_planner import PlannedCount, Planner, complete_count, plan_count, planner_of
from flows.count_settings import CountSettings, count_game, run_name
from solvers.errors import NightgridError
from workers.driver import Progress, drive
from workers.progress import Left, left_of
from workers.run_status import run_status

OnProgress = Callable[[Progress], None]


class CountStoppedError(NightgridError):
    """A signal asked the count to stop, or its run is cancelled."""

    def __init__(self, message: str, run_id: str | None = None, *, cancelled: bool = False) -> None:
        super().__init__(message)
        self.run_id = run_id
        self.cancelled = cancelled


@dataclass(frozen=True, slots=True, kw_only=True)
class SolvedCount:
    """How the run went in this call."""

    chunks_worked: int = 0
    chunks_found: int = 0
    """Chunks that earlier calls had worked."""
    jobs_worked: int = 0
    """Jobs whose answer was completed in this call."""
    states: int = 0
    """States kept in what this call has worked."""
    failures: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCount:
    """A run that an earlier call has begun, and what is left of it."""

    run_id: str
    cancelled: bool
    """Whether nobody works it until somebody says that it is to be resumed."""
    planned: bool
    """Whether all of its jobs are planned; what is left counts the others, too."""
    jobs_done: int
    jobs_left: int
    chunks_done: int
    chunks_left: int
    left: Left

    def sentence(self) -> str:
        """Say how far it is and how to go on."""
        jobs, chunks = self.jobs_done + self.jobs_left, self.chunks_done + self.chunks_left
        more = "" if self.planned else "; it is not planned to its end yet"
        return (
            f"Run {self.run_id} is {'cancelled' if self.cancelled else 'begun'}: "
            f"{self.jobs_done:,} of {jobs:,} jobs and {self.chunks_done:,} of {chunks:,} chunks "
            f"are done{more}. The same command {'with --resume ' if self.cancelled else ''}goes on."
        )


def bring_corpus(settings: CountSettings, on_slices: OnSlices | None = None) -> Corpus:
    """Bring the corpus into the lake, as far as it is not there.

    Raises PermanentError, before anything is made, for a question that its game does not answer.
    """
    return open_corpus(
        settings.lake,
        settings.corpus,
        game=settings.game,
        processes=settings.processes,
        on_slices=on_slices,
        check=settings.check_question,
    )


def open_count(settings: CountSettings, corpus: Corpus, estimate: Estimate) -> OpenCount | None:
    """Look how far the run is that an earlier call has begun; None: there is no open one.

    What is not planned of it is what the estimate of the whole corpus says.
    """
    lake, run_id = settings.lake, run_name(settings, corpus, count_game(settings, corpus))
    if not has_run(lake, run_id) or (remains := remains_of(lake, run_id)).finished:
        return None
    progress = run_status(lake, run_id, settings.processes)
    if not remains.planned:
        progress = replace(
            progress,
            planned_share=1.0,
            jobs_total=max(progress.jobs_total, estimate.job_count),
            chunks_total=max(progress.chunks_total, estimate.chunk_count),
            expected_total_s=max(progress.expected_total_s, estimate.cost_s),
        )
    return OpenCount(
        run_id=run_id,
        cancelled=remains.cancelled_at is not None,
        planned=remains.planned,
        jobs_done=progress.jobs_done,
        jobs_left=progress.jobs_total - progress.jobs_done,
        chunks_done=progress.chunks_done,
        chunks_left=progress.chunks_total - progress.chunks_done,
        left=left_of(progress) or Left(core_s=0.0, wall_s=0.0, at_least=True),
    )


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
    settings: CountSettings,
    planned: PlannedCount,
    planner: Planner,
    on_progress: OnProgress | None = None,
) -> SolvedCount:
    """Work the run to its end, whether it is planned already or not.

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
    if not has_plan(lake, run_id):
        planner.start()
    seen: list[Progress] = []

    def show(progress: Progress) -> None:
        seen[1:] = [progress]
        if on_progress is not None:
            on_progress(progress)

    game = planner.corpus.game
    with executor(settings.executor, lake, settings.workers, game, planner.ready) as hands:
        summary = drive(
            lake, run_id, hands, show, settings=settings.workers, check_planner=planner.check
        )
    if not summary.finished:
        raise stopped(lake, run_id, cancelled=summary.cancelled)
    first, last = (seen[0], seen[-1]) if seen else (None, None)
    return SolvedCount(
        chunks_worked=summary.chunks_total - summary.chunks_resumed,
        chunks_found=summary.chunks_resumed,
        jobs_worked=last.jobs_done - first.jobs_done if first and last else 0,
        states=last.states - first.states if first and last else 0,
        failures=summary.failures,
        seconds=summary.seconds,
    )


def count_figures(settings: CountSettings, corpus: Corpus, planned: PlannedCount) -> Figures:
    """Add up the results of the corpus, whichever runs they are from."""
    lake = settings.lake
    if planned.already_known:
        return figures_of_puzzles(lake, planned.question, corpus.paths)
    return figures_of_run(lake, planned.run_id)


def stopped(lake: Lake, run_id: str, *, cancelled: bool = False) -> CountStoppedError:
    """Say what is done of a run that stopped, what is left, and how to go on."""
    left = remains_of(lake, run_id)
    more = "" if left.planned else ", and more to be planned"
    done = "1 chunk is done" if left.chunks_done == 1 else f"{left.chunks_done:,} chunks are done"
    how = f"{done}, {left.chunks_left:,} {'is' if left.chunks_left == 1 else 'are'} left{more}"
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


__all__ = [
    "CountSettings",
    "CountStoppedError",
    "OnProgress",
    "OpenCount",
    "PlannedCount",
    "Planner",
    "SolvedCount",
    "bring_corpus",
    "complete_count",
    "count_figures",
    "count_game",
    "count_paths",
    "estimate_count",
    "open_count",
    "plan_count",
    "planner_of",
    "run_name",
    "solve_count",
    "stopped",
]

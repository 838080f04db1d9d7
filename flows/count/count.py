"""Work a count: its four steps as plain functions, and what is left of one that is begun.

Each step reads from the lake what is left to do: a count that was killed anywhere is ended by the
same call.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from nightgrid.archive.corpus.corpus import Corpus, open_corpus
from nightgrid.flows.cluster import work_run
from nightgrid.flows.count.planner import (
    PlannedCount,
    Planner,
    complete_count,
    plan_count,
    planner_of,
)
from nightgrid.flows.count.report import CountReport, Figures, figures_of_puzzles, figures_of_run
from nightgrid.flows.count.settings import CountSettings, count_game, run_name
from nightgrid.flows.runs import SILENT, AsStep, Watch, plain, stopped
from nightgrid.workers.driver.growing_run import run_status
from nightgrid.workers.driver.progress import Left, Progress, left_of
from nightgrid.workers.runs.manifest import has_plan, has_run, read_done
from nightgrid.workers.runs.notes import is_cancelled, remains_of, take_up_run
from nightgrid.workers.runs.plan.planner import Estimate, estimate_run


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


def work_count(
    settings: CountSettings, watch: Watch = SILENT, as_step: AsStep = plain
) -> CountReport:
    """Do the four steps and report them; a killed count is ended by the same call.

    Raises TransientError when a later call may succeed, PermanentError when it will not, and
    StoppedError when a signal asked this process to stop or the run is cancelled.
    """
    begun = time.monotonic()
    with planner_of(settings) as planner:
        corpus = as_step("corpus", bring_corpus)(settings, watch)
        watch.on_corpus(corpus)
        planned = as_step("plan", plan_count)(settings, corpus, planner)
        solved = as_step("solve", solve_count)(settings, planned, planner, watch)
    report = as_step("report", report_count)(settings, corpus, planned, solved, begun)
    watch.on_report(report)
    return report


def bring_corpus(settings: CountSettings, watch: Watch = SILENT) -> Corpus:
    """Bring the corpus into the lake, as far as it is not there.

    Raises PermanentError, before anything is made, for a question that its game does not answer.
    """
    return open_corpus(
        settings.lake,
        settings.corpus,
        game=settings.game,
        processes=settings.processes,
        on_slices=watch.on_slices,
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
        corpus.tables,
        settings.ask,
        settings.workers.budget,
        worker_count=settings.workers.batch_processes,
    )


def solve_count(
    settings: CountSettings,
    planned: PlannedCount,
    planner: Planner,
    watch: Watch = SILENT,
) -> SolvedCount:
    """Work the run to its end, whether it is planned already or not.

    Raises TransientError when workers or lake stay away, StoppedError after a signal and for
    a run that is cancelled.
    """
    if planned.finished:
        return SolvedCount()
    lake, run_id = settings.lake, planned.run_id
    if settings.resume:
        take_up_run(lake, run_id)
    elif is_cancelled(lake, run_id):
        raise stopped(settings, run_id, cancelled=True)
    if not has_plan(lake, run_id):
        planner.start()
    seen: list[Progress] = []

    def show(progress: Progress) -> None:
        seen[1:] = [progress]
        watch.on_progress(progress)

    summary = work_run(settings, run_id, planner.workers, show, planner.check)
    first, last = (seen[0], seen[-1]) if seen else (None, None)
    return SolvedCount(
        chunks_worked=summary.chunks_total - summary.chunks_resumed,
        chunks_found=summary.chunks_resumed,
        jobs_worked=last.jobs_done - first.jobs_done if first and last else 0,
        states=last.states - first.states if first and last else 0,
        failures=summary.failures,
        seconds=summary.seconds,
    )


def report_count(
    settings: CountSettings,
    corpus: Corpus,
    planned: PlannedCount,
    solved: SolvedCount,
    begun_s: float,
) -> CountReport:
    """Report a count that began at `begun_s`, in monotonic seconds."""
    planned = complete_count(settings, planned)
    figures = _figures(settings, corpus, planned)
    return CountReport(
        corpus=corpus.name,
        corpus_id=corpus.corpus_id,
        game=corpus.game,
        ask=str(settings.ask),
        rules=planned.question.rules,
        lexicon_id=planned.question.lexicon_id,
        solver_version=planned.question.solver_version,
        rows=corpus.row_count,
        quarantined=corpus.quarantined,
        run_id=planned.run_id if planned.job_count else None,
        planned=planned.job_count,
        already_known=planned.already_known,
        resumed=planned.resumed and not planned.finished,
        finished_before=planned.finished,
        chunks_worked=solved.chunks_worked,
        chunks_found=solved.chunks_found,
        jobs_worked=solved.jobs_worked,
        failures=solved.failures,
        states_worked=solved.states,
        solve_seconds=solved.seconds,
        wall_seconds=time.monotonic() - begun_s,
        figures=figures,
        paths=_paths(settings, corpus, planned),
    )


def _figures(settings: CountSettings, corpus: Corpus, planned: PlannedCount) -> Figures:
    """Add up the results of the corpus, whichever runs they are from."""
    lake = settings.lake
    if planned.already_known:
        return figures_of_puzzles(lake, planned.question, corpus.paths)
    return figures_of_run(lake, planned.run_id)


def _paths(settings: CountSettings, corpus: Corpus, planned: PlannedCount) -> dict[str, str]:
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

"""Run a count: its four steps as plain functions.

Each step reads from the lake what is left to do, so that the same call finishes a count that was
killed anywhere.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.corpus.corpus import LAKE, Corpus, open_corpus
from nightgrid.archive.games.generator_spec import is_generator_spec
from nightgrid.archive.lake.schemas import CORPUS_ROWS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup.row_filter import RowFilter
from nightgrid.archive.results.contradictions import contradictions
from nightgrid.archive.results.solution_files import files_folder
from nightgrid.flows.attention import AttentionItem, contradicting, in_quarantine, unanswered
from nightgrid.flows.cluster import work_run
from nightgrid.flows.count.figures import figures_of_puzzles
from nightgrid.flows.count.planner import PlannedCount, Planner, plan_count
from nightgrid.flows.count.report import CountReport
from nightgrid.flows.count.settings import CountSettings, asked_of, run_name
from nightgrid.flows.runs import SILENT, AsStep, InFlow, Watch, plain, stopped
from nightgrid.solvers.algebra import Status
from nightgrid.solvers.errors import TransientError
from nightgrid.workers.driver.progress import Progress
from nightgrid.workers.runs.manifest import Run, has_plan, has_run, open_run, read_done
from nightgrid.workers.runs.plan.plan_pass import PlanPass
from nightgrid.workers.runs.plan.planner import estimate_run
from nightgrid.workers.runs.status import is_cancelled, read_run_status, resume_run
from nightgrid.workers.upkeep import tidy


def work_count(
    settings: CountSettings,
    watch: Watch = SILENT,
    *,
    as_step: AsStep = plain,
    in_flow: InFlow | None = None,
) -> CountReport:
    """Run the four steps and report; the same call finishes a killed count.

    The corpus is loaded and its planning started first; if there is something to solve, `in_flow`
    runs the rest.

    Raises TransientError if a later call may succeed, PermanentError if it will not, and
    StoppedError if a signal asked this process to stop or the run is cancelled.
    """
    begun_s = time.monotonic()
    with ExitStack() as ending:
        corpus = as_step("corpus", bring_corpus)(settings, watch)
        watch.on_corpus(corpus)
        planner = Planner(settings, corpus, ending)
        planned = as_step("plan", plan_count)(settings, corpus, planner)

        def rest(as_step: AsStep, watch: Watch) -> CountReport:
            report = as_step("solve", solve_count)(settings, corpus, planned, planner, watch)
            report = as_step("report", report_count)(settings, corpus, planned, report, begun_s)
            watch.on_report(report)
            return report

        if in_flow is not None and not planned.finished:
            return in_flow(rest)
        return rest(as_step, watch)


def bring_corpus(settings: CountSettings, watch: Watch = SILENT) -> Corpus:
    """Load the corpus into the lake, unless it is there already.

    Raises PermanentError, before anything is made, for a question that its game does not answer.
    """
    return open_corpus(
        settings.lake,
        settings.corpus,
        game=settings.game,
        processes=settings.processes,
        on_rows=watch.on_rows,
        check=settings.check_question,
    )


def begun_run(settings: CountSettings, corpus: Corpus) -> str | None:
    """Return the run that an earlier call has started and not finished; None without one."""
    lake, run_id = settings.lake, run_name(asked_of(settings, corpus), corpus)
    is_open = has_run(lake, run_id) and not read_run_status(lake, run_id).finished
    return run_id if is_open else None


def estimate_count(settings: CountSettings, corpus: Corpus) -> PlanPass:
    """Estimate the cost of planning and solving; no run is written."""
    return estimate_run(asked_of(settings, corpus), corpus.tables)


def solve_count(
    settings: CountSettings,
    corpus: Corpus,
    planned: PlannedCount,
    planner: Planner,
    watch: Watch = SILENT,
) -> CountReport:
    """Drive the run to its end, whether it is planned already or not; start the report.

    Raises TransientError if workers or lake are unavailable, StoppedError after a signal and for a
    cancelled run.
    """
    report = CountReport(
        corpus=corpus.name,
        corpus_id=corpus.corpus_id,
        game=corpus.game,
        ask=str(settings.ask),
        rows=corpus.row_count,
        quarantined=corpus.quarantined,
        resumed=planned.resumed and not planned.finished,
        finished_before=planned.finished,
    )
    if planned.finished:
        return report
    lake, run_id = settings.lake, planned.run_id
    if settings.resume:
        resume_run(lake, run_id)
    elif is_cancelled(lake, run_id):
        raise stopped(settings, run_id, cancelled=True)
    if not has_plan(lake, run_id):
        planner.start(run_id)
    tidy(lake, settings.workers.runs_kept_days)
    seen: list[Progress] = []

    def show(progress: Progress) -> None:
        seen[1:] = [progress]
        watch.on_progress(progress)

    summary = work_run(settings, run_id, planner.workers, show, planner.check)
    first, last = (seen[0], seen[-1]) if seen else (None, None)
    return replace(
        report,
        chunks_worked=summary.chunks_total - summary.chunks_resumed,
        chunks_found=summary.chunks_resumed,
        jobs_worked=last.jobs_done - first.jobs_done if first and last else 0,
        states_worked=last.states - first.states if first and last else 0,
        failures=summary.failures,
        solve_seconds=summary.seconds,
    )


def report_count(
    settings: CountSettings,
    corpus: Corpus,
    planned: PlannedCount,
    report: CountReport,
    begun_s: float,
) -> CountReport:
    """Complete the report of a count that started at `begun_s`, in monotonic seconds.

    Figures cover all puzzles of the corpus, whichever runs answered them. Raises TransientError if
    retention has dropped results of the corpus meanwhile.
    """
    lake = settings.lake
    run, done = open_run(lake, planned.run_id), read_done(lake, planned.run_id)
    figures = figures_of_puzzles(lake, run.question, corpus.puzzle_ids())
    if figures.jobs < run.job_count + run.answered_count:
        raise TransientError(
            "answers of this corpus were dropped while it was counted; the same command solves them"
        )
    # Globs for DuckDB.
    paths = {"results": "results/*.parquet", "rows": f"{corpus.rows_path}/*.parquet"}
    if settings.ask.kind in ("first", "best", "all"):
        paths["solutions"] = "solutions/*.parquet"
    if done is not None and done.get("solution_files"):
        paths["listings"] = f"{files_folder(run.run_id)}/*/*.parquet"
    changed = [] if planned.finished else contradictions_of(lake, corpus, run)
    looks = attention_of(lake, corpus, run, figures.statuses)
    return replace(
        report,
        rules=run.question.rules,
        lexicon_id=run.question.lexicon_id,
        solver_version=run.question.solver_version,
        run_id=run.run_id if run.job_count else None,
        planned=run.job_count,
        already_known=run.answered_count,
        wall_seconds=time.monotonic() - begun_s,
        figures=figures,
        lake=settings.workers.lake,
        contradictions=len(changed),
        attention=(*changed, *looks),
        paths={name: lake.location(path) for name, path in paths.items()},
    )


def attention_of(
    lake: Lake, corpus: Corpus, run: Run, statuses: Mapping[str, int]
) -> list[AttentionItem]:
    """List the puzzles of a corpus without an answer, and its rows in quarantine.

    A board without a solution is listed unless a generator made the corpus, for which it is an
    answer like any other.
    """
    wanted = RowFilter(games=(corpus.game,), question=run.question)
    figures = dict(statuses)
    if is_generator_spec(corpus.name):
        figures.pop(Status.UNSOLVABLE, None)
    ids: list[pa.ChunkedArray] = []

    def within(table: pa.Table) -> pa.Table:
        if not ids:
            ids.append(corpus.puzzle_ids())
        return table.filter(pc.is_in(table.column("puzzle_id"), value_set=ids[0]))

    found = unanswered(lake, wanted, figures, within)
    broken = (
        row
        for table in lake.scan(corpus.rows_path, CORPUS_ROWS, CORPUS_ROWS.names)
        for row in table.filter(pc.is_valid(table.column("rule"))).to_pylist()
    )
    return [*_placed(lake, corpus, found), *in_quarantine(broken if corpus.quarantined else ())]


def contradictions_of(lake: Lake, corpus: Corpus, run: Run) -> list[AttentionItem]:
    """List the puzzles of a corpus that another version of the solver has answered differently.

    A night reports the boards that it fetches, once; a count reports those of its corpus.
    """
    found = list(contradictions(lake, run.question))
    if found:
        ids = {*corpus.puzzle_ids().to_pylist()}
        found = [one for one in found if one.puzzle_id in ids]
    items = contradicting(found, str(run.question.ask))
    return _placed(lake, corpus, items)


def _placed(lake: Lake, corpus: Corpus, items: tuple[AttentionItem, ...]) -> list[AttentionItem]:
    """Replace the ids of puzzles by their rows in the corpus."""
    if corpus.name == LAKE or not items:
        return list(items)
    ids = pa.array([item.puzzle_id for item in items], pa.string())
    rows = lake.rows_among(corpus.rows_path, CORPUS_ROWS, CORPUS_ROWS.names, "puzzle_id", ids)
    places: dict[str, dict[str, Any]] = {}
    for row in rows.to_pylist():
        places.setdefault(row["puzzle_id"], row)
    placed = [
        replace(item, name=_place(places[str(item.puzzle_id)], str(item.puzzle_id)))
        if item.puzzle_id in places
        else item
        for item in items
    ]
    return sorted(placed, key=lambda item: item.name)


def _place(row: Mapping[str, Any], puzzle_id: str) -> str:
    where = row["level"] or f"row {row['source_row']}"
    return f"{row['source']} {where}, puzzle {puzzle_id}"

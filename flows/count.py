"""Count a corpus: under Prefect where it is installed, and just the same without it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from archive.corpus import Corpus, OnSlices
from flows import counting, environment
from flows.count_report import CountReport
from flows.counting import CountSettings, OnProgress, PlannedCount, Planner, SolvedCount


@dataclass(frozen=True, slots=True, kw_only=True)
class CountSteps:
    """The four steps, plain or each as a Prefect task."""

    corpus: Callable[[CountSettings, OnSlices | None], Corpus]
    plan: Callable[[CountSettings, Corpus, Planner], PlannedCount]
    """Until there is something to solve; what is left is planned meanwhile."""
    solve: Callable[[CountSettings, PlannedCount, Planner, OnProgress | None], SolvedCount]
    report: Callable[[CountSettings, CountReport], CountReport]


PLAIN = CountSteps(
    corpus=counting.bring_corpus,
    plan=counting.plan_count,
    solve=counting.solve_count,
    report=lambda _settings, figures: figures,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Who is told how a count goes."""

    on_slices: OnSlices | None = None
    """While the corpus is made."""
    on_corpus: Callable[[Corpus], None] | None = None
    """When it is there."""
    on_progress: OnProgress | None = None
    """While its run is worked."""


NOBODY = Watch()


def run_count(
    settings: CountSettings, watch: Watch = NOBODY, *, prefect: bool | None = None
) -> CountReport:
    """Count a corpus to its end; a killed count is ended by calling this again.

    `prefect` None means under Prefect if it is installed, as `flows.nightly.run_nightly`. Raises
    TransientError when a later call may succeed, PermanentError when it will not, and
    CountStoppedError when a signal asked this process to stop or the run is cancelled.
    """
    if not environment.enter(prefect):
        return run_count_steps(settings, PLAIN, watch)
    from flows.count_tasks import run_count_flow

    return run_count_flow(settings, watch)


def run_count_steps(settings: CountSettings, do: CountSteps, watch: Watch = NOBODY) -> CountReport:
    """Do the four steps in their order and report them."""
    begun = time.monotonic()
    with counting.planner_of(settings) as planner:
        corpus = do.corpus(settings, watch.on_slices)
        if watch.on_corpus is not None:
            watch.on_corpus(corpus)
        planned = do.plan(settings, corpus, planner)
        solved = do.solve(settings, planned, planner, watch.on_progress)
    planned = counting.complete_count(settings, planned)
    figures = counting.count_figures(settings, corpus, planned)
    return do.report(
        settings,
        CountReport(
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
            wall_seconds=time.monotonic() - begun,
            figures=figures,
            paths=counting.count_paths(settings, corpus, planned),
        ),
    )


__all__ = [
    "PLAIN",
    "CountReport",
    "CountSettings",
    "CountSteps",
    "Watch",
    "run_count",
    "run_count_steps",
]

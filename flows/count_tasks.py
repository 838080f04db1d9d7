"""The Prefect flow of a count: four task runs, however many puzzles there are."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, cast

from prefect import State, flow
from prefect.exceptions import CancelledRun, TerminationSignal
from prefect.states import Cancelled

from archive.corpus import Corpus, OnSlices
from flows import artifacts, counting, history
from flows.count import NOBODY, CountSteps, Watch, run_count_steps
from flows.count_report import CountReport
from flows.counting import (
    CountSettings,
    CountStoppedError,
    OnProgress,
    PlannedCount,
    Planner,
    SolvedCount,
)
from flows.settings import ExecutorKind
from flows.tasks import as_task
from solvers.algebra import Ask
from workers.driver import Progress
from workers.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class _Caller:
    """What a caller in this process hands over beside the flow's parameters."""

    workers: Settings
    watch: Watch
    stopped: list[CountStoppedError] = field(default_factory=list)
    """How the count was stopped, for the caller; Prefect is told that it was cancelled."""


_HERE: ContextVar[_Caller | None] = ContextVar("_HERE", default=None)


def _corpus(settings: CountSettings, on_slices: OnSlices | None) -> Corpus:
    bar = artifacts.ShareBar(artifacts.CORPUS_KEY, "slices of the corpus")

    def show(done: int, total: int) -> None:
        bar(done, total)
        if on_slices is not None:
            on_slices(done, total)

    return counting.bring_corpus(settings, show)


def _solve(
    settings: CountSettings,
    planned: PlannedCount,
    planner: Planner,
    on_progress: OnProgress | None,
) -> SolvedCount:
    bar = artifacts.ProgressBar(key=artifacts.COUNT_PROGRESS_KEY)

    def show(progress: Progress) -> None:
        bar(progress)
        if on_progress is not None:
            on_progress(progress)

    return counting.solve_count(settings, planned, planner, show)


def _report(_settings: CountSettings, figures: CountReport) -> CountReport:
    artifacts.show_count(figures)
    return figures


TASKS = CountSteps(
    corpus=as_task("corpus", _corpus),
    plan=as_task("plan", counting.plan_count),
    solve=as_task("solve", _solve),
    report=as_task("report", _report),
)


@flow(name="count", persist_result=False)
def count_flow(
    corpus: str,
    lake: str,
    game: str | None = None,
    ask: str = "count",
    rules: str = "",
    lexicon: str | None = None,
    executor: ExecutorKind = "celery",
    *,
    resume: bool = False,
) -> CountReport | State[Any]:
    """Bring a corpus into the lake, plan, solve, report; a count that is stopped is `Cancelled`.

    How workers work is read from NIGHTGRID_* in the environment.
    """
    caller = _HERE.get() or _Caller(workers=Settings(lake=lake), watch=NOBODY)
    workers = caller.workers
    history.keep(workers.flow_history_days)
    settings = CountSettings(
        corpus=corpus,
        game=game,
        ask=Ask.parse(ask),
        rules=rules,
        lexicon=lexicon,
        resume=resume,
        executor=executor,
        workers=workers,
    )
    try:
        return run_count_steps(settings, TASKS, caller.watch)
    except CountStoppedError as error:
        caller.stopped.append(error)
        return Cancelled(message=str(error))


def parameters(settings: CountSettings) -> dict[str, Any]:
    """Write the parameters of the flow, as JSON values."""
    return {
        "corpus": settings.corpus,
        "lake": settings.workers.lake,
        "game": settings.game,
        "ask": str(settings.ask),
        "rules": settings.rules,
        "lexicon": settings.lexicon,
        "executor": settings.executor,
        "resume": settings.resume,
    }


def run_count_flow(settings: CountSettings, watch: Watch) -> CountReport:
    """Run the flow in this process, with these very settings."""
    caller = _Caller(workers=settings.workers, watch=watch)
    token = _HERE.set(caller)
    try:
        return cast("CountReport", count_flow(**parameters(settings)))
    except CancelledRun as error:
        raise (caller.stopped or [CountStoppedError(str(error))])[0] from None
    except TerminationSignal as error:
        raise CountStoppedError("stopped; the same command goes on") from error
    finally:
        _HERE.reset(token)

"""The Prefect flows `nightly` and `count`: one task run a step and game, never one a puzzle.

No postponed annotations: a served flow is pickled by value, and Prefect validates its parameters
without the names of this module.
"""

import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar, cast

import httpx
from prefect import flow, task
from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    update_progress_artifact,
)
from prefect.cache_policies import NO_CACHE
from prefect.exceptions import CancelledRun, PrefectException, TerminationSignal
from prefect.logging import get_run_logger
from prefect.runtime import flow_run
from prefect.states import Cancelled
from pydantic import TypeAdapter

from nightgrid.flows.count.report import CountReport
from nightgrid.flows.night.night import work_night
from nightgrid.flows.night.report import GameReport, NightFailedError, NightReport
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.flows.prefect import server
from nightgrid.flows.runs import AsStep, Rest, StoppedError, Watch
from nightgrid.solvers.errors import TransientError
from nightgrid.workers.driver.progress import Progress, progress_text
from nightgrid.workers.runs.unanswered_jobs import Retry
from nightgrid.workers.settings import load_settings

RETRIES = 2
RETRY_DELAY_S = 30
"""Delay before the step of a failed source or server is retried."""
PROGRESS_EVERY_S = 10.0
"""Minimum interval of progress updates; each costs the server 8 to 65 ms and a row."""

_GAMES = TypeAdapter(list[NightGame])
P = ParamSpec("P")
R = TypeVar("R")


@flow(name="nightly", persist_result=False)
def nightly_flow(
    lake: str, games: list[dict[str, Any]], executor: str = "celery", retry: str | None = None
) -> Any:
    """Run a night: fetch, normalise, plan, solve, aggregate and report each game.

    A game is an object with `source` and optionally `game`, `asks`, `rules`, `lexicon`, `since`,
    `until` and `refresh_days`. Settings of the workers come from NIGHTGRID_* in
    the environment. Fails at the end if a game failed; a night that is stopped is `Cancelled`.
    """
    night = NightSettings(
        games=tuple(_GAMES.validate_python(games)),
        executor=cast(Any, executor),
        retry=Retry(retry) if retry else None,
        workers=load_settings(lake=lake),
    )
    watch = Watch(on_note=get_run_logger().warning)
    try:
        return _shown(
            "nightly", watch, lambda as_step, seen: work_night(night, seen, as_step=as_step)
        )
    except StoppedError as error:
        return Cancelled(message=str(error))


def night_parameters(night: NightSettings) -> dict[str, Any]:
    """Return a night as the parameters of `nightly_flow`, as JSON values."""
    return {
        "lake": night.workers.lake,
        "games": _GAMES.dump_python(list(night.games), mode="json"),
        "executor": night.executor,
        "retry": night.retry and night.retry.value,
    }


def run_in_flow(name: str, shown: Mapping[str, Any], watch: Watch, rest: Rest[R]) -> R:
    """Run the rest of a night or a count as a flow run of this process.

    `shown` is what Prefect's page shows as parameters. The settings are not among them: Prefect
    stores parameters, and the URL of a queue server may contain a password. Raises StoppedError if
    the run is stopped.
    """
    stopped: list[StoppedError] = []

    @flow(name=name, persist_result=False)
    def here(settings: dict[str, Any]) -> Any:  # noqa: ARG001 - shown on Prefect's page
        page = f", {flow_run.ui_url}" if server.is_named() and flow_run.ui_url else ""
        watch.on_note(f"Prefect's flow run {flow_run.name}{page}; --no-prefect does without")
        try:
            return _shown(name, watch, rest)
        except StoppedError as error:
            stopped.append(error)
            return Cancelled(message=str(error))

    try:
        return cast(R, here(dict(shown)))
    except CancelledRun as error:
        raise (stopped or [StoppedError(str(error))])[0] from None
    except TerminationSignal as error:
        raise StoppedError("stopped; the same command continues") from error


def _shown(name: str, watch: Watch, rest: Rest[R]) -> R:
    """Run the rest in a flow run: steps are tasks, with a progress bar and a summary in the UI."""
    bar = ProgressArtifact(f"{name}-progress")

    def show(progress: Progress) -> None:
        bar.show(progress)
        watch.on_progress(progress)

    try:
        report = rest(as_tasks(watch), replace(watch, on_progress=show))
    except NightFailedError as error:
        _summarise(name, error.report)
        raise
    _summarise(name, cast(NightReport | CountReport, report))
    return report


def as_tasks(watch: Watch) -> AsStep:
    """Make steps Prefect tasks that keep no result and retry transient errors.

    A task run of a step of one game is named after the step and the game.
    """

    def may_succeed(_task: Any, _task_run: Any, state: Any) -> bool:
        try:
            state.result()
        except TransientError as error:
            watch.on_note(f"{error}; trying again in {RETRY_DELAY_S} s")
            return True
        except Exception:  # noqa: BLE001 - whatever it was, it is reported and not tried again
            return False
        return False

    def as_task(name: str, step: Callable[P, R]) -> Callable[P, R]:
        by_game = "game" in inspect.signature(step).parameters
        made = task(
            name=name,
            task_run_name=f"{name}-{{game.game}}" if by_game else None,
            cache_policy=NO_CACHE,
            persist_result=False,
            retries=RETRIES,
            retry_delay_seconds=RETRY_DELAY_S,
            retry_condition_fn=may_succeed,
        )(step)
        return cast("Callable[P, R]", made)

    return as_task


class ProgressArtifact:
    """A progress bar in Prefect's UI, updated at most every PROGRESS_EVERY_S and at the end.

    If the server does not answer, only the picture suffers, never the run.
    """

    def __init__(self, key: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._key = key
        self._clock = clock
        self._artifact_id: Any = None
        self._next_at = 0.0

    def show(self, progress: Progress) -> None:
        """Show how many jobs of a run are done, the rate, and the estimated end."""
        now = self._clock()
        done, total = progress.jobs_done, progress.jobs_total
        if now < self._next_at and done < total:
            return
        self._next_at = now + PROGRESS_EVERY_S
        percent = 100.0 * done / total if total else 100.0
        text = progress_text(progress)
        try:
            if self._artifact_id is None:
                self._artifact_id = create_progress_artifact(
                    progress=percent, key=self._key, description=text
                )
            else:
                update_progress_artifact(
                    artifact_id=self._artifact_id, progress=percent, description=text
                )
        except (PrefectException, httpx.HTTPError) as error:
            get_run_logger().warning("progress could not be shown: %s", error)


def _summarise(name: str, report: NightReport | CountReport) -> None:
    try:
        create_markdown_artifact(key=f"{name}-summary", markdown=summary(report))
    except (PrefectException, httpx.HTTPError) as error:
        get_run_logger().warning("the summary could not be shown: %s", error)


def summary(report: NightReport | CountReport) -> str:
    """Format a report as Markdown, for Prefect's UI."""
    lines = [report.sentence()] if isinstance(report, NightReport) else []
    for part in report.games if isinstance(report, NightReport) else (report,):
        lines += ["", f"## {part.game}", "", part.line(), ""]
        if isinstance(part, GameReport):
            lines += [f"- {note}" for note in part.notes()]
        for heading, told in part.attention_sections():
            lines += [f"- {heading}", *(f"    - {line}" for line in told)]
        lines += [
            "",
            "| | |",
            "|---|---|",
            *(f"| {name} | {text} |" for name, text in part.table()),
        ]
        lines += ["", *(f"- {name}: `{path}`" for name, path in part.paths.items())]
    return "\n".join([*lines, ""])

"""What Prefect's page shows: a progress bar while something is solved, a summary at the end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ParamSpec

import httpx
from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.exceptions import PrefectException
from prefect.logging import get_run_logger

from nightgrid.flows.count.report import CountReport
from nightgrid.flows.night.report import GameReport
from nightgrid.flows.runs import Watch
from nightgrid.workers.driver.progress import Progress, progress_text

UPDATE_INTERVAL_S = 2.0
"""One update costs the server 8-65 ms; more often than this people do not look."""
UPDATE_SHARE = 0.05
"""Share of the time so far: longer runs are shown less often, as every update is a row ..."""
UPDATE_INTERVAL_MAX_S = 30.0
"""... but never less often than this."""
PROGRESS_KEY = "nightly-progress"
SUMMARY_KEY = "nightly-summary"
FIGURES_KEY = "nightly-figures"
COUNT_PROGRESS_KEY = "count-progress"
COUNT_SUMMARY_KEY = "count-summary"
COUNT_SPREAD_KEY = "count-distribution"
CORPUS_KEY = "count-corpus"

P = ParamSpec("P")


class ShareBar:
    """A progress artifact, made at the first call and updated at most every UPDATE_INTERVAL_S.

    What takes long is updated less often, UPDATE_INTERVAL_MAX_S at most apart.
    A server that cannot be reached costs the picture, never the work.
    """

    def __init__(
        self, key: str, what: str = "jobs", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._key = key
        self._what = what
        self._clock = clock
        self._artifact_id: Any = None
        self._begun_s: float | None = None
        self._next_s = 0.0

    def __call__(self, done: int, total: int, told: Callable[[], str] | None = None) -> None:
        """Show how much is done; the end is always shown. `told` says more than the share."""
        now_s = self._clock()
        if now_s < self._next_s and done < total:
            return
        if self._begun_s is None:
            self._begun_s = now_s
        wait_s = max(UPDATE_INTERVAL_S, UPDATE_SHARE * (now_s - self._begun_s))
        self._next_s = now_s + min(wait_s, UPDATE_INTERVAL_MAX_S)
        percent = 100.0 * done / total if total else 100.0
        description = f"{total:,} {self._what}" if told is None else told()
        try:
            if self._artifact_id is None:
                self._artifact_id = create_progress_artifact(
                    progress=percent, key=self._key, description=description
                )
            else:
                update_progress_artifact(
                    artifact_id=self._artifact_id, progress=percent, description=description
                )
        except (PrefectException, httpx.HTTPError) as error:
            get_run_logger().warning("progress could not be shown: %s", error)


def progress_bar(
    key: str = PROGRESS_KEY, clock: Callable[[], float] = time.monotonic
) -> Callable[[Progress], None]:
    """Show the jobs done of a run's, how fast it goes and when it will have ended."""
    bar = ShareBar(key, clock=clock)
    return lambda progress: bar(
        progress.jobs_done, progress.jobs_total, lambda: progress_text(progress)
    )


def shown_night(watch: Watch) -> Watch:
    """Show the events of a night's watch, with a progress bar for each run."""
    bars: dict[str, Callable[[Progress], None]] = {}

    def show(progress: Progress) -> None:
        bars.setdefault(progress.run_id, progress_bar())(progress)

    return replace(
        watch,
        on_progress=_both(show, watch.on_progress),
        on_report=_both(show_summary, watch.on_report),
    )


def shown_count(watch: Watch, slices: tuple[int, int] | None = None) -> Watch:
    """Show the events of a count's watch, and the parts of the corpus that were made before."""
    bar = ShareBar(CORPUS_KEY, "parts of the corpus")
    if slices is not None:
        bar(*slices)
    return replace(
        watch,
        on_slices=_both(bar, watch.on_slices),
        on_progress=_both(progress_bar(COUNT_PROGRESS_KEY), watch.on_progress),
        on_report=_both(show_count, watch.on_report),
    )


def _both(one: Callable[P, None], other: Callable[P, None]) -> Callable[P, None]:
    def tell(*args: P.args, **kwargs: P.kwargs) -> None:
        one(*args, **kwargs)
        other(*args, **kwargs)

    return tell


def show_summary(report: GameReport) -> None:
    """Make the summary of a game and the table of its figures."""
    figures = [{"figure": name, "value": value} for name, value in report.rows()]
    _show(report, SUMMARY_KEY, FIGURES_KEY, figures)


def show_count(report: CountReport) -> None:
    """Make the summary of a count and the table of how many puzzles have how many solutions."""
    spread = report.figures.distribution()
    table = [{"solutions": span, "puzzles": number} for span, number in spread]
    _show(report, COUNT_SUMMARY_KEY, COUNT_SPREAD_KEY, table)


def _show(
    report: GameReport | CountReport, summary_key: str, table_key: str, table: list[dict[str, Any]]
) -> None:
    try:
        create_markdown_artifact(
            key=summary_key, markdown=report.to_markdown(), description=report.sentence()
        )
        create_table_artifact(key=table_key, table=table, description=f"{report.game} {report.ask}")
    except (PrefectException, httpx.HTTPError) as error:
        get_run_logger().warning("the summary could not be shown: %s", error)

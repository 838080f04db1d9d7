"""What Prefect's page shows of a night: a progress bar while it solves, a summary at the end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx
from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.exceptions import PrefectException
from prefect.logging import get_run_logger

from flows.report import NightlyReport
from workers.driver import Progress

UPDATE_INTERVAL_S = 2.0
"""One update costs the server 8-65 ms; more often than this nobody looks."""
PROGRESS_KEY = "nightly-progress"
SUMMARY_KEY = "nightly-summary"
FIGURES_KEY = "nightly-figures"


class ProgressBar:
    """A progress artifact, made at the first call and updated at most every UPDATE_INTERVAL_S.

    A server that cannot be reached costs the picture, never the night.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._artifact_id: Any = None
        self._next_s = 0.0

    def __call__(self, progress: Progress) -> None:
        """Show the rows done of all rows; the end is always shown."""
        done, total = progress.rows_done, progress.rows_total
        now_s = self._clock()
        if now_s < self._next_s and done < total:
            return
        self._next_s = now_s + UPDATE_INTERVAL_S
        percent = 100.0 * done / total if total else 100.0
        try:
            if self._artifact_id is None:
                self._artifact_id = create_progress_artifact(
                    progress=percent, key=PROGRESS_KEY, description=f"{total:,} jobs"
                )
            else:
                update_progress_artifact(artifact_id=self._artifact_id, progress=percent)
        except (PrefectException, httpx.HTTPError) as error:
            get_run_logger().warning("progress could not be shown: %s", error)


def show_summary(report: NightlyReport) -> None:
    """Make the summary and the table of figures."""
    try:
        create_markdown_artifact(
            key=SUMMARY_KEY, markdown=report.to_markdown(), description=report.sentence()
        )
        create_table_artifact(
            key=FIGURES_KEY,
            table=[{"figure": name, "value": value} for name, value in report.rows()],
            description=f"{report.game} {report.ask}",
        )
    except (PrefectException, httpx.HTTPError) as error:
        get_run_logger().warning("the summary could not be shown: %s", error)


__all__ = [
    "FIGURES_KEY",
    "PROGRESS_KEY",
    "SUMMARY_KEY",
    "UPDATE_INTERVAL_S",
    "ProgressBar",
    "show_summary",
]

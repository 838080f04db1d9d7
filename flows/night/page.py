"""The last thing of a night: the report for people, one HTML file in the lake.

Drawing is two floors up, and a flow that Prefect starts has no door above it that could hand the
drawing down. So the module that draws is named here, and imported when a night has ended, as
Celery does with the modules of tasks.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from nightgrid.workers.logs import get_logger

if TYPE_CHECKING:
    from nightgrid.flows.night.report import NightReport
    from nightgrid.flows.night.settings import NightSettings
    from nightgrid.flows.runs import Watch

REPORT_PATH = "reports/report.html"
"""Where the report of the last night lies in a lake."""
WRITER = "nightgrid.service.report.page"
"""The module whose `write_nightly_report` gets the lake."""

log = get_logger("nightgrid.night")


def write_page(night: NightSettings, done: NightReport, watch: Watch) -> None:
    """Write the report of the lake, if the settings say so; what fails costs the report alone.

    A night that found nothing leaves the one that is there: it is to cost next to nothing.
    """
    if not night.workers.night_report:
        return
    idle = not any(game.new_payloads or game.planned or game.failed for game in done.games)
    try:
        if idle and night.lake.exists(REPORT_PATH):
            return
        import_module(WRITER).write_nightly_report(night.lake)
    except Exception as error:  # noqa: BLE001 - no fault of a drawing is to fail the night
        # Answers are in the lake by now.
        log.warning("no report written", why=f"{type(error).__name__}: {error}")
        watch.on_note(f"no report was written: {error}")

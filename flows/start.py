"""Run a night or a count: under Prefect where it is installed, and just the same without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nightgrid.flows.prefect import environment
from nightgrid.flows.runs import SILENT, Watch

if TYPE_CHECKING:
    from nightgrid.flows.count.report import CountReport
    from nightgrid.flows.count.settings import CountSettings
    from nightgrid.flows.night.report import NightReport
    from nightgrid.flows.night.settings import NightSettings


def run_night(
    night: NightSettings, watch: Watch = SILENT, *, prefect: bool | None = None
) -> NightReport:
    """Run a night to its end (`nightgrid.flows.night.night.work_night`).

    `prefect` None means under Prefect if it is installed: in a flow run on the server of
    PREFECT_API_URL, or on a temporary one of its own.
    """
    if environment.enter(prefect):
        from nightgrid.flows.prefect.tasks import run_night_flow

        return run_night_flow(night, watch)
    from nightgrid.flows.night.night import work_night

    return work_night(night, watch)


def run_count(
    settings: CountSettings, watch: Watch = SILENT, *, prefect: bool | None = None
) -> CountReport:
    """Run a count to its end (`nightgrid.flows.count.count.work_count`), under Prefect or not as a
    night.
    """
    if environment.enter(prefect):
        from nightgrid.flows.prefect.tasks import run_count_flow

        return run_count_flow(settings, watch)
    from nightgrid.flows.count.count import work_count

    return work_count(settings, watch)

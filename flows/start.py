"""Run a night or a count: under Prefect where it is installed, and just the same without it.

Prefect is loaded, and its temporary server started, once there is work, and not before: a night or
a count with nothing to do ends without either (ADR 22).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nightgrid.flows.prefect import environment
from nightgrid.flows.prefect.preload import Preload
from nightgrid.flows.runs import SILENT, StepsAhead, StoppedError, Watch, plain
from nightgrid.workers.exporter import share_metrics

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
    PREFECT_API_URL, or on a temporary one of its own, as soon as there is something to do. An idle
    night is no flow run. One that failed for want of a source is one where there is a server to
    tell of it.
    """
    share_metrics(night.workers)
    from nightgrid.flows.night.night import night_alone, work_ahead, work_night, work_steps

    with _sigterm_stops():
        if not environment.enter(prefect):
            return work_night(night, watch)
        ahead = StepsAhead()
        with night_alone(night), Preload() as preload:
            found = work_ahead(night, ahead, watch, preload.begin)
            if not (found.work or (found.trouble and environment.names_server())):
                return work_steps(night, watch, plain, ahead)
            with watch.waiting(_awaited()):
                preload.ready()
            from nightgrid.flows.prefect.tasks import run_night_flow

            return run_night_flow(night, watch, ahead)


def run_count(
    settings: CountSettings, watch: Watch = SILENT, *, prefect: bool | None = None
) -> CountReport:
    """Run a count to its end (`nightgrid.flows.count.count.work_count`), under Prefect or not as a
    night.
    """
    share_metrics(settings.workers)
    from nightgrid.flows.count.count import count_steps, work_ahead, work_count
    from nightgrid.flows.count.planner import planner_of

    with _sigterm_stops():
        if not environment.enter(prefect):
            return work_count(settings, watch)
        ahead = StepsAhead()
        with planner_of(settings) as planner, Preload() as preload:
            if not work_ahead(settings, ahead, watch, planner, preload.begin):
                return count_steps(settings, watch, plain, planner, ahead)
            with watch.waiting(_awaited()):
                preload.ready()
            from nightgrid.flows.prefect.tasks import run_count_flow

            return run_count_flow(settings, watch, planner, ahead)


def _awaited() -> str:
    """Say what is waited for before a flow run can begin."""
    own = "Prefect's temporary server is coming up; --no-prefect does without"
    return "loading Prefect" if environment.names_server() else own


@contextmanager
def _sigterm_stops() -> Iterator[None]:
    """Let SIGTERM end what is under way as StoppedError, unless the caller has its own way.

    The driver and Prefect take the signal over while they are at work.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def stop(*_: Any) -> None:
        raise StoppedError("stopped; the same command goes on")

    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

"""Run a night or a count: under Prefect if it is installed, otherwise the same without it.

Prefect is loaded, and its temporary server started, only once there is work: a night or a count
with nothing to do needs neither (ADR 22).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from nightgrid.flows.prefect import server
from nightgrid.flows.runs import SILENT, InFlow, Rest, Watch, plain
from nightgrid.workers.exporter import share_metrics

if TYPE_CHECKING:
    from nightgrid.flows.count.report import CountReport
    from nightgrid.flows.count.settings import CountSettings
    from nightgrid.flows.night.report import NightReport
    from nightgrid.flows.night.settings import NightSettings

R = TypeVar("R")


def run_night(
    night: NightSettings, watch: Watch = SILENT, *, prefect: bool | None = None
) -> NightReport:
    """Run a night to its end (`nightgrid.flows.night.night.work_night`).

    `prefect` None means under Prefect if it is installed: once there is something to solve, in a
    flow run on the server of PREFECT_API_URL, or on a temporary one. A night with nothing to solve
    becomes a flow run only if it failed and a server is named, to report it there.
    """
    share_metrics(night.workers)
    from nightgrid.flows.night.night import work_night

    games = [{"game": game.game, "source": game.source} for game in night.games]
    shown = {"lake": night.workers.lake, "games": games}
    return work_night(night, watch, in_flow=_in_flow(prefect, "nightly", shown, watch))


def run_count(
    settings: CountSettings, watch: Watch = SILENT, *, prefect: bool | None = None
) -> CountReport:
    """Run a count to its end (`nightgrid.flows.count.count.work_count`), under Prefect or not."""
    share_metrics(settings.workers)
    from nightgrid.flows.count.count import work_count

    shown = {"corpus": settings.corpus, "lake": settings.workers.lake, "ask": str(settings.ask)}
    return work_count(settings, watch, in_flow=_in_flow(prefect, "count", shown, watch))


def _in_flow(
    prefect: bool | None, name: str, shown: Mapping[str, Any], watch: Watch
) -> InFlow | None:
    """Return a function that runs the rest under Prefect; None if Prefect is not wanted.

    If Prefect's server does not answer, the rest runs without it, unless `prefect` is True.
    """
    if prefect:
        server.check_installed()
    if not (server.is_installed() if prefect is None else prefect):
        return None

    def in_flow(rest: Rest[R], *, has_work: bool = True) -> R:
        if not (has_work or server.is_named()):
            return rest(plain, watch)
        more = {}
        if "PREFECT_LOGGING_LEVEL" not in os.environ:
            # Nights and counts report their own progress and failures.
            more["PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"] = "CRITICAL"
        server.set_environment(**more)
        own = "Prefect's temporary server is starting; --no-prefect does without"
        try:
            with watch.waiting("loading Prefect" if server.is_named() else own):
                if not server.check_named_server():
                    server.start_temporary_server()
                from nightgrid.flows.prefect.flows import run_in_flow
        except server.NoServerError as error:
            if prefect:
                raise
            watch.on_note(f"{error}; continuing without Prefect")
            return rest(plain, watch)
        return run_in_flow(name, shown, watch, rest)

    return in_flow

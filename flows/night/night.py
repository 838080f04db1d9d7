"""Run a night: six steps for each game, with the failures of one game kept from the others.

Each step reads from the lake what is left to do, so that the same call finishes a night that was
killed anywhere. Steps add their figures to the game's report.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any

from structlog.contextvars import bound_contextvars

from nightgrid.archive.lake.location import is_missing, make_folder
from nightgrid.archive.sources import open_source
from nightgrid.flows.cluster import OwnWorkers
from nightgrid.flows.night.planning import PlannedRun
from nightgrid.flows.night.report import REPORT_PATH, GameReport, NightFailedError, NightReport
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.flows.night.steps import (
    NIGHT,
    aggregate,
    fetch,
    file_report,
    normalise,
    plan,
    solve,
)
from nightgrid.flows.runs import SILENT, AsStep, InFlow, StoppedError, Watch, plain
from nightgrid.solvers.algebra import Status
from nightgrid.solvers.errors import NightgridError, PermanentError
from nightgrid.workers.lease import holding
from nightgrid.workers.logs import get_logger
from nightgrid.workers.tracing import span
from nightgrid.workers.upkeep import tidy

log = get_logger("nightgrid.night")
NIGHT_ID_CHARS = 12
PAGE_WRITER = "nightgrid.service.report.page"
"""Module whose `write_nightly_report` is called with the lake. Drawing is two floors up, so the
module is named here and imported after a night, as Celery does with task modules."""


def work_night(
    night: NightSettings,
    watch: Watch = SILENT,
    *,
    as_step: AsStep = plain,
    in_flow: InFlow | None = None,
) -> NightReport:
    """Run the six steps of every game and report; the same call finishes a killed night.

    First all sources are fetched and all games planned, then all are solved one after the other by
    the same workers; our own workers load only games that have something to solve. Once that is
    known, `in_flow` runs the rest if there is work or a game failed. When there are several games,
    a source that is missing, fails or gives only unreadable payloads, and any other error of one
    game, affects only that game.

    Raises NightFailedError at the end if a game failed, StoppedError if a signal asked this process
    to stop or a run is cancelled, TransientError while another process holds the lake's night, and
    any error of the only game of a night.
    """
    begun, name = time.monotonic(), uuid.uuid4().hex[:NIGHT_ID_CHARS]
    # A mistyped source creates no lake.
    check_sources(night, watch)
    with night_alone(night), bound_contextvars(night=name), span("night", night=name):
        games = [_GameWork(night, game, as_step) for game in night.games]
        for work in games:
            work.fetch()
        new = [work.game.game for work in games if work.report.new_payloads]
        if new:
            watch.on_work(new)
        for work in games:
            work.plan()
        loaded = [work.game.game for work in games if work.report.planned]
        if loaded:
            log.info("night begun", games=loaded)
            watch.on_work(loaded)

        def rest(as_step: AsStep, watch: Watch) -> NightReport:
            solved: list[_GameWork] = []
            try:
                with OwnWorkers(night, loaded) as workers:
                    for work in games:
                        work.solve(as_step, workers, watch)
                        solved.append(work)
            finally:
                # Before gold is written: the next night is idle if results do not change after gold
                # read them.
                tidy(night.lake, night.workers.runs_kept_days)
                for work in solved:
                    work.finish(as_step)
                    _log_end(work.report)
                    watch.on_report(work.report)
            reports = tuple(work.report for work in games)
            report = NightReport(games=reports, wall_seconds=time.monotonic() - begun)
            if loaded:
                log.info("night ended", seconds=round(report.wall_seconds, 3), failed=report.failed)
            _write_page(night, report, watch)
            if report.failed:
                raise NightFailedError(report)
            return report

        if in_flow is not None and (loaded or any(work.report.failed for work in games)):
            return in_flow(rest, has_work=bool(loaded))
        return rest(as_step, watch)


@contextmanager
def night_alone(night: NightSettings) -> Iterator[None]:
    """Hold the lease of nights. Raises TransientError while another process on any host has it.

    A missing folder is created first; PermanentError if that fails.
    """
    if is_missing(night.workers.lake):
        make_folder(night.workers.lake)
    with holding(night.lake, NIGHT, f"another night is running on the lake {night.workers.lake}"):
        yield


def check_sources(night: NightSettings, watch: Watch) -> None:
    """Validate every source, and report invalid ones at once.

    Raises PermanentError if the source of the only game is invalid.
    """
    for game in night.games:
        try:
            open_source(game.source, game=game.game).close()
        except PermanentError as error:
            if len(night.games) == 1:
                raise
            watch.on_trouble(game.game, str(error))


def _write_page(night: NightSettings, done: NightReport, watch: Watch) -> None:
    """Write the report of the lake if the settings ask for it; an error only costs the report.

    A night that found nothing keeps the existing report, since it should cost next to nothing.
    """
    if not night.workers.night_report:
        return
    idle = not any(game.new_payloads or game.planned or game.failed for game in done.games)
    try:
        if idle and night.lake.exists(REPORT_PATH):
            return
        import_module(PAGE_WRITER).write_nightly_report(night.lake)
    except Exception as error:  # noqa: BLE001 - no fault of a drawing is to fail the night
        # Answers are in the lake by now.
        log.warning("no report written", why=f"{type(error).__name__}: {error}")
        watch.on_note(f"no report was written: {error}")


def _log_end(report: GameReport) -> None:
    """Log how a game ended. An idle night logs nothing; its reports in the lake are enough."""
    if report.failed:
        log.error("game failed", game=report.game, why=report.failure or report.source_trouble)
    if report.new_payloads or report.planned or report.known_poison:
        names = ("game", "new_payloads", "quarantined", "planned", *(s.value for s in Status))
        figures = {name: getattr(report, name) for name in names}
        seconds = round(report.wall_seconds, 3)
        log.info("game ended", run=report.run_id, seconds=seconds, **figures)


class _GameWork:
    """The steps of one game of a night, and its report so far."""

    def __init__(self, night: NightSettings, game: NightGame, as_step: AsStep) -> None:
        self.game = game
        self.report = GameReport(
            game=game.game, ask=", ".join(map(str, game.asks)), lake=night.workers.lake
        )
        self._night = night
        self._as_step = as_step
        self._planned: list[PlannedRun] | None = None
        self._seconds = 0.0

    def fetch(self) -> None:
        """Fetch payloads; without a source, continue with what the lake has."""
        do = self._as_step
        with self._timed(), self._spared("source_trouble", source_failed=True):
            self.report = do("fetch", fetch)(self._night, self.game, self.report)

    def plan(self) -> None:
        """Normalise and plan."""
        night, game, do = self._night, self.game, self._as_step
        with self._timed(), self._spared("failure"):
            self.report = do("normalise", normalise)(night, game, self.report)
            self.report, self._planned = do("plan", plan)(night, game, self.report)

    def solve(self, do: AsStep, workers: OwnWorkers, watch: Watch) -> None:
        """Solve the planned runs."""
        night, game = self._night, self.game
        if self._planned is not None:
            with self._timed(), self._spared("failure"):
                self.report = do("solve", solve)(
                    night, game, self._planned, self.report, workers, watch
                )

    def finish(self, do: AsStep) -> None:
        """Aggregate and write the report; if the game has failed, only write the report."""
        night, game = self._night, self.game
        if self._planned is not None and not self.report.failure:
            with self._timed(), self._spared("failure"):
                self.report = do("aggregate", aggregate)(night, game, self.report)
        self.report = replace(self.report, wall_seconds=self._seconds)
        with self._spared("failure", "not filed: "):
            do("report", file_report)(night, game, self.report)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        begun = time.monotonic()
        try:
            yield
        finally:
            self._seconds += time.monotonic() - begun

    @contextmanager
    def _spared(self, field: str, what: str = "", **more: bool) -> Iterator[None]:
        """Record an error in the report if there are other games to continue with."""
        try:
            yield
        except StoppedError:
            raise
        except Exception as error:
            if len(self._night.games) == 1:
                raise
            known = isinstance(error, NightgridError)
            why = what + (str(error) if known else f"{type(error).__name__}: {error}")
            told = "; ".join(filter(None, (getattr(self.report, field), why)))
            changes: dict[str, Any] = {field: told, **more}
            self.report = replace(self.report, **changes)

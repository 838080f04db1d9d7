"""Work a night: every game's steps, what fails for one of them kept from the others."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from nightgrid.flows.cluster import OwnWorkers, own_workers
from nightgrid.flows.night import steps
from nightgrid.flows.night.report import GameReport, NightFailedError, NightReport
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.flows.runs import SILENT, AsStep, StoppedError, Watch, plain
from nightgrid.solvers.errors import NightgridError
from nightgrid.workers.cluster.locks import alone


def work_night(night: NightSettings, watch: Watch = SILENT, as_step: AsStep = plain) -> NightReport:
    """Do the six steps of every game and report them; a killed night is ended by the same call.

    First all sources are fetched and all games planned, then all are solved one after the other
    by the same workers: those of our own load no game but those that there is something to solve
    of. A source that is missing, fails or gives nothing but payloads that cannot be read, and
    whatever else goes wrong with one of several games, costs that game alone.

    Raises NightFailedError at the end when a game failed, StoppedError when a signal asked this
    process to stop or a run is cancelled, TransientError while another process of this machine has
    the lake's night, and whatever goes wrong with the only game of a night.
    """
    begun = time.monotonic()
    refusal = f"another night is at work on the lake {night.workers.lake}"
    with alone(night.workers.side_dir, "night", refusal):
        games = [_GameWork(night, game, as_step) for game in night.games]
        for work in games:
            work.prepare()
        loaded = [work.game.game for work in games if work.job_count]
        with own_workers(night, loaded) as workers:
            for work in games:
                work.finish(workers, watch)
                watch.on_report(work.report)
    reports = tuple(work.report for work in games)
    figures = NightReport(games=reports, wall_seconds=time.monotonic() - begun)
    if figures.failed:
        raise NightFailedError(figures)
    return figures


class _GameWork:
    """The steps of one game of a night, and its report as far as they have come."""

    def __init__(self, night: NightSettings, game: NightGame, as_step: AsStep) -> None:
        self.game = game
        self.report = GameReport(game=game.game, ask=", ".join(map(str, game.asks)))
        self._night = night
        self._as_step = as_step
        self._planned: steps.Planned | None = None
        self._seconds = 0.0

    @property
    def job_count(self) -> int:
        """Jobs to work."""
        return self._planned.job_count if self._planned else 0

    def prepare(self) -> None:
        """Fetch, normalise and plan; without a source, go on with what the lake has."""
        begun = time.monotonic()
        night, game, do = self._night, self.game, self._as_step
        with self._spared() as trouble:
            self.report = do("fetch", steps.fetch)(night, game, self.report)
        for why in trouble:
            self.report = replace(self.report, source_failed=True, source_trouble=why)
        with self._spared() as trouble:
            self.report = do("normalise", steps.normalise)(night, game, self.report)
            self._planned = do("plan", steps.plan)(night, game)
            self.report = self._planned.in_report(self.report)
        for why in trouble:
            self.report = replace(self.report, failure=why)
        self._seconds = time.monotonic() - begun

    def finish(self, workers: OwnWorkers, watch: Watch) -> None:
        """Solve, aggregate and file the report; of a game that has failed, file the report."""
        begun = time.monotonic() - self._seconds
        night, game, do = self._night, self.game, self._as_step
        if self._planned is not None:
            with self._spared() as trouble:
                solve = do("solve", steps.solve)
                self.report = solve(night, game, self._planned, self.report, workers, watch)
                self.report = do("aggregate", steps.aggregate)(night, game, self.report)
            for why in trouble:
                self.report = replace(self.report, failure=why)
        self.report = replace(self.report, wall_seconds=time.monotonic() - begun)
        with self._spared() as trouble:
            do("report", steps.file_report)(night, game, self.report)
        for why in trouble:
            told = "; ".join(filter(None, (self.report.failure, f"not filed: {why}")))
            self.report = replace(self.report, failure=told)

    @contextmanager
    def _spared(self) -> Iterator[list[str]]:
        """Put what goes wrong into the list given, where there are other games to go on with."""
        trouble: list[str] = []
        try:
            yield trouble
        except StoppedError:
            raise
        except Exception as error:
            if len(self._night.games) == 1:
                raise
            known = isinstance(error, NightgridError)
            trouble.append(str(error) if known else f"{type(error).__name__}: {error}")

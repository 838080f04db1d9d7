"""Run one night over several games: one after the other, none stopped by what ails another."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace

from flows import environment, steps
from flows.cluster import batch_is_served
from flows.nightly import PLAIN, Prepared, Steps, finish, one_night, prepare, told
from flows.report import GamesReport, NightlyReport
from flows.settings import NightlySettings
from solvers.errors import NightgridError, PermanentError
from workers.supervisor import local_cluster

Solve = Callable[
    [NightlySettings, steps.Planned, steps.OnProgress | None],
    steps.Solved,
]
OnReport = Callable[[NightlyReport], None]
"""Told of every game when its part of the night is done."""


class GamesFailedError(NightgridError):
    """Some games failed, the others are done; `report` has a section for each."""

    def __init__(self, report: GamesReport) -> None:
        super().__init__(report.sentence())
        self.report = report


def run_games(
    nights: Sequence[NightlySettings],
    *,
    prefect: bool | None = None,
    on_progress: steps.OnProgress | None = None,
    on_report: OnReport | None = None,
) -> GamesReport:
    """Run one night over several games to its end; a killed night is ended by calling this again.

    Every game has its own source; lake, workers and executor are the same for all. The games are
    worked in the order given and share the workers. A source that is missing, fails or gives
    nothing but payloads that cannot be read, and whatever else goes wrong with one game, costs
    that game alone. `prefect` None means under Prefect if it is installed, all games in one flow
    run.

    Raises GamesFailedError at the end, with everything done that could be, when a game failed;
    PermanentError for nights that do not go together; NightStoppedError when a signal asked this
    process to stop.
    """
    check_games(nights)
    with one_night(nights[0].workers):
        if not environment.enter(prefect):
            return work_games(nights, PLAIN, on_progress, on_report)
        from flows.tasks import run_games_flow

        return run_games_flow(nights, on_progress, on_report)


def check_games(nights: Sequence[NightlySettings]) -> None:
    """Raise PermanentError unless the nights are those of different games in one place."""
    if not nights:
        raise PermanentError("a night needs a game; expected the source of at least one")
    games = [settings.game for settings in nights]
    for game in games:
        if games.count(game) > 1:
            raise PermanentError(f"{game} has two sources; expected one for each game")
    if any((n.workers, n.executor) != (nights[0].workers, nights[0].executor) for n in nights):
        raise PermanentError("the games of one night share lake, workers and executor")


def work_games(
    nights: Sequence[NightlySettings],
    do: Steps,
    on_progress: steps.OnProgress | None = None,
    on_report: OnReport | None = None,
) -> GamesReport:
    """Do the steps of every game and report them.

    First all sources are fetched and all games planned, then all are solved one after the other:
    so workers of our own load no game but those that there is something to solve of, and stay to
    the end. Raises GamesFailedError when a game failed.
    """
    begun = time.monotonic()
    prepared = [_prepared(settings, do) for settings in nights]
    games = [
        settings.game
        for settings, ready in zip(nights, prepared, strict=True)
        if isinstance(ready, Prepared) and ready.planned.job_count
    ]
    reports = []
    with ExitStack() as crew:
        do = replace(do, solve=_with_shared_workers(do, crew, games))
        for settings, ready in zip(nights, prepared, strict=True):
            reports.append(_finished(settings, do, ready, on_progress))
            if on_report is not None:
                on_report(reports[-1])
    figures = GamesReport(games=tuple(reports), wall_seconds=time.monotonic() - begun)
    if figures.failed:
        raise GamesFailedError(figures)
    return figures


def _with_shared_workers(do: Steps, crew: ExitStack, games: Sequence[str]) -> Solve:
    """Start workers of our own, if any are needed, when the first game is solved."""

    def solve(
        settings: NightlySettings, planned: steps.Planned, on_progress: steps.OnProgress | None
    ) -> steps.Solved:
        workers = settings.workers
        if planned.job_count and settings.executor == "celery" and not batch_is_served(workers):
            loaded = workers.model_copy(update={"games": ",".join(games)})
            crew.enter_context(local_cluster(loaded))
        return do.solve(settings, planned, on_progress)

    return solve


def _prepared(settings: NightlySettings, do: Steps) -> Prepared | NightlyReport:
    begun = time.monotonic()
    try:
        return prepare(settings, do, lambda settings: _fetched(settings, do), judge=True)
    except Exception as error:  # noqa: BLE001 - whatever it was, the other games go on
        asked = ", ".join(map(str, settings.asks))
        return _failed(NightlyReport(game=settings.game, ask=asked), error, begun)


def _finished(
    settings: NightlySettings,
    do: Steps,
    prepared: Prepared | NightlyReport,
    on_progress: steps.OnProgress | None,
) -> NightlyReport:
    begun = time.monotonic()
    figures = prepared
    if isinstance(figures, Prepared):
        try:
            return finish(settings, do, figures, on_progress)
        except steps.NightStoppedError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it was, the other games go on
            known = NightlyReport(**told(settings, figures))
            known = replace(known, planned=figures.planned.job_count)
            figures = _failed(known, error, begun - figures.seconds)
    try:
        return do.report(settings, figures)
    except Exception as error:  # noqa: BLE001 - the failure is told all the same
        return replace(figures, failure=f"{figures.failure}; not filed: {_told(error)}")


def _failed(known: NightlyReport, error: Exception, begun: float) -> NightlyReport:
    return replace(known, failure=_told(error), wall_seconds=time.monotonic() - begun)


def _fetched(settings: NightlySettings, do: Steps) -> steps.Fetched:
    """Fetch; without a source the night goes on with what the lake has."""
    try:
        return do.fetch(settings)
    except Exception as error:  # noqa: BLE001 - told in the report
        return steps.Fetched(
            asked=0, new=0, failures=(), source_failed=True, source_trouble=_told(error)
        )


def _told(error: Exception) -> str:
    if isinstance(error, NightgridError):
        return str(error)
    return f"{type(error).__name__}: {error}"


__all__ = [
    "GamesFailedError",
    "GamesReport",
    "OnReport",
    "check_games",
    "run_games",
    "work_games",
]

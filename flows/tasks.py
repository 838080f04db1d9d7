"""The Prefect flows: one task a step, six task runs a game and night, never one a puzzle."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar, cast

from prefect import flow, task
from prefect.cache_policies import NO_CACHE

from archive.fetch import REFRESH_DAYS
from flows import artifacts, history, steps
from flows.games import OnReport, check_games, work_games
from flows.nightly import Steps, one_night, run_steps
from flows.report import GamesReport, NightlyReport
from flows.settings import ExecutorKind, NightlySettings
from solvers.algebra import Ask
from solvers.errors import TransientError
from workers.driver import Progress
from workers.settings import Settings

RETRIES = 2
RETRY_DELAY_S = 30
"""A source or a server that failed gets this long before its step is tried again."""

P = ParamSpec("P")
R = TypeVar("R")

_HERE: ContextVar[tuple[Settings, steps.OnProgress | None] | None] = ContextVar(
    "_HERE", default=None
)
"""What a caller in this process hands over beside the flow's parameters: parameters are stored by
Prefect's server, and the URL of a queue server may hold a password."""
_ON_REPORT: ContextVar[OnReport | None] = ContextVar("_ON_REPORT", default=None)


def _is_transient(_task: Any, _task_run: Any, state: Any) -> bool:
    """Retry what may work the next time, and nothing else."""
    try:
        state.result()
    except TransientError:
        return True
    except Exception:  # noqa: BLE001 - whatever it was, it is reported and not tried again
        return False
    return False


def _alone(workers: Settings) -> AbstractContextManager[None]:
    """Keep other nights off the lake, unless the caller in this process does."""
    return nullcontext() if _HERE.get() else one_night(workers)


def as_task(name: str, step: Callable[P, R], *, by_game: bool = False) -> Callable[P, R]:
    """Make a step a Prefect task that keeps no result and retries transient errors."""
    made = task(
        name=name,
        task_run_name=f"{name}-{{settings.game}}" if by_game else None,
        cache_policy=NO_CACHE,
        persist_result=False,
        retries=RETRIES,
        retry_delay_seconds=RETRY_DELAY_S,
        retry_condition_fn=_is_transient,
    )(step)
    return cast("Callable[P, R]", made)


def _solve(
    settings: NightlySettings, planned: steps.Planned, on_progress: steps.OnProgress | None
) -> steps.Solved:
    bar = artifacts.ProgressBar()

    def show(progress: Progress) -> None:
        bar(progress)
        if on_progress is not None:
            on_progress(progress)

    return steps.solve(settings, planned, show)


def _report(settings: NightlySettings, figures: NightlyReport) -> NightlyReport:
    artifacts.show_summary(figures)
    return steps.report(settings, figures)


def _tasks(*, by_game: bool) -> Steps:
    return Steps(
        fetch=as_task("fetch", steps.fetch, by_game=by_game),
        normalise=as_task("normalise", steps.normalise, by_game=by_game),
        plan=as_task("plan", steps.plan, by_game=by_game),
        solve=as_task("solve", _solve, by_game=by_game),
        aggregate=as_task("aggregate", steps.aggregate, by_game=by_game),
        report=as_task("report", _report, by_game=by_game),
    )


TASKS = _tasks(by_game=False)
TASKS_BY_GAME = _tasks(by_game=True)
"""The same, their runs named after the step and the game."""


@flow(name="nightly", persist_result=False)
def nightly_flow(
    source: str,
    lake: str,
    game: str = "pips",
    asks: list[str] | None = None,
    rules: str = "",
    lexicon: str | None = None,
    since: dt.date | None = None,
    until: dt.date | None = None,
    refresh_days: int = REFRESH_DAYS,
    executor: ExecutorKind = "celery",
) -> NightlyReport:
    """Fetch, normalise, plan, solve, aggregate, report.

    `asks` None asks what a night asks of the game. How workers work is read from NIGHTGRID_* in the
    environment.
    """
    workers, on_progress = _HERE.get() or (Settings(lake=lake), None)
    history.keep(workers.flow_history_days)
    settings = NightlySettings(
        source=source,
        game=game,
        asks=tuple(Ask.parse(ask) for ask in asks or ()),
        rules=rules,
        lexicon=lexicon,
        since=since,
        until=until,
        refresh_days=refresh_days,
        executor=executor,
        workers=workers,
    )
    with _alone(workers):
        return run_steps(settings, TASKS, on_progress)


@flow(name="nightly-games", persist_result=False)
def games_flow(
    lake: str, games: list[dict[str, Any]], executor: ExecutorKind = "celery"
) -> GamesReport:
    """Fetch, normalise, plan, solve, aggregate and report each of several games.

    A game is what `nightly` takes, without lake and executor. Fails at the end when a game failed.
    """
    workers, on_progress = _HERE.get() or (Settings(lake=lake), None)
    history.keep(workers.flow_history_days)
    nights = [_settings(game, workers, executor) for game in games]
    check_games(nights)
    with _alone(workers):
        return work_games(nights, TASKS_BY_GAME, on_progress, _ON_REPORT.get())


def _settings(game: dict[str, Any], workers: Settings, executor: ExecutorKind) -> NightlySettings:
    given = {name: value for name, value in game.items() if value is not None}
    given["asks"] = tuple(Ask.parse(ask) for ask in given.get("asks", ()))
    for name in ("since", "until"):
        if isinstance(given.get(name), str):
            given[name] = dt.date.fromisoformat(given[name])
    return NightlySettings(workers=workers, executor=executor, **given)


def parameters(settings: NightlySettings) -> dict[str, Any]:
    """Write the parameters of the flow, as JSON values."""
    return {
        "source": settings.source,
        "lake": settings.workers.lake,
        "game": settings.game,
        "asks": [str(ask) for ask in settings.asks],
        "rules": settings.rules,
        "lexicon": settings.lexicon,
        "since": settings.since and settings.since.isoformat(),
        "until": settings.until and settings.until.isoformat(),
        "refresh_days": settings.refresh_days,
        "executor": settings.executor,
    }


def run_flow(settings: NightlySettings, on_progress: steps.OnProgress | None) -> NightlyReport:
    """Run the flow in this process, with these very settings."""
    token = _HERE.set((settings.workers, on_progress))
    try:
        return cast("NightlyReport", nightly_flow(**parameters(settings)))
    finally:
        _HERE.reset(token)


def games_parameters(nights: Sequence[NightlySettings]) -> dict[str, Any]:
    """Write the parameters of the flow over several games, as JSON values."""
    games = []
    for settings in nights:
        game = parameters(settings)
        lake, executor = game.pop("lake"), game.pop("executor")
        games.append(game)
    return {"lake": lake, "games": games, "executor": executor}


def run_games_flow(
    nights: Sequence[NightlySettings],
    on_progress: steps.OnProgress | None,
    on_report: OnReport | None,
) -> GamesReport:
    """Run the flow over several games in this process, with these very settings."""
    token = _HERE.set((nights[0].workers, on_progress))
    reporting = _ON_REPORT.set(on_report)
    try:
        return cast("GamesReport", games_flow(**games_parameters(nights)))
    finally:
        _ON_REPORT.reset(reporting)
        _HERE.reset(token)

"""The Prefect flows `nightly` and `count`: one task run a step and game, never one a puzzle."""

from __future__ import annotations

import datetime as dt
import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from prefect import Flow, State, flow, task
from prefect.cache_policies import NO_CACHE
from prefect.exceptions import CancelledRun, TerminationSignal
from prefect.states import Cancelled

from nightgrid.flows.count.count import work_count
from nightgrid.flows.count.report import CountReport
from nightgrid.flows.count.settings import CountSettings
from nightgrid.flows.night.night import work_night
from nightgrid.flows.night.report import NightReport
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.flows.prefect import artifacts, history
from nightgrid.flows.runs import SILENT, ExecutorKind, RunSettings, StoppedError, Watch
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import TransientError
from nightgrid.workers.settings import Settings

RETRIES = 2
RETRY_DELAY_S = 30
"""A source or a server that failed gets this long before its step is tried again."""

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound=RunSettings)


def _is_transient(_task: Any, _task_run: Any, state: Any) -> bool:
    """Retry what may work the next time, and nothing else."""
    try:
        state.result()
    except TransientError:
        return True
    except Exception:  # noqa: BLE001 - whatever it was, it is reported and not tried again
        return False
    return False


def as_task(name: str, step: Callable[P, R]) -> Callable[P, R]:
    """Make a step a Prefect task that keeps no result and retries transient errors.

    Runs of a step of one game are named after the step and the game.
    """
    by_game = "game" in inspect.signature(step).parameters
    made = task(
        name=name,
        task_run_name=f"{name}-{{game.game}}" if by_game else None,
        cache_policy=NO_CACHE,
        persist_result=False,
        retries=RETRIES,
        retry_delay_seconds=RETRY_DELAY_S,
        retry_condition_fn=_is_transient,
    )(step)
    return cast("Callable[P, R]", made)


@flow(name="nightly", persist_result=False)
def nightly_flow(
    lake: str, games: list[dict[str, Any]], executor: ExecutorKind = "celery"
) -> NightReport | State[Any]:
    """Fetch, normalise, plan, solve, aggregate and report each game of a night.

    A game is an object with `source` and, unless the default will do, `game`, `asks`, `rules`,
    `lexicon`, `since`, `until` and `refresh_days`. How workers work is read from NIGHTGRID_* in the
    environment. Fails at the end when a game failed; a night that is stopped is `Cancelled`.
    """
    night = NightSettings(
        games=tuple(map(_read_game, games)), executor=executor, workers=Settings(lake=lake)
    )
    return _ended(_night, night, SILENT, [])


@flow(name="count", persist_result=False)
def count_flow(
    corpus: str,
    lake: str,
    game: str | None = None,
    ask: str = "count",
    rules: str = "",
    lexicon: str | None = None,
    executor: ExecutorKind = "celery",
    *,
    resume: bool = False,
) -> CountReport | State[Any]:
    """Bring a corpus into the lake, plan, solve, report; a count that is stopped is `Cancelled`.

    How workers work is read from NIGHTGRID_* in the environment.
    """
    settings = CountSettings(
        corpus=corpus,
        game=game,
        ask=Ask.parse(ask),
        rules=rules,
        lexicon=lexicon,
        resume=resume,
        executor=executor,
        workers=Settings(lake=lake),
    )
    return _ended(_count, settings, SILENT, [])


def run_night_flow(night: NightSettings, watch: Watch) -> NightReport:
    """Run the flow of a night in this process."""
    return _run_here(nightly_flow, night_parameters(night), _night, night, watch)


def run_count_flow(settings: CountSettings, watch: Watch) -> CountReport:
    """Run the flow of a count in this process."""
    return _run_here(count_flow, count_parameters(settings), _count, settings, watch)


def night_parameters(night: NightSettings) -> dict[str, Any]:
    """Write the parameters of the flow of a night, as JSON values."""
    games = [
        {
            "source": game.source,
            "game": game.game,
            "asks": [str(ask) for ask in game.asks],
            "rules": game.rules,
            "lexicon": game.lexicon,
            "since": game.since and game.since.isoformat(),
            "until": game.until and game.until.isoformat(),
            "refresh_days": game.refresh_days,
        }
        for game in night.games
    ]
    return {"lake": night.workers.lake, "games": games, "executor": night.executor}


def _read_game(given: dict[str, Any]) -> NightGame:
    given = {name: value for name, value in given.items() if value is not None}
    given["asks"] = tuple(Ask.parse(ask) for ask in given.get("asks", ()))
    for name in ("since", "until"):
        if name in given:
            given[name] = dt.date.fromisoformat(given[name])
    return NightGame(**given)


def count_parameters(settings: CountSettings) -> dict[str, Any]:
    """Write the parameters of the flow of a count, as JSON values."""
    return {
        "corpus": settings.corpus,
        "lake": settings.workers.lake,
        "game": settings.game,
        "ask": str(settings.ask),
        "rules": settings.rules,
        "lexicon": settings.lexicon,
        "executor": settings.executor,
        "resume": settings.resume,
    }


def _night(night: NightSettings, watch: Watch) -> NightReport:
    return work_night(night, artifacts.shown_night(watch), as_task)


def _count(settings: CountSettings, watch: Watch) -> CountReport:
    return work_count(settings, artifacts.shown_count(watch), as_task)


def _ended(
    work: Callable[[S, Watch], R], settings: S, watch: Watch, stopped: list[StoppedError]
) -> R | State[Any]:
    """Work a flow run to its end; one that is stopped, as told in `stopped`, is `Cancelled`."""
    history.keep(settings.workers.flow_history_days)
    try:
        return work(settings, watch)
    except StoppedError as error:
        stopped.append(error)
        return Cancelled(message=str(error))


def _run_here(
    like: Flow[..., Any],
    parameters: dict[str, Any],
    work: Callable[[S, Watch], R],
    settings: S,
    watch: Watch,
) -> R:
    """Run a flow in this process, with these very settings and who watches.

    Parameters cannot hold them: Prefect's server stores parameters, and the URL of a queue server
    may hold a password.
    """
    stopped: list[StoppedError] = []

    @wraps(like.fn)
    def given(*_: Any, **__: Any) -> R | State[Any]:
        return _ended(work, settings, watch, stopped)

    try:
        return cast("R", flow(name=like.name, persist_result=False)(given)(**parameters))
    except CancelledRun as error:
        raise (stopped or [StoppedError(str(error))])[0] from None
    except TerminationSignal as error:
        raise StoppedError("stopped; the same command goes on") from error

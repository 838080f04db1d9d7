"""The Prefect flows `nightly` and `count`: one task run a step and game, never one a puzzle."""

from __future__ import annotations

import datetime as dt
import inspect
from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast
from uuid import UUID

import httpx
from prefect import Flow, State, flow, task
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import (
    ArtifactFilter,
    ArtifactFilterFlowRunId,
    FlowFilter,
    FlowFilterName,
    FlowRunFilter,
    FlowRunFilterEndTime,
    FlowRunFilterTags,
)
from prefect.exceptions import CancelledRun, ObjectNotFound, PrefectException, TerminationSignal
from prefect.logging import get_run_logger
from prefect.runtime import flow_run
from prefect.states import Cancelled

from nightgrid.flows.count.count import count_steps
from nightgrid.flows.count.planner import Planner, planner_of
from nightgrid.flows.count.report import CountReport
from nightgrid.flows.count.settings import CountSettings
from nightgrid.flows.night.night import night_alone, work_steps
from nightgrid.flows.night.report import NightReport
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.flows.prefect import artifacts, environment
from nightgrid.flows.runs import (
    SILENT,
    ExecutorKind,
    RunSettings,
    StepsAhead,
    StoppedError,
    Watch,
)
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import TransientError
from nightgrid.workers.runs.retry import Retry
from nightgrid.workers.settings import load_settings

RETRIES = 2
RETRY_DELAY_S = 30
"""A source or a server that failed gets this long before its step is tried again."""

STOPPED = "stopped; the same command goes on"

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound=RunSettings)

TAG = "nightgrid"
FLOWS = ["nightly", "nightly-games", "count"]
"""What is deleted bears the tag and is a run of one of these: either may be others' too.
`nightly-games` was the flow of a night over several games in earlier versions."""
DELETE_RUNS = 100
"""As many at most at the beginning of a flow run: each takes the server about 20 ms."""


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
    )(_stopped_by_ctrl_c(step))
    return cast("Callable[P, R]", made)


def _stopped_by_ctrl_c(work: Callable[P, R]) -> Callable[P, R]:
    """Have Ctrl-C stop what is worked: to Prefect an interrupt is a crash."""

    @wraps(work)
    def stoppable(*given: P.args, **named: P.kwargs) -> R:
        try:
            return work(*given, **named)
        except StoppedError:
            environment.say_no_more()
            raise
        except KeyboardInterrupt:
            environment.say_no_more()
            raise StoppedError(STOPPED) from None

    return stoppable


@flow(name="nightly", persist_result=False)
def nightly_flow(
    lake: str,
    games: list[dict[str, Any]],
    executor: ExecutorKind = "celery",
    retry: str | None = None,
) -> NightReport | State[Any]:
    """Fetch, normalise, plan, solve, aggregate and report each game of a night; draw its report.

    A game is an object with `source` and, unless the default will do, `game`, `asks`, `rules`,
    `lexicon`, `since`, `until`, `refresh_days` and `redirect_hosts`. How workers work is read from
    NIGHTGRID_* in the environment. Fails at the end when a game failed; a night that is stopped is
    `Cancelled`.
    """
    night = NightSettings(
        games=tuple(map(_read_game, games)),
        executor=executor,
        retry=Retry(retry) if retry else None,
        workers=load_settings(lake=lake),
    )
    with night_alone(night):
        return _ended(_night(StepsAhead()), night, Watch(on_note=_warn), [])


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
    retry: str | None = None,
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
        retry=Retry(retry) if retry else None,
        executor=executor,
        workers=load_settings(lake=lake),
    )
    with planner_of(settings) as planner:
        return _ended(_count(planner, StepsAhead()), settings, SILENT, [])


def run_night_flow(night: NightSettings, watch: Watch, ahead: StepsAhead) -> NightReport:
    """Run the flow of a night in this process, which holds the night."""
    return _run_here(nightly_flow, night_parameters(night), _night(ahead), night, watch)


def run_count_flow(
    settings: CountSettings, watch: Watch, planner: Planner, ahead: StepsAhead
) -> CountReport:
    """Run the flow of a count in this process."""
    work = _count(planner, ahead)
    return _run_here(count_flow, count_parameters(settings), work, settings, watch)


def night_parameters(night: NightSettings) -> dict[str, Any]:
    """Write the parameters of the flow of a night, as JSON values."""
    games = [
        {
            **asdict(game),
            "asks": [str(ask) for ask in game.asks],
            "redirect_hosts": list(game.redirect_hosts),
            "since": game.since and game.since.isoformat(),
            "until": game.until and game.until.isoformat(),
        }
        for game in night.games
    ]
    same = {"executor": night.executor, "retry": night.retry and night.retry.value}
    return {"lake": night.workers.lake, "games": games, **same}


def _read_game(given: dict[str, Any]) -> NightGame:
    given = {name: value for name, value in given.items() if value is not None}
    given["asks"] = tuple(Ask.parse(ask) for ask in given.get("asks", ()))
    for name in ("since", "until"):
        if name in given:
            given[name] = dt.date.fromisoformat(given[name])
    given["redirect_hosts"] = tuple(given.get("redirect_hosts", ()))
    return NightGame(**given)


def count_parameters(settings: CountSettings) -> dict[str, Any]:
    """Write the parameters of the flow of a count, as JSON values."""
    same = ("corpus", "game", "rules", "lexicon", "executor", "resume")
    found = {name: getattr(settings, name) for name in same}
    retry = settings.retry and settings.retry.value
    return found | {"lake": settings.workers.lake, "ask": str(settings.ask), "retry": retry}


def _warn(sentence: str) -> None:
    get_run_logger().warning(sentence)


def _night(ahead: StepsAhead) -> Callable[[NightSettings, Watch], NightReport]:
    def work(night: NightSettings, watch: Watch) -> NightReport:
        return work_steps(night, artifacts.shown_night(watch), as_task, ahead)

    return work


def _count(planner: Planner, ahead: StepsAhead) -> Callable[[CountSettings, Watch], CountReport]:
    def work(settings: CountSettings, watch: Watch) -> CountReport:
        shown = artifacts.shown_count(watch, ahead.slices)
        return count_steps(settings, shown, as_task, planner, ahead)

    return work


def _ended(
    work: Callable[[S, Watch], R], settings: S, watch: Watch, stopped: list[StoppedError]
) -> R | State[Any]:
    """Work a flow run to its end; one that is stopped, as told in `stopped`, is `Cancelled`."""

    def worked() -> R:
        _keep_history(settings.workers.flow_history_days)
        return work(settings, watch)

    try:
        return _stopped_by_ctrl_c(worked)()
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
        environment.say_errors_once()
        watch.on_note(_where(watched=environment.names_server()))
        return _ended(work, settings, watch, stopped)

    try:
        return cast("R", flow(name=like.name, persist_result=False)(given)(**parameters))
    except CancelledRun as error:
        raise (stopped or [StoppedError(str(error))])[0] from None
    except TerminationSignal as error:
        raise StoppedError(STOPPED) from error


def _where(*, watched: bool) -> str:
    """Say where a flow run can be seen, if its server stays, and how to go without."""
    seen = f", {flow_run.ui_url}" if watched and flow_run.ui_url else ""
    return f"Prefect's flow run {flow_run.name}{seen}; --no-prefect does without"


def _keep_history(days: float) -> int:
    """Mark the flow run that this is called in, and delete marked ones that ended long ago.

    With them go their task runs, logs and artifacts; Prefect's events are the server's own to
    delete. Gives how many were deleted; `days` 0 deletes nothing. A server that cannot be reached
    costs the deleting, never the work; outside of a flow run there is nothing to do.
    """
    if flow_run.id is None:
        return 0
    try:
        with get_client(sync_client=True) as client:
            marks = sorted({*flow_run.tags, TAG})
            client.update_flow_run(flow_run.id, tags=marks)
            return _forget(client, days) if days else 0
    except (PrefectException, httpx.HTTPError, ValueError) as error:
        get_run_logger().warning("old flow runs could not be deleted: %s", error)
        return 0


def _forget(client: SyncPrefectClient, days: float) -> int:
    before = dt.datetime.now(dt.UTC) - dt.timedelta(days=days)
    ours = FlowRunFilter(
        tags=FlowRunFilterTags(all_=[TAG]),
        # Prefect's own type for times, to which it turns any.
        end_time=FlowRunFilterEndTime.model_validate({"before_": before}),
    )
    named = FlowFilter(name=FlowFilterName(any_=FLOWS))
    old = client.read_flow_runs(flow_filter=named, flow_run_filter=ours, limit=DELETE_RUNS)
    for run in old:
        # The server deletes a run's task runs and logs with it, its artifacts it does not.
        of_run = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[run.id]))
        while shown := client.read_artifacts(artifact_filter=of_run):
            for artifact in shown:
                _gone(client.delete_artifact, artifact.id)
        _gone(client.delete_flow_run, run.id)
    return len(old)


def _gone(delete: Callable[[UUID], None], which: UUID) -> None:
    """Delete it, unless another flow run was faster."""
    try:
        delete(which)
    except ObjectNotFound:
        return

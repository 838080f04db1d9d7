"""The tasks, on one base class: log context, retries of what is transient, word to the driver."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import socket
import time
import uuid
from typing import Any

import redis
from celery import Task, signals
from celery.exceptions import TimeLimitExceeded

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.without_pandas import keep_pandas_out
from nightgrid.archive.words.binding import bind_game
from nightgrid.solvers.errors import NightgridError, RefusalError, TransientError
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.app import RANK_BOARDS, SHARE_ONDEMAND, SOLVE_CHUNK, SOLVE_ONDEMAND, app
from nightgrid.workers.broker.job_news import tell_news
from nightgrid.workers.broker.job_refusals import mark_job_refusal, others_may_work
from nightgrid.workers.broker.lake_keys import make_lake_id
from nightgrid.workers.broker.liveness import AcknowledgedRequest, Liveness
from nightgrid.workers.broker.queues import (
    ABOUT_HEADER,
    BATCH,
    LOG_HEADER,
    TRACE_HEADER,
    URGENT,
)
from nightgrid.workers.broker.redis_keys import (
    Announcement,
    EventKind,
    announce,
    connect,
    mark_refusal,
)
from nightgrid.workers.broker.sent_figures import send_figures
from nightgrid.workers.broker.turns import TURNS
from nightgrid.workers.broker.watcher import StopThread
from nightgrid.workers.chunks.result_rows import exception_reason
from nightgrid.workers.chunks.solve import solve_chunk as solve_chunk_of
from nightgrid.workers.figures import REFUSALS, TASK_SECONDS, TASKS, note
from nightgrid.workers.logs import bind, bind_carried, get_logger, unbind
from nightgrid.workers.logs.lines import take_over_logging
from nightgrid.workers.ondemand.calling import IdleProcesses
from nightgrid.workers.ondemand.helping import help_job
from nightgrid.workers.ondemand.solving import solve_message
from nightgrid.workers.processes import die_with_parent
from nightgrid.workers.runs.manifest import ChunkRef
from nightgrid.workers.settings import program_settings
from nightgrid.workers.tracing import begin_tracing, continued, flush_traces

log = get_logger("nightgrid.worker")

TASK_PREFIX = "nightgrid."
"""Begins the names of tasks; figures leave it out."""
NOTICE_SECONDS = 0.5
"""A worker looks this often whether a child has died."""
RANK_SECONDS = 540.0
"""Hard limit of a task that ranks boards."""
WORKER_ID = os.environ.get("NIGHTGRID_WORKER_ID") or f"worker-{uuid.uuid4().hex[:12]}"
"""Names this worker process and its children; another one after every restart."""
_settings = program_settings()
_solvers: dict[str, str] = {}
"""Versions of the solvers that this worker has loaded before it began, by game."""


class NightgridTask(Task):  # type: ignore[misc]
    """Base of every task: TransientError is retried here, anything else goes to the driver.

    A RefusalError goes there as well: this process would refuse again.
    """

    abstract = True
    Request = AcknowledgedRequest
    autoretry_for = (TransientError,)
    dont_autoretry_for = (RefusalError,)
    max_retries = 2
    retry_backoff = 1
    retry_backoff_max = 10
    retry_jitter = True

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Work the task as a part of the trace that its message names."""
        name = self.name.removeprefix(TASK_PREFIX)
        with continued(_header(self.request, TRACE_HEADER), name, **_ids(arguments)):
            return self.run(*arguments, **named)

    def before_start(self, task_id: str, *_: Any) -> None:
        """Bind what every log line of the task shall carry."""
        unbind()
        bind_carried(_header(self.request, LOG_HEADER))
        bind(task=self.name, task_id=task_id, retries=self.request.retries, worker=WORKER_ID)
        self.request.begun = time.monotonic()

    def after_return(self, status: str, retval: Any, *_: Any) -> None:
        """Log how the task ended, and unbind."""
        begun = getattr(self.request, "begun", None)
        seconds = None if begun is None else round(time.monotonic() - begun, 3)
        detail = retval if status == "SUCCESS" else repr(retval)
        log.info("task ended", status=status, seconds=seconds, detail=detail)
        short = self.name.removeprefix(TASK_PREFIX)
        note(TASKS, short, status.lower())
        note(TASK_SECONDS, short, amount=seconds or 0.0)
        _send_figures()
        unbind()


def _header(request: Any, name: str) -> Any:
    """Read a header of ours of the message that a task came with."""
    return request.get(name) or (request.get("headers") or {}).get(name)


def _ids(arguments: tuple[Any, ...]) -> dict[str, str | None]:
    """Name what a task is about: run and chunk, or job."""
    told = arguments[0] if arguments and isinstance(arguments[0], dict) else {}
    run, job = told.get("run_id"), told.get("job_id")
    chunk = ChunkRef(**told).name if run else None
    return {"run": run, "chunk": chunk, "job": job}


def _send_figures() -> None:
    # A lake that cannot be opened here is told of by the task itself.
    with contextlib.suppress(NightgridError):
        send_figures(_connections()[1], _settings)


_open: dict[int, tuple[Lake, redis.Redis, StopThread]] = {}


def _connections() -> tuple[Lake, redis.Redis, StopThread]:
    """Open lake and Redis once per process, after the fork, and watch what it works."""
    pid = os.getpid()
    if pid not in _open:
        _open.clear()
        client = connect(_settings)
        _open[pid] = (Lake.open(_settings.lake), client, StopThread(_settings, client))
    return _open[pid]


def _tell(event: EventKind, ref: ChunkRef, reason: Reason | None = None, worker: str = "") -> None:
    told = Announcement(event=event, ref=ref, reason=reason, worker=worker)
    try:
        announce(_connections()[1], _settings, told)
    except redis.RedisError as error:
        # The part is in the lake: the driver finds it there.
        log.warning("not announced", chunk=ref.name, announcement=event, error=str(error))


@app.task(base=NightgridTask, name=SOLVE_CHUNK)  # type: ignore[untyped-decorator]
def solve_chunk(ref: dict[str, Any]) -> dict[str, Any]:
    """Solve one chunk of a run and announce it."""
    chunk = ChunkRef(**ref)
    bind(run=chunk.run_id, chunk=chunk.name)
    lake, _, watcher = _connections()
    report = solve_chunk_of(lake, chunk, _settings, WORKER_ID, watcher)
    if report.state != "stale":
        _tell("done", chunk)
    return {"state": report.state, "rows": report.rows}


@app.task(  # type: ignore[untyped-decorator]
    base=NightgridTask,
    name=SOLVE_ONDEMAND,
    # A child that dies leaves the job to another; the attempts kept in the lake end that.
    retry_on_worker_lost=True,
    default_retry_delay=1,
    max_retries=10,
)
def solve_ondemand(message: dict[str, Any]) -> dict[str, Any]:
    """Solve one puzzle that came with the message."""
    bind(job=message.get("job_id"))
    lake, client, watcher = _connections()
    idle = IdleProcesses(client, _settings)
    report = solve_message(lake, message, _settings, WORKER_ID, watcher, idle)
    tell_news(client, _settings, report["job_id"])
    return report


@app.task(base=NightgridTask, name=SHARE_ONDEMAND)  # type: ignore[untyped-decorator]
def share_ondemand(call: dict[str, Any]) -> dict[str, Any]:
    """Help with a job on demand that another process works."""
    bind(job=call["message"].get("job_id"))
    lake, client, watcher = _connections()
    try:
        return {"brought": help_job(lake, call, client, _settings, WORKER_ID, watcher)}
    except Exception as error:  # noqa: BLE001 - the job's worker works what it is not brought
        log.warning("no help", error=f"{type(error).__name__}: {error}")
        return {"brought": 0}


@app.task(  # type: ignore[untyped-decorator]
    base=NightgridTask,
    name=RANK_BOARDS,
    bind=True,
    # A child that dies leaves the boards to another; the attempts kept in the lake end that.
    retry_on_worker_lost=True,
    default_retry_delay=1,
    max_retries=10,
    # The first board of a process opens the vocabulary and the model, beside whatever else the
    # machine does. The search itself has its own budget.
    time_limit=RANK_SECONDS,
)
def rank_boards(task: Task, message: dict[str, Any]) -> dict[str, Any]:
    """Rank the boards of a message, each of which is filed at once."""
    from nightgrid.workers.ranking.work import rank_message

    lake, client, watcher = _connections()
    about = str(_header(task.request, ABOUT_HEADER) or "")
    try:
        report = rank_message(lake, message, _settings, WORKER_ID, about, watcher)
        tell_news(client, _settings, about)
        return report
    except RefusalError:
        # The driver sends it again: another worker may take it meanwhile.
        time.sleep(_settings.refusal_pause_seconds)
        raise


@signals.task_failure.connect  # type: ignore[untyped-decorator]
def _report_failure(sender: Any, exception: BaseException, args: Any, **_: Any) -> None:
    # Celery sends this in the child when the task raised, and in the main process when the child
    # died or was killed at the hard limit.
    if sender is None or not args:
        return
    if sender.name == SOLVE_ONDEMAND:
        _refuse_job(args[0], exception)
    if sender.name != SOLVE_CHUNK:
        return
    ref = ChunkRef(**args[0])
    if isinstance(exception, RefusalError):
        _refuse(ref, str(exception))
    elif isinstance(exception, TransientError):
        _tell("transient", ref, Reason(code=ReasonCode.TRANSIENT, sentence=str(exception)))
    elif isinstance(exception, TimeLimitExceeded):
        limit = f"exceeded the hard limit of {_settings.hard_limit_seconds:g} s"
        _tell("lost", ref, Reason(code=ReasonCode.HARD_LIMIT, sentence=limit))
    elif type(exception).__name__ == "WorkerLostError":
        died = f"{ReasonCode.PROCESS_LOST.sentence}: {_how(exception)}"
        _tell("lost", ref, Reason(code=ReasonCode.PROCESS_LOST, sentence=died))
    else:
        _tell("failed", ref, exception_reason(exception))


def _refuse(ref: ChunkRef, why: str) -> None:
    """Hand a chunk back, say why, and take nothing for a while: other workers may take it."""
    log.warning("cannot work here", chunk=ref.name, reason=why)
    note(REFUSALS, SOLVE_CHUNK.removeprefix(TASK_PREFIX))
    with contextlib.suppress(redis.RedisError):
        mark_refusal(_connections()[1], _settings, WORKER_ID, why)
    _tell("refused", ref, Reason(code=ReasonCode.TRANSIENT, sentence=why), WORKER_ID)
    # The message is acknowledged when the task ends, and the next one is taken after that.
    time.sleep(_settings.refusal_pause_seconds)


def _refuse_job(message: dict[str, Any], exception: BaseException) -> None:
    """Say why this worker could not work a job; leave the next ones to another that may."""
    if not isinstance(exception, TransientError):
        return
    why, client = str(exception), _connections()[1]
    log.warning("cannot work here", job=message.get("job_id"), reason=why)
    note(REFUSALS, SOLVE_ONDEMAND.removeprefix(TASK_PREFIX))
    with contextlib.suppress(redis.RedisError):
        mark_job_refusal(client, _settings, str(message.get("job_id")), WORKER_ID, why)
        if isinstance(exception, RefusalError):
            mark_refusal(client, _settings, WORKER_ID, why)
            if others_may_work(client, _settings, WORKER_ID):
                time.sleep(_settings.refusal_pause_seconds)


def _how(death: BaseException) -> str:
    """Say how a process died, without the number that this worker gave it."""
    found = re.search(r"(signal|exitcode) -?\d+( \(\w+\))?", str(death))
    return found[0] if found else str(death)


@signals.setup_logging.connect  # type: ignore[untyped-decorator]
def _set_up_logging(**_: Any) -> None:
    # The base class logs how a task ended, with what it was about.
    take_over_logging(logging.INFO, quiet=("celery.app.trace", "celery.worker.strategy"))


@signals.worker_init.connect  # type: ignore[untyped-decorator]
def _warm_kernels(**_: Any) -> None:
    keep_pandas_out()
    TURNS.shares = {URGENT: 1.0 - _settings.batch_time_share, BATCH: _settings.batch_time_share}
    # Before the fork: every child inherits the compiled kernels and the mapped words.
    for name in _settings.game_names:
        begun = time.monotonic()
        try:
            game = bind_game(name)
            game.warm()
        except Exception as error:  # noqa: BLE001 - a game that cannot be loaded must not take the others along
            log.warning("game not warm", game=name, error=f"{type(error).__name__}: {error}")
        else:
            _solvers[name] = game.solver_version
            log.info("game warm", game=name, seconds=round(time.monotonic() - begun, 3))
    if _settings.rank:
        _warm_ranker()


def _warm_ranker() -> None:
    """Open what ranks, and load its kernels, once for all children."""
    from nightgrid.workers.ranking.work import warm

    begun = time.monotonic()
    try:
        warm()
    except Exception as error:  # noqa: BLE001 - a worker that cannot rank solves all the same
        log.warning("ranker not warm", error=f"{type(error).__name__}: {error}")
    else:
        log.info("ranker warm", seconds=round(time.monotonic() - begun, 3))


@signals.worker_process_init.connect  # type: ignore[untyped-decorator]
def _end_with_parent(**_: Any) -> None:
    die_with_parent()
    # After the fork: what sends spans is a thread.
    begin_tracing(_settings.trace_url, "worker")


@signals.worker_process_shutdown.connect  # type: ignore[untyped-decorator]
def _end_child(**_: Any) -> None:
    flush_traces()


@signals.worker_ready.connect  # type: ignore[untyped-decorator]
def _notice_deaths(sender: Any, **_: Any) -> None:
    # On its own the pool looks every 5 s whether the work of a dead child is lost.
    maintain = getattr(sender.pool, "maintain_pool", None)
    if maintain is not None:
        sender.timer.call_repeatedly(NOTICE_SECONDS, maintain)


@signals.worker_ready.connect  # type: ignore[untyped-decorator]
def _mark_alive(sender: Any, **_: Any) -> None:
    about = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "queues": sorted(sender.app.amqp.queues.consume_from),
        "processes": sender.controller.concurrency,
        "started_at": time.time(),
        "lake_id": make_lake_id(_settings),
        # Options of the URL are left out.
        "lake": _settings.lake.partition("?")[0],
        "solvers": dict(_solvers),
    }
    Liveness(_settings, WORKER_ID, about).start()

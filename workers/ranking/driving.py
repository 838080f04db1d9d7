"""Have many boards ranked by workers: a bounded number of messages, lost ones sent again.

The lake is the truth: a board is done when its ranking is there. Messages are only what gets boards
ranked soon, so a driver that is killed is followed by one that sends what is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import redis
from celery import Celery

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.rankings import RankingRequest, known_rankings
from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.canonical import digest
from nightgrid.solvers.errors import TransientError
from nightgrid.workers.app import RANK_BOARDS, client_app
from nightgrid.workers.broker.connection import answering, connect
from nightgrid.workers.broker.queues import BATCH, send, traffic
from nightgrid.workers.broker.worker_keys import living_workers
from nightgrid.workers.logs import get_logger
from nightgrid.workers.ranking.work import (
    open_ranker,
    rank_board,
    ranking_message,
    read_attempts,
)
from nightgrid.workers.settings import Settings

log = get_logger("nightgrid.ranking")

BOARDS_A_MESSAGE = 1
"""Boards of one message. A board takes a second or so: a worker that dies leaves no more."""
MESSAGES_A_PROCESS = 3
POLL_SECONDS = 0.5
GONE_INTERVALS = 3
"""Heartbeat intervals of silence after which a worker is dead."""
STALL_SECONDS = 120.0
"""A message is sent again when a worker took it and began no board of it for this long."""
SENDS_MAX = 6
"""Times that a message is sent without anything coming from it before the driver gives up."""

OnProgress = Callable[[int, int], object]
"""Told how many boards are done, of how many."""


@dataclass(slots=True, kw_only=True)
class _Message:
    """Boards that are sent together."""

    boards: dict[str, RankingRequest]
    """Boards that are not done, by the id of their ranking."""
    about: str
    sent_at: float | None = None
    news_at: float = 0.0
    sends: int = 0
    """How often it was sent since something came from it last."""
    was_gone: bool = field(default=False)
    """Whether it was in no queue and with no worker when last looked for."""


def rank_inline(
    lake: Lake, wanted: Sequence[RankingRequest], settings: Settings, on_progress: OnProgress
) -> None:
    """Rank boards in this process."""
    ranker = open_ranker()
    budget = Budget(
        nodes=settings.budget_nodes,
        table_bytes=settings.budget_table_bytes,
        seconds=settings.budget_seconds,
    )
    for done, board in enumerate(wanted, 1):
        rank_board(lake, ranker, board, budget, settings)
        on_progress(done, len(wanted))


def drive_rankings(
    lake: Lake,
    wanted: Sequence[RankingRequest],
    ranker: str,
    settings: Settings,
    on_progress: OnProgress,
) -> None:
    """Have boards ranked by workers; return when every one has its ranking in the lake.

    Raises TransientError when the server stays away, or no worker ranks as wanted.
    """
    left = [_message(ranker, wanted[i : i + BOARDS_A_MESSAGE])
            for i in range(0, len(wanted), BOARDS_A_MESSAGE)]  # fmt: skip
    app, client = client_app(settings), connect(settings)
    silent_since: float | None = None
    try:
        while left:
            try:
                _send_next(app, client, settings, ranker, left)
                _requeue_lost(lake, client, settings, left)
                silent_since = None
            except TransientError:
                silent_since = silent_since or time.monotonic()
                if time.monotonic() - silent_since > settings.broker_patience_seconds:
                    raise
            time.sleep(POLL_SECONDS)
            left = _left(lake, left)
            on_progress(len(wanted) - sum(len(one.boards) for one in left), len(wanted))
    finally:
        app.close()
        client.close()


def _message(ranker: str, boards: Sequence[RankingRequest]) -> _Message:
    named = {board.ranking_id(ranker): board for board in boards}
    return _Message(boards=named, about=f"rankings/{digest(*sorted(named))}/1")


def _send_next(
    app: Celery, client: redis.Redis, settings: Settings, ranker: str, left: Sequence[_Message]
) -> None:
    """Send as many messages as workers have use for. Raises TransientError."""
    with answering():
        alive = living_workers(client, settings).values()
    processes = sum(about["processes"] for about in alive if BATCH in about["queues"])
    window = MESSAGES_A_PROCESS * max(1, processes)
    flying = sum(one.sent_at is not None for one in left)
    for one in left:
        if flying >= window:
            return
        if one.sent_at is None:
            _send(app, ranker, one)
            flying += 1


def _send(app: Celery, ranker: str, one: _Message) -> None:
    if one.sends >= SENDS_MAX:
        raise _UnworkedError(
            f"boards were sent {one.sends} times, and no worker has ranked one by {ranker}: are "
            "workers of another version, or without the models of ranking?"
        )
    send(app, RANK_BOARDS, BATCH, one.about, ranking_message(ranker, one.boards.values()))
    one.sent_at = one.news_at = time.monotonic()
    one.sends += 1


class _UnworkedError(TransientError):
    """No worker ranks what was sent."""


def _requeue_lost(
    lake: Lake, client: redis.Redis, settings: Settings, left: Sequence[_Message]
) -> None:
    """Mark messages that are lost or held by a dead worker as not sent. Raises TransientError."""
    with answering():
        found = traffic(client, settings, BATCH)
        alive = living_workers(client, settings)
    for one in left:
        if one.sent_at is None or one.about in found.waiting:
            one.was_gone = False
            continue
        is_taken = one.about in found.acquired
        is_gone = found.complete and not is_taken
        if (is_gone and one.was_gone) or (is_taken and _is_held(lake, settings, alive, one)):
            log.info("sent again", about=one.about, boards=len(one.boards))
            one.sent_at, one.was_gone = None, False
        else:
            one.was_gone = is_gone


def _is_held(lake: Lake, settings: Settings, alive: Collection[str], one: _Message) -> bool:
    """Tell whether a message that is taken is held by a worker that is dead."""
    still_s = time.monotonic() - one.news_at
    if still_s < GONE_INTERVALS * settings.tuning.liveness_interval_seconds:
        return False
    begun = [read_attempts(lake, ranking)[1] for ranking in one.boards]
    workers = [worker for worker in begun if worker is not None]
    if workers:
        return not any(worker in alive for worker in workers)
    return still_s > STALL_SECONDS


def _left(lake: Lake, left: Sequence[_Message]) -> list[_Message]:
    """Drop the boards that are done meanwhile."""
    known = known_rankings(lake)
    for one in left:
        rest = {name: board for name, board in one.boards.items() if name not in known}
        if len(rest) < len(one.boards):
            one.boards, one.news_at, one.sends = rest, time.monotonic(), min(one.sends, 1)
    return [one for one in left if one.boards]

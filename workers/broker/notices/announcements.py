"""Announcements of workers to the driver of a run: what became of an attempt at a chunk.

A shortcut: losing one delays a run and changes nothing in its results.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import redis

from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.broker.connection import answering
from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.broker.worker_keys import REASON_CHARS
from nightgrid.workers.settings import Settings

if TYPE_CHECKING:
    # A supervisor speaks to Redis before there is work, and needs no library that reads a lake.
    from nightgrid.workers.runs.run_files import ChunkRef

ANNOUNCEMENTS_KEPT_SECONDS = 24 * 3600
ANNOUNCEMENTS_AT_ONCE = 1000

EventKind = Literal["done", "failed", "transient", "refused", "lost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """What became of one attempt at a chunk."""

    event: EventKind
    """`done`: the part is in the lake. `failed`: the work raised. `transient`: something outside
    failed. `refused`: the worker cannot work here. `lost`: the process that worked on it died or
    was killed at the hard limit."""
    ref: ChunkRef
    reason: Reason | None = None
    """Why it is not done."""
    worker: str = ""
    """Which worker refused; empty for other events."""

    @property
    def why(self) -> Reason:
        """Why it is not done, also of an event that does not say."""
        return self.reason or Reason(code=ReasonCode.EXCEPTION)


def announce(client: redis.Redis, settings: Settings, announcement: Announcement) -> None:
    """Tell the driver, through a list per run. Raises redis.RedisError when the server is dead."""
    key = _announcements(settings, announcement.ref.run_id)
    reason = announcement.reason
    value = {
        "event": announcement.event,
        "reason_code": None if reason is None else str(reason.code),
        "reason": "" if reason is None else reason.sentence[:REASON_CHARS],
        "worker": announcement.worker,
        **asdict(announcement.ref),
    }
    pipe = client.pipeline(transaction=False)
    pipe.rpush(key, json.dumps(value))
    pipe.expire(key, ANNOUNCEMENTS_KEPT_SECONDS)
    pipe.execute()


def next_announcements(
    client: redis.Redis, settings: Settings, run_id: str, timeout_s: float
) -> list[Announcement]:
    """Wait for announcements of a run and take them all.

    Raises TransientError when the server is dead.
    """
    key = _announcements(settings, run_id)
    with answering():
        first: Any = client.blpop([key], timeout=timeout_s)
        if first is None:
            return []
        more: Any = client.lpop(key, ANNOUNCEMENTS_AT_ONCE) or []
    return [_parse(text) for text in (first[1], *more)]


def _parse(text: str) -> Announcement:
    """Parse an announcement as `announce` wrote it."""
    from nightgrid.workers.runs.run_files import ChunkRef

    value = json.loads(text)
    code, sentence = value.pop("reason_code"), value.pop("reason")
    return Announcement(
        event=value.pop("event"),
        worker=value.pop("worker"),
        reason=None if code is None else Reason(code=ReasonCode(code), sentence=sentence),
        ref=ChunkRef(**value),
    )


def _announcements(settings: Settings, run_id: str) -> str:
    return f"{key_prefix(settings)}announced:{run_id}"

"""Announcements of workers to the driver of a run: what became of an attempt at a chunk.

A shortcut: losing one delays a run and changes nothing in its results.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import redis

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.broker.connection import answering
from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.broker.malformed import MALFORMED, count_malformed
from nightgrid.workers.broker.worker_keys import REASON_CHARS
from nightgrid.workers.settings import Settings

if TYPE_CHECKING:
    # A supervisor speaks to Redis before there is work, and needs no library that reads a lake.
    from nightgrid.workers.runs.run_files import ChunkRef

ANNOUNCEMENTS_KEPT_SECONDS = 24 * 3600
ANNOUNCEMENTS_AT_ONCE = 1000
ANNOUNCED = "announced"
"""What announcements that cannot be read are counted under."""

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
        try:
            first: Any = client.blpop([key], timeout=timeout_s)
        except redis.ResponseError as error:
            if not str(error).startswith("WRONGTYPE"):
                raise
            # Another program has put something that is no list in its place.
            count_malformed(ANNOUNCED, error, settings)
            client.delete(key)
            return []
        if first is None:
            return []
        more: Any = client.lpop(key, ANNOUNCEMENTS_AT_ONCE) or []
    texts = [first[1], *more]
    found = [one for text in texts if (one := parse_announcement(text)) is not None]
    if len(found) < len(texts):
        count_malformed(ANNOUNCED, "no announcement", settings, len(texts) - len(found))
    return found


def parse_announcement(text: str) -> Announcement | None:
    """Read an announcement as `announce` wrote it; None for any other text.

    The lake is the truth: what an announcement would have said is found there.
    """
    from nightgrid.workers.runs.run_files import ChunkRef

    try:
        value = json.loads(text)
        ref = ChunkRef(**{name: value[name] for name in ("run_id", "segment", "chunk", "attempt")})
        if value["event"] not in get_args(EventKind):
            raise PermanentError(f"unknown announcement {value['event']!r:.40}")
        worker = str(value.get("worker", ""))
        return Announcement(event=value["event"], ref=ref, reason=_reason_in(value), worker=worker)
    except (*MALFORMED, PermanentError):
        return None


def _reason_in(value: dict[str, Any]) -> Reason | None:
    from nightgrid.archive.lake.conforming import reason_of_failure

    if value.get("reason_code") is not None:
        return Reason(code=ReasonCode(value["reason_code"]), sentence=value["reason"])
    # Without a code it is of a worker of an earlier version, which may still be at work.
    return reason_of_failure(value["reason"]) if value["reason"] else None


def _announcements(settings: Settings, run_id: str) -> str:
    return f"{key_prefix(settings)}announced:{run_id}"

"""Notices through Redis: what became of a chunk, and that a job was submitted.

They only shorten waits. The lake is the truth, and a lost notice delays a run without changing its
results. Each driver process has a list of its own, which its messages name.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

import redis

from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.broker.connection import answering
from nightgrid.workers.broker.redis_keys import DONE, key_prefix
from nightgrid.workers.broker.worker_keys import REASON_CHARS
from nightgrid.workers.runs.run_files import ChunkRef
from nightgrid.workers.settings import Settings

KEPT_SECONDS = 3600
"""How long announcements that no driver takes are kept: their driver was killed."""
TAKEN_AT_ONCE = 1000

KEEPER = "keeper"
"""Name of the list of the process that drives a lake's on-demand jobs."""

_UNSAID = Reason(code=ReasonCode.EXCEPTION)

Event = Literal["done", "failed", "returned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """The outcome of one attempt at a chunk."""

    event: Event
    """`done`: the result is in the lake. `failed`: the work raised, or its process died.
    `returned`: the worker could not run the chunk, for a reason outside of it."""
    ref: ChunkRef
    reason: Reason = _UNSAID
    """Why it is not `done`."""


def announce(
    client: redis.Redis, settings: Settings, driver: str, announcement: Announcement
) -> None:
    """Append an announcement to the list of a driver. Raises redis.RedisError."""
    reason = announcement.reason
    value = {
        "event": announcement.event,
        "reason_code": str(reason.code),
        "reason": reason.sentence[:REASON_CHARS],
        **asdict(announcement.ref),
    }
    _push(client, settings, driver, json.dumps(value))


def wake_keeper(client: redis.Redis, settings: Settings) -> None:
    """Wake the keeper to look for submitted jobs. Raises redis.RedisError."""
    # The content does not matter: any entry ends its wait.
    _push(client, settings, KEEPER, "")


def _push(client: redis.Redis, settings: Settings, driver: str, entry: str) -> None:
    pipe = client.pipeline(transaction=False)
    pipe.rpush(_key(settings, driver), entry)
    pipe.expire(_key(settings, driver), KEPT_SECONDS)
    pipe.execute()


def next_announcements(
    client: redis.Redis, settings: Settings, driver: str, timeout_s: float
) -> list[Announcement]:
    """Wait for announcements to a driver and pop all of them; empty if it was only woken.

    Raises TransientError when the server is dead.
    """
    key = _key(settings, driver)
    with answering():
        first: Any = client.blpop([key], timeout=timeout_s)
        if first is None:
            return []
        more: Any = client.lpop(key, TAKEN_AT_ONCE) or []
    return [parse_announcement(text) for text in (first[1], *more) if text]


def parse_announcement(text: str) -> Announcement:
    """Parse an announcement written by `announce`."""
    value = json.loads(text)
    code, sentence = ReasonCode(value.pop("reason_code")), value.pop("reason")
    event = value.pop("event")
    return Announcement(
        event=event, ref=ChunkRef(**value), reason=Reason(code=code, sentence=sentence)
    )


def _key(settings: Settings, driver: str) -> str:
    return f"{key_prefix(settings)}{DONE}{driver}"

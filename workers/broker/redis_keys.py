"""Our own keys in Redis: what chunks announce, and which workers live.

All of it is a shortcut. Losing any of it delays a run and changes nothing in its results.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.broker.malformed import MALFORMED, count_malformed, read_object
from nightgrid.workers.server_url import distrust
from nightgrid.workers.settings import BROKER_CONNECT_SECONDS, BROKER_SOCKET_SECONDS, Settings

if TYPE_CHECKING:
    # A supervisor speaks to Redis before there is work, and needs no library that reads a lake.
    from nightgrid.workers.runs.run_files import ChunkRef

ANNOUNCEMENTS_KEPT_SECONDS = 24 * 3600
DEAD_KEPT_SECONDS = 24 * 3600
DEAD, LEFT = "1", "left"
"""What the key of a gone worker holds: one that was told to go and has gone is innocent of what it
had in hand."""
ANNOUNCEMENTS_AT_ONCE = 1000
REFUSAL_TOLD_PAUSES = 6.0
"""A refusal is told for so many pauses of the worker after it."""
ANNOUNCED = "announced"
"""What announcements that cannot be read are counted under."""
REASON_CHARS = 500
"""Longest reason that travels in an announcement."""

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


def connect(settings: Settings) -> redis.Redis:
    """Connect to the server, lazily; calls fail within seconds when it is dead."""
    # redis-py retries three times with pauses on its own; the callers decide here.
    return redis.Redis.from_url(
        settings.server_url,
        socket_connect_timeout=BROKER_CONNECT_SECONDS,
        socket_timeout=BROKER_SOCKET_SECONDS,
        retry=Retry(NoBackoff(), 1),
        decode_responses=True,
        # Bytes that are no text must not fail the command that reads them.
        encoding_errors="replace",
    )


@contextmanager
def answering() -> Iterator[None]:
    """Raise TransientError when the server fails what is done in the block."""
    try:
        yield
    except redis.RedisError as error:
        why = distrust(error)
        told = f"does not answer: {error}" if why is None else f"is not used: {why}"
        raise TransientError(f"the Redis server {told}") from error


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
    heard = [found for text in texts if (found := parse_announcement(text)) is not None]
    if len(heard) < len(texts):
        count_malformed(ANNOUNCED, "no announcement", settings, len(texts) - len(heard))
    return heard


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


def worker_key(settings: Settings, worker: str) -> str:
    """Name the key that a living worker keeps alive."""
    return f"{key_prefix(settings)}worker:{worker}"


def mark_alive(client: redis.Redis, settings: Settings, worker: str, about: dict[str, Any]) -> None:
    """Keep a worker's key alive for another while."""
    ttl_ms = int(settings.liveness_ttl_seconds * 1000)
    client.set(worker_key(settings, worker), json.dumps(about), px=ttl_ms)


def mark_gone(client: redis.Redis, settings: Settings, worker: str, how: str) -> None:
    """Note that a worker is DEAD or has LEFT, so that no process waits for its key to expire."""
    pipe = client.pipeline(transaction=False)
    pipe.delete(worker_key(settings, worker))
    pipe.set(f"{key_prefix(settings)}dead:{worker}", how, ex=DEAD_KEPT_SECONDS)
    pipe.execute()


def mark_refusal(client: redis.Redis, settings: Settings, worker: str, reason: str) -> None:
    """Note for a while that a worker cannot work, and why. Raises redis.RedisError."""
    key = f"{key_prefix(settings)}refuses:{worker}"
    client.set(
        key,
        reason[:REASON_CHARS],
        px=int(REFUSAL_TOLD_PAUSES * 1000 * settings.refusal_pause_seconds),
    )


def refusals(client: redis.Redis, settings: Settings) -> dict[str, str]:
    """List the workers that have refused to work a moment ago, with their reasons."""
    start = f"{key_prefix(settings)}refuses:"
    keys = list(client.scan_iter(f"{start}*", count=1000))
    values: Any = client.mget(keys) if keys else []
    told = zip(keys, values, strict=True)
    return {key[len(start) :]: value for key, value in told if value is not None}


def living(client: redis.Redis, settings: Settings) -> dict[str, dict[str, Any]]:
    """List the workers that say they live, with what they say about themselves."""
    start = worker_key(settings, "")
    keys = list(client.scan_iter(f"{start}*", count=1000))
    values: Any = client.mget(keys) if keys else []
    told = {k[len(start) :]: read_object(v) for k, v in zip(keys, values, strict=True)}
    return {worker: about for worker, about in told.items() if about and _tells_of_worker(about)}


def _tells_of_worker(about: dict[str, Any]) -> bool:
    queues, processes = about.get("queues"), about.get("processes")
    return isinstance(processes, int) and isinstance(queues, list)


def known_gone(
    client: redis.Redis, settings: Settings, workers: Iterable[str]
) -> tuple[set[str], set[str]]:
    """Tell which of these workers a supervisor has seen die, and which have left as told."""
    names, prefix = sorted(set(workers)), key_prefix(settings)
    keys = [f"{prefix}dead:{name}" for name in names]
    values: Any = client.mget(keys) if keys else []
    told = list(zip(names, values, strict=True))
    return {name for name, how in told if how == DEAD}, {name for name, how in told if how == LEFT}

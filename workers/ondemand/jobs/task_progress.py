"""What a task on demand tells through Redis while it works: its states, and how far it is.

It is shown to clients that wait for the job. Nothing depends on it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import redis

from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.broker.malformed import MALFORMED
from nightgrid.workers.settings import Settings

TOLD_EVERY_S = 0.25
"""A task tells no more often than this."""
KEPT_S = 120
"""What was told is kept for so long: one layer of a count may take as long as a task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskProgress:
    """How far a task is."""

    started_at: float
    """When its attempt began, as the record of the job says: Unix time, seconds. It tells one
    attempt from the next, which begins while this is kept."""
    states: int
    kernel_s: float
    """Seconds of all its threads."""
    passed: float
    """Share of its work that is done, as far as was foreseen, 0 to 1."""


def teller(client: redis.Redis, settings: Settings, job_id: str) -> Callable[[TaskProgress], None]:
    """Give what tells how far the task of a job is, now and then; a dead server is no error."""
    tell_at = 0.0

    def tell(progress: TaskProgress) -> None:
        nonlocal tell_at
        now = time.monotonic()
        if now >= tell_at:
            tell_at = now + TOLD_EVERY_S
            with suppress(redis.RedisError):
                client.set(_key(settings, job_id), json.dumps(asdict(progress)), ex=KEPT_S)

    return tell


def read_task_progress(client: redis.Redis, settings: Settings, job_id: str) -> TaskProgress | None:
    """Read what a task of a job has told last; None where none has, or no server answers.

    It may be of an attempt that is over.
    """
    try:
        text: Any = client.get(_key(settings, job_id))
        told = json.loads(text) if text else None
        if told is None:
            return None
        return TaskProgress(
            started_at=float(told["started_at"]),
            states=int(told["states"]),
            kernel_s=float(told["kernel_s"]),
            passed=min(max(float(told["passed"]), 0.0), 1.0),
        )
    except (redis.RedisError, *MALFORMED):
        return None


def _key(settings: Settings, job_id: str) -> str:
    return f"{key_prefix(settings)}progress:{job_id}"

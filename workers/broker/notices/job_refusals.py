"""Why workers could not work an on-demand job, kept in Redis for a while.

Losing any of it costs a sentence: the keeper counts for itself how often it has sent a job in vain.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import redis

from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.broker.queues import INTERACTIVE
from nightgrid.workers.broker.worker_keys import REASON_CHARS, living_workers, refusals
from nightgrid.workers.settings import Settings

KEPT_SECONDS = 3600
ASKED_MAX = 1_000


def record_job_refusal(
    client: redis.Redis, settings: Settings, job: str, worker: str, reason: str
) -> None:
    """Note why a worker could not work a job. Raises redis.RedisError."""
    pipe = client.pipeline(transaction=False)
    pipe.hset(_key(settings, job), worker, reason[:REASON_CHARS])
    pipe.expire(_key(settings, job), KEPT_SECONDS)
    pipe.execute()


def job_refusals(client: redis.Redis, settings: Settings, job: str) -> dict[str, str]:
    """Tell which workers could not work a job, with their reasons. Raises redis.RedisError."""
    told: Any = client.hgetall(_key(settings, job))
    return dict(told)


def refusals_of(
    client: redis.Redis, settings: Settings, jobs: Sequence[str], besides: Collection[str]
) -> dict[str, str]:
    """Tell which workers, besides some, could not work the first of these jobs, with a reason each.

    A worker is named for KEPT_SECONDS, however long it has met none of them; ASKED_MAX jobs are
    looked at. Raises redis.RedisError.
    """
    pipe = client.pipeline(transaction=False)
    for job in jobs[:ASKED_MAX]:
        pipe.hgetall(_key(settings, job))
    told: dict[str, str] = {}
    for each in pipe.execute():
        told |= each
    return {worker: why for worker, why in told.items() if worker not in besides}


def others_may_work(client: redis.Redis, settings: Settings, worker: str) -> bool:
    """Tell whether another worker serves on-demand solves and has not refused a moment ago."""
    serving = {w for w, a in living_workers(client, settings).items() if INTERACTIVE in a["queues"]}
    return bool(serving - refusals(client, settings).keys() - {worker})


def _key(settings: Settings, job: str) -> str:
    return f"{key_prefix(settings)}refused:{job}"

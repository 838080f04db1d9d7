"""Names of the keys in Redis. They begin with the id of a lake, so that lakes can share a server.

Celery's queues and our own keys alike begin with NIGHTGRID_KEY_PREFIX and the id of the lake.
"""

from __future__ import annotations

import hashlib
from typing import Any

import redis

from nightgrid.archive.lake import identity
from nightgrid.archive.lake.location import is_folder
from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.workers.settings import Settings

INTERACTIVE = "interactive"
"""The queue of on-demand solves; at least one worker serves only this queue."""
BATCH = "batch"
"""The queue of the chunks of all runs."""
UNACKED = "unacked"
"""Celery's messages that a worker has taken and not yet acknowledged."""
LIVES, REFUSES, EXITED = "worker:", "refuses:", "dead:"
"""Heartbeats of workers, their refusals and their exits."""
DEMAND = "demand:"
"""How many chunks of a run are unfinished."""
DONE = "done:"
"""Announcements to a driver."""
PROBE = "probe"
"""Probe key, to see whether the server accepts writes."""

_known: dict[str, str] = {}
"""Ids of lakes by URL, as this process last saw them."""


def key_prefix(settings: Settings) -> str:
    """Return the prefix of every key of the lake: `nightgrid:LAKE_ID:`.

    Writes nothing to the lake. A lake without an id has keys named after its URL, which no worker
    writes. Raises PermanentError if the id file is damaged and was never read.
    """
    found = current_id(settings) or _known.get(settings.lake)
    if found is None:
        found = f"none-{hashlib.sha256(settings.lake.encode()).hexdigest()[:16]}"
    return f"{settings.key_prefix}{found}:"


def read_keys(client: redis.Redis, settings: Settings, kind: str) -> dict[str, str]:
    """Read all keys of the lake that begin with `kind`, without it. Raises redis.RedisError."""
    start = f"{key_prefix(settings)}{kind}"
    keys = list(client.scan_iter(f"{start}*", count=1000))
    values: Any = client.mget(keys) if keys else []
    found = zip(keys, values, strict=True)
    return {key.removeprefix(start): value for key, value in found if value is not None}


def current_id(settings: Settings) -> str | None:
    """Read the current id of the lake; None if it has none or does not answer.

    A bucket is read once, a folder each time: another one may have been mounted in its place.
    """
    if settings.lake not in _known or is_folder(settings.lake):
        try:
            found = identity.read_lake_id(settings.lake)
        except TransientError:
            return None
        except PermanentError:
            if settings.lake not in _known:
                raise
            return None
        if found is not None:
            _known[settings.lake] = found
        return found
    return _known.get(settings.lake)


def make_lake_id(settings: Settings) -> str:
    """Return the id of the lake; write one first if it has none. Call it before sending or taking
    work.

    Raises PermanentError for a damaged file and for a lake without an id that cannot be written.
    """
    if settings.lake not in _known or is_folder(settings.lake):
        _known[settings.lake] = identity.make_lake_id(settings.lake)
    return _known[settings.lake]

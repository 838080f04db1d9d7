"""Names of the keys in Redis, which begin with the id of a lake: lakes may share a server.

Queues of Celery and keys of ours alike begin with NIGHTGRID_KEY_PREFIX and the id of the lake.
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
"""The queue of on-demand solves; at least one worker serves this queue alone."""
BATCH = "batch"
"""The queue of the chunks of all runs."""
UNACKED = "unacked"
"""Celery's messages that a worker has taken and not acknowledged."""
LIVES, REFUSES, EXITED = "worker:", "refuses:", "dead:"
"""A worker's heartbeat, why it refuses work, and that it has ended."""
DEMAND = "demand:"
"""How many chunks a run has to give."""
DONE = "done:"
"""Announcements to a driver."""
PROBE = "probe"
"""Written for a moment, to see whether the server takes anything."""

_known: dict[str, str] = {}
"""Ids of lakes by their URLs, as this process last saw them."""


def key_prefix(settings: Settings) -> str:
    """Write how every key of the lake begins: `nightgrid:LAKE_ID:`.

    Nothing is written into the lake. A lake without an id has keys named after its URL, which no
    worker writes. Raises PermanentError for a file that was never read and is damaged.
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
    """Read the id that the lake has now; None while it has none or does not answer.

    A bucket is asked once, a folder each time: another may have been mounted in its place.
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
    """Return the id of the lake; write one, if it has none, before anything is sent or taken.

    Raises PermanentError for a damaged file and for a lake without an id that cannot be written.
    """
    if settings.lake not in _known or is_folder(settings.lake):
        _known[settings.lake] = identity.make_lake_id(settings.lake)
    return _known[settings.lake]

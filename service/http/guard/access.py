"""Clients by key, re-read when the lake's keys change, with their rate limits."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from threading import Condition
from typing import Any

from cachetools import TTLCache, cached
from fastapi import Depends
from fastapi.security import HTTPBearer
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter
from starlette.datastructures import Headers

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.guard.keys import Key, find_key, read_keys
from nightgrid.service.http.problems import FieldError, Problem
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.sentences import plural

REFRESH_S = 2.0
"""Delay after which an added or revoked key takes effect."""
CLOSED_PATHS = ("/v1/", "/metrics", "/report")
"""Prefixes of paths that need a key. The page, its files and the health checks need none."""
KEY = Depends(HTTPBearer(auto_error=False, scheme_name="key"))
"""Describes the key in the OpenAPI document; the guard checks it."""


class Access:
    """Checks the key and the rate of every request."""

    def __init__(self, lake: Callable[[], Lake], *, required: bool) -> None:
        """Read nothing yet; `lake` returns the lake once it is open."""
        self._required = required
        known: TTLCache[Any, dict[str, Key]] = TTLCache(1, REFRESH_S)
        self._keys = cached(known, condition=Condition())(lambda: read_keys(lake()))
        self._limiter = FixedWindowRateLimiter(MemoryStorage())

    async def key(self, path: str, headers: Headers) -> Key | None:
        """Return the key of a request, if it has one. Raises Problem if a required one is missing,
        and over its rate.

        A wrong key is rejected even if none is required.
        """
        given = headers.getlist("authorization")
        if not given and not (self._required and path.startswith(CLOSED_PATHS)):
            return None
        scheme, _, text = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        if scheme.lower() != "bearer":
            raise _refused("expected the header Authorization: Bearer KEY")
        key = find_key(await asyncio.to_thread(self._keys), text.strip())
        if key is None:
            raise _refused("the key is unknown, or was revoked")
        limit = RateLimitItemPerMinute(key.per_minute)
        if not self._limiter.hit(limit, key.name):
            wait_s = self._limiter.get_window_stats(limit, key.name).reset_time - time.time()
            raise Problem(
                "too-many-requests",
                f"this key may send {plural(key.per_minute, 'request')} a minute",
                headers={"Retry-After": str(max(1, math.ceil(wait_s)))},
            )
        return key


def check_exposure(lake: Lake, host: str) -> None:
    """Raise PermanentError for a service that other machines can reach at `host` without keys."""
    if not read_keys(lake):
        raise PermanentError(
            f"--host {host} can be reached from other machines and {lake.url} has no key; "
            "nightgrid keys add NAME creates one"
        )


def _refused(why: str) -> Problem:
    return Problem(
        "no-key",
        why,
        errors=[FieldError(pointer="Authorization", detail="expected Bearer KEY")],
        headers={"WWW-Authenticate": 'Bearer realm="nightgrid"'},
    )

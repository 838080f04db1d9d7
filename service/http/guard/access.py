"""Clients by their keys, read again as the lake's change, and how often each may ask."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fastapi import Depends
from fastapi.security import HTTPBearer
from starlette.datastructures import Headers

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.guard.keys import Key, find_key, has_keys, read_keys
from nightgrid.service.http.problems import FieldError, Problem
from nightgrid.solvers.errors import NightgridError, PermanentError, TransientError
from nightgrid.solvers.sentences import plural

REFRESH_S = 2.0
"""A key that was added or revoked counts after this time."""
KEPT_S = 60.0
"""While the lake does not answer, what was read of its keys counts for so long."""
OPEN_PATHS = ("/v1/", "/metrics", "/report")
"""Where keys are wanted: below the first, and at the others. The page, its files and whether the
process is well are for everyone."""
KEY = Depends(HTTPBearer(auto_error=False, scheme_name="key"))
"""Describes the key in the OpenAPI document; the guard checks it."""
_MINUTE_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """Who sent a request."""

    name: str
    """The name of its key; "" for a client without one."""
    jobs: int | None = None
    """Jobs that it may have open at once; None: any number."""


ANY = Client(name="")
"""A client of a service that wants no keys."""


@dataclass(slots=True)
class _Bucket:
    """What a key may still ask now: it fills up over a minute."""

    left: float
    at: float


class Access:
    """Checks the key of every request. One for a service; used by its event loop alone."""

    def __init__(
        self,
        lake: Callable[[], Lake],
        *,
        required: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Read nothing yet; `lake` gives the lake once it is open."""
        self._lake = lake
        self._required = required
        self._clock = clock
        self._keys: Mapping[str, Key] = {}
        self._read_at = -math.inf
        self._reading = asyncio.Lock()
        self._buckets: dict[str, _Bucket] = {}

    async def client(self, path: str, headers: Headers) -> Client:
        """Identify the client. Raises Problem without the key that is required, and over its rate.

        A key that is given and wrong is refused even where none is wanted.
        """
        given = headers.getlist("authorization")
        if not given and not (self._required and wants_key(path)):
            return ANY
        scheme, _, text = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        if scheme.lower() != "bearer":
            raise _refused("expected the header Authorization: Bearer KEY")
        key = find_key(await self._known(), text.strip())
        if key is None:
            raise _refused("the key is unknown, or was revoked")
        self._spend(key)
        return Client(name=key.name, jobs=key.jobs)

    async def _known(self) -> Mapping[str, Key]:
        if self._clock() - self._read_at < REFRESH_S:
            return self._keys
        async with self._reading:
            now = self._clock()
            if now - self._read_at >= REFRESH_S:
                try:
                    self._keys = (await asyncio.to_thread(read_keys, self._lake())).sound
                except NightgridError as error:
                    if now - self._read_at > KEPT_S:
                        raise TransientError(f"the keys cannot be read: {error}") from error
                else:
                    self._read_at = now
        return self._keys

    def _spend(self, key: Key) -> None:
        """Count a request of a key. Raises Problem over its rate."""
        now = self._clock()
        bucket = self._buckets.setdefault(key.name, _Bucket(left=key.per_minute, at=now))
        each_s = _MINUTE_S / key.per_minute
        bucket.left = min(bucket.left + (now - bucket.at) / each_s, key.per_minute)
        bucket.at = now
        if bucket.left < 1:
            wait_s = math.ceil((1 - bucket.left) * each_s)
            raise Problem(
                "too-many-requests",
                f"this key may send {plural(key.per_minute, 'request')} a minute",
                headers={"Retry-After": str(max(1, wait_s))},
            )
        bucket.left -= 1


def wants_key(path: str) -> bool:
    """Return whether a path is for clients with a key, where keys are wanted."""
    api, *others = OPEN_PATHS
    return path.startswith(api) or path in others


def check_exposure(lake: Lake, host: str) -> None:
    """Raise PermanentError for a service that others can reach, at `host`, without any key."""
    if not has_keys(lake):
        raise PermanentError(
            f"--host {host} can be reached from other machines and {lake.url} has no key; "
            "nightgrid keys add NAME makes one"
        )


def _refused(why: str) -> Problem:
    return Problem(
        "no-key",
        why,
        errors=[FieldError(pointer="Authorization", detail="expected Bearer KEY")],
        headers={"WWW-Authenticate": 'Bearer realm="nightgrid"'},
    )

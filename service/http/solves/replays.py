"""Idempotency keys: a request that is sent twice is asked once, and a key stands for one body."""

from __future__ import annotations

import hashlib
import re
import time
from contextlib import suppress

import redis

from nightgrid.service.http.problems import FieldError, Problem
from nightgrid.service.http.solves.views import Kept
from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.settings import Settings

HEADER = "Idempotency-Key"
KEPT_S = 24 * 3600
"""A key stands for its body for so long after it was first used."""
_KEY = re.compile(r"[\x21-\x7e]{1,200}")


class Replays:
    """Remembers which body each key was used with: in Redis, and here while that is away."""

    def __init__(self, client: redis.Redis, settings: Settings) -> None:
        self._client = client
        self._settings = settings
        self._here: Kept[tuple[str, float]] = Kept()

    def check(self, client: str, key: str, digest: str) -> None:
        """Take note of a key's body. Raises Problem for a key that was used with another one."""
        if not _KEY.fullmatch(key):
            detail = "expected 1 to 200 printable characters of ASCII without spaces"
            raise _wrong(422, "bad-value", "A value is wrong", detail)
        name = hashlib.sha256(f"{client}\n{key}".encode()).hexdigest()
        known = self._known(name, digest)
        if known != digest:
            raise _wrong(
                422, "replayed-key", "The key was used before", "it was used with another body"
            )

    def _known(self, name: str, digest: str) -> str:
        """Tell which body a key stands for, this one unless there was another."""
        here = self._here.get(name)
        if here is not None and here[1] > time.monotonic():
            return here[0]
        known = digest
        with suppress(redis.RedisError):
            place = f"{key_prefix(self._settings)}replay:{name}"
            if not self._client.set(place, digest, nx=True, ex=KEPT_S):
                known = str(self._client.get(place) or digest)
        self._here.put(name, (known, time.monotonic() + KEPT_S))
        return known


def _wrong(status: int, slug: str, title: str, detail: str) -> Problem:
    errors = [FieldError(pointer=HEADER, detail=detail)]
    return Problem(status, slug, title, f"{HEADER}: {detail}", errors=errors)

"""Idempotency keys: a request that is sent twice is asked once, and a key stands for one body."""

from __future__ import annotations

import hashlib
import re
import time
from contextlib import suppress

import redis

from nightgrid.service.http.problems import FieldError, Problem
from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.caches import BoundedCache
from nightgrid.workers.settings import Settings

HEADER = "Idempotency-Key"
KEPT_S = 24 * 3600
"""A key stands for its body for so long after it was first used."""
KEYS_MAX = 1024
"""Keys whose body is kept here, next to Redis."""
_KEY = re.compile(r"[\x21-\x7e]{1,200}")


class Replays:
    """Remembers which body each key was used with: in Redis, and here while that is away."""

    def __init__(self, client: redis.Redis, settings: Settings) -> None:
        self._client = client
        self._settings = settings
        self._here: BoundedCache[str, tuple[str, float]] = BoundedCache(KEYS_MAX)

    def check(self, client: str, key: str, digest: str) -> None:
        """Raise Problem for what is no key, and for one that was used with another body."""
        if not _KEY.fullmatch(key):
            detail = "expected 1 to 200 printable characters of ASCII without spaces"
            raise _wrong("bad-value", detail)
        self._compare(self._known(_name_of(client, key)), digest)

    def note(self, client: str, key: str, digest: str) -> None:
        """Take note of the body of a key that was checked, which was found to be sound.

        A body that is refused leaves its key free, so that it can be mended. Raises Problem where
        another body was faster.
        """
        name = _name_of(client, key)
        known = self._known(name)
        if known is None:
            known = digest
            with suppress(redis.RedisError):
                place = self._place(name)
                if not self._client.set(place, digest, nx=True, ex=KEPT_S):
                    known = str(self._client.get(place) or digest)
            self._keep(name, known)
        self._compare(known, digest)

    @staticmethod
    def _compare(known: str | None, digest: str) -> None:
        if known not in (None, digest):
            raise _wrong("replayed-key", "it was used with another body")

    def _known(self, name: str) -> str | None:
        """Return which body a key stands for; None for a key that was not used."""
        here = self._here.get(name)
        if here is not None and here[1] > time.monotonic():
            return here[0]
        found = None
        with suppress(redis.RedisError):
            found = self._client.get(self._place(name))
        if found is None:
            return None
        self._keep(name, str(found))
        return str(found)

    def _keep(self, name: str, digest: str) -> None:
        self._here.put(name, (digest, time.monotonic() + KEPT_S))

    def _place(self, name: str) -> str:
        return f"{key_prefix(self._settings)}replay:{name}"


def digest_of(body: bytes) -> str:
    """Name a body."""
    return hashlib.sha256(body).hexdigest()


def _name_of(client: str, key: str) -> str:
    return hashlib.sha256(f"{client}\n{key}".encode()).hexdigest()


def _wrong(slug: str, detail: str) -> Problem:
    errors = [FieldError(pointer=HEADER, detail=detail)]
    return Problem(slug, f"{HEADER}: {detail}", errors=errors)

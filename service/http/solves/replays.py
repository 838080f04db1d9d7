"""Idempotency keys: a key of a request stands for one body, in Redis, for a day."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress

import redis

from nightgrid.service.http.problems import FieldError, Problem
from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.settings import Settings

HEADER = "Idempotency-Key"
KEPT_S = 24 * 3600
_KEY = re.compile(r"[\x21-\x7e]{1,200}")


class Replays:
    """Remembers which body each key was used with; while Redis does not answer, none."""

    def __init__(self, client: redis.Redis, settings: Settings) -> None:
        self._client = client
        self._settings = settings

    def check(self, client: str, key: str, body: bytes) -> None:
        """Raise Problem for a malformed key, and for one that was used with another body."""
        if not _KEY.fullmatch(key):
            detail = "expected 1 to 200 printable characters of ASCII without spaces"
            raise _wrong("bad-value", detail)
        with suppress(redis.RedisError):
            if self._client.get(self._place(client, key)) not in (None, digest_of(body)):
                raise _wrong("replayed-key", "it was used with another body")

    def note(self, client: str, key: str, body: bytes) -> None:
        """Store the body of a key that was checked: one that is refused leaves its key free.

        Raises Problem where another body was faster.
        """
        with suppress(redis.RedisError):
            self._client.set(self._place(client, key), digest_of(body), nx=True, ex=KEPT_S)
        self.check(client, key, body)

    def _place(self, client: str, key: str) -> str:
        name = hashlib.sha256(f"{client}\n{key}".encode()).hexdigest()
        return f"{key_prefix(self._settings)}replay:{name}"


def digest_of(body: bytes) -> str:
    """Name a body."""
    return hashlib.sha256(body).hexdigest()


def _wrong(slug: str, detail: str) -> Problem:
    errors = [FieldError(pointer=HEADER, detail=detail)]
    return Problem(slug, f"{HEADER}: {detail}", errors=errors)

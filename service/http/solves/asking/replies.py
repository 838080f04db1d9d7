"""Replies that are final: a body that was answered for good is answered again as it was."""

from __future__ import annotations

import hashlib
from contextlib import suppress

from cachetools import LRUCache
from fastapi import Response

KEPT_BYTES = 8 * 1024**2
"""Bodies of replies that are kept in memory, and `EACH_BYTES` beside each."""
EACH_BYTES = 1536
"""What a reply takes beside its body: its object and headers, and its place by digest."""


class Replies:
    """The replies used last, by the digest of what was asked. Used by one event loop alone."""

    def __init__(self, most_bytes: int = KEPT_BYTES) -> None:
        self._replies: LRUCache[str, Response] = LRUCache(most_bytes, getsizeof=_size_of)

    def __len__(self) -> int:
        return len(self._replies)

    def get(self, digest: str) -> Response | None:
        """Return the reply to a body, or None. It may be sent any number of times."""
        return self._replies.get(digest)

    def put(self, digest: str, reply: Response) -> None:
        """Keep a reply; those that were used longest ago may go for it.

        One that is larger than all room is not kept.
        """
        self._replies.pop(digest, None)
        with suppress(ValueError):
            self._replies[digest] = reply

    def clear(self) -> None:
        """Keep none: what one of them says is no longer so."""
        self._replies.clear()


def digest_of(body: bytes) -> str:
    """Name a body."""
    return hashlib.sha256(body).hexdigest()


def _size_of(reply: Response) -> int:
    return len(reply.body) + EACH_BYTES

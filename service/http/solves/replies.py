"""Replies that are final: a body that was answered for good is answered again as it was."""

from __future__ import annotations

import hashlib
from collections import OrderedDict

from fastapi import Response

KEPT_BYTES = 16 * 1024**2
"""Bodies of replies that are kept in memory, and `EACH_BYTES` beside each."""
EACH_BYTES = 1024


class Replies:
    """The replies used last, by the digest of what was asked. Used by one event loop alone."""

    def __init__(self, most_bytes: int = KEPT_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._replies: OrderedDict[str, Response] = OrderedDict()

    def __len__(self) -> int:
        return len(self._replies)

    def get(self, digest: str) -> Response | None:
        """Return the reply to a body, or None. It may be sent any number of times."""
        reply = self._replies.get(digest)
        if reply is not None:
            self._replies.move_to_end(digest)
        return reply

    def put(self, digest: str, reply: Response) -> None:
        """Keep a reply; those that were used longest ago may go for it."""
        self._bytes += _size_of(reply)
        before = self._replies.pop(digest, None)
        if before is not None:
            self._bytes -= _size_of(before)
        self._replies[digest] = reply
        while self._bytes > self._most_bytes:
            _, gone = self._replies.popitem(last=False)
            self._bytes -= _size_of(gone)


def digest_of(body: bytes) -> str:
    """Name a body."""
    return hashlib.sha256(body).hexdigest()


def _size_of(reply: Response) -> int:
    return len(reply.body) + EACH_BYTES

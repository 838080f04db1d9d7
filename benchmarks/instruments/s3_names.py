"""Buckets of moto whose names are kept in order, so that a listing costs what it lists, as on S3.

moto copies all names of a bucket for each listing and looks at each of them: a lake with twenty
thousand files would answer more slowly than a new one, for a reason that S3 does not have.
"""

from __future__ import annotations

import threading
from bisect import bisect_left, insort
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

from moto.s3 import models
from moto.s3.utils import _VersionedKeyStore

AFTER_ALL = "\U0010ffff"
"""Sorts after each character that a name may have."""


class OrderedKeys(_VersionedKeyStore):
    """Objects of a bucket, by names that are kept in order as well."""

    def __init__(self) -> None:
        super().__init__()
        self._names: list[str] = []
        self._lock = threading.Lock()

    def __setitem__(self, key: str, value: Any) -> None:
        with self._lock:
            self._add(key)
            super().__setitem__(key, value)

    def setlist(self, key: str, list_: Any) -> None:
        """Store all versions of an object."""
        with self._lock:
            self._add(key)
            super().setlist(key, list_)

    def pop(self, key: str) -> None:
        """Remove an object. Raises KeyError where it is not there."""
        with self._lock:
            super().pop(key)
            del self._names[bisect_left(self._names, key)]

    def under(self, prefix: str, delimiter: str) -> Iterator[tuple[str, Any]]:
        """Yield the objects below a prefix, in order, and only the first of each folder.

        Of a folder a listing says the name only. Where the delimiter is empty there are no folders.
        """
        at = prefix
        while True:
            with self._lock:
                place = bisect_left(self._names, at)
                if place == len(self._names):
                    return
                name = self._names[place]
                if not name.startswith(prefix):
                    return
                found = self[name]
            yield name, found
            # Without a delimiter nothing divides: AFTER_ALL is in no name.
            folder, slash, _ = name[len(prefix) :].partition(delimiter or AFTER_ALL)
            at = f"{prefix}{folder}{slash}{AFTER_ALL}" if slash else f"{name}\0"

    def _add(self, name: str) -> None:
        if name not in self:
            insort(self._names, name)


@contextmanager
def ordered_names() -> Iterator[None]:
    """Let the buckets that moto makes meanwhile keep their names in order, and list by them."""
    list_all = models.S3Backend.list_objects

    def list_objects(
        self: models.S3Backend,
        bucket: models.FakeBucket,
        prefix: str | None,
        delimiter: str | None,
        marker: str | None,
        max_keys: int | None,
    ) -> Any:
        keys = bucket.keys
        if isinstance(keys, OrderedKeys):
            found = list(keys.under(prefix or "", delimiter or ""))
            bucket = SimpleNamespace(keys=dict(found))
        return list_all(self, bucket, prefix, delimiter, marker, max_keys)

    with ExitStack() as patches:
        patches.enter_context(mock.patch.object(models, "_VersionedKeyStore", OrderedKeys))
        patches.enter_context(mock.patch.object(models.S3Backend, "list_objects", list_objects))
        yield

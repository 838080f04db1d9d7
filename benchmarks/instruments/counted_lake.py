"""Count operations of lakes: files opened, written and deleted, listings, store requests."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import obstore

from nightgrid.archive.lake.storage import Lake

PAGE = 1000
"""Names that an object store gives in answer to one request."""


@dataclass(slots=True)
class Counts:
    """Counted so far, over all lakes of this process."""

    opened: int = 0
    """Files that were opened to be read."""
    looked: int = 0
    """Files that were looked for."""
    listed: int = 0
    written: int = 0
    deleted: int = 0
    requests: int = 0
    """Requests to an object store."""

    def since(self, before: Counts) -> Counts:
        """Subtract what was counted before."""
        names = self.__slots__
        return Counts(**{name: getattr(self, name) - getattr(before, name) for name in names})

    def copy(self) -> Counts:
        """Keep what is counted so far."""
        return self.since(Counts())


@contextmanager
def counted() -> Iterator[Counts]:
    """Count what lakes of this process are asked."""
    counts = Counts()
    with ExitStack() as stack:
        for name, field in (
            ("open_file", "opened"),
            ("_type", "looked"),
            ("_infos", "listed"),
            ("_commit", "written"),
            ("delete", "deleted"),
            ("delete_folder", "deleted"),
        ):
            told = _counting(counts, field, getattr(Lake, name))
            stack.enter_context(mock.patch.object(Lake, name, told))
        for name in ("put", "get", "get_range", "head", "delete", "list_with_delimiter"):
            asked = _requesting(counts, getattr(obstore, name))
            stack.enter_context(mock.patch.object(obstore, name, asked))
        stack.enter_context(mock.patch.object(obstore, "list", _listing(counts, obstore.list)))
        yield counts


def _counting(counts: Counts, field: str, call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(call)
    def told(lake: Lake, *given: Any, **named: Any) -> Any:
        setattr(counts, field, getattr(counts, field) + 1)
        return call(lake, *given, **named)

    return told


def _requesting(counts: Counts, call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(call)
    def told(*given: Any, **named: Any) -> Any:
        counts.requests += 1
        return call(*given, **named)

    return told


def _listing(counts: Counts, call: Callable[..., Any]) -> Callable[..., Any]:
    """Count a request for each page of a listing."""

    class Pages:
        def __init__(self, *given: Any, **named: Any) -> None:
            self._stream = call(*given, **named)

        def collect(self) -> Any:
            found = self._stream.collect()
            counts.requests += max(1, -(-len(found) // PAGE))
            return found

        def __iter__(self) -> Iterator[Any]:
            counts.requests += 1
            return iter(self._stream)

    return Pages

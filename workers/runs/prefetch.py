"""Work ahead: make the next items while the last ones are used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Make the next item in a thread while the last one is used, and no more than that.

    What making them raises is raised here. For pairs of steps of which one lets go of the
    interpreter, as Arrow does.
    """
    # One item or none, so that the end is no item.
    source = ([item] for item in items)
    with ThreadPoolExecutor(1, "ahead") as thread:
        made: Future[list[Item]] = thread.submit(next, source, [])
        while found := made.result():
            made = thread.submit(next, source, [])
            yield found.pop()

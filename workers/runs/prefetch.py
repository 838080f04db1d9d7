"""Work ahead: make the next items while the last ones are used."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Make the next item in a thread while the last one is used, and no more than that.

    What making them raises is raised here. For pairs of steps of which one lets go of the
    interpreter, as Arrow does.
    """
    made: queue.Queue[tuple[bool, Item | BaseException | None]] = queue.Queue()
    wanted = threading.Semaphore(1)
    over = threading.Event()

    def make() -> None:
        try:
            for item in items:
                wanted.acquire()
                if over.is_set():
                    return
                made.put((True, item))
        except BaseException as error:  # noqa: BLE001 - raised again where the items are used
            made.put((False, error))
        else:
            made.put((False, None))

    thread = threading.Thread(target=make, name="ahead", daemon=True)
    thread.start()
    try:
        while True:
            there, item = made.get()
            if not there:
                if item is not None:
                    raise item  # type: ignore[misc]
                return
            yield item  # type: ignore[misc]
            item = None
            wanted.release()
    finally:
        over.set()
        wanted.release()
        thread.join()

"""Work ahead: make the next items while the last ones are used."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
_LOOK_S = 0.5


def ahead(items: Iterable[Item], depth: int = 1) -> Iterator[Item]:
    """Make up to `depth` items ahead, in a thread; what making them raises is raised here.

    For pairs of steps of which one lets go of the interpreter, as Arrow does.
    """
    made: queue.Queue[tuple[bool, Item | BaseException | None]] = queue.Queue(depth)
    over = threading.Event()

    def put(entry: tuple[bool, Item | BaseException | None]) -> bool:
        while not over.is_set():
            try:
                made.put(entry, timeout=_LOOK_S)
            except queue.Full:
                continue
            return True
        return False

    def make() -> None:
        try:
            for item in items:
                if not put((True, item)):
                    return
        except BaseException as error:  # noqa: BLE001 - raised again where the items are used
            put((False, error))
        else:
            put((False, None))

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
    finally:
        over.set()
        thread.join()

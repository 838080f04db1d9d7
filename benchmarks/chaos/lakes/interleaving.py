"""Let two processes work on one lake step by step, in any order that a test gives.

Each works in a thread of its own and stands still before every call of its lake; a test says whose
call is next. What is left when the order is used up is done one process after the other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from nightgrid.archive.lake.storage import Lake

CALLS = frozenset(
    {
        *("read_table", "row_groups", "list", "exists", "read_bytes", "delete"),
        *("write_table", "write_bytes"),
    }
)
WAIT_S = 60.0


class _Turn:
    """The right of one thread to go on."""

    def __init__(self) -> None:
        self.may_go = threading.Semaphore(0)
        self.stands = threading.Semaphore(0)
        self.is_free = self.is_done = False

    def wait(self) -> None:
        """Stand still until it is this thread's turn."""
        if not self.is_free:
            self.stands.release()
            assert self.may_go.acquire(timeout=WAIT_S)


class LakeInTurns:
    """A lake every call of which waits for its turn."""

    def __init__(self, lake: Lake, turn: _Turn) -> None:
        self._lake, self._turn = lake, turn

    def __getattr__(self, name: str) -> Any:
        """Return what the lake has; a call waits first."""
        found = getattr(self._lake, name)
        if name not in CALLS:
            return found

        def call(*arguments: Any, **more: Any) -> Any:
            self._turn.wait()
            return found(*arguments, **more)

        return call


def in_turns(
    order: Iterable[str], work: Mapping[str, Callable[[Callable[[Lake], Any]], Any]]
) -> dict[str, Any]:
    """Do works at once, one call of a lake after the other in this order; return what they return.

    Each work is given what makes a lake one whose calls wait. What a work raises is raised here.
    """
    turns = {name: _Turn() for name in work}
    found: dict[str, Any] = {}
    failed: list[BaseException] = []

    def run(name: str) -> None:
        turn = turns[name]
        try:
            found[name] = work[name](lambda lake: LakeInTurns(lake, turn))
        except BaseException as error:  # noqa: BLE001 - raised in the test
            failed.append(error)
        finally:
            turn.is_done = True
            turn.stands.release()

    threads = {name: threading.Thread(target=run, args=(name,), daemon=True) for name in work}
    for name, thread in threads.items():
        thread.start()
        assert turns[name].stands.acquire(timeout=WAIT_S)
    for name in order:
        turn = turns[name]
        if not turn.is_done:
            turn.may_go.release()
            assert turn.stands.acquire(timeout=WAIT_S)
    for name, thread in threads.items():
        turns[name].is_free = True
        turns[name].may_go.release()
        thread.join(WAIT_S)
        assert not thread.is_alive()
    if failed:
        raise failed[0]
    return found

"""Which queue a worker takes from next: each keeps a share of the worker's time.

Large on-demand solves go before batches (ADR 18), but not for ever: while both have work, batches
keep a share of what each worker works (ADR 27). Shares are of time, since a chunk of one queue may
take as long as twenty of the other.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from kombu.utils.scheduling import priority_cycle

LEAST_S = 1.0
"""A message that was just taken counts as much, so that processes that take together take from
several queues."""


class Turns:
    """Whose turn it is: of the queues with work, the one that is furthest below its share.

    What a queue has had is its time divided by its share. A queue without work saves nothing up:
    when it has some again it is level with the others.
    """

    def __init__(self, shares: Mapping[str, float] | None = None) -> None:
        self.shares = dict(shares or {})
        self._worked: dict[str, float] = {}
        self._order: list[str] = []
        self._had: dict[str, float] = {}

    def order(self, queues: Sequence[str], running_s: Mapping[str, float]) -> list[str]:
        """Say in which order to look for work; `running_s` is what is being worked, by queue.

        Between queues that have had as much, the order given decides.
        """
        self._had = {
            name: (self._worked.get(name, 0.0) + running_s.get(name, 0.0)) / self._share(name)
            for name in queues
        }
        self._order = sorted(queues, key=lambda name: self._had[name])
        return self._order

    def took(self, queue: str) -> None:
        """Note that a message came from a queue: those that stood before it had none."""
        if queue not in self._order:
            return
        for name in self._order[: self._order.index(queue)]:
            missed = (self._had[queue] - self._had[name]) * self._share(name)
            self._worked[name] = self._worked.get(name, 0.0) + missed

    def ended(self, queue: str, seconds: float) -> None:
        """Note how long a message of a queue kept a process."""
        self._worked[queue] = self._worked.get(queue, 0.0) + seconds

    def _share(self, name: str) -> float:
        return self.shares.get(name, 1.0)


TURNS = Turns()
"""Those of this worker; its shares are set when it begins."""


class QueueOrder(priority_cycle):  # type: ignore[misc]
    """The order of queues as kombu asks for it (`queue_order_strategy`)."""

    def consume(self, n: int) -> list[str]:
        """Name the queues in the order in which they are looked at."""
        return list(TURNS.order(self.items[:n], _running_s()))

    def rotate(self, last_used: str) -> str:
        """Take note of where a message came from."""
        TURNS.took(last_used)
        return last_used


def note_end(request: Any) -> None:
    """Note that the work on a request is over."""
    if request.time_start is not None:
        TURNS.ended(_queue_of(request), time.time() - request.time_start)


def _running_s() -> dict[str, float]:
    """Tell how long what is in hand has been worked, by queue."""
    # What only sends makes a channel as well, and loads no worker.
    from celery.worker import state

    running: dict[str, float] = {}
    for request in list(state.reserved_requests):
        begun = request.time_start or time.time()
        # Work that is acknowledged is counted.
        if not request.acknowledged:
            name, seconds = _queue_of(request), max(LEAST_S, time.time() - begun)
            running[name] = running.get(name, 0.0) + seconds
    return running


def _queue_of(request: Any) -> str:
    return str(request.delivery_info.get("routing_key"))

"""The queues. On-demand solves never wait behind a batch: they have queues of their own."""

from __future__ import annotations

from kombu import Exchange, Queue

INTERACTIVE = "interactive"
"""On-demand solves; at least one worker serves this queue alone."""
URGENT = "urgent"
"""Chunks of the runs that large on-demand solves become."""
BATCH = "batch"
"""Chunks of all other runs."""

NAMES: tuple[str, ...] = (INTERACTIVE, URGENT, BATCH)
OF_BATCH_WORKERS: tuple[str, ...] = (URGENT, BATCH)
"""What batch workers serve: from each they take only what none before it holds."""
ORDER = "priority"
"""Kombu's name for this rule; its own is to take from each queue in turn."""


def queues() -> tuple[Queue, ...]:
    """Declare the queues, each a plain list in Redis that a direct publish reaches by its name."""
    return tuple(
        Queue(name, exchange=Exchange(name, type="direct"), routing_key=name) for name in NAMES
    )

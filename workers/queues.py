"""The three queues. On-demand solves never wait behind a batch: they have a queue of their own."""

from __future__ import annotations

from kombu import Exchange, Queue

INTERACTIVE = "interactive"
"""On-demand solves; at least one worker serves this queue alone."""
BATCH = "batch"
"""Chunks of runs."""
MAINTENANCE = "maintenance"
"""Housekeeping that nobody waits for."""

NAMES: tuple[str, ...] = (INTERACTIVE, BATCH, MAINTENANCE)


def queues() -> tuple[Queue, ...]:
    """Declare the queues, each a plain list in Redis that a direct publish reaches by its name."""
    return tuple(
        Queue(name, exchange=Exchange(name, type="direct"), routing_key=name) for name in NAMES
    )

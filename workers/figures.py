"""Figures of what workers, drivers and the keeper do, counted in each process and told to Redis.

A process notes a figure in a dictionary of its own, and sends what has gathered with a pipeline it
sends anyway or soon after (nightgrid.workers.broker.sent_figures). The HTTP service gives them
to Prometheus. Labels are names of ours alone, so that their number is bounded.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """What is counted or measured, as Prometheus names it."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...] = ()
    about: str


Sample = tuple[str, tuple[str, ...]]
"""Name of a figure and values of its labels."""

TASKS = Figure(
    name="nightgrid_tasks_total",
    kind="counter",
    labels=("task", "status"),
    about="Celery tasks that ended, by how: success, failure or retry.",
)
TASK_SECONDS = Figure(
    name="nightgrid_task_seconds_total",
    kind="counter",
    labels=("task",),
    about="Seconds that these tasks took.",
)
ROWS = Figure(
    name="nightgrid_rows_total",
    kind="counter",
    labels=("game", "status"),
    about="Rows that were worked, by status; `split` and `carried` go on in other rows.",
)
STATES = Figure(
    name="nightgrid_states_total",
    kind="counter",
    labels=("game",),
    about="States that solvers kept; its rate is the states a second.",
)
KERNEL_SECONDS = Figure(
    name="nightgrid_kernel_seconds_total",
    kind="counter",
    labels=("game",),
    about="Seconds that solvers took for them.",
)
CHUNKS = Figure(
    name="nightgrid_chunks_total",
    kind="counter",
    labels=("transition",),
    about="Transitions of chunks that drivers made; `requeue`, `retry` and `reopen` are retries.",
)
REFUSALS = Figure(
    name="nightgrid_refusals_total",
    kind="counter",
    labels=("task",),
    about="Chunks and jobs that a worker could not work for reasons of its own.",
)
SENT_AGAIN = Figure(
    name="nightgrid_jobs_sent_again_total",
    kind="counter",
    about="Jobs that the keeper sent again because their message or worker was lost.",
)
KEEPER_POLL = Figure(
    name="nightgrid_keeper_look_timestamp_seconds",
    kind="gauge",
    about="When a keeper looked at all jobs last, as Unix time.",
)
TOLD: tuple[Figure, ...] = (
    TASKS,
    TASK_SECONDS,
    ROWS,
    STATES,
    KERNEL_SECONDS,
    CHUNKS,
    REFUSALS,
    SENT_AGAIN,
    KEEPER_POLL,
)
"""What processes tell to Redis."""

_gathered: dict[Sample, float] = {}
_lock = threading.Lock()


def note(figure: Figure, *labels: str, amount: float = 1) -> None:
    """Add an amount to a counter, or set a gauge to it."""
    sample = figure.name, labels
    with _lock:
        before = _gathered.get(sample, 0.0) if figure.kind == "counter" else 0.0
        _gathered[sample] = before + amount


def note_rows(game: str, statuses: Mapping[str, int], states: int = 0, kernel_ns: int = 0) -> None:
    """Count rows of a game by status, and what they took."""
    for status, rows in statuses.items():
        note(ROWS, game, status, amount=rows)
    if states:
        note(STATES, game, amount=states)
    if kernel_ns:
        note(KERNEL_SECONDS, game, amount=kernel_ns / 1e9)


def take_gathered() -> dict[Sample, float]:
    """Take what has gathered since it was taken last."""
    with _lock:
        taken = dict(_gathered)
        _gathered.clear()
    return taken


def put_back(samples: Mapping[Sample, float]) -> None:
    """Gather once more what could not be sent."""
    kinds = {figure.name: figure for figure in TOLD}
    for (name, labels), amount in samples.items():
        figure = kinds[name]
        with _lock:
            if figure.kind == "counter":
                _gathered[name, labels] = _gathered.get((name, labels), 0.0) + amount
            else:
                _gathered.setdefault((name, labels), amount)

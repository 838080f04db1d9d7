"""Metrics of workers, drivers and the keeper, by prometheus-client.

Each process keeps its own counts. If a host exports metrics, its processes share their values
through files, and one port serves the sum (nightgrid.workers.exporter). Label values are names from
our code only, so that the number of series is bounded.
"""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics

from nightgrid.solvers.algebra import Status
from nightgrid.solvers.registry import GAMES

# Creation times of counters are of no use here and would double the lines.
disable_created_metrics()  # type: ignore[no-untyped-call]

TASK_BUCKETS_S = (0.01, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)

TASKS = Counter(
    "nightgrid_tasks_total",
    "Celery tasks that ended, by how: success, failure or retry.",
    ["task", "status"],
)
TASK_SECONDS = Histogram(
    "nightgrid_task_seconds", "Seconds that a task took.", ["task"], buckets=TASK_BUCKETS_S
)
ROWS = Counter(
    "nightgrid_rows_total",
    "Rows that were solved, by status; `split` and `carried` continue in other rows.",
    ["game", "status"],
)
STATES = Counter(
    "nightgrid_states_total", "States that solvers kept; its rate is states per second.", ["game"]
)
KERNEL_SECONDS = Counter(
    "nightgrid_kernel_seconds_total", "Seconds that solvers spent on them.", ["game"]
)
CHUNKS = Counter(
    "nightgrid_chunks_total",
    "Transitions of chunks in drivers; `fail` and `requeue` are retries.",
    ["transition"],
)
REFUSALS = Counter(
    "nightgrid_refusals_total",
    "Chunks and jobs that a worker refused for reasons of its own.",
    ["task"],
)
KEEPER_POLL = Gauge(
    "nightgrid_keeper_look_timestamp_seconds",
    "When a keeper last looked at all jobs, as Unix time.",
    multiprocess_mode="max",
)
METRICS = (
    *(TASKS, TASK_SECONDS, ROWS, STATES, KERNEL_SECONDS),
    *(CHUNKS, REFUSALS, KEEPER_POLL),
)

# An alert on the first poison row needs the zero before it.
for _game in GAMES:
    ROWS.labels(_game, str(Status.POISON))


def count_rows(game: str, statuses: Mapping[str, int], states: int = 0, kernel_ns: int = 0) -> None:
    """Count rows of a game by status, with their states and kernel time."""
    for status, rows in statuses.items():
        ROWS.labels(game, status).inc(rows)
    STATES.labels(game).inc(states)
    KERNEL_SECONDS.labels(game).inc(kernel_ns / 1e9)

"""Every figure that /metrics gives: name, type, labels and what it says, in one list.

docs/reference/metrics.md is written from it; dashboard and alert rules may name nothing else.
"""

from __future__ import annotations

from nightgrid.workers.figures import TOLD, Figure

REQUESTS = Figure(
    name="nightgrid_http_requests_total",
    kind="counter",
    labels=("method", "route", "status"),
    about="Requests by route and status.",
)
REQUEST_SECONDS = Figure(
    name="nightgrid_http_request_seconds",
    kind="histogram",
    labels=("method", "route"),
    about="Seconds from a request to the beginning of its answer.",
)
CLIENTS_DROPPED = Figure(
    name="nightgrid_http_clients_dropped_total",
    kind="counter",
    labels=("why",),
    about="Clients that were refused or disconnected for what they sent, sent slowly or did not "
    "read, before an application saw it: the kind of problem, or `answer-not-taken`.",
)
JOBS = Figure(
    name="nightgrid_jobs",
    kind="gauge",
    labels=("game", "state"),
    about="Open jobs on demand: `queued`, `running`, or `run` for one that became a run.",
)
JOBS_OLDEST = Figure(
    name="nightgrid_jobs_oldest_seconds",
    kind="gauge",
    about="Age of the oldest open job, waiting or worked; 0 without one.",
)
DAMAGED = Figure(
    name="nightgrid_records_damaged",
    kind="gauge",
    about="What lies among records and is none.",
)
SERVER_UP = Figure(
    name="nightgrid_server_up",
    kind="gauge",
    about="Whether the Redis server answers. Without it there is nothing of the figures below.",
)
PROCESSES = Figure(
    name="nightgrid_worker_processes",
    kind="gauge",
    labels=("queue",),
    about="Processes of living workers; 0 for a queue that none serves.",
)
REFUSING = Figure(
    name="nightgrid_workers_refusing",
    kind="gauge",
    about="Workers that refused to work a moment ago.",
)
MESSAGES = Figure(
    name="nightgrid_queue_messages",
    kind="gauge",
    labels=("queue", "state"),
    about="Messages: `waiting`, or `taken` by a worker, dead or alive.",
)
QUEUE_OLDEST = Figure(
    name="nightgrid_queue_oldest_seconds",
    kind="gauge",
    labels=("queue",),
    about="Age of the oldest message that waits; 0 without one.",
)
CHUNKS_WAITING = Figure(
    name="nightgrid_chunks_waiting",
    kind="gauge",
    about="Chunks that are not done of all runs that are driven now, in a queue or not.",
)
WANTED = Figure(
    name="nightgrid_processes_wanted",
    kind="gauge",
    about="Batch processes that could work at once.",
)
DROPPED = Figure(
    name="nightgrid_messages_dropped",
    kind="gauge",
    labels=("place",),
    about="What other programs wrote into queues and was dropped, in the last day.",
)
FILES = Figure(
    name="nightgrid_lake_files",
    kind="gauge",
    labels=("table",),
    about="Files of the lake by folder.",
)
BYTES = Figure(name="nightgrid_lake_bytes", kind="gauge", labels=("table",), about="Their bytes.")
RESULTS = Figure(
    name="nightgrid_results",
    kind="gauge",
    labels=("game", "status"),
    about="Rows of results in the lake; `poison` and `over_budget` want a look.",
)
COUNTED = Figure(
    name="nightgrid_lake_counted_timestamp_seconds",
    kind="gauge",
    about="When files and results were counted, as Unix time: every five minutes, beside requests.",
)
NIGHT = Figure(
    name="nightgrid_night_timestamp_seconds",
    kind="gauge",
    labels=("game",),
    about="When the last night of a game ended, as Unix time.",
)
NIGHT_GOOD = Figure(
    name="nightgrid_night_good",
    kind="gauge",
    labels=("game",),
    about="Whether it went through.",
)
NIGHT_SUCCESS = Figure(
    name="nightgrid_night_success_timestamp_seconds",
    kind="gauge",
    labels=("game",),
    about="When the last night of a game ended that went through, as Unix time.",
)
NIGHT_SECONDS = Figure(
    name="nightgrid_night_seconds",
    kind="gauge",
    labels=("game",),
    about="How long the last night took for a game.",
)
NIGHT_PLANNED = Figure(
    name="nightgrid_night_jobs",
    kind="gauge",
    labels=("game",),
    about="Jobs of the last night that the lake had no answer for.",
)
QUARANTINE = Figure(
    name="nightgrid_quarantine",
    kind="gauge",
    labels=("game",),
    about="Rules that payloads of the lake break, as the last night found them.",
)
QUARANTINED = Figure(
    name="nightgrid_night_quarantined",
    kind="gauge",
    labels=("game",),
    about="Those of them that are new in the last night.",
)
CONTRADICTIONS = Figure(
    name="nightgrid_contradictions",
    kind="gauge",
    labels=("game",),
    about="Answers that another version of the solver has given otherwise, as the last "
    "comparison found them.",
)

OF_QUEUE = (JOBS, JOBS_OLDEST, DAMAGED, SERVER_UP)
OF_SERVER = (
    *(PROCESSES, REFUSING, MESSAGES, QUEUE_OLDEST, CHUNKS_WAITING, WANTED, DROPPED),
    *TOLD,
)
OF_LAKE = (FILES, BYTES, RESULTS, COUNTED)
OF_NIGHTS = (
    *(NIGHT, NIGHT_GOOD, NIGHT_SUCCESS, NIGHT_SECONDS, NIGHT_PLANNED),
    *(QUARANTINE, QUARANTINED, CONTRADICTIONS),
)
GROUPS: dict[str, tuple[Figure, ...]] = {
    "Requests to the service": (REQUESTS, REQUEST_SECONDS, CLIENTS_DROPPED),
    "Jobs on demand": OF_QUEUE,
    "Queues, workers, drivers, keeper": OF_SERVER,
    "Nights": OF_NIGHTS,
    "The lake": OF_LAKE,
}
METRICS = tuple(figure for group in GROUPS.values() for figure in group)

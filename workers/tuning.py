"""Constants of the pipeline that no operator sets: sizes of parts and files, timeouts.

They are in one place because they depend on each other, and in an object because tests and the
fault suite replace some of them. Times in seconds, sizes in bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

CARRY_ROWS = 500_000
"""States of a layer up to which one part of a staged count continues by itself: that takes a
fraction of a second, as much as the files and messages of another stage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """The constants, with the reasons for their values."""

    celery_app: str = "nightgrid.workers.app"
    """Module whose `app` the workers run; tests add faults to it."""

    batch_row_nodes: int = 5_000_000
    batch_row_table_bytes: int = 256 * 1024**2
    batch_row_seconds: float = 0.0625
    """Limit for one row in a chunk of many, so that no row holds up the others. A row over it gets
    a chunk of its own."""
    batch_row_cost_factor: float = 10.0
    """Factor by which a row may exceed its game's estimate, if that is more: estimates can be wrong
    by an order of magnitude."""
    batch_slice_rows: int = 1024
    """Rows given to a kernel at once; a chunk checks the clock between slices. Fewer if rows may
    take longer than `batch_row_seconds`, so that a slice takes no longer."""
    batch_chunk_seconds: float = 30.0
    """Running time after which a chunk of many rows hands its remaining rows to new chunks."""

    ondemand_look_seconds: float = 0.3
    """Seconds of a first try at a small on-demand job whose game cannot estimate it, before it is
    divided among idle processes. A divided job loses them: the larger of two parts takes 0.65 of
    the whole (Strands), so a board of more than 1.3 s gains."""
    split_into: int = 16
    """Approximate number of parts that a part over budget is divided into."""
    split_depth_max: int = 2
    """How often a job is divided, which makes 16 * 16 parts; after that it is over budget. A
    division among idle processes does not count."""

    listing_rows: int = 65_536
    """Most solutions in one solution file, and in one part of a listing."""
    listing_file_bytes: int = 32 * 1024**2
    """Most bytes of JSON in one solution file; a worker holds about as much of a listing."""
    listing_row_bytes: int = 256 * 1024
    listing_chunk_bytes: int = 4 * 1024**2
    """Bytes of JSON up to which the solutions of a job, and of all jobs of a chunk, stay in the
    chunk result, which is read at once."""

    stage_carry_rows: int = CARRY_ROWS
    stage_rows: int = 1_500_000
    """Approximate number of states in one part of a stage: a second or so. Parts of 300,000 to
    1,000,000 cost about the same for each state, but the small ones write 1.23 times the number of
    distinct states and the large ones 1.08 times."""
    stage_parts_min: int = 4
    """Fewest parts of a stage that is divided, so that workers finish at about the same time."""

    hard_limit_margin_seconds: float = 30.0
    """Time beyond the limit of its kernels after which a task is killed with its process: reading
    and writing rows takes seconds."""
    visibility_factor: float = 5.0
    """Hard limits after which Redis redelivers a message that no worker has acknowledged: the
    worker is gone, and nothing noticed."""
    worker_lost_wait_seconds: float = 2.0
    """How long a worker waits for the result of a child that died."""
    liveness_interval_seconds: float = 2.0
    liveness_ttl_seconds: float = 10.0
    """Interval of heartbeats, and the time without one after which a worker is dead: a loaded
    machine may delay several."""
    refusal_pause_seconds: float = 5.0
    """How long a worker that refused its work (another version, a read-only lake, missing words)
    takes no more, so that others take it."""

    window_chunks: int | None = None
    """Most chunks in flight; None: four for each batch process."""
    poll_seconds: float = 0.5
    """How long a driver waits for an announcement before it checks the lake."""
    reconcile_seconds: float = 2.0
    """Interval at which a driver compares the lake with what is in flight."""

    workers_start_seconds: float = 300.0
    """How long a cluster waits for its server and its workers, whose kernels may compile."""

"""Constants of the pipeline that no operator sets: sizes of parts and files, patience, pauses.

They are in one place because they depend on each other, and in an object because tests and the
fault suite replace some of them. Times in seconds, sizes in bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

CARRY_ROWS = 500_000
"""States of a layer up to which one part of a staged count carries on by itself: a fraction of a
second, and files and messages of a stage take as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """The constants, with what they are chosen by."""

    celery_app: str = "nightgrid.workers.app"
    """Module whose `app` the workers run; tests add faults to it."""

    batch_row_nodes: int = 5_000_000
    batch_row_table_bytes: int = 256 * 1024**2
    batch_row_seconds: float = 0.0625
    """What one row of a chunk of many may spend, so that no row holds up the others. Over it, the
    row gets a chunk of its own."""
    batch_row_cost_factor: float = 10.0
    """A row may take this many times what its game expects, if that is more: an estimate may be
    wrong by an order of magnitude."""
    batch_slice_rows: int = 1024
    """Rows given to a kernel at once: between slices a chunk checks the clock. Fewer where rows may
    take longer than `batch_row_seconds`, so that a slice takes no longer."""
    batch_chunk_seconds: float = 30.0
    """A chunk of many rows that has run this long leaves its remaining rows to new chunks."""

    ondemand_look_seconds: float = 0.3
    """Seconds of a first try at a small job on demand whose game cannot estimate it, before it is
    divided among idle processes. They are lost if it is divided: in two parts the larger takes 0.65
    of the whole (Strands), so a board of more than 1.3 s gains."""
    split_into: int = 16
    """Parts that one part over budget is divided into, about."""
    split_depth_max: int = 2
    """How often a job is divided, which makes 16 * 16 parts; then over budget is the result. A
    division among idle processes does not count."""

    listing_rows: int = 65_536
    """Solutions of one solution file, and of one part of a listing, at most."""
    listing_file_bytes: int = 32 * 1024**2
    """JSON of one solution file: a worker holds about as much of a listing."""
    listing_row_bytes: int = 256 * 1024
    listing_chunk_bytes: int = 4 * 1024**2
    """JSON up to which the solutions of a job, and of all jobs of a chunk, need no files of their
    own: a chunk result is read at once."""

    stage_carry_rows: int = CARRY_ROWS
    stage_rows: int = 1_500_000
    """States that one part of a stage takes over, about: a second or so. Parts of 300,000 to
    1,000,000 cost about the same for each state, but the small ones write 1.23 times the states
    there are and the large ones 1.08 times."""
    stage_parts_min: int = 4
    """Parts of a stage that is divided at all, so that several workers end at about the same time.
    """

    hard_limit_margin_seconds: float = 30.0
    """A task that runs this much longer than its kernels may is killed with its process: to read
    and write rows takes seconds."""
    visibility_factor: float = 5.0
    """Redis gives a message that no worker acknowledged to another worker after this many hard
    limits: the worker is gone, and nothing noticed."""
    worker_lost_wait_seconds: float = 2.0
    """How long a worker waits for the result of a child that died."""
    liveness_interval_seconds: float = 2.0
    liveness_ttl_seconds: float = 10.0
    """A worker writes a heartbeat this often, and is dead without one for so long: a loaded machine
    may delay several."""
    refusal_pause_seconds: float = 5.0
    """A worker that cannot work what it took (another version, a lake that it cannot write, missing
    words) takes nothing more for this long, so that others take it."""

    window_chunks: int | None = None
    """Chunks in flight at most; None: four for each batch process."""
    poll_seconds: float = 0.5
    """A driver waits this long for an announcement before it looks itself."""
    reconcile_seconds: float = 2.0
    """A driver compares the lake with what is in flight this often."""

    workers_start_seconds: float = 300.0
    """How long a cluster waits for its server and its workers, whose kernels may compile."""

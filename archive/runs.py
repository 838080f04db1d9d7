"""Runs in the lake: planned once, worked chunk by chunk, finished into results.

The door to `archive.planning`, `archive.runfiles` and `archive.finishing`.
"""

from __future__ import annotations

from archive.finishing import finish_run
from archive.planning import Estimate, LargeJob, estimate_run, plan_run
from archive.runfiles import ChunkRef, Run, Segment, open_run, pending_chunks, read_done

__all__ = [
    "ChunkRef",
    "Estimate",
    "LargeJob",
    "Run",
    "Segment",
    "estimate_run",
    "finish_run",
    "open_run",
    "pending_chunks",
    "plan_run",
    "read_done",
]

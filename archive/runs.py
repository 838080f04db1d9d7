"""Runs in the lake: planned, worked chunk by chunk, finished into results.

The door to `archive.planning`, `archive.runfiles` and `archive.finishing`.
"""

from __future__ import annotations

from archive.finishing import finish_run
from archive.plan_pass import LargeJob
from archive.planning import Estimate, begin_run, estimate_run, extend_run, plan_run
from archive.runfiles import ChunkRef, Run, Segment, open_run, read_done

__all__ = [
    "ChunkRef",
    "Estimate",
    "LargeJob",
    "Run",
    "Segment",
    "begin_run",
    "estimate_run",
    "extend_run",
    "finish_run",
    "open_run",
    "plan_run",
    "read_done",
]

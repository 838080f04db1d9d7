"""What jobs were divided into: their parts, for people who want to see where the time went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import DIVISIONS

DIVISIONS_FOLDER = "divisions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a job, as it was worked."""

    path: str
    """Its place among the parts: "2", and "2.0" for the first of those it was divided into."""
    what: str
    """What it is, in words: "spangrams 1-90 of 381: NIGHT to GRID"."""
    status: str
    count: int | None
    states: int
    seconds: float
    """Wall seconds inside kernels."""
    worker: str
    """Which worker worked it; "" where that is not known."""


def division_path(run_id: str) -> str:
    """Name the file of the parts of all jobs that a run has divided."""
    return f"{DIVISIONS_FOLDER}/{run_id}.parquet"


def put_parts(lake: Lake, run_id: str, parts: Mapping[str, Sequence[Part]]) -> None:
    """Keep the parts of jobs, by job; without any no file is written.

    They take the place of those of an earlier time that the run answered the jobs.
    """
    rows = [
        {
            "job_id": job_id,
            "run_id": run_id,
            "part_path": part.path,
            "what": part.what,
            "status": part.status,
            "count": part.count,
            "states": part.states,
            "kernel_ns": round(part.seconds * 1e9),
            "worker": part.worker,
        }
        for job_id, each in parts.items()
        for part in each
    ]
    if rows:
        # Written anew: the name stays where a job is asked again whose row was dropped.
        lake.write_table(division_path(run_id), pa.Table.from_pylist(rows, DIVISIONS))


def parts_of(lake: Lake, row: Mapping[str, Any]) -> list[Part]:
    """Read what the job of a result row was divided into; nothing of one that was worked whole."""
    try:
        table = lake.read_table(division_path(row["run_id"]), DIVISIONS)
    except (DamagedFileError, MissingFileError):
        return []
    rows = table.filter(pc.equal(table.column("job_id"), row["job_id"])).to_pylist()
    if row["parts"] == 1 and len(rows) > 1:
        # Of an earlier answer whose row was dropped; this one was worked whole.
        return []
    return [
        Part(
            path=part["part_path"],
            what=part["what"],
            status=part["status"],
            count=None if part["count"] is None else int(part["count"]),
            states=part["states"],
            seconds=part["kernel_ns"] / 1e9,
            worker=part["worker"],
        )
        for part in rows
    ]

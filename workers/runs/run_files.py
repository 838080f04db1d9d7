"""The files of a run, and which process writes each, in runs/run=<id>/.

asked.json                      planner             what is asked; written first
plan.json                       planner             what is asked, with counts; written last, so
                                                    a run with a plan is planned entirely
manifest/seg-….parquet          planner, driver     row group i is chunk i; never written over
started/seg-…-chunk-…-attempt-N.json  worker, driver  who began a chunk, and why that failed
parts/seg-…-chunk-….parquet     worker              outcomes; its presence means done
frontier/seg-…-chunk-….parquet  worker              states for the next stage of a count; deleted
                                                    by the driver two stages later
CANCELLED.json                  any client          nothing more is sent; deleted when the run is
                                                    resumed
DONE.json                       driver              the results are in results/; then all other
                                                    files are deleted
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.schemas import PARTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.canonical import is_id
from nightgrid.solvers.errors import PermanentError

CHUNKS_MAX = 100_000
"""Chunks of one segment: what five digits name."""
_NAME = re.compile(r"seg-(\d{5})-chunk-(\d{5})(?:-attempt-(\d+))?\.\w+$")

ChunkKey = tuple[int, int]
"""(segment, chunk)."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ChunkRef:
    """A chunk and its attempt, as Celery messages name them: one row group of the manifest."""

    run_id: str
    segment: int
    chunk: int
    attempt: int = 1
    """Number of the attempt, from 1; a message of an attempt that failed is stale."""

    @property
    def key(self) -> ChunkKey:
        """The chunk without its attempt."""
        return self.segment, self.chunk

    @property
    def name(self) -> str:
        """The chunk's name in file names."""
        return f"seg-{self.segment:05d}-chunk-{self.chunk:05d}"

    @property
    def manifest_path(self) -> str:
        """The manifest file whose row group `chunk` this is."""
        return segment_path(self.run_id, self.segment)

    @property
    def result_path(self) -> str:
        """The chunk result: one file, however often the chunk is solved."""
        return f"{folder(self.run_id)}/parts/{self.name}.parquet"

    @property
    def started_path(self) -> str:
        """The note of this attempt (nightgrid.workers.runs.attempt_notes)."""
        return f"{folder(self.run_id)}/started/{self.name}-attempt-{self.attempt}.json"


def check_run_id(run_id: str) -> None:
    """Raise PermanentError unless a text has the form of a run id."""
    if not is_id(run_id):
        raise PermanentError(f"run_id is {run_id!r:.60}; expected 32 hexadecimal digits")


def folder(run_id: str) -> str:
    """Return the folder of a run."""
    return f"runs/run={run_id}"


def asked_path(run_id: str) -> str:
    """Return the file with the question of a run while it is being planned."""
    return f"{folder(run_id)}/asked.json"


def plan_path(run_id: str) -> str:
    """Return the file with the question of a run; its presence means that the run is planned."""
    return f"{folder(run_id)}/plan.json"


def segment_path(run_id: str, number: int) -> str:
    """Return one segment file of a run's manifest."""
    return f"{folder(run_id)}/manifest/seg-{number:05d}.parquet"


def done_path(run_id: str) -> str:
    """Name the file whose presence means that a run is finished."""
    return f"{folder(run_id)}/DONE.json"


def done_chunks(lake: Lake, run_id: str) -> set[ChunkKey]:
    """List the chunks whose outcomes are in the lake."""
    return {key for key, _ in named_chunks(lake.list(f"{folder(run_id)}/parts"))}


def named_chunks(paths: Iterable[str]) -> list[tuple[ChunkKey, int]]:
    """Parse file names into chunks and attempts, 0 for a name without one; skip other files."""
    named = filter(None, map(_NAME.search, paths))
    return [((int(name[1]), int(name[2])), int(name[3] or 0)) for name in named]


class DamagedResultError(DamagedFileError):
    """A chunk result is damaged, or belongs to another chunk."""

    def __init__(self, ref: ChunkRef, why: str) -> None:
        super().__init__(why)
        self.ref = ref


def read_result(
    lake: Lake, ref: ChunkRef, columns: Sequence[str] = PARTS.names, *, rows: int | None = None
) -> pa.Table:
    """Read columns of a chunk result; a missing file has no rows.

    Raises DamagedResultError if the file is damaged, or has another number of rows than its chunk.
    """
    try:
        part = lake.read_table(ref.result_path, PARTS, columns)
    except DamagedFileError as error:
        raise DamagedResultError(ref, str(error)) from error
    if rows is not None and part.num_rows != rows and lake.exists(ref.result_path):
        found = f"{ref.result_path} has {part.num_rows} rows; its chunk has {rows}"
        raise DamagedResultError(ref, found)
    return part

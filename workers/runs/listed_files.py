"""The solution files of a run at its end: all are there, and no others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.solution_files import (
    SolutionFile,
    files_folder,
    in_a_row,
    list_files,
)
from nightgrid.solvers.algebra import Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.runs.chunk_results import DamagedResultError, read_result
from nightgrid.workers.runs.listed import InFiles
from nightgrid.workers.runs.manifest import Run
from nightgrid.workers.runs.run_files import folder


def settle_files(lake: Lake, run: Run, answers: Iterable[pa.Table]) -> int:
    """Check that each job that was listed into files has them; delete all other files of the run.

    `answers` are the rows that the run files: a solved one that has no solutions of its own has
    them in files. What else lies there was left by a worker that was killed, or by a job that ended
    otherwise. Returns the number of files. Raises DamagedResultError for a chunk whose files are
    not all there: it has to be worked again.
    """
    found: dict[str, list[SolutionFile]] = defaultdict(list)
    for file in list_files(lake, files_folder(run.run_id)):
        found[file.job_id].append(file)
    kept = 0
    for job_id, count in _listed(answers):
        there = found.pop(job_id, [])
        chosen = in_a_row(there, count)
        if chosen is None:
            raise _lacking(lake, run, job_id, there)
        kept += len(chosen)
        _drop(lake, set(there).difference(chosen))
    for left in found.values():
        _drop(lake, left)
    return kept


def drop_files(lake: Lake, run: Run) -> None:
    """Delete the solution files of a cancelled run, and first the results that promise them.

    What is deleted is listed again if the run is resumed.
    """
    if run.question.ask.kind == "all":
        for part in ("parts", "started"):
            for path in lake.list(f"{folder(run.run_id)}/{part}"):
                lake.delete(path, durable=False)
        _drop(lake, list_files(lake, files_folder(run.run_id)))


def _lacking(lake: Lake, run: Run, job_id: str, there: Sequence[SolutionFile]) -> Exception:
    """Name a chunk that has listed solutions of a job which are not in its files."""
    for ref in run.chunks():
        for row in read_result(lake, ref, ("job_id", "children")).to_pylist():
            ranks = InFiles.from_json(row["children"]) if row["job_id"] == job_id else None
            if ranks is not None and in_a_row(there, ranks.stop, ranks.first) is None:
                lacks = f"{ranks.first} to {ranks.stop - 1} of job {job_id}"
                return DamagedResultError(ref, f"{ref.name} lacks solution files of ranks {lacks}")
    return PermanentError(f"run {run.run_id}: no chunk has listed the solutions of job {job_id}")


def _listed(answers: Iterable[pa.Table]) -> Iterable[tuple[str, int]]:
    for table in answers:
        is_listed = pc.and_(
            pc.equal(table.column("status"), str(Status.SOLVED)),
            pc.is_null(table.column("solutions")),
        )
        rows = table.select(["job_id", "count"]).filter(is_listed)
        for row in rows.to_pylist():
            yield row["job_id"], int(row["count"])


def _drop(lake: Lake, files: Iterable[SolutionFile]) -> None:
    for file in files:
        lake.delete(file.path, durable=False)

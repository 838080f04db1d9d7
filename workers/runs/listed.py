"""Listings: jobs whose solutions are in files, in ranges of the canonical order.

Solutions are counted before they are listed, so the ranks of each range are known. Each range goes
into its own solution files, and nothing is left to merge.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.solution_files import (
    SolutionFile,
    files_folder,
    in_a_row,
    list_files,
)
from nightgrid.solvers.algebra import COST_COLUMNS, Outcome, Statistics, Status
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.runs.manifest import Run
from nightgrid.workers.runs.run_files import DamagedResultError, folder, read_result


class Piece(NamedTuple):
    """Some solutions of one part of a job."""

    part: Any
    """The game's name of the part; None is the whole job."""
    skip: int
    """Number of solutions of the part to skip."""
    take: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPart:
    """The solutions of the ranks `first` to `stop` - 1."""

    first: int
    stop: int
    pieces: tuple[Piece, ...]
    """Where to find them, in canonical order."""
    value: int | None = None
    """Value of the job's best solution, in games that compare solutions."""

    def to_json(self) -> dict[str, Any]:
        """Return the part as JSON."""
        value = {} if self.value is None else {"value": self.value}
        pieces = [list(piece) for piece in self.pieces]
        return {"ranks": [self.first, self.stop], "pieces": pieces, **value}


def listed_part(text: str) -> ListedPart | None:
    """Parse a manifest row's part; None if it is not part of a listing."""
    value = json.loads(text) if text else None
    if not isinstance(value, dict) or "ranks" not in value:
        return None
    first, stop = value["ranks"]
    pieces = tuple(Piece(*piece) for piece in value["pieces"])
    return ListedPart(first=first, stop=stop, pieces=pieces, value=value.get("value"))


def packed(pieces: Iterable[Piece], rows: int) -> list[list[Piece]]:
    """Group consecutive pieces into ranges of at most `rows` solutions.

    A larger piece stays alone; one without solutions is left out.
    """
    found: list[list[Piece]] = []
    size = rows
    for piece in pieces:
        if not piece.take:
            continue
        if size + piece.take > rows:
            found.append([])
            size = 0
        found[-1].append(piece)
        size += piece.take
    return found


def ranks_json(first: int, stop: int) -> str:
    """Return the value of the column `children` for solutions that were listed into files."""
    return canonical_json({"ranks": [first, stop]})


def ranks_of(row: Mapping[str, Any]) -> tuple[int, int] | None:
    """Parse which solutions of a PARTS row are in files; None if they are not in files."""
    if row["status"] != Status.SOLVED or not row["children"]:
        return None
    first, stop = json.loads(row["children"])["ranks"]
    return first, stop


def merged_ranks(rows: Sequence[Mapping[str, Any]]) -> Outcome[Any] | None:
    """Merge PARTS rows of one job whose solutions are all in files; None for other rows."""
    if any(ranks_of(row) is None for row in rows):
        return None
    count = sum(int(row["count"]) for row in rows)
    value = min((row["value"] for row in rows if row["value"] is not None), default=None)
    return Outcome(status=Status.SOLVED, count=count, value=value, statistics=statistics_of(rows))


def statistics_of(rows: Iterable[Mapping[str, Any]]) -> Statistics:
    """Add up the costs of PARTS rows."""
    costs = (Statistics(**{name: row[name] for name in COST_COLUMNS}) for row in rows)
    return sum(costs, Statistics())


def settle_files(lake: Lake, run: Run, answers: Iterable[pa.Table]) -> int:
    """Check that each listed job has all its files, and delete all other files of the run.

    `answers` are the result rows of the run: a solved one without solutions of its own has them in
    files. Other files were left by a worker that was killed, or by a job that ended otherwise.
    Returns the number of files. Raises DamagedResultError for a chunk that lacks files: it has to
    be solved again.
    """
    left = list_files(lake, files_folder(run.run_id))
    by_job: dict[str, list[SolutionFile]] = defaultdict(list)
    for file in left:
        by_job[file.job_id].append(file)
    kept: set[SolutionFile] = set()
    for table in answers:
        is_solved = pc.equal(table.column("status"), str(Status.SOLVED))
        is_listed = pc.and_(is_solved, pc.is_null(table.column("solutions")))
        for row in table.select(["job_id", "count"]).filter(is_listed).to_pylist():
            chosen = in_a_row(by_job[row["job_id"]], int(row["count"]))
            if chosen is None:
                raise _lacking(lake, run, row["job_id"], by_job[row["job_id"]])
            kept.update(chosen)
    _drop(lake, set(left) - kept)
    return len(kept)


def drop_files(lake: Lake, run: Run) -> None:
    """Delete the solution files of a cancelled run, and first the chunk results that name them.

    A run that is resumed lists them again.
    """
    if run.question.ask.kind == "all":
        for part in ("parts", "started"):
            for path in lake.list(f"{folder(run.run_id)}/{part}"):
                lake.delete(path, durable=False)
        _drop(lake, list_files(lake, files_folder(run.run_id)))


def _lacking(lake: Lake, run: Run, job_id: str, there: Sequence[SolutionFile]) -> Exception:
    """Return the error that names a chunk of a job whose solution files are missing."""
    for ref in run.chunks():
        for row in read_result(lake, ref, ("job_id", "status", "children")).to_pylist():
            ranks = ranks_of(row) if row["job_id"] == job_id else None
            if ranks is not None and in_a_row(there, ranks[1], ranks[0]) is None:
                return DamagedResultError(ref, f"{ref.name} lacks solution files of job {job_id}")
    return PermanentError(f"run {run.run_id}: no chunk has listed the solutions of job {job_id}")


def _drop(lake: Lake, files: Iterable[SolutionFile]) -> None:
    for file in files:
        lake.delete(file.path, durable=False)

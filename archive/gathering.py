"""Collect the answers of a run from the parts that its chunks have written.

Whole jobs are answered by one row of one part, which may be taken as soon as the part is there;
what came back split, carried or in parts waits until the run is at its end.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from archive.ahead import ahead
from archive.buckets import Buckets
from archive.lake import Lake
from archive.runfiles import ChunkRef, Place, Run, done_places, read_expanded, segment_path
from archive.stages import CARRIED
from archive.tables import PARTS, RESULTS
from solvers.errors import PermanentError

SPLIT = "split"
"""Status of a part that came back divided; its children carry the outcome."""
_CONSTANT = ("game", "ask", "rules", "lexicon_id", "solver_version", "run_id")
"""Columns of results that are the same in every row of a run."""
ANSWER = pa.schema(
    [*(field for field in RESULTS if field.name not in _CONSTANT), PARTS.field("solutions")]
)
"""What a run finds out about a job: its result, and its solutions as a JSON list or null."""
_FROM_PART = [name for name in ANSWER.names if name in PARTS.names]
_MANIFEST = ("job_id", "puzzle_id")
_UNFINISHED = pa.array([SPLIT, CARRIED], pa.string())


class Gathering(contextlib.AbstractContextManager["Gathering"]):
    """Answers of the jobs of a run, sorted on the disk, in `folder` or in one for temporary files.

    Memory is that of some ten thousand rows, whatever the length of the run. What an earlier
    process has left in the folder is deleted, and the folder itself at the end.
    """

    def __init__(self, lake: Lake, run: Run, folder: Path | None = None) -> None:
        self._lake, self._run_id = lake, run.run_id
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix="nightgrid-finish-"))
        else:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        self._folder = folder
        # The same for every driver of the run: the row groups of its results follow from it.
        rows = run.puzzle_count or run.job_count
        self.answers = Buckets(self._folder, ANSWER, rows)
        self.places: set[Place] = set()
        """Chunks whose rows are in."""
        self._answered = np.zeros(0, np.uint8)

    def __exit__(self, *_: object) -> None:
        self.answers.__exit__()
        shutil.rmtree(self._folder, ignore_errors=True)

    def take(self, ref: ChunkRef) -> None:
        """Take in the part of a chunk that is done, if every row of it is the answer of a job."""
        if ref.place in self.places:
            return
        rows = self._lake.read_row_group(ref.manifest_path, ref.chunk, _MANIFEST)
        part = _read_part(self._lake, ref, rows)
        is_part = pc.any(pc.not_equal(part.column("part_path"), ""))
        goes_on = pc.any(pc.is_in(part.column("status"), value_set=_UNFINISHED))
        if not is_part.as_py() and not goes_on.as_py():
            self._add(ref, part)

    def finish(self, run: Run) -> dict[int, list[dict[str, Any]]]:
        """Take in what is left; return the rows of the jobs that were divided, by job number.

        Raises PermanentError for jobs without an outcome, and for those with two.
        """
        divided: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for ref, leaves in ahead(_leaves(self._lake, run, self.places)):
            is_whole = pc.equal(leaves.column("part_path"), "")
            for row in leaves.filter(pc.invert(is_whole)).to_pylist():
                divided[row["job_no"]].append(row)
            self._add(ref, leaves.filter(is_whole))
        self._count(np.fromiter(divided, np.int64, len(divided)))
        self._check(run)
        return divided

    def _add(self, ref: ChunkRef, part: pa.Table) -> None:
        columns = {name: part.column(name) for name in (*_FROM_PART, "puzzle_id")}
        columns["parts"] = pa.repeat(pa.scalar(1, pa.int32()), len(part))
        self.answers.add(pa.table({name: columns[name] for name in ANSWER.names}, schema=ANSWER))
        # No worker puts a job twice into a part: its rows are those of the chunk.
        self._count(part.column("job_no").to_numpy())
        self.places.add(ref.place)

    def _count(self, numbers: npt.NDArray[np.int64]) -> None:
        if not len(numbers):
            return
        if numbers.min() < 0:
            raise PermanentError(f"run {self._run_id}: a job is numbered {numbers.min()}")
        missing = int(numbers.max()) + 1 - len(self._answered)
        if missing > 0:
            more = np.zeros(max(missing, len(self._answered)), np.uint8)
            self._answered = np.concatenate([self._answered, more])
        self._answered[numbers] += 1

    def _check(self, run: Run) -> None:
        if (self._answered > 1).any():
            raise PermanentError(f"run {run.run_id}: a job has two outcomes; expected one")
        if self._answered[run.job_count :].any():
            raise PermanentError(f"run {run.run_id}: a job is numbered beyond {run.job_count} jobs")
        missing = run.job_count - int(self._answered.sum())
        if missing:
            raise PermanentError(
                f"run {run.run_id}: {missing} jobs have no outcome; expected one for each"
            )


def is_right(lake: Lake, run: Run, gathered: Collection[Place]) -> bool:
    """Tell whether what was gathered of a run while it was worked is right at its end.

    It is not where a slower worker has put a part with other rows split over one that was taken
    in, which can happen on S3, or where a chunk was broken up.
    """
    still = {ref.place for ref in run.chunks()} - read_expanded(lake, run).keys()
    return still.issuperset(gathered)


def _leaves(lake: Lake, run: Run, taken: Collection[Place]) -> Iterator[tuple[ChunkRef, pa.Table]]:
    """Read the outcomes that count, with their puzzle_id, chunk by chunk.

    Chunks that were broken up do not count, nor rows that went on.
    """
    done = done_places(lake, run.run_id)
    refs = {ref.place: ref for ref in run.chunks()}
    missing = [ref.name for ref in refs.values() if ref.place not in done]
    if missing:
        raise PermanentError(
            f"run {run.run_id}: {len(missing)} chunks are not done, the first is {missing[0]}"
        )
    expanded = read_expanded(lake, run)
    left = refs.keys() - set(taken)
    for segment in run.segments:
        if not any((segment.number, i) in left for i in range(len(segment.chunk_rows))):
            continue
        path = segment_path(run.run_id, segment.number)
        for i, rows in enumerate(lake.iter_row_groups(path, _MANIFEST)):
            if (segment.number, i) not in left:
                continue
            ref = refs[segment.number, i]
            part = _read_part(lake, ref, rows)
            if ref.place in expanded:
                went_on = pa.array(sorted(expanded[ref.place]), pa.int64())
                part = part.filter(pc.invert(pc.is_in(part.column("job_no"), value_set=went_on)))
            if pc.any(pc.equal(part.column("status"), SPLIT)).as_py():
                raise PermanentError(
                    f"run {run.run_id}: a part came back split and nothing went on"
                )
            yield ref, part


def _read_part(lake: Lake, ref: ChunkRef, rows: pa.Table) -> pa.Table:
    """Read a part, and which boards its rows are about: those of its chunk, in its order."""
    part = lake.read_table(ref.part_path, PARTS)
    if not part.column("job_id").equals(rows.column("job_id")):
        raise PermanentError(f"run {ref.run_id}: {ref.name} answers other jobs than it was asked")
    return part.append_column("puzzle_id", rows.column("puzzle_id"))

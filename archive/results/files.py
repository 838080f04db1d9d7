"""The files of results and solutions: which may hold a job, and how they are merged."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.encoding import TableFile
from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import ASKED, RESULTS, SOLUTIONS
from nightgrid.archive.merging.files import (
    MergedFolder,
    digest_in,
    digest_of,
    may_hold,
    merged_path,
    read_each,
    sizes_of,
)
from nightgrid.archive.merging.lookup import rows_of_keys
from nightgrid.archive.merging.merge import (
    Merged,
    groups_with,
    key_ranges,
    merge_folder,
    without_repeats,
)

RESULTS_FOLDER = "results"
SOLUTIONS_FOLDER = "solutions"
ASKED_FOLDER = "asked"
ONDEMAND_PREFIX = "ondemand-"
"""Begins the run ids of answers to submitted jobs, and the names of their files; the job's id
follows, and of an ending that is no answer a dash and what tells it from others."""
_OF_JOB = re.compile(rf"{ONDEMAND_PREFIX}([0-9a-z]+)(-|$)")
SOLUTION_FILE_BYTES = 4 * 2**20
"""Larger files of solutions stay as their run named them, and are found by that name."""


def _job_in(stem: str) -> str | None:
    match = _OF_JOB.match(stem)
    return match[1] if match else None


RESULT_FILES = MergedFolder(
    path=RESULTS_FOLDER,
    schema=RESULTS,
    key="job_id",
    order=("job_id", "run_id"),
    same=("job_id", "run_id", "status"),
    names_key=_job_in,
)
SOLUTION_FILES = MergedFolder(
    path=SOLUTIONS_FOLDER,
    schema=SOLUTIONS,
    key="job_id",
    order=("job_id", "run_id", "rank"),
    same=("job_id", "run_id", "rank"),
    alone_bytes=SOLUTION_FILE_BYTES,
    names_key=_job_in,
)
ASKED_FILES = MergedFolder(
    path=ASKED_FOLDER,
    schema=ASKED,
    key="puzzle_id",
    order=("puzzle_id",),
    same=("puzzle_id",),
    names_key=_job_in,
)


def result_path(run_id: str) -> str:
    """Name the file that a run's results are written to; merging may take it away."""
    return f"{RESULTS_FOLDER}/{run_id}.parquet"


def solution_path(run_id: str) -> str:
    """Name the file that a run's solutions are written to; merging may take it away."""
    return f"{SOLUTIONS_FOLDER}/{run_id}.parquet"


def put_rows(lake: Lake, path: str, table: pa.Table) -> None:
    """Write a file of these folders once; the same answer again changes nothing.

    A file that is there and damaged is replaced: nothing is merged of it.
    """
    if lake.create_table(path, table):
        return
    try:
        lake.row_groups(path)
    except DamagedFileError:
        lake.write_table(path, table)
    except MissingFileError:
        return  # merged meanwhile


def merge_answers(lake: Lake) -> Merged:
    """Merge the small files of results and solutions, where it is worth it."""
    done = [merge_folder(lake, folder) for folder in (SOLUTION_FILES, RESULT_FILES, ASKED_FILES)]
    return Merged(
        inputs=sum(merged.inputs for merged in done),
        files=sum(merged.files for merged in done),
        damaged=tuple(path for merged in done for path in merged.damaged),
    )


def put_rows_of_many(lake: Lake, folder: MergedFolder, table: pa.Table) -> None:
    """Write rows of several keys as one file, as a merge of their files would be.

    One file takes two writes to the disk, however many answers it has.
    """
    table = table.sort_by([(name, "ascending") for name in folder.order])
    keys = table.column(folder.key).to_pylist()
    names = [f"{folder.path}/{ONDEMAND_PREFIX}{key}.parquet" for key in dict.fromkeys(keys)]
    put_rows(lake, merged_path(folder, keys[0], keys[-1], digest_of(names)), table)


def rows_of_jobs(
    lake: Lake, folder: MergedFolder, job_ids: Collection[str], run_ids: Collection[str] = ()
) -> Iterator[pa.Table]:
    """Read the rows of jobs, perhaps some of them twice.

    With `run_ids`, files that runs have named otherwise are left out.
    """
    ids = sorted(set(job_ids))

    def is_wanted(path: str) -> bool:
        if run_ids and digest_in(folder, path) is None:
            return folder.stem(path).startswith(tuple(run_ids))
        return may_hold(folder, path, ids)

    yield from rows_of_keys(lake, folder, ids, is_wanted)


def rows_where(
    lake: Lake,
    folder: MergedFolder,
    condition: pc.Expression,
    columns: Sequence[str],
    named: Sequence[str],
    groups: Callable[[TableFile], list[int]] | None = None,
) -> Iterator[pa.Table]:
    """Read columns of the rows that match, perhaps some of them twice.

    `named` are the columns that the condition names; `groups` chooses row groups.
    """
    names = list(dict.fromkeys((*columns, *named)))

    def rows(path: str) -> Iterator[pa.Table]:
        for table in lake.scan_file(path, folder.schema, names, groups):
            yield table.filter(condition).select(list(columns))

    yield from read_each(lake, folder, rows)


def stream_where(
    lake: Lake, folder: MergedFolder, condition: pc.Expression, batch_rows: int
) -> Iterator[pa.RecordBatch]:
    """Read the rows that match, each once, by a batch of rows at a time.

    Ranges of keys are read one after the other, so that few rows are held.
    """
    key = pc.field(folder.key)
    for first, stop in key_ranges(sum(sizes_of(lake, folder).values())):
        here = condition & (key >= first) if first else condition
        here = here if stop is None else here & (key < stop)

        def groups(file: TableFile, first: str = first, stop: str | None = stop) -> list[int]:
            return groups_with(
                file,
                folder.key,
                lambda low, high: high >= first and (stop is None or low < stop),
            )

        tables = rows_where(lake, folder, here, folder.schema.names, (), groups)
        found = without_repeats(folder, pa.concat_tables([folder.schema.empty_table(), *tables]))
        yield from found.to_batches(max_chunksize=batch_rows)

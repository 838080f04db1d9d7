"""The files of results and solutions: which may contain a job, and how they are merged."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.conforming import select
from nightgrid.archive.lake.encoding import TableFile
from nightgrid.archive.lake.schemas import RESULTS, SOLUTIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.files import (
    MergedFolder,
    groups_with,
    read_each,
    sizes_of,
)
from nightgrid.archive.merging.merge import merge_folder, without_repeats
from nightgrid.archive.words.dictionaries import DICTIONARY_FILES

RESULTS_FOLDER = "results"
SOLUTIONS_FOLDER = "solutions"
ONDEMAND_PREFIX = "ondemand-"
"""Prefix of the run ids of answers to submitted jobs, followed by the job's id and, for an end
without an answer, a dash and a distinguishing suffix."""
RANGE_BYTES = 8 * 2**20
"""Bytes of files whose rows are held in memory at once while all rows are read in order."""
_LAST_KEY = chr(sys.maxunicode)


RESULT_FILES = MergedFolder(
    path=RESULTS_FOLDER,
    schema=RESULTS,
    key="job_id",
    order=("job_id", "run_id"),
    same=("job_id", "run_id", "status"),
)
SOLUTION_FILES = MergedFolder(
    path=SOLUTIONS_FOLDER,
    schema=SOLUTIONS,
    key="job_id",
    order=("job_id", "run_id", "rank"),
    same=("job_id", "run_id", "rank"),
)


def result_path(run_id: str) -> str:
    """Return the file that a run's results are written to; merging may remove it."""
    return f"{RESULTS_FOLDER}/{run_id}.parquet"


def merge_answers(lake: Lake) -> tuple[str, ...]:
    """Merge the small files of answers and of dictionaries; return damaged ones."""
    folders = SOLUTION_FILES, RESULT_FILES, DICTIONARY_FILES
    return tuple(path for folder in folders for path in merge_folder(lake, folder))


def rows_where(
    lake: Lake,
    folder: MergedFolder,
    condition: pc.Expression,
    columns: Sequence[str],
    named: Sequence[str] = (),
    groups: Callable[[TableFile], list[int]] | None = None,
) -> Iterator[pa.Table]:
    """Read columns of the matching rows, possibly some of them twice.

    `named` are the columns of the condition; `groups` selects row groups.
    """
    names = list(dict.fromkeys((*columns, *named)))

    def rows(path: str) -> Iterator[pa.Table]:
        for table in lake.scan_file(path, folder.schema, names, groups):
            yield table.filter(condition).select(list(columns))

    yield from read_each(lake, folder, rows)


def ranges_where(
    lake: Lake,
    folder: MergedFolder,
    condition: pc.Expression | None = None,
    columns: Sequence[str] | None = None,
) -> Iterator[pa.Table]:
    """Read the matching rows, each once, one key range after the other to bound memory.

    They have `columns`, which the condition names, and the columns that identify rows.
    """
    key = pc.field(folder.key)
    names = list(dict.fromkeys((*(columns or folder.schema.names), *folder.order, *folder.same)))
    none = select(folder.schema, names).empty_table()
    for first, stop in _key_ranges(sum(sizes_of(lake, folder).values())):
        here = (key >= first) & (key < stop)

        def overlaps(low: str, high: str, first: str = first, stop: str = stop) -> bool:
            return high >= first and low < stop

        groups = partial(groups_with, key=folder.key, overlaps=overlaps)
        here = here if condition is None else here & condition
        tables = rows_where(lake, folder, here, names, groups=groups)
        yield without_repeats(folder, pa.concat_tables([none, *tables]))


def _key_ranges(total_bytes: int) -> list[tuple[str, str]]:
    """Divide all keys into ranges of about RANGE_BYTES each, given the total size of the files."""
    count = max(1, -(-total_bytes // RANGE_BYTES))
    firsts = [f"{(i * 16**8) // count:08x}" for i in range(1, count)]
    return list(zip(["", *firsts], [*firsts, _LAST_KEY], strict=True))

"""The results of a run that has ended: where they stand, and how they are made again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.storage import ROW_GROUP_ROWS, Lake
from nightgrid.archive.results.files import RESULT_FILES, result_path, stream_where
from nightgrid.workers.runs.chunk_results import DamagedResultError
from nightgrid.workers.runs.finish import finish_run
from nightgrid.workers.runs.manifest import done_path, read_done


def results_of_run(lake: Lake, run_id: str, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Read columns of a run's results, each row once, wherever they stand."""
    path = result_path(run_id)
    try:
        yield from lake.iter_row_groups(path, columns)
    except MissingFileError:
        # They were merged with those of other runs.
        is_one = pc.field("run_id") == run_id
        for batch in stream_where(lake, RESULT_FILES, is_one, ROW_GROUP_ROWS):
            yield pa.Table.from_batches([batch]).select(list(columns))


def see_to_results(lake: Lake, run_id: str) -> dict[str, Any] | None:
    """Read how a run ended; make its results again from its chunk results if some are lost.

    None: it has not ended, or so much is lost that it has to be worked again.
    """
    done = read_done(lake, run_id)
    if done is None or not done["results"] or _are_there(lake, run_id, done["result_count"]):
        return done
    return write_again(lake, run_id)


def write_again(lake: Lake, run_id: str) -> dict[str, Any] | None:
    """Write the results of a run that has ended once more.

    None: chunk results are gone, and the run has not ended any more.
    """
    try:
        return finish_run(lake, run_id, again=True)
    except DamagedResultError:
        lake.delete(done_path(run_id))
        return None


def _are_there(lake: Lake, run_id: str, wanted: int) -> bool:
    try:
        return sum(map(len, results_of_run(lake, run_id, ["job_id"]))) >= wanted
    except DamagedFileError:
        return False

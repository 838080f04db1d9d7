"""Drop corpora of whose boards the lake has no result."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.corpus.plans import CORPORA
from nightgrid.archive.lake.json_files import read_hint
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import CORPUS_ROWS
from nightgrid.archive.results.files import RESULT_FILES
from nightgrid.archive.skipped_files import skip_file
from nightgrid.flows.maintenance.retention.ages import unix_ns
from nightgrid.flows.maintenance.retention.reading import UnreadableError, scan_all
from nightgrid.workers.runs.manifest import read_about
from nightgrid.workers.runs.run_files import asked_path, plan_path
from nightgrid.workers.upkeep import ends_of_runs


def corpora_to_drop(lake: Lake, game: str, before: dt.datetime) -> list[str]:
    """Name the folders of a game's corpora that are older than `before`, and of whose boards the
    lake has no result. None while a run of the game goes on, or is cancelled and may be resumed:
    it may read one, and none while a file of results cannot be read, which is named.

    A corpus that was never made to its end or never counted, or that was dropped in part, is one
    of them: the same count makes it again.
    """
    limit_ns = unix_ns(before)
    old = []
    for folder in lake.folders(CORPORA):
        about = read_hint(lake, f"{folder}/plan.json", dict)
        made = [changed for _, changed in lake.stamps(folder, deep=True).values()]
        if (
            about is not None
            and about.get("game") == game
            and max(made, default=limit_ns) < limit_ns
        ):
            old.append(folder)
    # Results are read last: a run that ends meanwhile has written them.
    if not old or is_worked(lake, game):
        return []
    try:
        ids = _answered_puzzles(lake, game)
    except UnreadableError as error:
        skip_file(error.path, error)
        return []
    return [folder for folder in old if not _has_one_of(lake, folder, ids)]


def _answered_puzzles(lake: Lake, game: str) -> pa.Array:
    found = [pa.array([], pa.string())]
    for table in scan_all(lake, RESULT_FILES, ["puzzle_id", "game"]):
        mine = pc.equal(table.column("game"), game)
        found.append(pc.unique(table.column("puzzle_id").filter(mine)))
    return pc.unique(pa.concat_arrays(found))


def _has_one_of(lake: Lake, folder: str, ids: pa.Array) -> bool:
    rows = lake.scan(f"{folder}/rows", CORPUS_ROWS, ["puzzle_id"])
    return any(
        pc.any(pc.is_in(table.column("puzzle_id").drop_null(), value_set=ids)).as_py()
        for table in rows
    )


def is_worked(lake: Lake, game: str) -> bool:
    """Tell whether a run of a game goes on, or is cancelled and may be resumed."""
    there, ends = ends_of_runs(lake)
    for run_id in there.difference(ends):
        about = read_about(lake, plan_path(run_id)) or read_about(lake, asked_path(run_id))
        if about is not None and about["game"] == game and about.get("job_count", 1):
            return True
    return False


def drop_corpus(lake: Lake, folder: str) -> int:
    """Delete a corpus: it counts as not complete first, and what it is goes last.

    Returns the bytes of its files.
    """
    freed = sum(lake.sizes(folder).values())
    lake.delete(f"{folder}/corpus.json")
    lake.delete_folder(folder, last=f"{folder}/plan.json")
    return freed

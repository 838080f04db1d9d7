"""Drop corpora of which no result is left."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.json_files import read_hint
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import CORPUS_ROWS
from nightgrid.archive.lookup.boards import CORPORA
from nightgrid.workers.runs.manifest import read_about
from nightgrid.workers.runs.run_files import asked_path, plan_path
from nightgrid.workers.upkeep import ends_of_runs


def corpora_to_drop(lake: Lake, game: str, before: dt.datetime, stays: pa.Table) -> list[str]:
    """Name the folders of a game's corpora that are older than `before`, and of whose boards no
    result stays. None while a run of the game goes on: it may read one.

    A corpus that was never made to its end, or that was dropped in part, is one of them.
    """
    found = []
    limit_ns = int(before.timestamp()) * 10**9
    for folder in lake.folders(CORPORA):
        about = read_hint(lake, f"{folder}/plan.json", dict)
        made = [changed for _, changed in lake.stamps(folder).values()]
        if about is None or about.get("game") != game or max(made, default=limit_ns) >= limit_ns:
            continue
        rows = lake.scan(f"{folder}/rows", CORPUS_ROWS, ["puzzle_id"])
        ids = stays.column("puzzle_id")
        if not any(
            pc.any(pc.is_in(table.column("puzzle_id").drop_null(), value_set=ids)).as_py()
            for table in rows
        ):
            found.append(folder)
    return [] if found and _goes_on(lake, game) else found


def _goes_on(lake: Lake, game: str) -> bool:
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

"""Drop the words of boards that were asked about by themselves, or counted, once no board has them.

A dictionary is of no game and is named by its words, so several boards may refer to one.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterator
from contextlib import suppress

from nightgrid.archive.ingest.puzzles import puzzles_folder
from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.json_files import read_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup.boards import CORPORA
from nightgrid.archive.results.files import ASKED_FILES
from nightgrid.archive.skipped_files import skip_file
from nightgrid.archive.words.dictionaries import KEY, SINGLES, single_path
from nightgrid.flows.maintenance.retention.ages import unix_ns
from nightgrid.flows.maintenance.retention.reading import (
    UnreadableError,
    readable,
    scan_files,
    wanted_records,
)
from nightgrid.solvers.registry import GAMES, game_plug
from nightgrid.workers.runs.manifest import read_about
from nightgrid.workers.runs.run_files import asked_path, plan_path
from nightgrid.workers.upkeep import ends_of_runs


def drop_dictionaries(
    lake: Lake, before: dt.datetime, check: Callable[[], None]
) -> tuple[int, int]:
    """Drop dictionaries that no board refers to; count them and their bytes.

    One stays while a job that is wanted, a run whose folder is there, a puzzle of a question, a
    corpus or a board of nights refers to it, and while its file is younger than `before`: a board
    that is asked about again writes it anew. Nothing is dropped while one of the files that may
    refer to it cannot be read; that file is named.
    """
    limit_ns = unix_ns(before)
    old = {path for path, (_, written_ns) in lake.stamps(SINGLES).items() if written_ns < limit_ns}
    if not old:
        return 0, 0
    try:
        needed = {single_path(name) for name in _needed(lake)}
    except UnreadableError as error:
        skip_file(error.path, error)
        return 0, 0
    count = freed = 0
    for path in sorted(old - needed):
        check()
        stamp = lake.stamp(path)
        if stamp is None or stamp[1] >= limit_ns:
            continue  # A board that has these words was asked about meanwhile.
        lake.delete(path, durable=False)
        count, freed = count + 1, freed + stamp[0]
    return count, freed


def _needed(lake: Lake) -> Iterator[str]:
    """Name the dictionaries that boards refer to. Raises UnreadableError."""
    # In this order: what is worked has a record or a run until its board is kept elsewhere.
    for record in wanted_records(lake):
        yield str(record.puzzle.get(KEY, ""))
    runs, _ = ends_of_runs(lake)
    for run_id in sorted(runs):
        about = None
        with suppress(MissingFileError), readable(plan_path(run_id)):
            about = read_about(lake, plan_path(run_id)) or read_about(lake, asked_path(run_id))
        if about is not None:
            yield from _named_in(lake, f"runs/run={run_id}/manifest", about["game"])
    for path, table in scan_files(lake, ASKED_FILES, ["puzzle"]):
        for text in table.column("puzzle").to_pylist():
            with readable(path):
                name = _named_by(text)
            yield name
    for folder in lake.folders(CORPORA):
        with readable(f"{folder}/plan.json"):
            game = _planned_game(lake, f"{folder}/plan.json")
        if game is not None:
            yield from _named_in(lake, f"{folder}/puzzles", game)
    for game in GAMES:
        yield from _named_in(lake, puzzles_folder(game), game)


def _named_by(text: str) -> str:
    """Name the dictionary of a puzzle; "": it has none. Raises DamagedFileError."""
    try:
        return str(json.loads(text).get(KEY, ""))
    except (ValueError, AttributeError, RecursionError) as error:
        raise DamagedFileError(f"the text of a puzzle is no JSON object: {text!r:.60}") from error


def _planned_game(lake: Lake, path: str) -> str | None:
    """Name the game of a corpus; None: the corpus is gone. Raises DamagedFileError."""
    plan = read_json(lake, path)
    if plan is None:
        return None
    if not isinstance(plan.get("game"), str):
        raise DamagedFileError(f"{path} does not say of which game its corpus is")
    return str(plan["game"])


def _named_in(lake: Lake, folder: str, game: str) -> Iterator[str]:
    """Name the dictionaries of the boards in the files of a folder."""
    if game not in GAMES or not game_plug(game).own_words:
        return
    for path in lake.list(folder):
        # What is gone meanwhile was dropped, or merged into a file that its readers see.
        with suppress(MissingFileError), readable(path):
            if path.endswith(".parquet"):
                for table in lake.iter_row_groups(path, [KEY]):
                    yield from table.column(KEY).to_pylist()

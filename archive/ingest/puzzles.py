"""The puzzles table: every board once, in files that are created, merged and never changed.

Two processes that add boards at once, on any hosts, add two files; a board that both add is in two
files until they are merged, and readers take it once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.games import archive_plug
from nightgrid.archive.lake.conforming import conform, select
from nightgrid.archive.lake.faults import DamagedFileError, set_aside
from nightgrid.archive.lake.schemas import CLUE
from nightgrid.archive.lake.storage import ROW_GROUP_ROWS, Lake
from nightgrid.archive.merging.files import MergedFolder, listings
from nightgrid.archive.merging.merge import merge_folder, put_merged
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.question import clued_subject

SEGMENT_ROWS = 131_072
"""Most rows that are written as one file."""
PUZZLE_ID = "puzzle_id"


def puzzles_folder(game: str) -> str:
    """Return the folder of a game's puzzles table."""
    return f"puzzles/{game}"


def puzzle_files(game: str) -> MergedFolder:
    """Describe the merged folder of a game's puzzles table."""
    return MergedFolder(
        path=puzzles_folder(game),
        schema=archive_plug(game).puzzles(),
        key=PUZZLE_ID,
        order=(PUZZLE_ID,),
        same=(PUZZLE_ID,),
        group_rows=ROW_GROUP_ROWS,
    )


def puzzles_table(game: Game[Any, Any], puzzles: Sequence[Any]) -> pa.Table:
    """Return puzzles of a game as rows of its puzzles table, in the order given.

    Includes their clues if the game as bound depends on them.
    """
    schema = archive_plug(game.name).puzzles()
    arrays = game.to_arrays(puzzles)
    if CLUE.name in arrays:
        schema = schema.append(CLUE)
    columns: list[pa.Array] = []
    for field in schema:
        if field.name == "puzzle_id":
            columns.append(pa.array([game.puzzle_id(puzzle) for puzzle in puzzles], pa.string()))
        elif field.name == "game":
            columns.append(pa.array([game.name] * len(puzzles), pa.string()))
        elif pa.types.is_list(field.type):
            offsets = pa.array(arrays[f"{field.name}.offsets"], pa.int32())
            values = pa.array(arrays[f"{field.name}.values"], field.type.value_type)
            columns.append(pa.ListArray.from_arrays(offsets, values, type=field.type))
        else:
            columns.append(pa.array(arrays[field.name], field.type))
    return pa.table(columns, schema=schema)


def subjects_of(puzzles: pa.Table) -> pa.ChunkedArray:
    """Return the subjects of puzzles, as `Game.subject`: boards, with their clues if any."""
    ids = puzzles.column(PUZZLE_ID)
    if CLUE.name not in puzzles.column_names:
        return ids
    named = zip(ids.to_pylist(), puzzles.column(CLUE.name).to_pylist(), strict=True)
    return pa.chunked_array([[clued_subject(*each) for each in named]], pa.string())


def read_puzzle_table(lake: Lake, game: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read every board of a game in the lake, each once."""
    names = list(columns or archive_plug(game).puzzles().names)
    wanted = list(dict.fromkeys([*names, PUZZLE_ID]))
    return once_each(_read_segments(lake, game, wanted)).select(names)


def read_boards(lake: Lake, game: str, puzzle_ids: pa.Array) -> pa.Table:
    """Read the boards of the lake with these ids, each once."""
    boards = read_puzzle_table(lake, game)
    return boards.filter(pc.is_in(boards.column(PUZZLE_ID), value_set=puzzle_ids))


def _read_segments(
    lake: Lake, game: str, columns: Sequence[str], *, spare: bool = False
) -> pa.Table:
    """Read the segments, in which a board may be twice; `spare` sets damaged ones aside."""
    folder = puzzle_files(game)
    found = [select(folder.schema, columns).empty_table()]
    for path in chain.from_iterable(listings(lake, folder)):
        try:
            # One that is merged meanwhile is empty.
            found.append(lake.read_table(path, folder.schema, columns))
        except DamagedFileError:
            if not spare:
                raise
            set_aside(lake, path)
    return pa.concat_tables(found)


def once_each(puzzles: pa.Table) -> pa.Table:
    """Drop repeated boards; keep the first of each."""
    ids = puzzles.column(PUZZLE_ID).combine_chunks()
    known = ids.unique()
    if len(known) == len(ids):
        return puzzles
    order = pa.array(np.unique(pc.index_in(ids, value_set=known).to_numpy(), return_index=True)[1])
    return puzzles.take(order)


def readable_puzzle_ids(lake: Lake, game: str) -> pa.ChunkedArray:
    """Read the ids of all boards of the lake; set damaged segments aside."""
    return _read_segments(lake, game, [PUZZLE_ID], spare=True).column(PUZZLE_ID)


def add_puzzles(lake: Lake, game: str, table: pa.Table) -> int:
    """Add the boards that the lake lacks; return how many.

    Returns when they are in the lake, whatever other processes add meanwhile.
    """
    folder = puzzle_files(game)
    known = _read_segments(lake, game, [PUZZLE_ID]).column(PUZZLE_ID)
    table = conform(table, folder.schema)
    is_known = pc.is_in(table.column(PUZZLE_ID), value_set=known)
    table = once_each(table.filter(pc.invert(is_known))).sort_by(PUZZLE_ID)
    for start in range(0, len(table), SEGMENT_ROWS):
        put_merged(lake, folder, table.slice(start, SEGMENT_ROWS))
    merge_folder(lake, folder)
    return len(table)


def name_of_puzzles(puzzle_ids: pa.ChunkedArray) -> str:
    """Return the name of a set of puzzles, independent of the order and repetition of their ids."""
    ids = pc.unique(puzzle_ids)
    hashes = hashlib.sha256()
    for name in ids.take(pc.sort_indices(ids)).to_pylist():
        hashes.update(f"{name}\n".encode())
    return f"{len(ids)}-{hashes.hexdigest()}"

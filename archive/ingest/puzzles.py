"""The puzzles table: every board once, in segments that are created and never changed.

A segment is named after the boards in it. Two processes that add boards at once, on any hosts, add
two files; a board that both add stands in two files until they are merged, and readers take it
once. No file is ever written over, so none takes what another has added away.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.games import archive_plug
from nightgrid.archive.ingest.segment_ids import keep_ids, kept_ids
from nightgrid.archive.lake.conforming import conform, select
from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError, set_aside
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import CLUE
from nightgrid.solvers.canonical import digest
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.question import clued_subject

T = TypeVar("T")

SEGMENT_ROWS = 131_072
"""Rows of one file of the puzzles table, at most."""
SMALL_ROWS = 512
"""Segments of fewer rows are merged whenever there are two ..."""
MERGED_SHARE = 4
"""... and a larger one with smaller ones that together have at least one row for so many."""
NAME_DIGITS = 16
"""Hexadecimal digits of the name of a segment."""
PUZZLE_ID = "puzzle_id"


def puzzles_folder(game: str) -> str:
    """Name the folder of a game's puzzles table."""
    return f"puzzles/game={game}"


def puzzles_table(game: Game[Any, Any], puzzles: Sequence[Any]) -> pa.Table:
    """Lay puzzles of a game out as rows of its puzzles table, in the order given.

    They have their clues, too, where the game as it is bound answers by them.
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
    """Name what is asked about, as `Game.subject`: boards, with their clues where there are any."""
    ids = puzzles.column(PUZZLE_ID)
    if CLUE.name not in puzzles.column_names:
        return ids
    named = zip(ids.to_pylist(), puzzles.column(CLUE.name).to_pylist(), strict=True)
    return pa.chunked_array([[clued_subject(*each) for each in named]], pa.string())


def read_puzzle_table(lake: Lake, game: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read every board of a game that the lake has, each once."""
    names = list(columns or archive_plug(game).puzzles().names)
    found = _read_segments(lake, game, list(dict.fromkeys([*names, PUZZLE_ID])))
    return once_each(found).select(names)


def read_puzzles_but(
    lake: Lake, game: str, is_known: Callable[[pa.ChunkedArray], pa.Array]
) -> tuple[pa.Table, int]:
    """Read the boards that are not known, given a column of ids; count those that are.

    Of a segment whose boards are all known, its ids alone are read.
    """
    schema = archive_plug(game).puzzles()
    seen, found = [pa.array([], pa.string())], [schema.empty_table()]
    for path, ids in _each_ids(lake, game):
        known = is_known(ids)
        seen += ids.filter(known).chunks
        if not pc.all(known).as_py():
            # One that was merged meanwhile is empty, and stands in a segment that comes.
            table = lake.read_table(path, schema)
            found.append(table.filter(pc.invert(is_known(table.column(PUZZLE_ID)))))
    return once_each(pa.concat_tables(found)), len(pc.unique(pa.concat_arrays(seen)))


def read_boards(lake: Lake, game: str, puzzle_ids: pa.Array) -> pa.Table:
    """Read the boards that have these ids and that the lake has, each once.

    Of a segment and of a row group without such a board, ids alone are read.
    """
    schema = archive_plug(game).puzzles()
    found = [schema.empty_table()]
    for path, ids in _each_ids(lake, game):
        if pc.any(pc.is_in(ids, value_set=puzzle_ids)).as_py():
            # One that was merged meanwhile is empty, and stands in a segment that comes.
            found.append(lake.rows_among(path, schema, schema.names, PUZZLE_ID, puzzle_ids))
    return once_each(pa.concat_tables(found))


def _read_segments(lake: Lake, game: str, columns: Sequence[str]) -> pa.Table:
    """Read columns of all segments; a board may stand in it twice."""
    schema = archive_plug(game).puzzles()
    read = partial(lake.read_table, schema=schema, columns=columns)
    found = [rows for _, rows in _each_segment(lake, game, read)]
    return pa.concat_tables([select(schema, columns).empty_table(), *found])


def _each_segment(
    lake: Lake, game: str, read: Callable[[str], T], *, spare: bool = False
) -> Iterator[tuple[str, T]]:
    """Read each segment in the way that is given; one that is merged meanwhile is empty.

    A segment that is gone when it is to be read was merged into one that is there: the folder is
    listed until there is nothing new. With `spare`, damaged segments are set aside.
    """
    seen: set[str] = set()
    while new := [path for path in _segments(lake, game) if path not in seen]:
        seen.update(new)
        for path in new:
            try:
                yield path, read(path)
            except DamagedFileError:
                if not spare:
                    raise
                set_aside(lake, path)


def _each_ids(lake: Lake, game: str) -> Iterator[tuple[str, pa.ChunkedArray]]:
    """Tell the ids of each segment; those that were read or written a moment ago are not read."""
    schema = archive_plug(game).puzzles()

    def ids_of(path: str) -> pa.ChunkedArray:
        known = kept_ids(lake, path)
        return _read_ids(lake, schema, path) if known is None else known

    return _each_segment(lake, game, ids_of)


def _read_ids(lake: Lake, schema: pa.Schema, path: str) -> pa.ChunkedArray:
    ids = lake.read_table(path, schema, [PUZZLE_ID]).column(PUZZLE_ID)
    keep_ids(lake, path, ids)
    return ids


def once_each(puzzles: pa.Table) -> pa.Table:
    """Leave out boards that stood in the table before."""
    ids = puzzles.column(PUZZLE_ID).combine_chunks()
    known = ids.unique()
    if len(known) == len(ids):
        return puzzles
    order = pa.array(np.unique(pc.index_in(ids, value_set=known).to_numpy(), return_index=True)[1])
    return puzzles.take(order)


def read_puzzle_ids(lake: Lake, game: str, paths: Sequence[str]) -> pa.ChunkedArray:
    """Read the ids of the puzzles in files or folders: about 40 bytes of memory each."""
    schema = archive_plug(game).puzzles()
    names = [lake.read_table(path, schema, [PUZZLE_ID]).column(PUZZLE_ID) for path in paths]
    return pa.chunked_array([chunk for name in names for chunk in name.chunks], pa.string())


def readable_puzzle_ids(lake: Lake, game: str) -> pa.ChunkedArray:
    """Read the ids of all boards that the lake has; segments that are damaged are set aside."""
    read = partial(_read_ids, lake, archive_plug(game).puzzles())
    found = [ids for _, ids in _each_segment(lake, game, read, spare=True)]
    return pa.chunked_array([chunk for ids in found for chunk in ids.chunks], pa.string())


def add_puzzles(lake: Lake, game: str, table: pa.Table, *, segment_rows: int = SEGMENT_ROWS) -> int:
    """Add the boards that the lake does not have yet; return how many those are.

    They are taken in the order of their puzzle_id, so that an interrupted call that is made again
    leaves the same files as one that went through. Returns when they are in the lake, whatever
    other processes add meanwhile.
    """
    schema = archive_plug(game).puzzles()
    ids = dict(_each_ids(lake, game))
    known = pa.chunked_array([c for column in ids.values() for c in column.chunks], pa.string())
    table = conform(table, schema)
    table = table.filter(pc.invert(pc.is_in(table.column(PUZZLE_ID), value_set=known)))
    table = once_each(table).sort_by(PUZZLE_ID)
    for start in range(0, len(table), segment_rows):
        rows = table.slice(start, segment_rows)
        path = _segment_path(game, rows)
        ids[path] = rows.column(PUZZLE_ID)
        # Another process may have added the very same boards: then its file stands.
        if lake.create_table(path, rows):
            keep_ids(lake, path, ids[path])
    _merge_small(lake, game, ids, segment_rows)
    return len(table)


def _merge_small(
    lake: Lake, game: str, ids: Mapping[str, pa.ChunkedArray], segment_rows: int
) -> None:
    """Let small segments become one, as long as that is no larger than a segment may be.

    `ids` has the boards of each segment. The larger file has all their boards before they are
    deleted, and is named by its boards: two processes that do so at once leave boards in two
    files, and in none never.
    """
    schema = archive_plug(game).puzzles()
    sizes = {path: len(column) for path, column in ids.items()}
    try:
        for path in _repeated(ids, segment_rows):
            lake.delete(path, durable=False)
            del sizes[path]
        small = _worth_merging(sizes, segment_rows)
        if not small:
            return
        rows = once_each(pa.concat_tables([lake.read_file(path, schema) for path in small]))
        rows = rows.sort_by(PUZZLE_ID)
        merged = _segment_path(game, rows)
        if lake.create_table(merged, rows):
            keep_ids(lake, merged, rows.column(PUZZLE_ID))
        else:
            there = lake.read_table(merged, schema, [PUZZLE_ID])
            if not there.column(PUZZLE_ID).equals(rows.column(PUZZLE_ID)):
                return
    except MissingFileError:
        return  # another process has merged them
    for path in small:
        if path != merged:
            lake.delete(path, durable=False)


def _worth_merging(sizes: Mapping[str, int], segment_rows: int) -> list[str]:
    """Choose segments to merge: all that are small, and a larger one for every quarter more.

    So there are few segments, however many nights have added a board, and a board is written
    again a few times in all.
    """
    chosen: list[str] = []
    held: list[str] = []
    held_rows = 0
    for path in sorted(sizes, key=lambda path: (sizes[path], path)):
        rows = sizes[path]
        if held_rows + rows > segment_rows:
            break
        is_worth_it = bool(held) and (rows < SMALL_ROWS or held_rows * MERGED_SHARE >= rows)
        held.append(path)
        held_rows += rows
        if is_worth_it:
            chosen = list(held)
    return chosen


def _repeated(ids: Mapping[str, pa.ChunkedArray], segment_rows: int) -> Iterator[str]:
    """Name the small segments whose boards all stand in a larger one: a merge was killed."""
    ranked = sorted(ids, key=lambda path: (len(ids[path]), path))
    for i, path in enumerate(ranked):
        if len(ids[path]) < segment_rows and any(
            pc.all(pc.is_in(ids[path], value_set=ids[name])).as_py() for name in ranked[i + 1 :]
        ):
            yield path


def _segments(lake: Lake, game: str) -> list[str]:
    return [path for path in lake.list(puzzles_folder(game)) if path.endswith(".parquet")]


def _segment_path(game: str, rows: pa.Table) -> str:
    name = digest("puzzles", *rows.column(PUZZLE_ID).to_pylist())[:NAME_DIGITS]
    return f"{puzzles_folder(game)}/seg-{name}.parquet"


def name_of_puzzles(puzzle_ids: pa.ChunkedArray) -> str:
    """Name a set of puzzles by their ids, in whichever order and however often they stand there."""
    ids = pc.unique(puzzle_ids)
    hashes = hashlib.sha256()
    for name in ids.take(pc.sort_indices(ids)).to_pylist():
        hashes.update(f"{name}\n".encode())
    return f"{len(ids)}-{hashes.hexdigest()}"

"""The puzzles table: every board once, in segments that are filled up one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.games import archive_plug
from nightgrid.archive.lake.conforming import conform
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Game

SEGMENT_ROWS = 131_072
"""Rows of one file of the puzzles table. Only the last file is ever rewritten."""


def puzzles_folder(game: str) -> str:
    """Name the folder of a game's puzzles table."""
    return f"puzzles/game={game}"


def puzzles_table(game: Game[Any, Any], puzzles: Sequence[Any]) -> pa.Table:
    """Lay puzzles of a game out as rows of its puzzles table, in the order given."""
    schema = archive_plug(game.name).puzzles()
    arrays = game.to_arrays(puzzles)
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


def read_puzzle_table(lake: Lake, game: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read every board of a game that the lake has."""
    return lake.read_table(puzzles_folder(game), archive_plug(game).puzzles(), columns)


def read_puzzle_ids(lake: Lake, game: str, paths: Sequence[str]) -> pa.ChunkedArray:
    """Read the ids of the puzzles in files or folders: about 40 bytes of memory each."""
    schema = archive_plug(game).puzzles()
    names = [lake.read_table(path, schema, ["puzzle_id"]).column("puzzle_id") for path in paths]
    return pa.chunked_array([chunk for name in names for chunk in name.chunks], pa.string())


def add_puzzles(lake: Lake, game: str, table: pa.Table, *, segment_rows: int = SEGMENT_ROWS) -> int:
    """Add the boards that the lake does not have yet; return how many those are.

    They are taken in the order of their puzzle_id, so that an interrupted call that is made again
    leaves the same files as one that went through.
    """
    schema = archive_plug(game).puzzles()
    table = _new_rows(lake, game, conform(table, schema))
    added = len(table)
    number, last = _last_segment(lake, game)
    while len(table):
        free = segment_rows - len(last)
        if free <= 0:
            number, last, free = number + 1, schema.empty_table(), segment_rows
        filled = pa.concat_tables([last, table.slice(0, free)]).sort_by("puzzle_id")
        lake.write_table(_segment_path(game, number), filled)
        table = table.slice(free)
        last = filled
    return added


def _new_rows(lake: Lake, game: str, table: pa.Table) -> pa.Table:
    known = read_puzzle_table(lake, game, ["puzzle_id"]).column("puzzle_id").combine_chunks()
    table = table.filter(pc.invert(pc.is_in(table.column("puzzle_id"), value_set=known)))
    table = table.sort_by("puzzle_id")
    ids = table.column("puzzle_id").to_pylist()
    first = [i == 0 or ids[i] != ids[i - 1] for i in range(len(ids))]
    return table.filter(pa.array(first, pa.bool_()))


def _last_segment(lake: Lake, game: str) -> tuple[int, pa.Table]:
    names = [name for name in lake.list(puzzles_folder(game)) if "/seg-" in name]
    if not names:
        return 0, archive_plug(game).puzzles().empty_table()
    number = int(names[-1].removesuffix(".parquet")[-5:])
    return number, lake.read_table(names[-1], archive_plug(game).puzzles())


def _segment_path(game: str, number: int) -> str:
    return f"{puzzles_folder(game)}/seg-{number:05d}.parquet"

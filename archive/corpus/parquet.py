"""Read the rows of Parquet files as puzzles; each is a puzzle or a fault with its place."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from nightgrid.archive.corpus.bounded_reader import UnreadableGroupError, read_batches
from nightgrid.archive.corpus.inputs import (
    DERIVED,
    DamagedInputError,
    InputFile,
    check_same,
    columns_to_read,
    needed_columns,
    open_parquet,
)
from nightgrid.archive.games import archive_plug
from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.payloads.envelopes import fault_of
from nightgrid.archive.payloads.published import Fault, Published, input_fault
from nightgrid.archive.words.dictionaries import MissingDictionaryError
from nightgrid.solvers.errors import InvalidPuzzleError, PermanentError
from nightgrid.solvers.game_contract import Game


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusRow:
    """One row of a corpus."""

    source: str
    source_row: int
    item: Published | Fault


def read_parquet(
    game: Game[Any, Any], base: Path, inputs: Iterable[InputFile]
) -> Iterator[CorpusRow]:
    """Read row groups of Parquet files, validating every row as if it were a payload.

    A file that is not Parquet, and a damaged row group, give one row each, with a fault.
    """
    for about in inputs:
        path = base / about.source
        if not path.is_file() or path.stat().st_size != about.body_bytes:
            check_same(path, about)
        group = about.row_group
        at = end = 0
        try:
            with open_parquet(path) as file:
                if group is None:
                    raise DamagedInputError(f"{path.name} could not be read as Parquet")
                meta = file.metadata
                at = sum(meta.row_group(i).num_rows for i in range(group))
                end = at + meta.row_group(group).num_rows
                wanted = columns_to_read(game.name, file.schema_arrow)
            for batch in read_batches(path, group, wanted):
                for item in _items(game, path, batch):
                    yield CorpusRow(source=about.source, source_row=at, item=item)
                    at += 1
        except (DamagedInputError, UnreadableGroupError) as error:
            # A file that was changed meanwhile is not reported as damaged.
            check_same(path, about)
            what, place = str(error), ""
            if group is not None:
                what = f"{end - at:,} rows from row {at:,} on cannot be read: {error}"
                place = f"row group {group}"
            item = input_fault("damaged", what, place)
            yield CorpusRow(source=about.source, source_row=at, item=item)


def _items(game: Game[Any, Any], path: Path, batch: pa.Table) -> Iterator[Published | Fault]:
    schema = archive_plug(game.name).puzzles()
    columns = {
        name: _cast(batch.column(name), schema.field(name), path)
        for name in needed_columns(game.name)
    }
    table = pa.table(columns)
    faults = [_fault_in(row) for row in table.to_pylist()]
    arrays = arrays_of(table.filter(pa.array([fault is None for fault in faults], pa.bool_())))
    given = {name: batch.column(name).to_pylist() for name in batch.column_names if name in DERIVED}
    sound = itertools.count()
    for row, fault in enumerate(faults):
        told = {name: values[row] for name, values in given.items()}
        yield fault or _item(game, arrays, next(sound), told)


def _fault_in(row: dict[str, Any]) -> Fault | None:
    """Return the first fault of a row: nulls, negative numbers, values that are not characters."""
    for name, value in row.items():
        values = value if isinstance(value, list) else [value]
        if None in values:
            return input_fault("null", "expected a value", name)
        if isinstance(value, list) and min(value, default=0) < 0:
            return input_fault("negative", "expected numbers of 0 or more", name)
        if name in _CODE_POINTS and max(values, default=0) > sys.maxunicode:
            most = f"expected code points of at most {sys.maxunicode:,}"
            return input_fault("columns", most, name)
    return None


_CODE_POINTS = frozenset({"letter", "name_letter"})
_BROKEN = (ValueError, IndexError, OverflowError)


def _item(
    game: Game[Any, Any], arrays: dict[str, Any], row: int, told: dict[str, Any]
) -> Published | Fault:
    if told.get("game") not in (None, game.name):
        message = f"a row of {told['game']!r:.40}; expected {game.name}"
        return input_fault("other-game", message, "game")
    try:
        puzzle = game.from_arrays(arrays, row)
    except MissingDictionaryError:
        raise
    except InvalidPuzzleError as error:
        return fault_of(error)
    except (PermanentError, *_BROKEN) as error:
        # Python's own message does not say where to look.
        why = error if isinstance(error, PermanentError) else "its values do not fit one another"
        return input_fault("columns", f"no puzzle: {why}")
    name = game.puzzle_id(puzzle)
    if told.get("puzzle_id") not in (None, name):
        message = f"{told['puzzle_id']!r:.40} is not its id; expected {name}"
        return input_fault("puzzle-id", message, "puzzle_id")
    if told.get("size") is not None:
        size = int(game.to_arrays([puzzle])["size"][0])
        if told["size"] != size:
            message = f"{told['size']!r:.40}; expected {size}, the size of its board"
            return input_fault("size", message, "size")
    return Published(date=None, level=None, puzzle=puzzle)


def _cast(column: pa.ChunkedArray, field: pa.Field, path: Path) -> pa.ChunkedArray:
    is_list = pa.types.is_list(field.type)
    try:
        return column.cast(pa.list_(field.type.value_type) if is_list else field.type)
    except pa.ArrowException as error:
        raise PermanentError(
            f"{path.name}: column {field.name} is {column.type}; expected {field.type}"
        ) from error

"""Read the rows of Parquet files as puzzles: each is one, or a fault that says where and why."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

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
    """One row of a corpus as it is read."""

    source: str
    source_row: int
    item: Published | Fault


def read_parquet(
    game: Game[Any, Any], base: Path, inputs: Iterable[InputFile]
) -> Iterator[CorpusRow]:
    """Read row groups of Parquet files, every row validated as if it were a payload.

    A file that is no Parquet, and a row group that is damaged, are one row each, which is a fault.
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
            # A file that was changed meanwhile is not called damaged.
            check_same(path, about)
            what, place = str(error), ""
            if group is not None:
                what = f"{end - at:,} rows from row {at:,} on cannot be read: {error}"
                place = f"row group {group}"
            item = input_fault("damaged", what, place)
            yield CorpusRow(source=about.source, source_row=at, item=item)


def _items(game: Game[Any, Any], path: Path, batch: pa.Table) -> Iterator[Published | Fault]:
    schema = archive_plug(game.name).puzzles()
    columns: dict[str, pa.Array] = {}
    broken: dict[int, Fault] = {}

    def refuse(rule: str, message: str, is_so: Callable[[pa.Array], pa.Array], name: str) -> None:
        for row in _rows_where(is_so, columns[name]):
            broken.setdefault(row, input_fault(rule, message, name))

    for name in needed_columns(game.name):
        columns[name] = batch.column(name).combine_chunks()
        refuse("null", "expected a value", pc.is_null, name)
        columns[name] = _cast(columns[name], schema.field(name), path)
        if pa.types.is_list(schema.field(name).type):
            # Python would read a negative number as one from the end.
            refuse("negative", "expected numbers of 0 or more", _is_negative, name)
        if name in _CODE_POINTS:
            message = f"expected code points of at most {sys.maxunicode:,}"
            refuse("columns", message, _is_no_character, name)
    arrays = arrays_of(pa.table(columns))
    given = {name: batch.column(name).to_pylist() for name in batch.column_names if name in DERIVED}
    for row in range(batch.num_rows):
        if row in broken:
            yield broken[row]
            continue
        told = {name: values[row] for name, values in given.items()}
        yield _item(game, arrays, row, told)


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
        # What Python says of it does not say where to look.
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


def _rows_where(is_so: Callable[[pa.Array], pa.Array], column: pa.Array) -> list[int]:
    """Find the rows of a column where something is so of the value, or of one in its list."""
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        return list(pc.indices_nonzero(is_so(column)).to_pylist())
    rows = pc.indices_nonzero(pc.is_null(column)).to_pylist() if is_so is pc.is_null else []
    parents = pc.list_parent_indices(column).filter(is_so(pc.list_flatten(column)))
    return [*rows, *pc.unique(parents).to_pylist()]


def _is_no_character(values: pa.Array) -> pa.Array:
    return pc.greater(values, pa.scalar(sys.maxunicode, values.type))


def _is_negative(values: pa.Array) -> pa.Array:
    return pc.less(values, pa.scalar(0, values.type))


def _cast(column: pa.Array, field: pa.Field, path: Path) -> pa.Array:
    """Cast a column to its type; nulls, whose rows are not looked at, become what is empty."""
    try:
        if pa.types.is_list(field.type):
            parts = column.cast(pa.list_(field.type.value_type))
            if parts.null_count or pc.list_flatten(parts).null_count:
                parts = pa.array(
                    [[v or 0 for v in row or ()] for row in parts.to_pylist()], parts.type
                )
            return parts.cast(field.type)
        return pc.fill_null(column.cast(field.type), "" if field.type == pa.string() else 0)
    except pa.ArrowException as error:
        raise PermanentError(
            f"{path.name}: column {field.name} is {column.type}; expected {field.type}"
        ) from error

"""Make one slice of a corpus, with a row for each puzzle and for each fault of its inputs.

A slice depends only on the inputs, so every process writes the same bytes.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from nightgrid.archive.corpus.bounded_reader import (
    BATCH_ROWS,
    UnreadableGroupError,
    read_batches,
)
from nightgrid.archive.corpus.corpora import ABOUT, corpus_folder
from nightgrid.archive.corpus.inputs import (
    SLICE_BOARDS,
    DamagedInputError,
    InputFile,
    Inputs,
    check_same,
    needed_columns,
    open_parquet,
)
from nightgrid.archive.games import archive_plug
from nightgrid.archive.games.generator_spec import make_boards, read_generator_spec
from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.lake.schemas import corpus_schema
from nightgrid.archive.lake.storage import ROW_GROUP_ROWS, Lake
from nightgrid.archive.payloads.bounded_files import read_file
from nightgrid.archive.payloads.envelopes import fault_of
from nightgrid.archive.payloads.published import Fault, Published, input_fault
from nightgrid.archive.payloads.strict_json import shown
from nightgrid.archive.sources.folder_layouts import ArchiveFile, archive_file
from nightgrid.archive.sources.payloads_in_file import game_found_in, items_in, read_item
from nightgrid.archive.words.binding import open_game
from nightgrid.archive.words.dictionaries import (
    MissingDictionaryError,
    add_dictionaries,
    words_of,
)
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.errors import InvalidPuzzleError, PermanentError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.registry import game_plug


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusRow:
    """One row of a corpus."""

    source: str
    source_row: int
    item: Published | Fault


def slice_path(corpus_id: str, number: int) -> str:
    """Return the file of one slice."""
    return f"{corpus_folder(corpus_id)}/part-{number:05d}.parquet"


def make_slice(lake: Lake, inputs: Inputs, number: int) -> int:
    """Read slice `number` of a corpus and write its rows; return how many there are.

    `inputs` are those of the slice. Raises PermanentError for a file that has changed since they
    were read.
    """
    game = open_game(lake, inputs.game)
    rows = 0

    def tables() -> Iterator[pa.Table]:
        nonlocal rows
        found = _read(lake, inputs, number)
        held: list[pa.Table] = []
        while batch := list(itertools.islice(found, BATCH_ROWS)):
            rows += len(batch)
            held.append(_table(lake, game, batch))
            # Small row groups would slow down every reader.
            if sum(map(len, held)) + BATCH_ROWS > ROW_GROUP_ROWS:
                yield pa.concat_tables(held)
                held.clear()
        if held:
            yield pa.concat_tables(held)

    told = {"game": inputs.game, "name": inputs.name, "base": inputs.base}
    schema = corpus_schema(archive_plug(game.name).puzzles())
    about = {**schema.metadata, ABOUT: canonical_json([inputs.slices, told])}
    schema = schema.with_metadata(about)
    lake.write_row_groups(slice_path(inputs.corpus_id, number), tables(), schema)
    return rows


def _table(lake: Lake, game: Game[Any, Any], batch: list[CorpusRow]) -> pa.Table:
    items = [row.item for row in batch]
    sound = [item for item in items if isinstance(item, Published)]
    if game_plug(game.name).own_words:
        add_dictionaries(lake, words_of(item.puzzle for item in sound))
    boards = puzzles_table(game, [item.puzzle for item in sound])
    if len(sound) < len(batch):
        numbers = itertools.count()
        at = [next(numbers) if isinstance(item, Published) else None for item in items]
        boards = boards.take(pa.array(at, pa.int64()))
    columns = {name: boards.column(name) for name in boards.column_names}
    columns["source"] = pa.array([row.source for row in batch], pa.string())
    columns["source_row"] = pa.array([row.source_row for row in batch], pa.int64())
    schema = corpus_schema(archive_plug(game.name).puzzles())
    for name in ("date", "level", "rule", "place", "message"):
        values = [getattr(item, name, None) for item in items]
        columns[name] = pa.array(values, schema.field(name).type)
    return pa.table([columns[name] for name in schema.names], schema=schema)


def _read(lake: Lake, inputs: Inputs, number: int) -> Iterator[CorpusRow]:
    if inputs.kind == "generated":
        return _generated(inputs.name, number)
    if inputs.kind == "payloads":
        return _payloads(inputs.game, Path(inputs.base), inputs.files)
    return _parquet(open_game(lake, inputs.game), Path(inputs.base), inputs.files)


def _generated(name: str, number: int) -> Iterator[CorpusRow]:
    spec = read_generator_spec(name)
    start = number * SLICE_BOARDS
    stop = min(start + SLICE_BOARDS, spec.boards)
    for i, board in zip(range(start, stop), make_boards(spec, start, stop), strict=True):
        item = Published(date=None, level=board.level, puzzle=board.puzzle)
        yield CorpusRow(source=name, source_row=i, item=item)


def _payloads(game: str, base: Path, inputs: Iterable[InputFile]) -> Iterator[CorpusRow]:
    for about in inputs:
        path = base / about.source
        check_same(path, about)
        for i, item in enumerate(_puzzles(game, archive_file(path, about.source))):
            yield CorpusRow(source=about.source, source_row=i, item=item)


def _puzzles(game: str, file: ArchiveFile) -> Iterator[Published | Fault]:
    try:
        data = read_file(file.path)
    except PermanentError as error:
        yield input_fault("unreadable", str(error))
        return
    for item in items_in(data, file.name, file.game, file.date):
        _, found = read_item(item, file.path.name, game)
        if not any(isinstance(each, Published) for each in found):
            other = game_found_in(item)
            if other not in (None, game):
                message = f"a payload of {other}; expected {game} (in {shown(file.path.name)})"
                found = [input_fault("other-game", message)]
        yield from found


def _parquet(game: Game[Any, Any], base: Path, inputs: Iterable[InputFile]) -> Iterator[CorpusRow]:
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
            for batch in read_batches(path, group, needed_columns(game.name)):
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
    sound = itertools.count()
    for fault in faults:
        yield fault or _item(game, arrays, next(sound))


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


def _item(game: Game[Any, Any], arrays: dict[str, Any], row: int) -> Published | Fault:
    try:
        return Published(date=None, level=None, puzzle=game.from_arrays(arrays, row))
    except MissingDictionaryError:
        raise
    except InvalidPuzzleError as error:
        return fault_of(error)
    except (PermanentError, *_BROKEN) as error:
        # Python's own message does not say where to look.
        why = error if isinstance(error, PermanentError) else "its values do not fit one another"
        return input_fault("columns", f"no puzzle: {why}")


def _cast(column: pa.ChunkedArray, field: pa.Field, path: Path) -> pa.ChunkedArray:
    is_list = pa.types.is_list(field.type)
    try:
        return column.cast(pa.list_(field.type.value_type) if is_list else field.type)
    except pa.ArrowException as error:
        raise PermanentError(
            f"{path.name}: column {field.name} is {column.type}; expected {field.type}"
        ) from error

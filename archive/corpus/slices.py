"""Make one slice of a corpus: a row for each puzzle and for each fault.

A slice depends only on the inputs, so every process writes the same bytes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from nightgrid.archive.corpus.bounded_reader import BATCH_ROWS
from nightgrid.archive.corpus.corpora import ABOUT, corpus_folder
from nightgrid.archive.corpus.inputs import (
    SLICE_BOARDS,
    InputFile,
    Inputs,
    check_same,
)
from nightgrid.archive.corpus.parquet import CorpusRow, read_parquet
from nightgrid.archive.games import archive_plug
from nightgrid.archive.games.generator_spec import make_boards, read_generator_spec
from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.schemas import corpus_schema
from nightgrid.archive.lake.storage import ROW_GROUP_ROWS, Lake
from nightgrid.archive.payloads.bounded_files import read_file
from nightgrid.archive.payloads.published import Fault, Published, input_fault
from nightgrid.archive.payloads.strict_json import shown
from nightgrid.archive.sources.archive_files import ArchiveFile, archive_file
from nightgrid.archive.sources.layouts import game_found_in, items_in, read_item
from nightgrid.archive.words.binding import open_game
from nightgrid.archive.words.dictionaries import add_dictionaries, words_of
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.registry import game_plug


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
    return read_parquet(open_game(lake, inputs.game), Path(inputs.base), inputs.files)


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

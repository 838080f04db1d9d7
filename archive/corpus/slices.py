"""Make one slice of a corpus: its puzzles, what became of each row, and what broke a rule.

A slice depends on the inputs alone, so every process that makes it makes the same bytes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.corpus.bounded_reader import BATCH_ROWS
from nightgrid.archive.corpus.inputs import MAX_PAYLOAD_BYTES, SLICE_BOARDS, check_same
from nightgrid.archive.corpus.parquet import CorpusRow, read_parquet
from nightgrid.archive.corpus.plans import (
    CorpusPlan,
    corpus_folder,
    corpus_plan_path,
    read_corpus_plan,
)
from nightgrid.archive.games import archive_plug, game_found_in, reader
from nightgrid.archive.games.generator_spec import make_boards, read_generator_spec
from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.storage import ROW_GROUP_ROWS, Lake
from nightgrid.archive.lake.tables import CORPUS_INPUTS, CORPUS_QUARANTINE, CORPUS_ROWS
from nightgrid.archive.payloads.published import Fault, Published, input_fault
from nightgrid.archive.payloads.strict_json import shown
from nightgrid.archive.words.binding import open_game
from nightgrid.archive.words.dictionaries import LakeDictionaries, keep_dictionary
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.registry import game_plug


def slice_path(corpus_id: str, table: str, number: int) -> str:
    """Name the file that one slice has in the folder `puzzles`, `rows` or `quarantine`."""
    return f"{corpus_folder(corpus_id)}/{table}/part-{number:05d}.parquet"


def make_slice(lake: Lake, corpus_id: str, number: int) -> int:
    """Read slice `number` of a planned corpus and write its tables; return how many rows it has.

    The table of rows comes last: where it is, the slice is done. Raises PermanentError for a file
    that is not what it was when the corpus was planned.
    """
    plan = read_corpus_plan(lake, corpus_plan_path(corpus_id))
    if plan is None:
        raise PermanentError(f"corpus {corpus_id} is not in {lake.url}; expected a planned one")
    game = open_game(lake, plan.game)
    rows: list[pa.Table] = []
    faults: list[pa.Table] = []

    def puzzles() -> Iterator[pa.Table]:
        found = _read(lake, plan, number)
        held: list[pa.Table] = []
        while batch := list(itertools.islice(found, BATCH_ROWS)):
            made, told, broken = _tables(lake, game, batch)
            rows.append(told)
            faults.append(broken)
            held.append(made)
            # Small row groups would cost every reader more.
            if sum(map(len, held)) + BATCH_ROWS > ROW_GROUP_ROWS:
                yield pa.concat_tables(held)
                held.clear()
        if held:
            yield pa.concat_tables(held)

    lake.write_row_groups(
        slice_path(corpus_id, "puzzles", number), puzzles(), archive_plug(game.name).puzzles()
    )
    told = pa.concat_tables([CORPUS_ROWS.empty_table(), *rows])
    broken = pa.concat_tables([CORPUS_QUARANTINE.empty_table(), *faults])
    if broken.num_rows:
        lake.write_table(slice_path(corpus_id, "quarantine", number), broken)
    lake.write_table(slice_path(corpus_id, "rows", number), told)
    return told.num_rows


def _tables(
    lake: Lake, game: Game[Any, Any], batch: list[CorpusRow]
) -> tuple[pa.Table, pa.Table, pa.Table]:
    sound = [row.item for row in batch if isinstance(row.item, Published)]
    if game_plug(game.name).own_words:
        # Several slices may do so at once: none rewrites what another one has written.
        known = LakeDictionaries(lake)
        for item in sound:
            keep_dictionary(lake, item.puzzle, known)
    made = puzzles_table(game, [item.puzzle for item in sound])
    names = iter(made.column("puzzle_id").to_pylist())
    told = [
        {
            "source": row.source,
            "source_row": row.source_row,
            "date": getattr(row.item, "date", None),
            "level": row.item.level,
            "puzzle_id": next(names) if isinstance(row.item, Published) else None,
        }
        for row in batch
    ]
    broken = [
        {"source": row.source, "source_row": row.source_row, **asdict(row.item)}
        for row in batch
        if isinstance(row.item, Fault)
    ]
    return (
        made,
        pa.Table.from_pylist(told, CORPUS_ROWS),
        pa.Table.from_pylist(broken, CORPUS_QUARANTINE),
    )


def _read(lake: Lake, plan: CorpusPlan, number: int) -> Iterator[CorpusRow]:
    if plan.kind == "generated":
        return _generated(plan.name, number)
    inputs = lake.read_table(f"{corpus_folder(plan.corpus_id)}/inputs.parquet", CORPUS_INPUTS)
    mine = inputs.filter(pc.equal(inputs.column("slice"), number)).to_pylist()
    if plan.kind == "payloads":
        return _payloads(plan.game, Path(plan.base), mine)
    return read_parquet(open_game(lake, plan.game), Path(plan.base), mine)


def _generated(name: str, number: int) -> Iterator[CorpusRow]:
    spec = read_generator_spec(name)
    start = number * SLICE_BOARDS
    stop = min(start + SLICE_BOARDS, spec.boards)
    for i, board in zip(range(start, stop), make_boards(spec, start, stop), strict=True):
        item = Published(date=None, level=board.level, puzzle=board.puzzle)
        yield CorpusRow(source=name, source_row=i, item=item)


def _payloads(game: str, base: Path, inputs: list[dict[str, Any]]) -> Iterator[CorpusRow]:
    reads = reader(game)
    for about in inputs:
        path = base / about["source"]
        check_same(path, about)
        items: list[Published | Fault]
        if about["body_bytes"] > MAX_PAYLOAD_BYTES:
            message = f"expected at most {MAX_PAYLOAD_BYTES:,} bytes"
            items = [input_fault("body-too-large", message)]
        else:
            data = path.read_bytes()
            items = reads.read_puzzles(data, path.name)
            if not any(isinstance(item, Published) for item in items):
                items = _of_another_game(data, path, game) or items
        for i, item in enumerate(items):
            yield CorpusRow(source=about["source"], source_row=i, item=item)


def _of_another_game(data: bytes, path: Path, game: str) -> list[Published | Fault]:
    """Explain of a payload without a valid puzzle that it is of another game, if it is."""
    found = game_found_in(data, path.name)
    if found in (None, game):
        return []
    message = f"a payload of {found}; expected {game} (in {shown(path.name)})"
    return [input_fault("other-game", message)]

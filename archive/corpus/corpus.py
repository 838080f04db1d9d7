"""Corpora: the puzzles of a run, read batch by batch, never all at once.

corpora/<corpus_id>/part-…      every row in order, with its puzzle or with the rule that it broke
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.corpus.corpora import (
    CorpusInfo,
    corpus_folder,
    read_corpus_info,
)
from nightgrid.archive.corpus.inputs import Inputs, game_of_spec, read_inputs
from nightgrid.archive.corpus.slices import make_slice, slice_path
from nightgrid.archive.games import archive_plug
from nightgrid.archive.ingest.puzzles import (
    name_of_puzzles,
    puzzles_folder,
    read_puzzle_table,
)
from nightgrid.archive.lake.conforming import conform
from nightgrid.archive.lake.location import is_missing, make_folder
from nightgrid.archive.lake.schemas import CORPUS_ROWS, corpus_schema
from nightgrid.archive.lake.storage import ROW_GROUP_ROWS, Lake
from nightgrid.solvers.canonical import digest
from nightgrid.solvers.child_processes import pool_of
from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.solvers.registry import DEFAULT_GAME, game_plug

LAKE_LAYOUT = "2"
"""Version of the naming scheme of a corpus of the lake's puzzles."""
LAKE = "lake"
"""The spec of every puzzle of a game that nights have normalised into the lake."""

OnRows = Callable[[int, int | None], None]
"""Called with (rows read or boards made, how many there will be or None) after each slice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """A named, ordered sequence of puzzles in the lake."""

    corpus_id: str
    name: str
    """The spec that it was opened with."""
    game: str
    row_count: int
    """Puzzles in all tables, including repeated ones."""
    quarantined: int
    """Rows that broke a rule and are not puzzles."""
    lake: Lake
    paths: tuple[str, ...]
    """The files with the puzzles, in order; none for `lake`, whose files get merged."""
    ids: pa.Array | None = None
    """The ids of the puzzles of `lake`, each once: its files may come and go during a count."""
    is_new: bool = False
    """Whether the call that opened it has completed it, so that it has no answers yet."""

    def tables(self) -> Iterator[pa.Table]:
        """Read the puzzles: tables with the schema of the game's puzzles table.

        Each has at most nightgrid.archive.lake.storage.ROW_GROUP_ROWS rows.
        """
        schema = archive_plug(self.game).puzzles()
        if self.ids is not None:
            yield from self._tables_of_lake(schema)
            return
        for path in self.paths:
            for rows in self.lake.scan_file(path, corpus_schema(schema), schema.names):
                sound = rows.filter(pc.is_valid(rows.column("puzzle_id")))
                if len(sound):
                    yield conform(sound, schema)

    def _tables_of_lake(self, schema: pa.Schema) -> Iterator[pa.Table]:
        """Read the puzzles that the lake had when the corpus was opened, each once.

        Raises TransientError if it has lost some of them.
        """
        table = read_puzzle_table(self.lake, self.game)
        table = table.filter(pc.is_in(table.column("puzzle_id"), value_set=self.ids))
        if len(table) != self.row_count:
            raise TransientError(
                f"{self.lake.url} has {len(table):,} of the {self.row_count:,} puzzles of "
                f"{self.game} that it had; expected all of them"
            )
        for start in range(0, len(table), ROW_GROUP_ROWS):
            yield conform(table.slice(start, ROW_GROUP_ROWS), schema)

    def puzzle_ids(self) -> pa.ChunkedArray:
        """Read the ids of all puzzles: about 40 bytes of memory each."""
        if self.ids is not None:
            return pa.chunked_array([self.ids])
        names = [
            rows.column("puzzle_id").drop_null()
            for path in self.paths
            for rows in self.lake.scan_file(path, CORPUS_ROWS, ["puzzle_id"])
        ]
        return pa.chunked_array([chunk for name in names for chunk in name.chunks], pa.string())

    @property
    def rows_path(self) -> str:
        """Path of the table that joins results back to sources; for `lake`, the puzzles table."""
        is_lake = self.name == LAKE
        return puzzles_folder(self.game) if is_lake else corpus_folder(self.corpus_id)


def open_corpus(
    lake: Lake,
    spec: str,
    *,
    game: str | None = None,
    processes: int = 1,
    on_rows: OnRows = lambda _read, _boards: None,
    check: Callable[[str], None] = lambda _game: None,
) -> Corpus:
    """Open a corpus, and load it into the lake if it is not completely there.

    `spec` is `lake` (every puzzle of `game` in its puzzles table, none of other corpora), a folder
    of payloads, a Parquet file or folder with the columns of a puzzles table, or a generator spec
    (nightgrid.archive.games.generator_spec). Finished slices are kept, so the same call resumes a
    killed one; the tables are the same bytes for any number of `processes`. `check` is called with
    the game as soon as it is known, before anything is written; its exceptions end the call.

    Raises PermanentError for an invalid spec or one without puzzles, TransientError when the lake
    or a process fails.
    """
    if game is not None:
        game_plug(game)  # Raises for an unknown game.
    if spec == LAKE:
        check(game or DEFAULT_GAME)
        return _puzzles_of(lake, game or DEFAULT_GAME)
    inputs = read_inputs(spec, game)
    check(inputs.game)
    done = read_corpus_info(lake, inputs.corpus_id)
    is_new = done is None
    if done is None:
        if is_missing(lake.url):
            # A folder that cannot be created would look like a lake that does not answer.
            make_folder(lake.url)
        done = _make(lake, inputs, processes, on_rows)
    if not done.rows:
        raise PermanentError(f"corpus {spec!r:.200} has no rows; expected at least one puzzle")
    if not done.puzzles:
        raise PermanentError(
            f"corpus {spec!r:.200} holds no valid puzzle of {inputs.game}; nightgrid list "
            f"quarantine shows what broke a rule ({done.rows:,})"
        )
    return Corpus(
        corpus_id=inputs.corpus_id,
        name=inputs.name,
        game=inputs.game,
        row_count=done.puzzles,
        quarantined=done.rows - done.puzzles,
        lake=lake,
        paths=tuple(slice_path(inputs.corpus_id, i) for i in range(inputs.slices)),
        is_new=is_new,
    )


def game_of_corpus(spec: str, game: str | None = None) -> str:
    """Return the game of a corpus, before generating or loading any of it.

    Raises PermanentError for an invalid spec, and for a generator of another game.
    """
    return game or DEFAULT_GAME if spec == LAKE else game_of_spec(spec, game)


def _puzzles_of(lake: Lake, game: str) -> Corpus:
    ids = read_puzzle_table(lake, game, ["puzzle_id"]).column("puzzle_id").combine_chunks()
    if not len(ids):
        raise PermanentError(
            f"{lake.url} holds no puzzle of {game} that a night has normalised; expected some, or "
            "--game. Corpora of earlier counts are not included: name their folder, "
            "file or spec again"
        )
    return Corpus(
        corpus_id=digest("corpus", LAKE_LAYOUT, LAKE, game, name_of_puzzles(ids)),
        name=LAKE,
        game=game,
        row_count=len(ids),
        quarantined=0,
        lake=lake,
        paths=(),
        ids=ids,
    )


def _make(
    lake: Lake,
    inputs: Inputs,
    processes: int,
    on_rows: OnRows,
) -> CorpusInfo:
    made = set(lake.names(corpus_folder(inputs.corpus_id)))
    paths = [slice_path(inputs.corpus_id, i) for i in range(inputs.slices)]
    missing = [i for i, path in enumerate(paths) if path not in made]
    read = sum(sum(lake.row_groups(path)) for path in paths if path in made)
    on_rows(read, inputs.boards)
    for more in _slices(lake, inputs, missing, processes):
        read += more
        on_rows(read, inputs.boards)
    info = read_corpus_info(lake, inputs.corpus_id)
    if info is None:
        raise TransientError(f"slices of corpus {inputs.corpus_id} are gone; count it again")
    return info


def _slices(lake: Lake, inputs: Inputs, numbers: list[int], processes: int) -> Iterator[int]:
    """Make slices; yield the number of rows of each as it is done."""
    if processes <= 1 or len(numbers) <= 1:
        for number in numbers:
            yield make_slice(lake, inputs.of_slice(number), number)
        return
    with pool_of(min(processes, len(numbers))) as pool:
        work = [
            pool.submit(_make_slice_of, lake.url, inputs.of_slice(number), number)
            for number in numbers
        ]
        try:
            for made in as_completed(work):
                yield made.result()
        except BrokenProcessPool as error:
            raise TransientError(
                f"a process that made corpus {inputs.corpus_id} was killed; "
                "the same command continues"
            ) from error


def _make_slice_of(lake_url: str, inputs: Inputs, number: int) -> int:
    """Make one slice in a child process."""
    # Boards form no reference cycles, and searching for them takes a seventh of the time.
    gc.disable()
    try:
        return make_slice(Lake.open(lake_url), inputs, number)
    finally:
        gc.collect()

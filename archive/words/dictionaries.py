"""Dictionaries: the words that boards bring along, kept once per content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import DICTIONARIES
from nightgrid.solvers.errors import PermanentError

ARCHIVE_PATH = "dictionaries/archive.parquet"
"""Dictionaries of published boards: one table, which only the normaliser writes."""
SINGLES = "dictionaries/single"
"""Folder of dictionaries that came with boards asked about one by one, a file each."""
_WORDS_KEPT = 64


class MissingDictionaryError(PermanentError):
    """A board names a dictionary that the lake does not have. The board is not at fault."""


class LakeDictionaries:
    """Gives the words of a dictionary by its id.

    Is what `nightgrid.solvers.plug.Dictionaries` wants.
    Keeps what was read: a dictionary never changes. An id that is not known makes it look again.
    """

    def __init__(self, lake: Lake) -> None:
        """Read nothing yet."""
        self._lake = lake
        self._table: pa.Table = DICTIONARIES.empty_table()
        self._rows: dict[str, int] = {}
        self._words: dict[str, tuple[str, ...]] = {}

    def __call__(self, dictionary_id: str) -> tuple[str, ...]:
        """Return the words, sorted.

        Raises MissingDictionaryError when the lake does not have them, and the lake's errors.
        """
        words = self._words.get(dictionary_id)
        if words is None:
            words = self._find(dictionary_id)
            if len(self._words) >= _WORDS_KEPT:
                self._words.clear()
            self._words[dictionary_id] = words
        return words

    def _find(self, dictionary_id: str) -> tuple[str, ...]:
        if dictionary_id not in self._rows:
            self._table = self._lake.read_table(ARCHIVE_PATH, DICTIONARIES).combine_chunks()
            ids = self._table.column("dictionary_id").to_pylist()
            self._rows = {name: row for row, name in enumerate(ids)}
        if dictionary_id in self._rows:
            return tuple(self._table.column("words")[self._rows[dictionary_id]].as_py())
        if dictionary_id.isalnum():
            found = self._lake.read_table(single_path(dictionary_id), DICTIONARIES)
            if found.num_rows:
                return tuple(found.column("words")[0].as_py())
        raise MissingDictionaryError(
            f"dictionary {dictionary_id!r:.40} is not in {self._lake.url}; expected it in"
            f" {ARCHIVE_PATH} or {SINGLES}/"
        )


def words_of(puzzles: Iterable[Any]) -> dict[str, tuple[str, ...]]:
    """Collect the dictionaries that puzzles bring along, by id; puzzles of any game."""
    return {
        puzzle.dictionary_id: puzzle.dictionary
        for puzzle in puzzles
        if getattr(puzzle, "dictionary", None) is not None
    }


def add_dictionaries(lake: Lake, dictionaries: Mapping[str, tuple[str, ...]]) -> int:
    """Add dictionaries of published boards that the lake does not have; return how many."""
    known = lake.read_table(ARCHIVE_PATH, DICTIONARIES, ["dictionary_id"])
    new = sorted(set(dictionaries).difference(known.column("dictionary_id").to_pylist()))
    if new:
        before = lake.read_table(ARCHIVE_PATH, DICTIONARIES)
        table = pa.concat_tables([before, _table({name: dictionaries[name] for name in new})])
        order = pc.sort_indices(table.column("dictionary_id"))
        lake.write_table(ARCHIVE_PATH, table.take(order))
    return len(new)


def keep_dictionary(lake: Lake, puzzle: Any, known: LakeDictionaries | None = None) -> None:
    """Put into the lake the words of one board that is to be solved, unless they are there."""
    known = known or LakeDictionaries(lake)
    for name, words in words_of([puzzle]).items():
        try:
            known(name)
        except MissingDictionaryError:
            lake.write_table(single_path(name), _table({name: words}))


def single_path(dictionary_id: str) -> str:
    """Name the file of a dictionary by itself."""
    return f"{SINGLES}/{dictionary_id}.parquet"


def _table(dictionaries: Mapping[str, tuple[str, ...]]) -> pa.Table:
    return pa.table(
        {"dictionary_id": list(dictionaries), "words": list(dictionaries.values())},
        schema=DICTIONARIES,
    )

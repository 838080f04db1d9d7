"""Dictionaries: boards' own words, stored once per content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from nightgrid.archive.lake.schemas import DICTIONARIES
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.files import MergedFolder, read_each, rows_of_keys
from nightgrid.archive.merging.merge import merge_folder, put_merged
from nightgrid.solvers.errors import PermanentError

KEY = "dictionary_id"
"""Key of a board's words, in tables and in a board's canonical form."""
DICTIONARY_FILES = MergedFolder(
    path="dictionaries",
    schema=DICTIONARIES,
    key="dictionary_id",
    order=("dictionary_id",),
    same=("dictionary_id",),
    group_rows=64,
)
"""A row group has about 75,000 words."""


class MissingDictionaryError(PermanentError):
    """The dictionary of a board is missing from the lake, or unreadable.

    The board is not at fault.
    """


class LakeDictionaries:
    """Loads the words of a dictionary by its id.

    Implements `nightgrid.solvers.plug.Dictionaries`. Caches what it reads, since a dictionary never
    changes; an unknown id makes it read the lake again.
    """

    def __init__(self, lake: Lake) -> None:
        """Read nothing yet."""
        self._lake = lake
        self._found: dict[str, pa.ListScalar] = {}

    def __call__(self, dictionary_id: str) -> tuple[str, ...]:
        """Return the words, sorted.

        Raises MissingDictionaryError if the lake lacks them or they cannot be read, and
        TransientError when the lake fails.
        """
        if dictionary_id not in self._found:
            ids = [dictionary_id]
            try:
                for table in rows_of_keys(self._lake, DICTIONARY_FILES, ids, whole_groups=True):
                    names, words = table.column(KEY).to_pylist(), table.column("words")
                    self._found |= zip(names, words, strict=True)
            except PermanentError as error:
                # Damaged, or not readable by this user: otherwise the caller would blame the board.
                raise MissingDictionaryError(
                    f"dictionary {dictionary_id!r:.40} cannot be read: {error}"
                ) from error
        if dictionary_id not in self._found:
            raise MissingDictionaryError(
                f"dictionary {dictionary_id!r:.40} is not in {self._lake.url}; expected it in"
                f" {DICTIONARY_FILES.path}/"
            )
        return tuple(self._found[dictionary_id].as_py())


def dictionary_ids(lake: Lake) -> pa.ChunkedArray:
    """Read the ids of the dictionaries of the lake, possibly some twice."""
    files = DICTIONARY_FILES
    found = read_each(lake, files, lambda path: lake.scan_file(path, files.schema, [KEY]))
    return pa.concat_tables([DICTIONARIES.empty_table().select([KEY]), *found]).column(KEY)


def words_of(puzzles: Iterable[Any]) -> dict[str, tuple[str, ...]]:
    """Collect the own words of puzzles of any game, by dictionary id."""
    return {
        puzzle.dictionary_id: puzzle.dictionary
        for puzzle in puzzles
        if getattr(puzzle, "dictionary", None) is not None
    }


def add_dictionaries(
    lake: Lake, dictionaries: Mapping[str, tuple[str, ...]], *, merges: bool = True
) -> int:
    """Add the dictionaries that the lake lacks; return how many."""
    known = set()
    for table in rows_of_keys(lake, DICTIONARY_FILES, dictionaries):
        known.update(table.column(KEY).to_pylist())
    new = sorted(set(dictionaries) - known)
    if new:
        table = pa.table({KEY: new, "words": [dictionaries[name] for name in new]}, DICTIONARIES)
        put_merged(lake, DICTIONARY_FILES, table)
        if merges:
            merge_folder(lake, DICTIONARY_FILES)
    return len(new)


def with_words(lake: Lake, value: Any) -> Any:
    """Replace the dictionary id in a board's JSON by its words.

    Raises PermanentError if the lake does not have them.
    """
    if not isinstance(value, dict) or "dictionary_id" not in value:
        return value
    rest = {name: item for name, item in value.items() if name != "dictionary_id"}
    return {**rest, "dictionary": LakeDictionaries(lake)(str(value["dictionary_id"]))}

"""The corpora of a lake, as described by the metadata of their slices."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from nightgrid.archive.lake.encoding import metadata_of
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.schemas import CORPUS_ROWS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.skipped_files import skip_file

CORPORA = "corpora"
"""The folder of corpora; each has its own folder of rows."""
ABOUT = "nightgrid.corpus"
"""Key of the schema metadata of a slice: game, name and base of its corpus, and its slices."""
_PUZZLE_ID = CORPUS_ROWS.get_field_index("puzzle_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusInfo:
    """Description of a complete corpus."""

    corpus_id: str
    game: str
    name: str
    """The spec as given; a generator's in its canonical form."""
    base: str
    """The folder to which sources are relative; "" for a generator."""
    rows: int
    puzzles: int
    """Rows that broke no rule."""


def corpus_folder(corpus_id: str) -> str:
    """Return the folder of a corpus."""
    return f"{CORPORA}/{corpus_id}"


def read_corpus_info(lake: Lake, corpus_id: str) -> CorpusInfo | None:
    """Read a corpus description; None if it lacks slices. Raises DamagedFileError.

    Reads the footers of the slices.
    """
    paths = lake.names(corpus_folder(corpus_id))
    rows = faults = slices = 0
    about: dict[str, str] = {}
    for path in paths:
        with lake.open_parquet(path) as file:
            told = metadata_of(file.schema_arrow, ABOUT)
            groups = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
        if not told:
            raise DamagedFileError(f"{path} does not say what its corpus is")
        slices, about = json.loads(told)
        rows += sum(group.num_rows for group in groups)
        faults += sum(group.column(_PUZZLE_ID).statistics.null_count for group in groups)
    if not slices or len(paths) < slices:
        return None
    return CorpusInfo(corpus_id=corpus_id, rows=rows, puzzles=rows - faults, **about)


def corpora_in(lake: Lake) -> Iterator[CorpusInfo]:
    """Read the descriptions of all complete corpora, sorted by id; skip damaged ones."""
    for folder in lake.folders(CORPORA):
        corpus_id = folder.rpartition("/")[2]
        try:
            info = read_corpus_info(lake, corpus_id)
        except DamagedFileError as error:
            skip_file(folder, error)
            continue
        if info is not None:
            yield info

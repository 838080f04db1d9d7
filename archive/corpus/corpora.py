"""The corpora of a lake: `corpora/ID/corpus.json` describes one, once it is complete."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.json_files import read_as, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.skipped_files import skip_file

CORPORA = "corpora"
"""The folder of corpora; each has its own folder of rows."""


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


def corpus_info_path(corpus_id: str) -> str:
    """Return the file that is written last, which marks the corpus as complete."""
    return f"{corpus_folder(corpus_id)}/corpus.json"


def read_corpus_info(lake: Lake, corpus_id: str) -> CorpusInfo | None:
    """Read the description of a corpus; None if it is incomplete. Raises DamagedFileError."""
    return read_as(lake, corpus_info_path(corpus_id), lambda value: CorpusInfo(**value))


def write_corpus_info(lake: Lake, info: CorpusInfo) -> None:
    """Mark a corpus as complete."""
    write_json(lake, corpus_info_path(info.corpus_id), asdict(info))


def corpora_in(lake: Lake) -> Iterator[CorpusInfo]:
    """Read the descriptions of all complete corpora, sorted by id; skip damaged ones."""
    for folder in lake.folders(CORPORA):
        corpus_id = folder.rpartition("/")[2]
        try:
            info = read_corpus_info(lake, corpus_id)
        except DamagedFileError as error:
            skip_file(corpus_info_path(corpus_id), error)
            continue
        if info is not None:
            yield info

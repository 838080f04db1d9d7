"""The corpora of a lake: `corpora/ID/corpus.json` says what one is, once it is complete."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.json_files import read_as, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.skipped_files import skip_file

CORPORA = "corpora"
"""The folder of corpora, each with a folder of its rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusInfo:
    """What a complete corpus is."""

    corpus_id: str
    game: str
    name: str
    """The spec as it was given; a generator's in its canonical form."""
    base: str
    """The folder that sources are relative to; "" for a generator."""
    rows: int
    puzzles: int
    """Rows that broke no rule."""


def corpus_folder(corpus_id: str) -> str:
    """Name the folder of a corpus."""
    return f"{CORPORA}/{corpus_id}"


def corpus_info_path(corpus_id: str) -> str:
    """Name the file that is written last: the corpus is complete."""
    return f"{corpus_folder(corpus_id)}/corpus.json"


def read_corpus_info(lake: Lake, corpus_id: str) -> CorpusInfo | None:
    """Read what a corpus is; None if it is not complete. Raises DamagedFileError."""
    return read_as(lake, corpus_info_path(corpus_id), lambda value: CorpusInfo(**value))


def write_corpus_info(lake: Lake, info: CorpusInfo) -> None:
    """Mark a corpus as complete."""
    write_json(lake, corpus_info_path(info.corpus_id), asdict(info))


def corpora_in(lake: Lake) -> Iterator[CorpusInfo]:
    """Read what all complete corpora are, in the order of their ids; damaged ones are skipped."""
    for folder in lake.folders(CORPORA):
        corpus_id = folder.rpartition("/")[2]
        try:
            info = read_corpus_info(lake, corpus_id)
        except DamagedFileError as error:
            skip_file(corpus_info_path(corpus_id), error)
            continue
        if info is not None:
            yield info

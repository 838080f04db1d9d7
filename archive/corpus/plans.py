"""What each corpus is read from: its `plan.json`, which stands before any of its slices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.json_files import read_as
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.skipped_files import skip_file

CORPORA = "corpora"
"""The folder of corpora, each with a folder of puzzles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusPlan:
    """What a corpus is read from, and in how many slices."""

    corpus_id: str
    kind: str
    """`generated`, `payloads`, or that of files with a board a row."""
    game: str
    name: str
    """The spec as it was given; a generator's in its canonical form."""
    base: str
    """The folder that sources are relative to; "" for a generator."""
    slices: int


def corpus_folder(corpus_id: str) -> str:
    """Name the folder of a corpus."""
    return f"{CORPORA}/{corpus_id}"


def corpus_plan_path(corpus_id: str) -> str:
    """Name the file that says what a corpus is read from."""
    return f"{corpus_folder(corpus_id)}/plan.json"


def read_corpus_plan(lake: Lake, path: str) -> CorpusPlan | None:
    """Read what a corpus is read from; None: the corpus is gone. Raises DamagedFileError."""
    return read_as(lake, path, lambda value: CorpusPlan(**value))


def corpus_plans(lake: Lake) -> Iterator[CorpusPlan]:
    """Read the plans of all corpora, in the order of their ids; damaged ones are skipped."""
    for corpus_id in sorted({path.split("/")[1] for path in lake.list(CORPORA)}):
        path = corpus_plan_path(corpus_id)
        try:
            plan = read_corpus_plan(lake, path)
        except DamagedFileError as error:
            skip_file(path, error)
            continue
        if plan is not None:
            yield plan

"""DuckDB, pandas and Polars read every table of a lake without options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from nightgrid.archive.games.generator_spec import make_boards, read_generator_spec
from nightgrid.archive.ingest import puzzles
from nightgrid.archive.lake.schemas import DICTIONARIES, RESULTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.merge import put_merged
from nightgrid.archive.results.files import RESULT_FILES, result_path
from nightgrid.archive.words.dictionaries import DICTIONARY_FILES
from nightgrid.solvers.registry import GAMES, game

READERS: dict[str, Callable[[str], int]] = {
    "duckdb": lambda folder: len(
        duckdb.sql(f"SELECT * FROM read_parquet('{folder}/**/*.parquet')").fetchall()
    ),
    "pandas": lambda folder: len(pd.read_parquet(folder)),
    "polars": lambda folder: pl.read_parquet(f"{folder}/**/*.parquet").height,
}


def row(name: str) -> dict[str, object]:
    texts = dict.fromkeys(("ask", "rules", "lexicon_id", "solver_version", "reason"), "")
    told = {"job_id": name, "puzzle_id": "p", "game": "pips", "status": "solved", "run_id": "r"}
    costs = {"states": 1, "nodes": 1, "parts": 1, "kernel_ns": 1, "table_bytes": 1}
    return {**texts, **told, **costs, "count": 10**30}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_another_program_reads_every_table(
    lake: Lake, read: Callable[[str], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(puzzles, "merge_folder", lambda *_: ())
    for name in GAMES:
        for seed in (1, 2):
            boards = make_boards(read_generator_spec(f"{name}:n=2,seed={seed}"), 0, 2)
            table = puzzles.puzzles_table(game(name), [board.puzzle for board in boards])
            puzzles.add_puzzles(lake, name, table)
    lake.write_table(result_path("r"), pa.Table.from_pylist([row("a1")], RESULTS))
    put_merged(lake, RESULT_FILES, pa.Table.from_pylist([row("b1"), row("b2")], RESULTS))
    words = pa.Table.from_pylist([{"dictionary_id": "d", "words": ["AB", "AC"]}], DICTIONARIES)
    lake.write_table("dictionaries/d.parquet", words)
    put_merged(lake, DICTIONARY_FILES, words)
    expected = {f"puzzles/{name}": 4 for name in GAMES}
    expected |= {"results": 3, "dictionaries": 2}
    root = Path(lake.url)
    assert {folder: read(str(root / folder)) for folder in expected} == expected

"""How tables should be encoded: what it takes to write a row, and its bytes, for each choice.

python -m benchmarks.encoding [--boards 20000] [--write]

The tables of a count of generated Pips boards, and of Strands boards with all of their solutions
found, as their row groups stand in the lake, are written to memory again and again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from archive.corpus import open_corpus
from archive.encoding import IDS, leaves, parquet_writer
from archive.games import bind_game
from archive.lake import Lake
from archive.runs import open_run, plan_run
from benchmarks.report import Section, finish
from solvers.algebra import Ask
from workers.driver import drive
from workers.executors import InlineExecutor
from workers.settings import Settings

TIMES = 5
Writer = Callable[[pa.NativeFile, pa.Schema], pq.ParquetWriter]


def _with(level: int, *, dictionaries: bool) -> Writer:
    """Encode all columns alike, or ids without a dictionary."""

    def writer(sink: pa.NativeFile, schema: pa.Schema) -> pq.ParquetWriter:
        options: dict[str, Any] = {"write_page_index": True, "write_page_checksum": True}
        named = True if dictionaries else [leaf for leaf in leaves(schema) if leaf not in IDS]
        return pq.ParquetWriter(
            sink, schema, compression="zstd", compression_level=level, use_dictionary=named,
            **options,
        )  # fmt: skip

    return writer


CHOICES: dict[str, Writer] = {
    "zstd 3, dictionaries": _with(3, dictionaries=True),
    "zstd 1, dictionaries": _with(1, dictionaries=True),
    "zstd 3, ids plain": _with(3, dictionaries=False),
    "zstd 1, ids plain": _with(1, dictionaries=False),
    "as the lake has it": parquet_writer,
}


def _tables(folder: Path, spec: str, ask: Ask) -> dict[str, list[pa.Table]]:
    """Answer a corpus; return the row groups of its tables."""
    settings = Settings(lake=str(folder))
    lake = Lake.open(settings.lake)
    corpus = open_corpus(lake, spec, processes=2)
    run_id = plan_run(lake, bind_game(corpus.game), corpus.tables(), ask, settings.budget)
    drive(lake, run_id, InlineExecutor(lake, settings), settings=settings)
    refs = open_run(lake, run_id).chunks()
    paths = {
        "manifest": [refs[0].manifest_path],
        "parts": [ref.part_path for ref in refs],
        "results": [f"results/{run_id}.parquet"],
    }
    if ask.kind != "count":
        paths["solutions"] = [f"solutions/{run_id}.parquet"]
    return {f"{corpus.game}, {name}": _row_groups(lake, files) for name, files in paths.items()}


def _row_groups(lake: Lake, paths: list[str]) -> list[pa.Table]:
    return [
        lake.read_row_group(path, i) for path in paths for i in range(len(lake.row_groups(path)))
    ]


def _cost(tables: list[pa.Table], writer: Writer) -> tuple[float, float]:
    """Write tables, a row group each: microseconds of processor time a row at best, and bytes."""
    rows = sum(table.num_rows for table in tables)
    best_s = float("inf")
    for _ in range(TIMES):
        sink = pa.BufferOutputStream()
        begun = time.process_time()
        with writer(sink, tables[0].schema) as file:
            for table in tables:
                file.write_table(table, row_group_size=max(1, table.num_rows))
        best_s = min(best_s, time.process_time() - begun)
    return 1e6 * best_s / rows, len(sink.getvalue()) / rows


def main() -> int:
    """Encode every table in every way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=20_000)
    parser.add_argument("--write", action="store_true", help="put it into benchmarks/RESULTS.md")
    options = parser.parse_args()
    pips = f"pips:n={options.boards},mix=published,seed=7"
    corpora = ((pips, Ask(kind="count")), ("strands:n=40,seed=7", Ask(kind="best", limit=10)))
    section = Section(
        name="encoding",
        title="How tables are encoded",
        command=f"python -m benchmarks.encoding --boards {options.boards}",
    )
    rows = []
    for spec, ask in corpora:
        with tempfile.TemporaryDirectory(prefix="nightgrid-encoding-") as folder:
            for name, tables in _tables(Path(folder), spec, ask).items():
                for choice, writer in CHOICES.items():
                    took_us, size = _cost(tables, writer)
                    row_count = sum(table.num_rows for table in tables)
                    rows.append((name, f"{row_count:,}", choice, f"{took_us:.2f}", f"{size:.1f}"))
    section.table(("table", "rows", "encoding", "us a row", "bytes a row"), rows)
    section.say(f"Processor time to write a row to memory, the best of {TIMES} times.")
    finish(section, to_results=options.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())

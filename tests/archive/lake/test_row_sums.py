"""Sums of rows: the same however rows are cut, and other ones for other rows, in every table."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nightgrid.archive.games import archive_plug
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.row_sums import RowSums
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import (
    CORPUS_ROWS,
    DICTIONARIES,
    EDITIONS,
    RAW,
    RESULTS,
    manifest_schema,
)
from nightgrid.solvers.registry import GAMES
from tests.archive.lake.test_encoding import rows_of

PUZZLES = {game: archive_plug(game).puzzles() for game in GAMES}
SCHEMAS = {
    "editions": EDITIONS,
    "raw": RAW,
    "corpora.rows": CORPUS_ROWS,
    "dictionaries": DICTIONARIES,
    "results": RESULTS,
    "manifest": manifest_schema(PUZZLES["pips"]),
    **{f"puzzles.{game}": schema for game, schema in PUZZLES.items()},
}
MAY_LACK = [name for name in SCHEMAS if name != "results"]
ROWS = 8


def with_nulls(table: pa.Table) -> pa.Table:
    """Let every third value of the columns that may be null be null."""
    mask = pa.array([i % 3 == 1 for i in range(len(table))])
    for i, field in enumerate(table.schema):
        if field.nullable:
            column = zip(mask, table.column(i), strict=True)
            values = [None if null.as_py() else value.as_py() for null, value in column]
            table = table.set_column(i, field, pa.array(values, field.type))
    return table


def told(*tables: pa.Table) -> dict[str, str]:
    sums = RowSums(tables[0].schema)
    for table in tables:
        sums.add(table)
    return sums.told


@pytest.mark.parametrize("name", SCHEMAS)
def test_sums_do_not_depend_on_how_rows_are_cut(name: str) -> None:
    table = with_nulls(rows_of(SCHEMAS[name], ROWS))
    seed = random.randrange(2**32)
    print(f"seed: {seed}")
    ends = sorted(random.Random(seed).choices(range(ROWS + 1), k=3))
    bounds = list(zip([0, *ends], [*ends, ROWS], strict=True))
    cut = [table.slice(low, high - low) for low, high in bounds]
    assert told(*cut) == told(table)
    assert told(pa.concat_tables(cut)) == told(table)


OF_EACH_KIND = {
    "text": pa.array(["a", None, "", "bc"]),
    "truth": pa.array([True, None, False, True]),
    "small": pa.array([1, None, 3, 255], pa.uint8()),
    "number": pa.array([1, -2, 3, 4], pa.int64()),
    "date": pa.array([0, None, 2, 3], pa.date32()),
    "lists": pa.array([[1, 2], None, [], [3]], pa.list_(pa.int32())),
    "texts": pa.array([["a", "b"], [], None, ["c"]], pa.list_(pa.string())),
}
IN_LAKES = {
    "text": "249ad4cc",
    "truth": "9063a31d",
    "small": "25600016",
    "number": "7cb48b01",
    "date": "349700ed",
    "lists": "a8cfce50",
    "texts": "c0a1cf0d",
}
"""What files of these rows hold."""


def test_sums_are_those_that_lakes_hold_from_before() -> None:
    table = pa.table(OF_EACH_KIND)
    assert told(table.replace_schema_metadata(EDITIONS.metadata)) == IN_LAKES


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_column_has_another_sum_for_other_rows(name: str) -> None:
    table = rows_of(SCHEMAS[name], ROWS)
    turned = table.take(list(range(ROWS))[::-1])
    sums, others = told(table), told(turned)
    assert all(sums[column] != others[column] for column in table.column_names)


def rewritten(folder: Path, path: str, rows: pa.Table, *, keep_sums: bool) -> None:
    """Write other rows as another program does, which may keep the metadata that it has found."""
    metadata = pq.read_metadata(folder / path).metadata if keep_sums else rows.schema.metadata
    kept = {key: value for key, value in metadata.items() if key != b"ARROW:schema"}
    with pq.ParquetWriter(folder / path, rows.schema.with_metadata(kept)) as writer:
        for start in range(0, len(rows), 3):
            writer.write_table(rows.slice(start, 3).replace_schema_metadata(kept))


@pytest.mark.parametrize("name", SCHEMAS)
def test_rows_that_changed_are_noticed_by_every_reader(name: str, tmp_path: Path) -> None:
    lake, path, schema = Lake.open(str(tmp_path)), "x/a.parquet", SCHEMAS[name]
    rows = rows_of(schema, ROWS)
    groups = [rows.slice(start, 3) for start in range(0, ROWS, 3)]
    lake.write_row_groups(path, groups, schema)
    key = schema.names[0]
    values = rows.column(key).combine_chunks()
    assert lake.rows_among(path, schema, schema.names, key, values).equals(rows)
    assert lake.read_row_groups(path, [0, 2]).equals(pa.concat_tables([groups[0], groups[2]]))

    rewritten(tmp_path, path, rows.take([*range(ROWS - 1), 0]), keep_sums=True)

    assert lake.read_row_groups(path, [0, 1]).equals(pa.concat_tables(groups[:2]))
    for read in (
        lambda: lake.read_file(path, schema),
        lambda: list(lake.scan_file(path, schema, schema.names)),
        lambda: lake.rows_among(path, schema, schema.names, key, values),
        lambda: lake.read_row_groups(path, [1, 2]),
    ):
        with pytest.raises(DamagedFileError, match="changed since it was written"):
            read()


@pytest.mark.parametrize("name", MAY_LACK)
def test_files_that_earlier_programs_wrote_without_sums_are_read(name: str, tmp_path: Path) -> None:
    lake, path, schema = Lake.open(str(tmp_path)), "x/a.parquet", SCHEMAS[name]
    rows = rows_of(schema, ROWS)
    lake.write_table(path, rows)
    rewritten(tmp_path, path, rows, keep_sums=False)
    assert lake.read_file(path, schema).equals(rows)
    assert lake.read_row_groups(path, [0, 1, 2]).equals(rows)

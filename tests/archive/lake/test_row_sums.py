"""Sums of rows: the same however rows are cut, and other ones for other rows, in every table."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nightgrid.archive.games import archive_plug
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.row_sums import GROUP_SUMS, RowSums
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
from tests.archive.other_program import write_again

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
ROWS, GROUP_ROWS = 8, 3


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


KINDS = {
    "text": (pa.string(), ["a", "", "bc"]),
    "truth": (pa.bool_(), [True, False, True]),
    "small": (pa.uint8(), [1, 3, 255]),
    "number": (pa.int64(), [1, -2, 3]),
    "fraction": (pa.float64(), [0.5, -0.0, 3.25]),
    "decimal": (pa.decimal128(38), [1, 10**37, 3]),
    "date": (pa.date32(), [0, 2, 3]),
    "time": (pa.timestamp("us", "UTC"), [0, 2, 3]),
    "lists": (pa.list_(pa.int32()), [[1, 2], [], [3]]),
    "texts": (pa.list_(pa.string()), [["a", "b"], [], ["c"]]),
}
SUMS_BEFORE = {
    "text": ("2000ac08", "eee94f43"),
    "truth": ("f6e145fa", "0cb7de0d"),
    "small": ("43e2e6f1", "9bd00426"),
    "number": ("a7baefea", "75131e03"),
    "fraction": ("320d2b26", "7e617c4e"),
    "decimal": ("1e013d49", "64b4a0ee"),
    "date": ("b478538b", "43c2376d"),
    "time": ("a26a12c5", "8a32a6bf"),
    "lists": ("c12c7aac", "4824f97b"),
    "texts": ("2519f5e5", "ac117632"),
}
"""Of each kind: without a null, and with one. Files of lakes hold such sums, as they were made
before columns were read from their buffers."""


@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_those_that_files_of_lakes_hold(kind: str) -> None:
    type_, values = KINDS[kind]
    for known, column in zip(SUMS_BEFORE[kind], (values, [*values, None]), strict=True):
        # Of the rows of a larger table: they do not begin where its buffers do.
        rows = pa.table({kind: pa.array([values[-1], *column, values[0]], type_)})
        rows = rows.slice(1, len(column)).replace_schema_metadata(EDITIONS.metadata)
        assert told(rows) == {kind: known}


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_column_has_another_sum_for_other_rows(name: str) -> None:
    table = rows_of(SCHEMAS[name], ROWS)
    turned = table.take(list(range(ROWS))[::-1])
    sums, others = told(table), told(turned)
    assert all(sums[column] != others[column] for column in table.column_names)


@pytest.mark.parametrize("name", SCHEMAS)
def test_rows_that_changed_are_noticed_by_every_reader(name: str, tmp_path: Path) -> None:
    lake, path, schema = Lake.open(str(tmp_path)), "x/a.parquet", SCHEMAS[name]
    rows = rows_of(schema, ROWS)
    groups = [rows.slice(start, GROUP_ROWS) for start in range(0, ROWS, GROUP_ROWS)]
    lake.write_row_groups(path, groups, schema)
    key = schema.names[0]
    values = rows.column(key).combine_chunks()
    assert lake.rows_among(path, schema, schema.names, key, values).equals(rows)
    assert lake.read_row_groups(path, [0, 2]).equals(pa.concat_tables([groups[0], groups[2]]))

    changed = rows.take([*range(ROWS - 1), 0])
    write_again(tmp_path / path, changed, keep_sums=True, group_rows=GROUP_ROWS)

    assert lake.read_row_groups(path, [0, 1]).equals(pa.concat_tables(groups[:2]))
    for read in (
        lambda: lake.read_file(path, schema),
        lambda: list(lake.scan_file(path, schema, schema.names)),
        lambda: lake.rows_among(path, schema, schema.names, key, values),
        lambda: lake.read_row_groups(path, [1, 2]),
        lambda: list(lake.iter_row_groups(path, [key])),
    ):
        with pytest.raises(DamagedFileError, match="changed since it was written"):
            read()


@pytest.mark.parametrize("name", SCHEMAS)
def test_rows_of_groups_without_sums_are_compared_with_those_of_the_file(
    name: str, tmp_path: Path
) -> None:
    lake, path, schema = Lake.open(str(tmp_path)), "x/a.parquet", SCHEMAS[name]
    rows = rows_of(schema, ROWS)
    lake.write_table(path, rows)
    key = schema.names[0]
    readers = (
        lambda: lake.read_file(path, schema),
        lambda: pa.concat_tables(lake.scan_file(path, schema, schema.names)),
        lambda: lake.rows_among(path, schema, schema.names, key, rows.column(key)),
        lambda: lake.read_row_groups(path, [0, 1, 2]),
        lambda: pa.concat_tables(lake.iter_row_groups(path, schema.names)),
    )
    write_again(tmp_path / path, rows, keep_sums=True, group_rows=GROUP_ROWS)
    assert GROUP_SUMS.encode() not in pq.read_metadata(tmp_path / path).metadata
    assert all(read().equals(rows) for read in readers)

    changed = rows.take([*range(ROWS - 1), 0])
    write_again(tmp_path / path, changed, keep_sums=True, group_rows=GROUP_ROWS)
    # The first row group is as it was, which its reader cannot know.
    for read in (*readers, lambda: lake.read_row_group(path, 0)):
        with pytest.raises(DamagedFileError, match="changed since it was written"):
            read()


@pytest.mark.parametrize("group_rows", [2, ROWS])
def test_rows_that_were_cut_otherwise_are_compared_with_the_sums_of_the_file(
    group_rows: int, tmp_path: Path
) -> None:
    lake, path, rows = Lake.open(str(tmp_path)), "x/a.parquet", rows_of(EDITIONS, ROWS)
    cut = [rows.slice(start, GROUP_ROWS) for start in range(0, ROWS, GROUP_ROWS)]
    lake.write_row_groups(path, cut, EDITIONS)
    write_again(tmp_path / path, rows, keep_sums=True, group_rows=group_rows)
    assert pa.concat_tables(lake.scan_file(path, EDITIONS, EDITIONS.names)).equals(rows)
    changed = rows.take([*range(ROWS - 1), 0])
    write_again(tmp_path / path, changed, keep_sums=True, group_rows=group_rows)
    with pytest.raises(DamagedFileError, match="changed since it was written"):
        list(lake.scan_file(path, EDITIONS, EDITIONS.names))


def test_a_file_without_a_column_is_damaged(tmp_path: Path) -> None:
    lake, path = Lake.open(str(tmp_path)), "x/a.parquet"
    lake.write_table(path, rows_of(RAW, ROWS))
    with pytest.raises(DamagedFileError, match="it has no column job_id"):
        next(lake.iter_row_groups(path, ["job_id"]))


@pytest.mark.parametrize("name", MAY_LACK)
def test_files_that_earlier_programs_wrote_without_sums_are_read(name: str, tmp_path: Path) -> None:
    lake, path, schema = Lake.open(str(tmp_path)), "x/a.parquet", SCHEMAS[name]
    rows = rows_of(schema, ROWS)
    lake.write_table(path, rows)
    write_again(tmp_path / path, rows, keep_sums=False, group_rows=GROUP_ROWS)
    assert lake.read_file(path, schema).equals(rows)
    assert lake.read_row_groups(path, [0, 1, 2]).equals(rows)

"""How columns are stored: what each reader has to know, and that the rows come back."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nightgrid.archive.games import archive_plug
from nightgrid.archive.lake.encoding import leaves, parquet_writer
from nightgrid.archive.lake.tables import DICTIONARIES, RESULTS, manifest_schema
from nightgrid.solvers.registry import GAMES

NUMBERS = (pa.int32(), pa.int64())
ITEMS = {
    pa.string(): ["word", "words", "work"],
    pa.uint8(): [0, 255, 7],
    pa.int32(): [-1, 2**31 - 1, -(2**31)],
    pa.int64(): [-(2**63), 2**40 + 1, 2**63 - 1],
}


def written(table):
    """Write a table to memory; return its encodings by column path, and the bytes."""
    sink = pa.BufferOutputStream()
    with parquet_writer(sink, table.schema) as writer:
        writer.write_table(table)
    data = sink.getvalue()
    group = pq.ParquetFile(data).metadata.row_group(0)
    columns = [group.column(i) for i in range(group.num_columns)]
    return {column.path_in_schema: set(column.encodings) for column in columns}, data


def rows_of(schema, count=4):
    """Make rows with something in every column."""
    columns = []
    for field in schema:
        if pa.types.is_list(field.type):
            values = [ITEMS[field.type.value_type][:i] for i in range(count)]
        elif pa.types.is_string(field.type):
            values = [f"text {i}" for i in range(count)]
        elif pa.types.is_boolean(field.type):
            values = [i % 2 == 0 for i in range(count)]
        else:
            values = list(range(count))
        columns.append(pa.array(values, field.type))
    return pa.table(columns, schema=schema)


@pytest.mark.parametrize("puzzles", [archive_plug(g).puzzles() for g in GAMES], ids=GAMES)
def test_lists_of_numbers_are_stored_byte_by_byte_in_manifests_alone(puzzles):
    for schema, split in ((manifest_schema(puzzles), True), (puzzles, False)):
        encodings, data = written(rows_of(schema))
        lists = [
            leaf
            for leaf, field in leaves(schema).items()
            if pa.types.is_list(field.type) and field.type.value_type in NUMBERS
        ]
        assert lists
        for leaf, used in encodings.items():
            assert ("BYTE_STREAM_SPLIT" in used) == (split and leaf in lists), leaf
        assert pq.read_table(data).equals(rows_of(schema))
        # Lists without anything in them.
        nothing = rows_of(schema, 1)
        assert pq.read_table(written(nothing)[1]).equals(nothing)


@pytest.mark.parametrize("schema", [RESULTS, DICTIONARIES], ids=["results", "dictionaries"])
def test_ids_and_sorted_words_have_no_dictionary(schema):
    encodings, data = written(rows_of(schema))
    with_dictionary = {leaf for leaf, used in encodings.items() if "RLE_DICTIONARY" in used}
    assert not with_dictionary & {"job_id", "puzzle_id", "words.list.element"}
    assert pq.read_table(data).equals(rows_of(schema))

"""A flipped bit of a page fails its checksum, and is not an outage of the lake."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.schemas import EDITIONS, PARTS, RESULTS
from nightgrid.archive.lake.storage import Lake

ITEMS = {
    pa.string(): ["word", "words", "work"],
    pa.uint8(): [0, 255, 7],
    pa.int32(): [-1, 2**31 - 1, -(2**31)],
    pa.int64(): [-(2**63), 2**40 + 1, 2**63 - 1],
}


def rows_of(schema: pa.Schema, count: int = 4) -> pa.Table:
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


@pytest.mark.parametrize("schema", [PARTS, RESULTS, EDITIONS], ids=["parts", "results", "editions"])
def test_a_flipped_bit_of_a_page_is_damage(tmp_path: Path, schema: pa.Schema) -> None:
    lake, path = Lake.open(str(tmp_path)), "runs/x.parquet"
    lake.write_table(path, rows_of(schema))
    data = lake.read_bytes(path)
    group = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0)
    draw = random.Random(1)
    for number in range(group.num_columns):
        column = group.column(number)
        begin = column.dictionary_page_offset or column.data_page_offset
        # The last byte of a chunk belongs to the data of its last page.
        at = begin + column.total_compressed_size - 1
        harmed = data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]
        lake.write_bytes(path, harmed)
        with pytest.raises(DamagedFileError):
            lake.read_table(path, schema)

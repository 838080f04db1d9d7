"""Tables are brought into the shape of a schema, or refused."""

from __future__ import annotations

import pyarrow as pa
import pytest

from nightgrid.archive.lake.conforming import (
    conform,
    shaped,
)
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.solvers.errors import PermanentError


def test_a_file_that_lacks_a_column_is_damaged() -> None:
    schema = pa.schema([pa.field("a", pa.int64(), nullable=False), pa.field("b", pa.string())])
    with pytest.raises(DamagedFileError, match=r"^x: columns do not fit the schema: .*'a'"):
        shaped(pa.table({"b": ["1"]}), schema, "x")


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (pa.array([1, None], pa.uint8()), pa.int64()),
        (pa.array([1, None]), pa.decimal128(38, 0)),
        (pa.nulls(2), pa.string()),
        (pa.array(["x"]).dictionary_encode(), pa.string()),
        (pa.array([[1]], pa.large_list(pa.int32())), pa.list_(pa.int64())),
        (pa.array([0], pa.timestamp("s")), pa.timestamp("us")),
    ],
)
def test_a_column_of_another_width_is_accepted(given: pa.Array, kind: pa.DataType) -> None:
    schema = pa.schema([pa.field("a", kind)])
    table = conform(pa.table({"a": given}), schema)
    assert table.schema == schema
    assert table.column("a").cast(kind).to_pylist() == given.cast(kind).to_pylist()


def test_a_value_that_a_type_cannot_hold_is_refused() -> None:
    for given in (pa.array([2**40]), pa.array(["x"]), pa.array([[1]])):
        with pytest.raises(PermanentError, match="do not fit"):
            conform(pa.table({"a": given}), pa.schema([pa.field("a", pa.int32())]))


def test_columns_are_those_of_the_schema_in_its_order_and_with_its_metadata() -> None:
    schema = pa.schema(
        [pa.field("a", pa.int64(), nullable=False), pa.field("b", pa.string())],
        metadata={"version": "1"},
    )
    table = conform(pa.table({"b": ["x"], "a": [1]}), schema)
    assert table.schema.equals(schema, check_metadata=True)
    assert table.to_pylist() == [{"a": 1, "b": "x"}]
    assert conform(table, schema) is table
    bare = table.replace_schema_metadata(None)
    assert conform(bare, schema).schema.equals(schema, check_metadata=True)
    for given, says in (
        ({"a": [1], "b": ["x"], "c": [1], "d": [1]}, "'c'"),
        ({"a": [1]}, "'b'"),
        ({"a": [1, None], "b": ["x", None]}, "'a' with null values"),
    ):
        with pytest.raises(PermanentError, match=says):
            conform(pa.table(given), schema)
    assert conform(pa.table({"a": [1], "b": pa.nulls(1)}), schema).to_pylist() == [
        {"a": 1, "b": None}
    ]

"""Tables and attempts of schema version 3 are read with the codes that they do not have."""

from __future__ import annotations

import pyarrow as pa
import pytest

from nightgrid.archive.lake.conforming import (
    conform,
    shaped,
)
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import PermanentError


@pytest.fixture
def lake(tmp_path: object) -> Lake:
    return Lake.open(str(tmp_path))


def test_a_table_is_shaped_with_nulls_for_what_it_lacks() -> None:
    schema = pa.schema([pa.field("a", pa.int64(), nullable=False), pa.field("b", pa.string())])
    assert shaped(pa.table({"a": [1]}), schema, "x").to_pylist() == [{"a": 1, "b": None}]
    with pytest.raises(DamagedFileError, match=r"^x: column a is missing; expected int64$"):
        shaped(pa.table({"b": ["1"]}), schema, "x")


def _field(kind: pa.DataType, **options: bool) -> pa.Schema:
    return pa.schema([pa.field("a", kind, **options)])


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (pa.array([1, None], pa.int32()), pa.int64()),
        (pa.array([1, None], pa.uint8()), pa.int64()),
        (pa.array([1, None]), pa.float64()),
        (pa.array([1, None]), pa.decimal128(38, 0)),
        (pa.array([1.5], pa.float32()), pa.float64()),
        (pa.nulls(2), pa.int64()),
        (pa.nulls(2), pa.string()),
        (pa.array(["x"], pa.large_string()), pa.string()),
        (pa.array(["x"], pa.string_view()), pa.string()),
        (pa.array(["x"]).dictionary_encode(), pa.string()),
        (pa.array(["x"]), pa.large_string()),
        (pa.array([[1]], pa.list_(pa.int32())), pa.list_(pa.int64())),
        (pa.array([[1]], pa.large_list(pa.int32())), pa.list_(pa.int64())),
        (pa.array([[1]], pa.list_(pa.int32())), pa.large_list(pa.int64())),
        (pa.array([True]), pa.bool_()),
        (pa.array([0], pa.timestamp("s")), pa.timestamp("us")),
        (pa.array([0], pa.date32()), pa.date64()),
    ],
)
def test_a_column_of_the_same_kind_is_taken_however_wide(
    given: pa.Array, kind: pa.DataType
) -> None:
    table = conform(pa.table({"a": given}), _field(kind))
    assert table.schema == _field(kind)
    assert table.column("a").cast(kind).to_pylist() == given.cast(kind).to_pylist()


@pytest.mark.parametrize(
    ("given", "kind", "says"),
    [
        (pa.array([1]), pa.string(), "column a is int64; expected string"),
        (pa.array(["1"]), pa.int64(), "column a is string; expected int64"),
        (pa.array([1.0]), pa.int64(), "column a is double; expected int64"),
        (pa.array([1]), pa.bool_(), "column a is int64; expected bool"),
        (pa.array([True]), pa.int64(), "column a is bool; expected int64"),
        (pa.array([b"x"]), pa.string(), "column a is binary; expected string"),
        (pa.array([["1"]]), pa.list_(pa.int64()), "column a is list<"),
        (pa.array([[1]]), pa.int64(), "column a is list<"),
        (pa.array([1]), pa.date32(), "column a is int64; expected date32[day]"),
        (pa.array([2**40]), pa.int32(), "column a: Integer value 1099511627776 not in range"),
    ],
)
def test_a_column_of_another_kind_is_refused(given: pa.Array, kind: pa.DataType, says: str) -> None:
    with pytest.raises(PermanentError) as error:
        conform(pa.table({"a": given}), _field(kind))
    assert str(error.value).startswith(says)


def test_columns_are_those_of_the_schema_in_its_order_and_with_its_metadata() -> None:
    schema = pa.schema(
        [pa.field("a", pa.int64(), nullable=False), pa.field("b", pa.string())],
        metadata={"version": "1"},
    )
    table = conform(pa.table({"b": ["x"], "a": [1]}), schema)
    assert table.schema.equals(schema, check_metadata=True)
    assert table.to_pylist() == [{"a": 1, "b": "x"}]
    assert conform(table, schema) is table
    for given, says in (
        ({"a": [1], "b": ["x"], "c": [1], "d": [1]}, "columns c, d are not in the schema"),
        ({"a": [1]}, "column b is missing; expected string"),
        ({"a": [1, None], "b": ["x", None]}, "column a has nulls; expected none"),
    ):
        with pytest.raises(PermanentError) as error:
            conform(pa.table(given), schema)
        assert str(error.value) == says
    assert conform(pa.table({"a": [1], "b": pa.nulls(1)}), schema).to_pylist() == [
        {"a": 1, "b": None}
    ]


def test_two_columns_of_one_name_are_damage() -> None:
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([1])], ["a", "a"])
    with pytest.raises(DamagedFileError, match=r"^x: two of its columns have one name$"):
        shaped(twice, _field(pa.int64()), "x")

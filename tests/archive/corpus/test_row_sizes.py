"""Rows that are too large to be boards are faults; the others come in tables of a bounded size."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from nightgrid.archive.corpus import row_sizes
from nightgrid.archive.corpus.row_sizes import bounded
from nightgrid.archive.payloads.published import Fault


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, most in (("LIST_VALUES_MAX", 4), ("TEXT_BYTES_MAX", 3), ("PIECE_VALUES", 10)):
        monkeypatch.setattr(row_sizes, name, most)


def _pieces(table: pa.Table) -> list[object]:
    return [
        (piece.place, piece.message) if isinstance(piece, Fault) else piece.to_pylist()
        for piece in bounded(table)
    ]


@pytest.mark.parametrize("kind", [pa.list_(pa.int32()), pa.large_list(pa.int64())])
def test_a_list_of_the_bound_is_taken_and_a_longer_one_is_a_fault(kind: pa.DataType) -> None:
    table = pa.table({"x": pa.array([[1] * 4, [1] * 5, None, []], kind)})
    assert _pieces(table) == [
        [{"x": [1] * 4}],
        ("x", "a list of 5 values; expected at most 4"),
        [{"x": None}, {"x": []}],
    ]


def test_rows_come_in_tables_of_a_bounded_size_in_their_order() -> None:
    rows = [{"x": [i] * 4} for i in range(5)]
    # A row counts one more than its lists have: two rows are ten.
    pieces = _pieces(pa.Table.from_pylist(rows))
    assert pieces == [rows[0:2], rows[2:4], rows[4:]]
    assert _pieces(pa.Table.from_pylist(rows[:2])) == [rows[:2]]


def test_each_piece_counts_from_its_own_first_row() -> None:
    rows = [{"x": [i] * length} for i, length in enumerate((4, 4, 3, 3, 2, 2))]
    assert _pieces(pa.Table.from_pylist(rows)) == [rows[0:2], rows[2:4], rows[4:]]
    rows = [{"x": [i] * length} for i, length in enumerate((4, 4, 3, 3, 1))]
    assert _pieces(pa.Table.from_pylist(rows)) == [rows[0:2], rows[2:]]


def test_columns_of_numbers_take_no_bound_away_from_those_behind_them() -> None:
    table = pa.table({"n": [1, 2], "x": [[1] * 4, [1] * 5]})
    assert _pieces(table) == [
        [{"n": 1, "x": [1] * 4}],
        ("x", "a list of 5 values; expected at most 4"),
    ]


def test_a_text_that_is_too_long_is_a_fault_and_others_are_plain() -> None:
    texts = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, None, 0], pa.int8()), pa.array(["abc", "abcd"])
    )
    table = pa.table({"t": texts})
    assert _pieces(table) == [
        [{"t": "abc"}],
        ("t", "a text of 4 bytes; expected at most 3"),
        [{"t": None}, {"t": "abc"}],
    ]
    assert next(iter(bounded(table))).schema.field("t").type == pa.string()


def test_a_piece_does_not_keep_the_values_of_its_neighbours() -> None:
    values = np.zeros(1000, np.int32)
    table = pa.table({"x": pa.ListArray.from_arrays(np.array([0, 996, 1000], np.int32), values)})
    fault, piece = bounded(table)
    assert isinstance(fault, Fault)
    assert len(piece.column("x").chunk(0).values) == 4

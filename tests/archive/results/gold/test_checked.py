"""Official solutions are looked at once, and a night names and hashes those that are new alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import CHECKED
from nightgrid.archive.results.gold import checked
from nightgrid.archive.results.gold.checked import Check, Checked
from nightgrid.solvers.registry import game

PIPS = game("pips")
PATH = "checked/pips-official.parquet"


def rows_of(names: Sequence[str]) -> pa.Table:
    return pa.table({"puzzle_id": list(names), "official": [f"of {name}" for name in names]})


class Looking:
    """What looks at solutions, and keeps which rows and how many names it was asked for."""

    def __init__(self, lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lake = lake
        self.looked: list[list[int]] = []
        self.hashed: list[int] = []
        keys = Checked._keys

        def counting(asked: Checked, rows: pa.Table) -> pa.Array:
            self.hashed.append(len(rows))
            return keys(asked, rows)

        monkeypatch.setattr(Checked, "_keys", counting)

    def find(self, names: Sequence[str], ask: str = "") -> list[int]:
        """Give the numbers that are known, which are those in the names."""

        def look(rows: Sequence[int]) -> list[Check]:
            self.looked.append(list(rows))
            return [Check(None, int(names[row][1:]), 3) for row in rows]

        self.looked, self.hashed = [], []
        found = Checked(self.lake, PIPS, "official", ask).find(rows_of(names), look)
        return found.column("number").to_pylist()


@pytest.fixture
def looking(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> Looking:
    """Give what has looked at ten solutions."""
    found = Looking(lake, monkeypatch)
    assert found.find(TEN) == [*range(10)]
    assert (found.looked, found.hashed) == ([[*range(10)]], [10])
    return found


TEN = [f"p{number}" for number in range(10)]


def test_the_same_again_is_neither_named_nor_written(looking: Looking) -> None:
    with mock.patch.object(Lake, "write_table", side_effect=AssertionError):
        assert looking.find(TEN) == [*range(10)]
    assert (looking.looked, looking.hashed) == ([], [])


def test_of_more_rows_those_at_the_end_alone_are_named(looking: Looking) -> None:
    assert looking.find([*TEN, "p10", "p3", "p10"]) == [*range(10), 10, 3, 10]
    assert (looking.looked, looking.hashed) == ([[10]], [3])
    assert looking.find([*TEN, "p10", "p3", "p10"]) == [*range(10), 10, 3, 10]
    assert (looking.looked, looking.hashed) == ([], [])


@pytest.mark.parametrize(
    ("names", "looked"),
    [
        (TEN[:4], []),
        (TEN[::-1], []),
        (["p77", *TEN], [[0]]),
        ([*TEN[:5], "p55", *TEN[6:], "p11"], [[5, 10]]),
    ],
)
def test_rows_in_another_order_are_known_and_new_ones_among_them_are_looked_at(
    looking: Looking, names: list[str], looked: list[list[int]]
) -> None:
    assert looking.find(names) == [int(name[1:]) for name in names]
    assert looking.looked == looked
    table = looking.lake.read_table(PATH, CHECKED)
    assert table.column("number").to_pylist() == [int(name[1:]) for name in names]


def rewritten(lake: Lake, change: Any) -> None:
    table, metadata = lake.read_with_metadata(PATH, CHECKED)
    lake.write_table(PATH, change(table).replace_schema_metadata(metadata))


def swapped(table: pa.Table) -> pa.Table:
    return table.take([1, 0, *range(2, 10)])


def test_rows_of_the_file_that_were_swapped_are_not_taken_by_their_place(looking: Looking) -> None:
    rewritten(looking.lake, swapped)
    assert looking.find(TEN) == [*range(10)]


@pytest.mark.parametrize("data", [None, b"", b"PAR1 and nothing else"])
def test_a_file_that_is_lost_or_damaged_costs_only_time(
    looking: Looking, data: bytes | None
) -> None:
    if data is None:
        looking.lake.delete(PATH)
    else:
        looking.lake.write_bytes(PATH, data)
    assert looking.find(TEN) == [*range(10)]
    assert looking.looked == [[*range(10)]]


def test_another_ask_rule_or_program_looks_at_all_again(
    looking: Looking, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert looking.find(TEN, "best(3)") == [*range(10)]
    assert looking.looked == [[*range(10)]]
    monkeypatch.setattr(checked, "program_version", lambda: "later")
    assert looking.find(TEN, "best(3)") == [*range(10)]
    assert looking.looked == [[*range(10)]]

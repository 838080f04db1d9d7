"""Observations that go on where they ended are those of all editions."""

from __future__ import annotations

import datetime as dt
import json

import pyarrow as pa
import pytest

from nightgrid.archive.games.letterboxed.observations import remarks

FIRST = dt.date(2026, 1, 1)
MISSING = 4
"""A day without an edition."""
_SCHEMA = pa.schema(
    [
        ("date", pa.date32()),
        ("puzzle_id", pa.string()),
        ("source_id", pa.string()),
        ("official_solution", pa.string()),
        ("yesterday", pa.string()),
    ]
)


def editions() -> pa.Table:
    """Ten days: what is said of the day before is wrong on every second, and an id comes twice."""
    rows = []
    for day in (day for day in range(10) if day != MISSING):
        before = f"W{day - 1 if day % 2 else 'RONG'}"
        row = {
            "date": FIRST + dt.timedelta(days=day),
            "puzzle_id": f"{day:032x}",
            "source_id": f"{day % 6}",
            "official_solution": json.dumps({"words": [f"W{day}"]}),
            "yesterday": json.dumps({"words": [before]}) if day else None,
        }
        rows.append(row)
    return pa.Table.from_pylist(rows, _SCHEMA)


def boards() -> pa.Table:
    column = pa.array([f"{day:032x}" for day in range(10)])
    return pa.table({"puzzle_id": column})


@pytest.mark.parametrize("since", range(10))
def test_remarks_of_the_first_editions_and_of_the_later_ones_are_all(
    since: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nightgrid.archive.games.letterboxed.observations._sides", lambda _: {})
    table = editions()
    whole = [(row["date"], *told) for row, *told in remarks(boards, table)]
    assert len(whole) > 4
    dates = table.column("date").to_pylist()
    first = dates[since] if since < len(dates) else dt.date.max
    early = [(row["date"], *told) for row, *told in remarks(boards, table.slice(0, since))]
    later = [(row["date"], *told) for row, *told in remarks(boards, table, since)]
    assert sorted(early + [row for row in later if row[0] >= first]) == sorted(whole)

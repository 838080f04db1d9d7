"""One table as a drawing, CSV, JSON and Parquet."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nightgrid.archive.lake.schemas import fields
from nightgrid.service.terminal.formats import (
    TABLE_ROWS,
    Format,
    chosen_format,
    write_table,
)
from nightgrid.solvers.errors import PermanentError

SCHEMA = pa.schema(fields("name string, date date32?, count count?, seconds double, why string"))
HUGE = 10**37 + 1
ROWS = [
    {"name": "a", "date": dt.date(2026, 1, 2), "count": Decimal(HUGE), "seconds": 0.25, "why": ""},
    {"name": 'b, "c"', "date": None, "count": None, "seconds": 1234.5, "why": "two\nlines"},
]


def tables() -> Iterator[pa.Table]:
    for row in ROWS:
        yield pa.Table.from_pylist([row], SCHEMA)


def test_csv_is_read_back_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert write_table(tables(), SCHEMA, Format.CSV) == 2
    out = capsys.readouterr().out
    first, second = csv.DictReader(io.StringIO(out))
    assert first == {
        "name": "a", "date": "2026-01-02", "count": str(HUGE), "seconds": "0.25", "why": "",
    }  # fmt: skip
    assert (second["name"], second["count"], second["why"]) == ('b, "c"', "", "two\nlines")
    write_table(iter(()), SCHEMA, Format.CSV)
    assert capsys.readouterr().out == "name,date,count,seconds,why\n"


def test_json_has_whole_numbers_and_dates(capsys: pytest.CaptureFixture[str]) -> None:
    write_table(tables(), SCHEMA, Format.JSON)
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["date"], first["count"]) == ("2026-01-02", HUGE)
    assert (second["date"], second["count"]) == (None, None)


def test_parquet_keeps_types_and_replaces_a_file_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    path.write_text("before")
    write_table(tables(), SCHEMA, Format.PARQUET, path)
    assert pq.read_table(path).to_pylist() == ROWS

    def broken() -> Iterator[pa.Table]:
        yield from tables()
        raise PermanentError("gone")

    with pytest.raises(PermanentError, match="gone"):
        write_table(broken(), SCHEMA, Format.PARQUET, path)
    assert pq.read_table(path).num_rows == 2
    assert [file.name for file in tmp_path.iterdir()] == ["rows.parquet"]


def test_a_drawing_has_the_chosen_columns(capsys: pytest.CaptureFixture[str]) -> None:
    write_table(tables(), SCHEMA, Format.TABLE, shown={"name": "what", "why|date": "why"})
    out = capsys.readouterr().out
    assert "what" in out
    assert "seconds" not in out
    assert "two lines" in out
    assert "2026-01-02" in out, "where the first column is empty the second one stands"


def test_the_rest_of_a_long_list_follows_in_a_table_of_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = pa.table({"n": range(TABLE_ROWS + 1)})
    write_table([table], table.schema, Format.TABLE)
    out = capsys.readouterr().out
    assert out.count("┏") == 2
    assert out.splitlines()[-2] == "│ 1,000 │"


def test_the_name_of_a_file_says_its_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert chosen_format(None, tmp_path / "x.CSV", json=False) is Format.CSV
    assert chosen_format(None, tmp_path / "x", json=True) is Format.JSON
    assert chosen_format(None, None, json=False) is None
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    with pytest.raises(PermanentError, match="not for a terminal"):
        chosen_format(Format.PARQUET, None, json=False)

"""`nightgrid query`: rows in every format, the list of views, and errors."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

import nightgrid
from tests.archive.lake.objects.object_server import ObjectServer
from tests.archive.views.conftest import JOBS, fill

Invoke = Callable[..., tuple[int, str, str]]
SPREAD = "select status, count(*) as jobs from results group by 1 order by 1"
ROWS = [{"status": "over_budget", "jobs": 1}, {"status": "solved", "jobs": 4}]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> str:
    from nightgrid.archive.lake.storage import Lake

    url = str(tmp_path_factory.mktemp("query") / "lake")
    fill(Lake.open(url))
    return url


@pytest.fixture
def lake(filled: str, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("NIGHTGRID_LAKE", filled)
    return filled


def test_a_proxy_that_answers_for_a_store_is_not_an_empty_lake(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a page instead of every answer, Then no number of rows is printed."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    with ObjectServer("s3") as server:
        server.page = b"<html><body><p>Sign in<br></p></body></html>"
        code, out, err = invoke("query", SPREAD, "--lake", server.lake())
        assert (code, out) == (1, "")
        assert "s3://bucket/lake" in err
        assert "does not answer as an object store does" in err


@pytest.mark.usefixtures("lake")
def test_rows_are_drawn_or_written_in_every_format(invoke: Invoke, tmp_path: Path) -> None:
    code, out, err = invoke("query", SPREAD.replace("jobs", '"a|b_c"'))
    assert (code, err) == (0, "")
    assert all(name in out for name in ("over_budget", "a|b_c", "solved"))
    assert invoke("query", SPREAD, "--format", "csv")[1] == "status,jobs\nover_budget,1\nsolved,4\n"
    lines = invoke("query", SPREAD, "--json")[1].splitlines()
    assert [json.loads(line) for line in lines] == ROWS
    path = tmp_path / "spread.parquet"
    assert invoke("query", SPREAD, "-o", str(path))[0] == 0
    assert pq.read_table(path).to_pylist() == ROWS


@pytest.mark.usefixtures("lake")
def test_values_of_every_type_have_json(invoke: Invoke) -> None:
    kinds = (
        "2.5 as a, 'inf'::double as b, [1.5, 2] as c, {'x': date '2026-01-01'} as d, null as e, "
        "time '10:00' as f, 'z'::blob as g, interval 1 day as h, 10::decimal(38, 0) as i"
    )
    code, out, _ = invoke("query", f"select {kinds}", "--json")
    assert code == 0
    told = json.loads(out)
    assert [told[name] for name in "abcdefgi"] == [
        2.5, None, [1.5, 2], {"x": "2026-01-01"}, None, "10:00:00", "7a", 10,
    ]  # fmt: skip
    assert invoke("query", f"select {kinds}")[0] == 0
    assert invoke("query", f"select {kinds}", "--format", "csv")[0] == 0


@pytest.mark.usefixtures("lake")
def test_sql_comes_from_standard_input(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    def given(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    given(SPREAD.encode())
    assert invoke("query", "-", "--format", "csv")[1].startswith("status,jobs\n")
    given(b"select '\xff'")
    code, _, err = invoke("query", "-")
    assert (code, err) == (3, "nightgrid: the SQL is not UTF-8 at byte 8\n")
    monkeypatch.setattr(sys, "stdin", None)
    code, _, err = invoke("query", "-")
    assert code == 3
    assert err == "nightgrid: cannot read a SELECT from standard input: it is closed\n"


def test_views_are_listed_without_a_lake(invoke: Invoke, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = invoke("query", "--views")
    assert code == 0
    assert "how each job ended" in out
    columns = [json.loads(line) for line in invoke("query", "--views", "--json")[1].splitlines()]
    expected = {"view": "counts", "column": "date", "type": "DATE"}
    assert any(expected.items() <= column.items() for column in columns)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("select count( from counts",), 'column 15: syntax error at or near "from"; expected SEL'),
        (("select * from counts where",), 'syntax error at or near "where"; expected SELECT'),
        (("select * from 'lake/results/*.parquet'",), '*.parquet": a query can only read views'),
    ],
)
@pytest.mark.usefixtures("lake")
def test_bad_queries_get_one_sentence(
    invoke: Invoke, words: tuple[str, ...], sentence: str
) -> None:
    code, out, err = invoke("query", *words)
    assert (code, out) == (3, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_a_view_is_one_line_for_duckdb_polars_and_pandas(lake: str) -> None:
    results = nightgrid.Lake(lake).view("results")
    expected = {row["status"]: row["jobs"] for row in ROWS}

    assert (
        dict(duckdb.sql(f"{SPREAD.replace('from results', 'from results')}").fetchall()) == expected
    )
    frame = pl.from_arrow(nightgrid.Lake(lake).view("results"))
    assert isinstance(frame, pl.DataFrame)
    assert dict(frame["status"].value_counts().iter_rows()) == expected
    table = nightgrid.Lake(lake).view("results", ["status", "count"]).to_pandas()
    assert isinstance(table, pd.DataFrame)
    assert table["status"].value_counts().to_dict() == expected
    assert results.num_rows == len(JOBS) - 1
    corpora = nightgrid.Lake(lake).view("corpora").to_pandas()
    assert corpora.merge(results.to_pandas(), on=["game", "puzzle_id"]).empty


def test_the_api_answers_sql_as_the_command_does(lake: str) -> None:
    assert nightgrid.Lake(lake).query(SPREAD).to_pylist() == ROWS
    with pytest.raises(nightgrid.PermanentError, match="line 1, column 8"):
        nightgrid.Lake(lake).query("select cout from counts")

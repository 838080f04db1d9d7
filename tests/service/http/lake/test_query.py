"""POST /v1/query: rows of the views, within bounds, and nothing else of the machine."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from nightgrid.service.http.lake import query


def test_a_select_gives_rows_and_large_numbers_are_texts(sample: TestClient):
    sql = "select date, 9007199254740993 as n, [1, null] as l from counts order by date limit 1"
    told = sample.post("/v1/query", json={"sql": sql}).json()
    assert [column["name"] for column in told["columns"]] == ["date", "n", "l"]
    assert told["rows"] == [["2026-01-01", "9007199254740993", [1, None]]]
    views = {view["name"]: view for view in sample.get("/v1/views").json()["views"]}
    assert all(column["meaning"] for column in views["counts"]["columns"])


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("drop table counts", "expected one SELECT"),
        ("select * from read_csv('/etc/passwd')", "can only read views"),
        ("select sum(range * 2) from range(1000000000000)", "took more than 0.05 s"),
    ],
)
def test_anything_else_is_refused(
    sample: TestClient, monkeypatch: pytest.MonkeyPatch, sql: str, told: str
):
    monkeypatch.setattr(query, "SECONDS", 0.05 if "range" in sql else query.SECONDS)
    reply = sample.post("/v1/query", json={"sql": sql})
    assert reply.status_code == 422
    assert told in reply.json()["detail"]
    monkeypatch.undo()
    rows = sample.post("/v1/query", json={"sql": "select * from range(2000)"}).json()
    assert (len(rows["rows"]), rows["truncated"]) == (query.ROWS_MAX, True)

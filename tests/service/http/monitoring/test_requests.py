"""The record of a request: its id and a log line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(text) for text in capsys.readouterr().err.splitlines() if text[:1] == "{"]


def test_an_answer_has_the_id_of_its_request(sample: TestClient):
    given = sample.get("/v1/games", headers={"X-Request-ID": "mine-1"})
    assert given.headers["x-request-id"] == "mine-1"
    made = [sample.get("/v1/games").headers["x-request-id"] for _ in range(2)]
    assert made[0] != made[1]
    for odd in ("a b", "x" * 65, "é".encode(), "{}"):
        told = sample.get("/v1/games", headers={"X-Request-ID": odd}).headers["x-request-id"]
        assert len(told) == 16
    assert sample.get("/none").headers["x-request-id"]
    assert sample.get("/v1/games", headers={"host": "evil.example"}).headers["x-request-id"]


def test_reading_is_not_logged_and_asking_is(
    sample: TestClient, capsys: pytest.CaptureFixture[str]
):
    sample.get("/v1/games")
    sample.get("/none")
    assert sample.get("/readyz").status_code == 503
    assert lines(capsys) == []
    sample.post("/v1/solves", json={"game": "odd\nname"}, headers={"X-Request-ID": "mine-2"})
    (line,) = lines(capsys)
    told = {name: line[name] for name in ("event", "method", "route", "status", "request")}
    assert told == {
        "event": "request",
        "method": "POST",
        "route": "/v1/solves",
        "status": 422,
        "request": "mine-2",
    }


def test_a_failure_is_logged_with_its_traceback_and_its_id(
    sample: TestClient, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: Any) -> None:
        raise RuntimeError("redis://:hunter2@h\nforged")

    monkeypatch.setattr("nightgrid.service.http.monitoring.health.Queue", fail)
    answer = sample.get("/v1/queue", headers={"X-Request-ID": "mine-3"})
    assert answer.status_code == 500
    told = lines(capsys)
    assert {line["event"] for line in told} >= {"unexpected", "request"}
    assert {line["request"] for line in told} == {"mine-3"}
    assert "hunter2" not in json.dumps(told)

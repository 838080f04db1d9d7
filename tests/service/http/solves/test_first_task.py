"""What is told of a job in its first task: for how long it has run, and how far it is."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Expected
from nightgrid.workers.ondemand.jobs.task_progress import TaskProgress
from nightgrid.workers.ondemand.record_files import read_record, record_path, write_record


def test_a_job_in_its_first_task_shows_how_far_it_is(
    client: TestClient, board: dict[str, Any], lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    solve = client.post("/v1/solves", json=board).json()
    record = read_record(lake, solve["id"])
    assert record is not None
    expected = Expected(seconds=8.0, passed=(0.0, 0.5, 1.0))
    started_at = time.time() - 2
    begun = replace(record, worker="w", started_at=started_at, expected=expected)
    write_record(lake, begun)
    found = client.get(solve["links"]["self"]).json()
    assert found["state"] == "running"
    progress = found["progress"]
    assert (progress["chunks_done"], progress["chunks_total"]) == (0, 1)
    assert 2 <= progress["elapsed_s"] <= 60
    assert progress["expected_s"] == 8.0
    assert progress["states"] is None
    told = TaskProgress(started_at=started_at, states=1234567, kernel_s=3.0, passed=0.5)
    monkeypatch.setattr("nightgrid.service.http.state.read_task_progress", lambda *_: told)
    progress = client.get(solve["links"]["self"]).json()["progress"]
    assert progress["states"] == "1234567"
    assert 6 < progress["expected_s"] < 8
    assert 3 < progress["left_s"] < 4
    # A second attempt has told nothing yet: what is told is of the first.
    write_record(lake, replace(begun, attempts=2, started_at=time.time()))
    progress = client.get(solve["links"]["self"]).json()["progress"]
    assert (progress["states"], progress["expected_s"]) == (None, 8.0)


def test_one_look_reads_the_record_of_a_task_that_tells_its_progress_once(
    client: TestClient, board: dict[str, Any], lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    solve = client.post("/v1/solves", json=board).json()
    record = read_record(lake, solve["id"])
    assert record is not None
    write_record(lake, replace(record, worker="w", started_at=1.5))
    told = TaskProgress(started_at=1.5, states=7, kernel_s=3.0, passed=0.5)
    monkeypatch.setattr("nightgrid.service.http.state.read_task_progress", lambda *_: told)
    read_bytes, paths = Lake.read_bytes, list[str]()

    def noted(store: Lake, path: str) -> bytes:
        paths.append(path)
        return read_bytes(store, path)

    monkeypatch.setattr(Lake, "read_bytes", noted)
    found = client.get(solve["links"]["self"]).json()
    assert found["progress"]["states"] == "7"
    assert paths.count(record_path(solve["id"])) == 1

"""Questions over HTTP: known answers come at once, new ones are stored before they are sent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.app import create_app
from nightgrid.service.http.guard.keys import add_key
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.service.http.solves import views
from nightgrid.workers.ondemand.status import JobStatus, status
from nightgrid.workers.ondemand.submissions import open_jobs
from nightgrid.workers.settings import Settings

Work = Callable[[], int]


def test_a_new_question_is_accepted_and_answered_when_it_was_solved(
    client: TestClient, work: Work, board: dict[str, Any], lake: Lake
) -> None:
    accepted = client.post("/v1/solves", json=board)
    assert accepted.status_code == 202
    solve = accepted.json()
    assert (solve["state"], solve["game"], solve["ask"]) == ("queued", "pips", "all")
    assert accepted.headers["location"] == solve["links"]["self"] == f"/v1/solves/{solve['id']}"
    assert accepted.headers["retry-after"]
    assert open_jobs(lake).wanted.keys() == {solve["id"]}, "it is in the lake"
    assert work() == 1
    done = client.get(solve["links"]["self"]).json()
    assert done["state"] == "done"
    assert done["answer"]["count"] == "2"
    assert done["answer"]["solutions_stored"] == 2
    assert done["created_at"]
    again = client.post("/v1/solves", json=board)
    assert again.status_code == 200
    assert again.json()["answer"] == done["answer"]
    assert again.headers["content-location"] == solve["links"]["self"]


def test_a_service_that_restarts_knows_what_was_asked(
    client: TestClient, work: Work, board: dict[str, Any], settings: Settings
) -> None:
    solve = client.post("/v1/solves", json=board).json()
    work()
    app = create_app(ServiceSettings(workers=settings))
    with TestClient(app, base_url="http://localhost") as another:
        found = another.get(solve["links"]["self"]).json()
    assert (found["state"], found["puzzle"]) == ("done", solve["puzzle"])
    assert found["answer"]["count"] == "2"


def test_a_job_that_ends_while_it_is_watched_is_shown_as_it_ended(
    client: TestClient, work: Work, board: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    solve = client.post("/v1/solves", json=board).json()

    def status_before_its_end(lake: Lake, job_id: str) -> JobStatus:
        found = status(lake, job_id)
        work()
        return found

    monkeypatch.setattr(views, "status", status_before_its_end)
    assert client.get(solve["links"]["self"]).json()["state"] == "done"


def test_a_client_that_waits_gets_the_answer(
    client: TestClient, work: Work, board: dict[str, Any]
) -> None:
    answered = threading.Event()

    def work_on() -> None:
        while not answered.wait(0.02):
            work()

    worker = threading.Thread(target=work_on)
    worker.start()
    found = client.post("/v1/solves", json=board, headers={"Prefer": "wait=30"})
    answered.set()
    worker.join()
    assert found.status_code == 200
    assert found.json()["answer"]["status"] == "solved"


def test_the_same_question_from_two_clients_is_one_job_that_both_must_leave(
    client: TestClient, board: dict[str, Any], lake: Lake
) -> None:
    keys = [{"Authorization": f"Bearer {add_key(lake, name)}"} for name in ("one", "two")]
    first, second = (client.post("/v1/solves", json=board, headers=key).json() for key in keys)
    assert first["id"] == second["id"]
    assert len(open_jobs(lake).wanted) == 1
    at = first["links"]["self"]
    again = client.post("/v1/solves", json=board, headers=keys[0])
    assert again.status_code == 202, "the same key once more is no other interest"
    left = client.delete(at, headers=keys[0]).json()
    assert left["state"] == "queued"
    assert "1 other" in left["reason"]
    for not_theirs in (keys[0], {}):
        still = client.delete(at, headers=not_theirs).json()
        assert still["state"] == "queued", "what another client wants stays"
        assert "1 other" in still["reason"]
    assert client.delete(at, headers=keys[1]).json()["state"] == "cancelled"
    assert not open_jobs(lake).wanted
    assert client.get(at).json()["state"] == "cancelled"
    assert client.post("/v1/solves", json=board).status_code == 202, "it may be asked again"
    assert client.get(at).json()["state"] == "queued"


def test_a_job_whose_deadline_passed_is_expired(
    client: TestClient, work: Work, board: dict[str, Any]
) -> None:
    at = client.post("/v1/solves", json={**board, "deadline_s": 0.01}).json()["links"]["self"]
    time.sleep(0.02)
    work()
    assert client.get(at).json()["state"] == "expired"


def test_another_client_that_needs_it_longer_extends_a_deadline(
    client: TestClient, work: Work, board: dict[str, Any]
) -> None:
    at = client.post("/v1/solves", json={**board, "deadline_s": 0.01}).json()["links"]["self"]
    assert client.post("/v1/solves", json=board).status_code == 202
    time.sleep(0.02)
    work()
    assert client.get(at).json()["state"] == "done"


@pytest.mark.parametrize(
    ("headers", "door"),
    [
        ({}, "by a client over HTTP"),
        ({"Origin": "http://localhost"}, "on the page"),
        ({"User-Agent": "nightgrid"}, "by nightgrid cancel"),
    ],
)
def test_the_reason_of_a_cancelled_job_names_the_door(
    client: TestClient, board: dict[str, Any], headers: dict[str, str], door: str
) -> None:
    at = client.post("/v1/solves", json=board).json()["links"]["self"]
    cancelled = client.delete(at, headers=headers).json()
    assert (cancelled["state"], cancelled["reason"]) == ("cancelled", door)


def test_a_lake_without_puzzles_is_reported_as_empty(client: TestClient) -> None:
    told = client.post("/v1/solves", json={"id": "pips/2026-01-05/hard"})
    assert (told.status_code, told.json()["detail"]) == (404, "the lake has no puzzles yet")

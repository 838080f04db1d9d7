"""A new job is refused by what those before it are expected to take, as far as that is known."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.testclient import TestClient

from benchmarks.instruments.boards import loose_board
from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.app import create_app
from nightgrid.service.http.problems import Problem
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.service.http.solves.admission import Admission
from nightgrid.solvers.algebra import Expected
from nightgrid.solvers.registry import game
from nightgrid.workers.ondemand.jobs import expected_wait as module
from nightgrid.workers.ondemand.jobs.expected_wait import LOOK_S
from nightgrid.workers.settings import Settings

SETTINGS = Settings(ondemand_seconds=10, ondemand_wait_seconds=30, interactive_processes=2)  # type: ignore[call-arg]

LARGE = Expected(seconds=90.0, passed=(0.0, 1.0))


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.open(str(tmp_path / "lake"))


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The jobs in the queue, as the service sees them."""
    jobs: list[str] = []
    monkeypatch.setattr(module, "waiting_in_order", lambda *_: jobs)
    return jobs


def admission_to(lake: Lake) -> Admission:
    client = SimpleNamespace(llen=lambda _: 0)
    return Admission(client, lake, SETTINGS)  # type: ignore[arg-type]


def test_many_small_jobs_are_taken_where_few_unknown_ones_are_not(
    waiting: list[str], lake: Lake
) -> None:
    waiting += ["small"] * 400
    admission = admission_to(lake)
    admission.note("small", Expected(seconds=0.1))
    admission.check()
    waiting[:] = ["unknown"] * 20
    with pytest.raises(Problem) as caught:
        admission_to(lake).check()
    assert (caught.value.status, caught.value.kind.slug) == (429, "queue-full")
    assert caught.value.detail == (
        "a new job would wait about 50 s for the jobs that come first; expected at most 30 s"
    )
    assert caught.value.headers == {"Retry-After": "20"}


def test_a_large_job_is_refused_where_a_small_one_is_taken(
    waiting: list[str], lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    admission = admission_to(lake)
    admission.note("large", LARGE)
    monkeypatch.setattr(module, "list_jobs", lambda _: ["large"])
    with pytest.raises(Problem, match="would wait"):
        admission.check(LARGE, "new")
    admission.check()
    assert waiting == []


def test_the_budget_that_a_client_sends_counts(client: TestClient) -> None:
    service = client.app.state.service  # type: ignore[attr-defined]
    body = {"puzzle": puzzle_of(0), "ask": "count", "budget": {"seconds": 2}}
    job = client.post("/v1/solves", json=body).json()["id"]
    assert service.admission.expected_wait._task_s(job) == 2.0


def puzzle_of(seed: int) -> Any:
    return game("pips").puzzle_to_json(loose_board(20, seed))


def test_large_boards_are_refused_where_they_would_wait_and_small_ones_are_taken(
    settings: Settings, redis_url: str, board: dict[str, Any]
) -> None:
    served = settings.model_copy(
        update={"redis_url": SecretStr(redis_url), "ondemand_wait_seconds": 4.0}
    )
    app = create_app(ServiceSettings(workers=served, quick_processes=0))
    replies = []
    with TestClient(app, base_url="http://localhost") as client:
        for seed in range(4):
            puzzle = puzzle_of(seed)
            replies.append(client.post("/v1/solves", json={"puzzle": puzzle, "ask": "count"}))
            time.sleep(LOOK_S)
        small = client.post("/v1/solves", json={**board, "ask": "count"})
        again = client.post("/v1/solves", json={"puzzle": puzzle_of(0), "ask": "count"})
    assert replies[0].status_code == 202, replies[0].text
    for refused in replies[1:]:
        assert (refused.status_code, refused.json()["type"]) == (429, "/problems/queue-full")
        assert int(refused.headers["retry-after"]) > 1
    assert small.status_code == 202, small.text
    assert (again.status_code, again.json()["id"]) == (202, replies[0].json()["id"])


def test_a_server_that_is_away_refuses_no_less(client: TestClient) -> None:
    service = client.app.state.service  # type: ignore[attr-defined]
    service.admission._most_s = 4.0
    codes = []
    for seed in range(3):
        puzzle = game("pips").puzzle_to_json(loose_board(20, seed))
        codes.append(client.post("/v1/solves", json={"puzzle": puzzle, "ask": "count"}).status_code)
        time.sleep(LOOK_S)
    assert codes == [202, 429, 429]

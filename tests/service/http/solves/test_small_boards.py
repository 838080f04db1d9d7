"""Small boards are answered within the request, by expendable processes."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from nightgrid.archive.results.results import find_submitted
from nightgrid.service.http.app import create_app
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.service.http.solves import found, small_boards
from nightgrid.service.http.state import Service
from nightgrid.solvers.errors import TransientError
from nightgrid.solvers.pips.generate.generator import generate_many
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.solvers.registry import game
from nightgrid.workers.ondemand.results import find_row
from nightgrid.workers.ondemand.submissions import open_jobs
from nightgrid.workers.settings import Settings

WAIT = {"Prefer": "wait=20"}
JSON_TYPE = {"Content-Type": "application/json"}
PATIENCE_S = 60.0


def until(done: Callable[[], object]) -> None:
    ends_at = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < ends_at
        time.sleep(0.02)


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A service with one process, over a lake without a server."""
    lake = tmp_path_factory.mktemp("quick") / "lake"
    settings = Settings(lake=str(lake), redis_url="redis://127.0.0.1:9/0", games="pips")  # type: ignore[arg-type]
    app = create_app(ServiceSettings(workers=settings, quick_processes=1))
    with (
        pytest.MonkeyPatch.context() as patch,
        TestClient(app, base_url="http://localhost") as client,
    ):
        # Wait for a process whose machine stalls.
        patch.setattr(small_boards, "SECONDS", PATIENCE_S)
        patch.setattr(found, "FILED_S", PATIENCE_S)
        until(lambda: app.state.service.small_boards.is_ready)
        yield client


@pytest.fixture
def service(quick: TestClient) -> Service:
    service: Service = quick.app.state.service  # type: ignore[attr-defined]
    return service


def generated(seed: int) -> dict[str, Any]:
    ((puzzle, _),) = generate_many(seed, 1, [PRESETS["medium"]])
    written: dict[str, Any] = game("pips").puzzle_to_json(puzzle)
    return written


def test_a_client_that_waits_is_answered_without_a_job(
    quick: TestClient, service: Service, board: dict[str, Any]
) -> None:
    reply = quick.post("/v1/solves", json=board, headers=WAIT)
    assert reply.status_code == 200
    solve = reply.json()
    assert (solve["state"], solve["answer"]["count"]) == ("done", "2")
    assert not open_jobs(service.lake).wanted
    listed = quick.get(solve["links"]["solutions"]).json()
    assert len(listed["solutions"]) == 2, "and it is in the lake soon"
    row = find_row(service.lake, solve["id"])
    assert row is not None
    assert row["run_id"] == f"ondemand-{solve['id']}"
    assert find_submitted(service.lake, solve["puzzle_id"]) is not None
    assert quick.get(solve["links"]["picture"]).text.startswith("<svg")


def test_a_body_that_is_not_strict_json_is_refused_though_its_client_waits(
    quick: TestClient,
) -> None:
    body = json.dumps({"puzzle": generated(7), "ask": "first"})[:-1] + ', "ask": "count"}'
    reply = quick.post("/v1/solves", content=body, headers=WAIT | JSON_TYPE)
    assert (reply.status_code, reply.json()["type"]) == (400, "/problems/bad-json")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"ask": "meant(3)"}, ("/ask", 422, "bad-value")),
        ({"puzzle": {"dominoes": [[1, 9]], "regions": []}}, ("/puzzle", 422, "invalid-puzzle")),
        ({"puzzle": None, "id": "pips/2031-01-01"}, ("/id", 404, "no-such-board")),
        ({"moves": [[[0, 0], [9, 9], 0, 0]]}, ("/moves/0", 422, "bad-value")),
    ],
)
def test_a_process_reports_faults_of_a_board_being_played(
    quick: TestClient, change: dict[str, Any], told: tuple[str, int, str]
) -> None:
    body = {"puzzle": generated(7), "moves": []}
    assert quick.post("/v1/hints", json=body).json()["state"] == "open"
    reply = quick.post("/v1/hints", json=body | change)
    problem = reply.json()
    pointer, status, kind = told
    assert (reply.status_code, problem["type"]) == (status, f"/problems/{kind}")
    assert problem["errors"][0]["pointer"].startswith(pointer)


@pytest.mark.parametrize("ask", ["count", "first", "all(1)", "all"])
def test_answers_of_the_service_equal_those_of_the_lake(
    quick: TestClient, service: Service, ask: str
) -> None:
    solve = quick.post("/v1/solves", json={"puzzle": generated(5), "ask": ask}, headers=WAIT).json()
    service.small_boards.wait_until_filed(solve["id"], PATIENCE_S)
    service.replies.clear()
    in_lake = quick.get(solve["links"]["self"]).json()
    for answer in (solve, in_lake):
        for name in ("created_at", "ended_at"):
            answer.pop(name)
        for name in ("wall_s", "kernel_s"):
            answer["answer"].pop(name)
    assert in_lake == solve


def test_a_question_that_was_answered_is_answered_as_it_was(
    quick: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given the same question in the same and in other bytes, Then nothing is solved again."""
    body = {"puzzle": generated(9), "ask": "count"}
    first = quick.post("/v1/solves", json=body, headers=WAIT)
    monkeypatch.setattr(
        small_boards.SmallBoards, "solve", lambda *_: pytest.fail("it is solved again")
    )
    other = json.dumps(dict(reversed(body.items())), indent=1)
    replies = [
        quick.post("/v1/solves", json=body),
        quick.post("/v1/solves", content=other, headers=JSON_TYPE),
        quick.get(first.json()["links"]["self"]),
    ]
    assert [reply.json() for reply in replies] == [first.json()] * 3
    assert dict(replies[0].headers).keys() == dict(first.headers).keys()


def test_answers_that_come_together_are_filed_together(
    quick: TestClient, service: Service, board: dict[str, Any]
) -> None:
    before = len(service.lake.list("results"))
    asks = ["first", "all(1)", "count", "all(3)", "all(4)", "all(5)"]
    solves = [
        quick.post("/v1/solves", json={**board, "ask": ask}, headers=WAIT).json() for ask in asks
    ]
    for solve in solves:
        service.small_boards.wait_until_filed(solve["id"], PATIENCE_S)
    rows = [find_row(service.lake, solve["id"]) for solve in solves]
    assert [row and row["ask"] for row in rows] == asks
    assert len(service.lake.list("results")) < before + len(asks)


def test_answers_wait_for_a_lake_that_fails(
    quick: TestClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []
    pool = service.small_boards._pool
    assert pool is not None
    submit = pool.submit

    def fail_once(work: Callable[..., Any], *given: Any) -> Any:
        if work is small_boards._file:
            tries.append(1)
            if len(tries) == 1:
                raise TransientError("the disk is away")
        return submit(work, *given)

    monkeypatch.setattr(pool, "submit", fail_once)
    monkeypatch.setattr(small_boards, "RETRY_S", 0.01)
    body = {"puzzle": generated(15), "ask": "count"}
    solve = quick.post("/v1/solves", json=body, headers=WAIT).json()
    service.small_boards.wait_until_filed(solve["id"], PATIENCE_S)
    assert len(tries) == 2
    assert find_row(service.lake, solve["id"]) is not None


def test_a_board_that_is_not_small_is_a_job(
    quick: TestClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"puzzle": generated(12), "ask": "count"}
    assert quick.post("/v1/solves", json=body).status_code == 202, "its client does not wait"
    monkeypatch.setattr(small_boards, "SECONDS", -1.0)
    wait = {"Prefer": "wait=0.1"}
    assert quick.post("/v1/solves", json=body, headers=wait).status_code == 202
    large = {"puzzle": generated(13), "ask": "count"}
    assert quick.post("/v1/solves", json=large, headers=wait).status_code == 202
    assert len(open_jobs(service.lake).wanted) == 2


def test_a_process_that_dies_loses_no_question(
    quick: TestClient, service: Service, board: dict[str, Any]
) -> None:
    (child,) = multiprocessing.active_children()
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    child.join(PATIENCE_S)
    lost = quick.post(
        "/v1/solves", json={**board, "level": "medium"}, headers={"Prefer": "wait=0.1"}
    )
    assert lost.status_code == 202, "it is a job"
    until(lambda: child not in multiprocessing.active_children() and service.small_boards.is_ready)
    reply = quick.post("/v1/solves", json={**board, "level": "hard"}, headers=WAIT)
    assert reply.status_code == 200

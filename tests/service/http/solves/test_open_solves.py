"""The open jobs of a puzzle are listed, each once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.testclient import TestClient

ASKS = ("count", "first", "all", "all(1)", "all(2)")


def posted(client: TestClient, board: dict[str, Any]) -> tuple[str, list[str]]:
    """Ask five questions about one board; return its id and the jobs by id."""
    solves = [client.post("/v1/solves", json=board | {"ask": ask}).json() for ask in ASKS]
    return solves[0]["puzzle_id"], sorted(solve["id"] for solve in solves)


def test_every_open_job_is_listed_once(client: TestClient, board: dict[str, Any]) -> None:
    puzzle_id, jobs = posted(client, board)
    found = client.get("/v1/solves", params={"puzzle_id": puzzle_id}).json()["solves"]
    assert [solve["id"] for solve in found] == jobs


def test_jobs_that_have_ended_are_not_listed(
    client: TestClient, board: dict[str, Any], work: Callable[[], int]
) -> None:
    puzzle_id, jobs = posted(client, board)
    assert work() == len(jobs)
    found = client.get("/v1/solves", params={"puzzle_id": puzzle_id})
    assert found.json() == {"solves": []}

"""The open jobs of a puzzle are listed in pages, each job once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from nightgrid.service.http.solves import routes

ASKS = ("count", "first", "all", "all(1)", "all(2)")


def posted(client: TestClient, board: dict[str, Any]) -> tuple[str, list[str]]:
    """Ask five things about one board; tell its id and the jobs by their ids."""
    solves = [client.post("/v1/solves", json=board | {"ask": ask}).json() for ask in ASKS]
    return solves[0]["puzzle_id"], sorted(solve["id"] for solve in solves)


@pytest.mark.parametrize(
    ("most", "pages"), [(1, [1, 1, 1, 1, 1]), (2, [2, 2, 1]), (4, [4, 1]), (5, [5]), (9, [5])]
)
def test_pages_have_each_open_job_once(
    client: TestClient,
    board: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    most: int,
    pages: list[int],
) -> None:
    monkeypatch.setattr(routes, "SHOWN_MAX", most)
    puzzle_id, jobs = posted(client, board)
    path, found, sizes = f"/v1/solves?puzzle_id={puzzle_id}", list[str](), list[int]()
    while path:
        page = client.get(path).json()
        found += [solve["id"] for solve in page["solves"]]
        sizes.append(len(page["solves"]))
        path = page["next"]
    assert (sizes, found) == (pages, jobs)


def test_jobs_that_end_between_pages_cost_no_other(
    client: TestClient, board: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "SHOWN_MAX", 2)
    puzzle_id, jobs = posted(client, board)
    page = client.get(f"/v1/solves?puzzle_id={puzzle_id}").json()
    for job in jobs[:3]:
        client.delete(f"/v1/solves/{job}")
    rest = client.get(page["next"]).json()
    assert ([solve["id"] for solve in rest["solves"]], rest["next"]) == (jobs[3:], None)


def test_jobs_that_have_ended_are_not_listed(
    client: TestClient, board: dict[str, Any], work: Callable[[], int]
) -> None:
    puzzle_id, jobs = posted(client, board)
    assert work() == len(jobs)
    found = client.get("/v1/solves", params={"puzzle_id": puzzle_id})
    assert found.json() == {"solves": [], "next": None}

"""Errors of every floor become problem+json, in one place, without internal details."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from pydantic import BaseModel
from starlette.testclient import TestClient

from nightgrid.archive.lake.faults import DamagedFileError, LakeRefusesError
from nightgrid.service.http import problems
from nightgrid.service.http.problems import PROBLEM_TYPE, Problem, pointer_of
from nightgrid.solvers.errors import InvalidPuzzleError, PermanentError, TransientError

SECRET = "redis://user:hunter2@10.0.0.1/var/lib"
RAISED: dict[str, tuple[Exception, int, str]] = {
    "puzzle": (
        InvalidPuzzleError("region-overlap", "regions[3].indices[1]", "expected one region"),
        422,
        "invalid-puzzle",
    ),
    "permanent": (PermanentError("--ask is 'x'; expected count"), 422, "bad-value"),
    "damaged": (DamagedFileError(f"{SECRET} is damaged"), 500, "damaged-lake"),
    "refused": (LakeRefusesError(f"{SECRET}: the lake refuses"), 500, "damaged-lake"),
    "transient": (TransientError(f"no answer from {SECRET}"), 503, "unavailable"),
    "unexpected": (ValueError(SECRET), 500, "internal"),
    "problem": (Problem("no-picture", "it is too large"), 422, "no-picture"),
}


class Body(BaseModel):
    number: int


@pytest.fixture(scope="module")
def client() -> TestClient:
    app = FastAPI()
    problems.install(app)

    @app.get("/raise/{name}")
    def fail(name: str) -> None:
        raise RAISED[name][0]

    @app.post("/body")
    def take(body: Body, limit: int = 1) -> None:
        pass

    return TestClient(app, raise_server_exceptions=False)


@pytest.mark.parametrize("name", RAISED)
def test_every_error_is_a_problem_of_its_own_kind(client: TestClient, name: str) -> None:
    answer = client.get(f"/raise/{name}")
    _, status, slug = RAISED[name]
    assert answer.status_code == status
    assert answer.headers["content-type"] == PROBLEM_TYPE
    value = answer.json()
    assert (value["type"], value["status"]) == (f"/problems/{slug}", status)
    assert value["title"]
    assert value["detail"]
    assert "hunter2" not in answer.text
    assert ("retry-after" in answer.headers) == (status == 503)


def test_paths_and_methods_that_are_invalid_are_problems(client: TestClient) -> None:
    for answer, status in ((client.get("/none"), 404), (client.get("/body"), 405)):
        assert answer.status_code == status
        assert answer.headers["content-type"] == PROBLEM_TYPE
    assert client.get("/body").headers["allow"] == "POST"


def test_a_browser_gets_a_page_for_unknown_paths(client: TestClient) -> None:
    browser = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    page = client.get("/nowhere", headers=browser)
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["vary"] == "Accept"
    assert "No such page" in page.text
    for path, headers in (("/nowhere", {}), ("/v1/nowhere", browser)):
        answer = client.get(path, headers=headers)
        assert (answer.status_code, answer.headers["content-type"]) == (404, PROBLEM_TYPE)


def test_pointers_are_escaped_json_pointers() -> None:
    assert pointer_of("a/b.c~d[0]", "/puzzle") == "/puzzle/a~1b/c~0d/0"
    assert pointer_of("") == ""

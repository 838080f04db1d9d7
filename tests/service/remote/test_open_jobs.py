"""A client finds the open jobs of a puzzle at a service."""

from __future__ import annotations

import httpx
import pytest

from nightgrid.archive.lookup.reference import IdReference
from nightgrid.service.remote import RemoteJobs
from nightgrid.solvers.errors import PermanentError, TransientError

PUZZLE = "a" * 32
DONE = {"job_id": "d" * 32, "puzzle": "pips/2026-01-02/easy"}


def jobs_at(open_jobs: list[httpx.Response]) -> RemoteJobs:
    """Make the jobs of a service with one result and this response to a list of open jobs."""

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/results":
            return httpx.Response(200, json={"results": [DONE], "next": None})
        assert request.url.params["puzzle_id"] == PUZZLE
        return open_jobs.pop(0)

    return RemoteJobs("http://service", httpx.MockTransport(answer))


def test_open_jobs_are_found_with_those_that_have_an_answer() -> None:
    jobs = jobs_at([httpx.Response(200, json={"solves": [{"id": "1" * 32}, {"id": "2" * 32}]})])
    assert set(jobs.of_reference(IdReference(prefix=PUZZLE))) == {
        DONE["job_id"],
        "1" * 32,
        "2" * 32,
    }


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (
            httpx.Response(503, json={"type": "/problems/unavailable", "detail": "x"}),
            TransientError,
        ),
        (httpx.Response(422, json={"type": "/problems/bad-value", "detail": "x"}), PermanentError),
        (httpx.Response(404, text="<html>"), PermanentError),
    ],
)
def test_other_refusals_are_reported(answer: httpx.Response, error: type[Exception]) -> None:
    jobs = jobs_at([answer])
    with pytest.raises(error):
        jobs.of_reference(IdReference(prefix=PUZZLE))

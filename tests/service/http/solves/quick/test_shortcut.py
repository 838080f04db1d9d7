"""A body that a quick process answers is answered as its route would, its faults included."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import pytest
from starlette.testclient import TestClient

from nightgrid.service.http.solves import routes
from nightgrid.service.http.solves.asking.replays import HEADER
from nightgrid.service.http.solves.quick.lines import Found, Miss, read_question
from nightgrid.service.http.state import Service
from nightgrid.solvers.pips.generate.generator import generate_many
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.solvers.registry import game

WAIT = {"Prefer": "wait=20"}
TIMES = {"created_at", "ended_at"}
MEASURED = {"wall_s", "kernel_s"}


def service_of(client: TestClient) -> Service:
    service: Service = client.app.state.service  # type: ignore[attr-defined]
    return service


def forget(client: TestClient) -> None:
    """Have a service look anew at everything."""
    service = service_of(client)
    service.replies.clear()
    service.views.forget_answers(lambda _: False)


@contextmanager
def asked_of_processes(client: TestClient, answer: Miss | None = None) -> Iterator[list[bool]]:
    """Note of each question to quick processes whether it is a message; give the answer, if any."""
    processes, seen = service_of(client).quick.processes, []
    ask = processes.ask

    async def noting(question: bytes) -> Found | Miss:
        read = read_question(BytesIO(question))
        assert read is not None
        seen.append(read.is_message)
        return await ask(question) if answer is None else answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "ask", noting)
        yield seen


def written(seed: int) -> dict[str, Any]:
    """Write a generated board."""
    ((puzzle, _),) = generate_many(seed, 1, [PRESETS["medium"]])
    found: dict[str, Any] = game("pips").puzzle_to_json(puzzle)
    return found


@pytest.mark.parametrize(
    "asked",
    [
        {"ask": "count"},
        {"ask": "first"},
        {"ask": "all(1)"},
        {"ask": "all"},
        {},
        {"ask": "count", "game": "pips", "split": "never", "deadline_s": 5},
        {"ask": "count", "budget": {"seconds": 1}},
    ],
)
def test_a_board_is_answered_as_by_the_route(quick: TestClient, asked: dict[str, Any]) -> None:
    body = {"puzzle": written(5), **asked}
    forget(quick)
    with asked_of_processes(quick) as seen:
        short = quick.post("/v1/solves", json=body, headers=WAIT)
    assert seen == [False], "the process has read the body"
    forget(quick)
    with asked_of_processes(quick) as seen:
        # A key is looked at by the route.
        long = quick.post("/v1/solves", json=body, headers=WAIT | {HEADER: uuid.uuid4().hex})
    assert seen == [True]
    assert (short.status_code, long.status_code) == (200, 200)
    answers = [reply.json() for reply in (short, long)]
    for answer in answers:
        assert all(answer.pop(name) for name in TIMES)
        assert all(answer["answer"].pop(name) is not None for name in MEASURED)
    assert answers[0] == answers[1]
    assert dict(short.headers).keys() == dict(long.headers).keys()
    own = {"x-request-id", "content-length"}
    assert {key: value for key, value in short.headers.items() if key not in own} == {
        key: value for key, value in long.headers.items() if key not in own
    }
    at = answers[0]["links"]["self"]
    assert quick.get(at).json()["answer"]["count"] == answers[0]["answer"]["count"]
    assert quick.get(answers[0]["links"]["picture"]).text.startswith("<svg")


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[]",
        b'{"puzzle": null}',
        b'{"puzzle": {"regions": []}, "game": "pips"}',
        b'{"puzzle": {}, "puzzle": {}}',
        b'{"no": "field"}',
        b"[" * 40 + b"]" * 40,
        b'{"id": "pips/2026-01-05/hard"}',
        b'{"puzzle": "pips/2026-01-05/hard"}',
        b'{"puzzle": {"sides": ["a"]}, "game": "letterboxed", "ask": "worst"}',
    ],
)
def test_a_faulty_body_has_the_same_problem(quick: TestClient, content: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    short = quick.post("/v1/solves", content=content, headers=headers | WAIT)
    long = quick.post("/v1/solves", content=content, headers=headers)
    assert 400 <= short.status_code < 500
    assert (short.status_code, short.json()) == (long.status_code, long.json())


@pytest.mark.parametrize(
    ("miss", "tries"), [(Miss.TRIED, [False]), (Miss.NOT_TRIED, [False, True])]
)
def test_a_board_is_tried_in_vain_but_once(
    quick: TestClient, monkeypatch: pytest.MonkeyPatch, miss: Miss, tries: list[bool]
) -> None:
    begun: list[str] = []

    def begin(service: Service, wanted: Any, *_: Any) -> None:
        begun.append(wanted.job_id)
        service.submitted(wanted.job_id)
        service.hub.wake_all()

    monkeypatch.setattr(routes, "_begin", begin)

    async def at_once(self: Service, job_id: str, *_: Any) -> dict[str, Any]:
        return {"id": job_id, "state": "queued", "progress": None, "links": {"self": "/"}}

    monkeypatch.setattr(Service, "until_over", at_once)
    with asked_of_processes(quick, miss) as seen:
        body = {"puzzle": written(6), "ask": "count"}
        assert quick.post("/v1/solves", json=body, headers=WAIT).status_code == 202
    assert seen == tries
    assert len(begun) == 1


def test_a_board_that_a_night_has_brought_is_looked_for(
    quick: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given an edition of a board, Then a reply without its name is not told."""
    name = "pips/2026-01-05/easy"
    monkeypatch.setattr(service_of(quick).views.names, "of", lambda _: (name,))
    with asked_of_processes(quick) as seen:
        found = quick.post("/v1/solves", json={"puzzle": written(7), "ask": "count"}, headers=WAIT)
    assert seen == [False, True]
    assert (found.status_code, found.json()["references"]) == (200, [name])


def test_clients_that_send_the_same_body_share_a_solve(
    quick: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, asked = service_of(quick), []

    async def ask(question: bytes) -> Found | Miss:
        asked.append(question)
        await asyncio.sleep(0.05)
        return Miss.TRIED

    monkeypatch.setattr(service.quick.processes, "ask", ask)

    async def all_at_once() -> list[Found | Miss]:
        bodies = [json.dumps(written(8)).encode(), b"{}"]
        return await asyncio.gather(
            *(service.quick.answer_body(str(len(body)), body) for body in bodies * 5)
        )

    assert asyncio.run(all_at_once()) == [Miss.TRIED] * 10
    assert len(asked) == 2

"""A body that a quick process answers is answered as its route would, its faults included."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from nightgrid.service.http.solves import routes
from nightgrid.service.http.solves.asking.replays import HEADER
from nightgrid.service.http.solves.asking.replies import digest_of
from nightgrid.service.http.solves.asking.solve_request import LIGHT_BYTES
from nightgrid.service.http.solves.quick import filing as filing_module
from nightgrid.service.http.solves.quick import small_boards
from nightgrid.service.http.solves.quick.lines import Found, Miss, QuickRequest, read_quick_request
from nightgrid.service.http.state import Service
from nightgrid.solvers.pips.generate.generator import generate_many
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.solvers.registry import game
from tests.service.http.solves.quick.conftest import PATIENCE_S

WAIT = {"Prefer": "wait=20"}
PROTOCOL = Path(__file__).parents[5] / "docs/reference/protocol.md"
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
        read = read_quick_request(BytesIO(question))
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
    service_of(quick).quick.filing.wait_for(answers[0]["id"], PATIENCE_S)
    forget(quick)
    in_lake = quick.get(at).json()
    for name in TIMES:
        in_lake.pop(name)
    for name in MEASURED:
        in_lake["answer"].pop(name)
    assert in_lake == answers[0], "what the process wrote is what the lake tells"
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
        b'{"puzzle": {"regions": [], "id": "\\ud800"}}',
        b'{"puzzle": {"sides": ["a"]}, "game": "letterboxed", "ask": "worst"}',
    ],
)
def test_a_faulty_body_has_the_same_problem(quick: TestClient, content: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    with asked_of_processes(quick) as seen:
        short = quick.post("/v1/solves", content=content, headers=headers | WAIT)
    assert seen == [False] * (b'"puzzle"' in content), "only what may be a board is given away"
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
        bodies = [json.dumps({"puzzle": written(seed)}).encode() for seed in (8, 81)]
        return await asyncio.gather(
            *(service.quick.answer_body(digest_of(body), body, 9.0) for body in bodies * 5)
        )

    assert asyncio.run(all_at_once()) == [Miss.TRIED] * 10
    assert len(asked) == 2


def test_a_question_that_was_answered_is_answered_as_it_was(
    quick: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given the same question in other bytes, Then nothing is counted or filed once more."""
    service, filed, counted = service_of(quick), [], []
    add = service.quick.filing.add
    monkeypatch.setattr(
        service.quick.filing, "add", lambda job, item: (filed.append(job), add(job, item))
    )
    monkeypatch.setattr(small_boards, "note_rows", lambda *given, **_: counted.append(given))
    body = {"puzzle": written(9), "ask": "count"}
    first = quick.post("/v1/solves", json=body, headers=WAIT)
    for content in (json.dumps(body, indent=1), json.dumps(dict(reversed(body.items())))):
        headers = WAIT | {"Content-Type": "application/json"}
        again = quick.post("/v1/solves", content=content, headers=headers)
        assert again.content == first.content
    keyed = quick.post("/v1/solves", json=body, headers=WAIT | {HEADER: uuid.uuid4().hex})
    assert keyed.json() == first.json()
    assert quick.get(first.json()["links"]["self"]).json() == first.json()
    assert filed == [first.json()["id"]]
    assert len(counted) == 1


def waiting_for_none(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let routes wait for no job of the queue; return how long each would have waited."""
    left: list[float] = []

    async def at_once(self: Service, job_id: str, wait_s: float) -> dict[str, Any]:
        left.append(wait_s)
        return {"id": job_id, "state": "queued", "progress": None, "links": {"self": "/"}}

    monkeypatch.setattr(Service, "until_over", at_once)
    return left


def test_what_a_route_has_to_look_at_is_given_to_no_process(
    quick: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"puzzle": written(10), "ask": "count"}
    long = json.dumps(body).ljust(LIGHT_BYTES + 1)
    headers = WAIT | {"Content-Type": "application/json"}
    with asked_of_processes(quick, Miss.TRIED) as seen:
        assert quick.post("/v1/solves?x=1", json=body, headers=WAIT).status_code == 422
        assert quick.post("/v1/solves", content=b"{}", headers=headers).status_code == 422
        assert quick.post("/v1/solves", json=body).status_code in (202, 503)
        assert seen == []
        waiting_for_none(monkeypatch)
        quick.post("/v1/solves", content=long, headers=headers)
        assert seen == [True], "the route asks with a message"


def test_what_fails_in_the_shortcut_is_answered_by_the_route(
    quick: TestClient, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    service = service_of(quick)

    async def fail(*_: object) -> Found | Miss:
        raise RuntimeError("no such thing")

    monkeypatch.setattr(service.quick, "answer_body", fail)
    found = quick.post("/v1/solves", json={"puzzle": written(11), "ask": "count"}, headers=WAIT)
    assert (found.status_code, found.json()["state"]) == (200, "done")
    assert "no shortcut" in capsys.readouterr().err


@pytest.mark.parametrize("by_route", [False, True])
def test_a_client_waits_no_longer_than_it_wants(
    quick: TestClient, monkeypatch: pytest.MonkeyPatch, *, by_route: bool
) -> None:
    """Given a process that is long about it, Then it is left, and the route waits no longer."""
    service, ends = service_of(quick), list[str]()

    async def never(_: bytes) -> Found | Miss:
        try:
            await asyncio.sleep(PATIENCE_S)
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise
        return Miss.TRIED

    monkeypatch.setattr(service.quick.processes, "ask", never)
    monkeypatch.setattr(routes, "_begin", lambda *_: None)
    left = waiting_for_none(monkeypatch)
    body = {"puzzle": written(12), "ask": "count"}
    key = {HEADER: uuid.uuid4().hex} if by_route else {}
    found = quick.post(
        "/v1/solves", json=body, headers={"Prefer": f"wait={3 if by_route else 0.2}"} | key
    )
    assert found.status_code == 202
    assert left == [0.0]
    assert ends == ["cancelled"], "no client waits for it"
    assert service.quick._in_flight == {}


def test_a_client_whose_time_is_over_takes_no_answer_from_another(
    quick: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = service_of(quick)
    body = json.dumps({"puzzle": written(15)}).encode()

    async def ask(_: bytes) -> Found | Miss:
        await asyncio.sleep(0.2)
        return Miss.TRIED

    monkeypatch.setattr(service.quick.processes, "ask", ask)

    async def both() -> list[Found | Miss]:
        waits = (0.05, PATIENCE_S)
        return await asyncio.gather(
            *(service.quick.answer_body("same", body, wait_s) for wait_s in waits)
        )

    assert asyncio.run(both()) == [Miss.NOT_TRIED, Miss.TRIED]


def test_an_answer_that_was_passed_over_is_filed_when_it_is_asked_again(
    quick: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a time in which too many answers wait for the lake."""
    filing = service_of(quick).quick.filing
    body = {"puzzle": written(16), "ask": "all"}
    with monkeypatch.context() as patch:
        patch.setattr(filing_module, "GATHERED_MAX", 0)
        first = quick.post("/v1/solves", json=body, headers=WAIT).json()
        assert filing.has_passed_over(first["id"])
        assert quick.get(first["links"]["solutions"]).status_code == 409
    headers = WAIT | {"Content-Type": "application/json"}
    again = quick.post("/v1/solves", content=json.dumps(body, indent=1), headers=headers)
    assert again.json() == first
    assert quick.get(first["links"]["solutions"]).json()["total"] == first["answer"]["count"]


def test_an_answer_that_is_known_by_its_date_is_told_as_it_was(
    quick: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "pips/2026-01-05/easy"
    body = {"puzzle": written(17), "ask": "count"}
    monkeypatch.setattr(service_of(quick).views.names, "of", lambda _: (name,))
    first = quick.post("/v1/solves", json=body, headers=WAIT)
    headers = WAIT | {"Content-Type": "application/json"}
    with asked_of_processes(quick) as seen:
        again = quick.post("/v1/solves", content=json.dumps(body, indent=1), headers=headers)
    assert seen == [False]
    assert again.json() == first.json()
    assert again.json()["references"] == [name]


def test_the_protocol_shows_a_request_as_it_is_written() -> None:
    (text,) = re.findall(r'^\{"body".*$', PROTOCOL.read_text(), re.MULTILINE)
    example = json.loads(text)
    written_now, _, body = QuickRequest(body=b"x" * 812, begun_at=0.0).to_bytes().partition(b"\n")
    assert list(json.loads(written_now)) == list(example)
    assert len(body) == example["body"]


def test_an_answer_of_the_shortcut_is_counted_and_logged(
    quick: TestClient, capsys: pytest.CaptureFixture[str]
) -> None:
    line = 'nightgrid_http_requests_total{method="POST",route="/v1/solves",status="200"} '

    def counted() -> float:
        (found,) = (each for each in quick.get("/metrics").text.splitlines() if line in each)
        return float(found.rpartition(" ")[2])

    quick.post("/v1/solves", json={"puzzle": written(13), "ask": "count"}, headers=WAIT)
    before = counted()
    capsys.readouterr()
    found = quick.post("/v1/solves", json={"puzzle": written(14), "ask": "count"}, headers=WAIT)
    assert counted() == before + 1
    (told,) = [
        event
        for event in map(json.loads, capsys.readouterr().err.splitlines())
        if event["event"] == "request"
    ]
    assert (told["route"], told["job"], told["game"]) == ("/v1/solves", found.json()["id"], "pips")

"""Small boards are answered in the request that asks, by processes that nothing depends on."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.asked import AskedPuzzle, find_asked
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.service.http.solves.quick import quick_solver
from nightgrid.service.http.solves.quick.filing import Filing
from nightgrid.service.http.solves.quick.lines import Found, Miss, QuickRequest, read_answer
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import TransientError
from nightgrid.solvers.pips.generate.generator import generate_many
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.solvers.registry import game
from nightgrid.workers.ondemand.filer import file_line, to_line
from nightgrid.workers.ondemand.jobs.rows import find_row
from nightgrid.workers.ondemand.record_files import open_records
from nightgrid.workers.settings import Settings
from tests.service.http.solves.quick.conftest import PATIENCE_S, until

WAIT = {"Prefer": "wait=20"}
LATE = Reason(code=ReasonCode.SECONDS)


def test_a_client_that_waits_is_answered_without_a_record(
    quick: TestClient, board: dict[str, Any]
) -> None:
    found = quick.post("/v1/solves", json=board, headers=WAIT)
    assert found.status_code == 200
    solve = found.json()
    assert (solve["state"], solve["answer"]["count"]) == ("done", "2")
    lake = quick.app.state.service.lake  # type: ignore[attr-defined]
    assert open_records(lake) == []
    listed = quick.get(f"{solve['links']['self']}/solutions").json()
    assert len(listed["solutions"]) == 2, "and it lies in the lake soon"
    row = find_row(lake, solve["id"])
    assert row is not None
    assert row["run_id"] == f"ondemand-{solve['id']}"
    assert find_asked(lake, solve["puzzle_id"]) is not None
    again = quick.post("/v1/solves", json=board)
    assert again.json() == solve


def test_a_puzzle_that_is_asked_by_its_id_is_filed_again(
    quick: TestClient, board: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a puzzle that only a question brought: retention may drop it as it is asked again."""
    service = quick.app.state.service  # type: ignore[attr-defined]
    solve = quick.post("/v1/solves", json=board, headers=WAIT).json()
    quick.get(f"{solve['links']['self']}/solutions")
    filed: list[AskedPuzzle] = []
    keep = service.quick.filing.add

    def add(job_id: str, answer: bytes) -> None:
        _, _, puzzle = json.loads(answer)
        filed.append(AskedPuzzle(*puzzle))
        keep(job_id, answer)

    monkeypatch.setattr(service.quick.filing, "add", add)

    by_id = {"id": solve["puzzle_id"], "ask": "all(7)"}
    assert quick.post("/v1/solves", json=by_id, headers=WAIT).status_code == 200

    assert filed == [find_asked(service.lake, solve["puzzle_id"])] != [None]


def test_a_board_that_is_quicker_than_expected_is_answered_at_once(quick: TestClient) -> None:
    pips = game("pips")
    ((puzzle, _),) = generate_many(300, 1, [PRESETS["hard"]], 941)
    expected = pips.expected(pips.to_arrays([puzzle]), Ask(kind="count"))
    assert expected.seconds > 0.1
    asked = {"puzzle": pips.puzzle_to_json(puzzle), "ask": "count"}
    found = quick.post("/v1/solves", json=asked, headers=WAIT)
    assert (found.status_code, found.json()["state"]) == (200, "done")


def test_answers_that_come_together_are_filed_together(
    quick: TestClient, board: dict[str, Any]
) -> None:
    asks = ["first", "all(1)", "count"]
    ids = [
        quick.post("/v1/solves", json={**board, "ask": ask}, headers=WAIT).json()["id"]
        for ask in asks
    ]
    service = quick.app.state.service  # type: ignore[attr-defined]
    for job in ids:
        service.quick.filing.wait_for(job, PATIENCE_S)
    rows = [find_row(service.lake, job) for job in ids]
    assert [row and row["ask"] for row in rows] == asks
    assert len(service.lake.list("results")) < 1 + len(asks)


def test_a_process_that_dies_costs_no_question(quick: TestClient, board: dict[str, Any]) -> None:
    service = quick.app.state.service  # type: ignore[attr-defined]
    (pid,) = quick_pids()
    os.kill(pid, signal.SIGKILL)
    found = quick.post("/v1/solves", json={**board, "level": "medium"})
    assert found.status_code == 202, "it is asked in the queue"
    until(lambda: quick_pids() not in ([], [pid]) and service.quick.processes.is_ready)
    found = quick.post("/v1/solves", json={**board, "level": "hard"}, headers=WAIT)
    assert found.status_code == 200


def quick_pids() -> list[int]:
    processes = Path("/proc").iterdir()
    return [int(path.name) for path in processes if is_quick_process_of(path, os.getpid())]


def is_quick_process_of(process: Path, parent: int) -> bool:
    try:
        words = (process / "cmdline").read_bytes()
        is_child = f"PPid:\t{parent}\n" in (process / "status").read_text()
    except OSError:
        return False
    return is_child and b"quick.quick_solver" in words


def message(change: dict[str, Any], lake: Lake) -> QuickRequest:
    """Write the one job of a lake as the queue has it, with something changed."""
    (record,) = open_records(lake)
    body = json.dumps(record.message | change).encode()
    return QuickRequest(body=body, is_message=True, begun_at=time.time())


def told(lake: Lake, settings: Settings, *requests: QuickRequest) -> list[Found | Miss]:
    """Have a process answer requests, in this process."""
    given = BytesIO(b"".join(each.to_bytes() for each in requests))
    answers = BytesIO()
    quick_solver.serve(lake, ServiceSettings(workers=settings), given, answers)
    ready, *lines = answers.getvalue().splitlines()
    assert ready == quick_solver.READY
    return [read_answer(line) for line in lines]


@pytest.mark.parametrize(
    "change", [{"ask": "best(2)"}, {"puzzle": {}}, {"job_id": "0" * 32}, {"ask": 1}, {}]
)
def test_what_is_no_message_has_no_answer(
    settings: Settings,
    lake: Lake,
    client: TestClient,
    board: dict[str, Any],
    change: dict[str, Any],
) -> None:
    client.post("/v1/solves", json=board)
    found, sound = told(lake, settings, message(change, lake), message({}, lake))
    assert isinstance(found, Found) == (not change)
    assert isinstance(sound, Found), "the process goes on"
    if change:
        assert found is Miss.TRIED


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[" * 40 + b"]" * 40,
        b'{"puzzle": {"regions": []}}',
        b'{"id": "pips/2026-01-05/hard"}',
        b'{"puzzle": {}, "words": ["one"]}',
        b"\xff",
        b"",
    ],
)
def test_a_body_that_is_no_small_board_is_left_to_the_service(
    settings: Settings, lake: Lake, body: bytes
) -> None:
    asked = QuickRequest(body=body, begun_at=0.0)
    assert told(lake, settings, asked, asked) == [Miss.NOT_TRIED] * 2


def test_answers_wait_for_a_lake_that_is_away(
    lake: Lake, settings: Settings, client: TestClient, board: dict[str, Any], monkeypatch: Any
) -> None:
    from nightgrid.service.http.solves.quick import filing as module

    client.post("/v1/solves", json=board)
    (record,) = open_records(lake)
    (found,) = told(lake, settings, message({}, lake))
    assert isinstance(found, Found)
    tries: list[int] = []

    class FailsOnce:
        """Files in this process, at the second try."""

        def begin(self) -> None: ...

        def put(self, answers: Sequence[bytes]) -> None:
            tries.append(1)
            if len(tries) == 1:
                raise TransientError("the disk is away")
            file_line(lake, to_line(answers))

        def end(self) -> None:
            tries.append(2)

    monkeypatch.setattr(module, "RETRY_S", 0.01)
    filing = Filing(FailsOnce())
    filing.begin()
    filing.add(found.job_id, found.filed)
    assert filing.wait_for(record.job_id, PATIENCE_S)
    monkeypatch.setattr(module, "GATHERED_MAX", 0)
    filing.add(found.job_id, found.filed)
    assert not filing.wait_for(record.job_id, PATIENCE_S), "where too many wait it is passed over"
    filing.end()
    assert tries == [1, 1, 2]
    assert find_row(lake, record.job_id) is not None

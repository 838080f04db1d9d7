"""A new job is refused by what those before it are expected to take, as far as that is known."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from pydantic import SecretStr
from starlette.testclient import TestClient

from benchmarks.instruments.boards import loose_board
from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.app import create_app
from nightgrid.service.http.problems import Problem
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.service.http.solves import admission as module
from nightgrid.service.http.solves.admission import JOB_S, LOOK_S, NOT_BEGUN_S, SMALL, Admission
from nightgrid.solvers.algebra import Expected
from nightgrid.solvers.registry import game
from nightgrid.workers.ondemand.record import BadRecordError
from nightgrid.workers.settings import Settings

SETTINGS = Settings(ondemand_seconds=10, ondemand_wait_seconds=30, interactive_processes=2)  # type: ignore[call-arg]

LARGE = Expected(seconds=90.0, passed=(0.0, 1.0))


class Queue:
    """A queue of so many messages, of which the first are told."""

    def __init__(self, waiting: list[str], number: int | None = None) -> None:
        self.waiting = waiting
        self.number = len(waiting) if number is None else number

    def llen(self, _: str) -> int:
        return self.number


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.open(str(tmp_path / "lake"))


@pytest.fixture
def admission(monkeypatch: pytest.MonkeyPatch, lake: Lake) -> Admission:
    def told(client: Any, *_: Any) -> list[str]:
        if client.number < 0:
            raise redis.ConnectionError("away")
        return client.waiting

    monkeypatch.setattr(module, "waiting_in_order", told)
    made = Admission(Queue([]), lake, SETTINGS)  # type: ignore[arg-type]
    made.note("small", Expected(seconds=0.1))
    made.note("long", Expected(seconds=1000.0))
    made.note("large", LARGE)
    return made


@pytest.mark.parametrize(
    ("waiting", "number", "expected_s"),
    [
        ([], None, 0.0),
        (["small"] * 20, None, 20 * (0.1 + JOB_S) / 2),
        (["long"], None, 10 / 2),
        (["large"] * 9, None, 9 * JOB_S / 2),
        (["unknown", "long/share"], None, 5 / 2),
        (["small"] * 10, 1000, 1000 * (0.1 + JOB_S) / 2),
        (["long"], -1, 0.0),
    ],
)
def test_a_wait_is_what_those_before_are_expected_to_take(
    admission: Admission, waiting: list[str], number: int | None, expected_s: float
) -> None:
    admission._client = Queue(waiting, number)  # type: ignore[assignment]
    assert admission.expected_wait_s(SMALL) == pytest.approx(expected_s)


def test_many_small_jobs_are_taken_where_few_unknown_ones_are_not(
    admission: Admission, lake: Lake
) -> None:
    admission._client = Queue(["small"] * 400)  # type: ignore[assignment]
    admission.check()
    other = Admission(Queue(["unknown"] * 20), lake, SETTINGS)  # type: ignore[arg-type]
    with pytest.raises(Problem) as caught:
        other.check()
    assert (caught.value.status, caught.value.slug) == (429, "queue-full")
    assert caught.value.headers == {"Retry-After": "20"}


def test_a_large_job_is_delayed_by_the_runs_of_others(
    admission: Admission, monkeypatch: pytest.MonkeyPatch
) -> None:
    huge = Expected(seconds=9e6, passed=(0.0, 1.0))
    admission.note("huge", huge)
    monkeypatch.setattr(module, "list_jobs", lambda _: ["small", "large", "huge"])
    processes = SETTINGS.batch_processes
    assert admission.expected_wait_s(LARGE) == pytest.approx(2 * 90 / processes)
    # A job ends over budget after so many seconds.
    most_s = SETTINGS.ondemand_total_seconds
    assert admission.expected_wait_s(huge) == pytest.approx((90 + most_s) / processes)
    assert admission.expected_wait_s(SMALL) == 0
    with pytest.raises(Problem, match="expected to wait"):
        admission.check(huge, "new")
    admission.check()


@pytest.mark.parametrize("seconds", [4.0, 10.0])
def test_a_job_whose_budget_one_task_spends_counts_as_that_task(
    admission: Admission, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    # A worker makes no run of it, however long it is expected to take.
    budget = replace(SETTINGS.budget, seconds=seconds)
    admission.note("short", LARGE, budget)
    monkeypatch.setattr(module, "list_jobs", lambda _: ["large", "short"])
    admission._client = Queue(["short"] * 6)  # type: ignore[assignment]
    assert admission.expected_wait_s(SMALL) == pytest.approx(6 * seconds / 2)
    own_s = admission.expected_wait_s(LARGE, budget)
    assert own_s == pytest.approx(6 * seconds / 2), "it does not wait for runs"
    longer_s = admission.expected_wait_s(LARGE) - own_s
    assert longer_s == pytest.approx(90 / SETTINGS.batch_processes)


def test_a_job_has_the_larger_budget_of_two_clients(admission: Admission) -> None:
    admission.note("large", LARGE, replace(SETTINGS.budget, seconds=5.0))
    admission._client = Queue(["large"])  # type: ignore[assignment]
    assert admission.expected_wait_s(SMALL) == pytest.approx(JOB_S / 2)


def test_the_budget_that_a_client_sends_counts(client: TestClient) -> None:
    service = client.app.state.service  # type: ignore[attr-defined]
    body = {"puzzle": puzzle_of(0), "ask": "count", "budget": {"seconds": 2}}
    job = client.post("/v1/solves", json=body).json()["id"]
    assert service.admission._task_s(job) == 2.0


def test_without_a_server_the_open_jobs_of_the_lake_count(
    admission: Admission, monkeypatch: pytest.MonkeyPatch
) -> None:
    admission._client = Queue([], -1)  # type: ignore[assignment]
    monkeypatch.setattr(module, "list_jobs", lambda _: ["small", "long", "large", "unknown"])
    assert admission.expected_wait_s(SMALL) == pytest.approx((0.1 + JOB_S + 10 + 5) / 2)


def test_a_look_reads_few_records_and_the_next_one_others(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, read, begun = [0.0], list[str](), set[str]()
    jobs = [f"{number}" for number in range(250)]

    def read_record(_: Lake, job: str) -> Any:
        read.append(job)
        worker = "w" if job in begun else None
        return SimpleNamespace(
            worker=worker, expected=LARGE, budget=SimpleNamespace(part=SETTINGS.budget)
        )

    monkeypatch.setattr(module, "waiting_in_order", lambda *_: [])
    monkeypatch.setattr(module, "list_jobs", lambda _: jobs)
    monkeypatch.setattr(module, "read_record", read_record)
    admission = Admission(Queue([]), lake, SETTINGS, lambda: now[0])  # type: ignore[arg-type]
    counts = []
    for _ in range(4):
        admission._look()
        counts.append(len(read))
        now[0] += LOOK_S
    assert counts == [100, 200, 250, 250], "it is kept that none has begun"
    assert sorted(read) == sorted(jobs)
    now[0] = NOT_BEGUN_S
    begun.add(jobs[0])
    assert admission._look().large_s == (LARGE.seconds,)
    assert read[250:] == jobs[:100]
    now[0] += NOT_BEGUN_S
    admission._look()
    assert read[350:] == jobs[100:200], "those that were not read for longest come first"
    assert jobs[0] not in admission._read_at


def test_a_record_that_is_none_is_not_read_in_each_look(
    admission: Admission, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []

    def read_record(_: Lake, job: str) -> Any:
        read.append(job)
        raise BadRecordError("a value is none")

    monkeypatch.setattr(module, "list_jobs", lambda _: ["damaged"])
    monkeypatch.setattr(module, "read_record", read_record)
    admission._look()
    admission._look()
    assert read == ["damaged"]


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


def test_a_server_that_is_away_refuses_no_less(settings: Settings, client: TestClient) -> None:
    service = client.app.state.service  # type: ignore[attr-defined]
    service.admission._settings = settings.model_copy(update={"ondemand_wait_seconds": 4.0})
    codes = []
    for seed in range(3):
        puzzle = game("pips").puzzle_to_json(loose_board(20, seed))
        codes.append(client.post("/v1/solves", json={"puzzle": puzzle, "ask": "count"}).status_code)
        time.sleep(LOOK_S)
    assert codes == [202, 429, 429]

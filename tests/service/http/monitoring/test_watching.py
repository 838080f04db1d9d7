"""The queue, whether the service is ready, and its metrics."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.state import NIGHT_REPORT, read_state, write_state
from nightgrid.solvers.registry import game
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.worker_keys import record_refusal, write_heartbeat
from nightgrid.workers.cluster.supervisor import state_path
from nightgrid.workers.ondemand import submitting
from nightgrid.workers.ondemand.submissions import create_submission, read_wanted
from nightgrid.workers.settings import Settings
from tests.service.http.conftest import NO_SERVER
from tests.service.scenes import PAIR, STUCK

WORKER = {"queues": ["interactive"], "processes": 3}


@pytest.fixture
def settings(tmp_path: Path, redis_url: str) -> Settings:
    (tmp_path / "lake").mkdir()
    return Settings(lake=str(tmp_path / "lake"), redis_url=redis_url)  # type: ignore[arg-type]


def submit(settings: Settings, puzzle: dict[str, Any]) -> str:
    from nightgrid.solvers.algebra import Ask
    from nightgrid.solvers.pips.puzzle import Puzzle

    lake = Lake.open(settings.lake)
    return submitting.submit(
        lake, game("pips"), Puzzle.from_json(puzzle), Ask(kind="count"), settings
    )


OLDER_S = 60
"""Difference of the jobs' ages."""


def samples(client: TestClient) -> dict[tuple[str, ...], float]:
    found = {}
    for family in text_string_to_metric_families(client.get("/metrics").text):
        for sample in family.samples:
            found[sample.name, *sample.labels.values()] = sample.value
    return found


def test_the_queue_shows_who_waits_and_who_works(
    settings: Settings, open_client: Callable[..., TestClient], redis_url: str
):
    first, _ = submit(settings, PAIR), submit(settings, STUCK)
    lake = Lake.open(settings.lake)
    (older,) = read_wanted(lake, first).submissions  # type: ignore[union-attr]
    older = replace(older, client="older", submitted_at=older.submitted_at - OLDER_S)
    create_submission(lake, older)
    run_id = read_wanted(lake, first).run_id  # type: ignore[union-attr]
    lake.write_bytes(f"runs/run={run_id}/started/seg-00000-chunk-00000-attempt-1.json", b"{}")
    lake.write_bytes(f"runs/ondemand/0/{'0' * 32}--one.json", b"{")
    with connect(settings) as client:
        write_heartbeat(client, settings, "w", WORKER)
        record_refusal(client, settings, "w", "another version")
    http = open_client(Path(settings.lake), redis_url=redis_url)
    told = http.get("/v1/queue").json()
    assert (told["waiting"], told["running"], told["answers"]) == (1, 1, True)
    assert told["state"] == "up"
    assert told["oldest_s"] >= OLDER_S, "a job in progress is open as well"
    assert told["workers"] == [
        {
            "name": "w",
            "processes": 3,
            "queues": ["interactive"],
            "refusing": "another version",
        }
    ]
    assert told["batch"]["processes"] == 0
    ready = http.get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (200, "ready")
    found = samples(http)
    assert found["nightgrid_jobs", "pips", "queued"] == 1
    assert found["nightgrid_jobs", "pips", "running"] == 1
    assert found["nightgrid_records_damaged",] == 1
    assert found["nightgrid_server_up",] == 1
    assert found["nightgrid_worker_processes", "interactive"] == 3


def test_without_a_server_the_queue_is_reported_and_the_service_is_not_ready(sample: TestClient):
    told = sample.get("/v1/queue").json()
    assert (told["waiting"], told["answers"], told["workers"]) == (0, False, [])
    answer = sample.get("/readyz")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert answer.json()["detail"] == "not there yet: server, workers"
    assert answer.json()["type"] == "/problems/not-ready"


def test_a_server_without_workers_is_not_ready(
    settings: Settings, open_client: Callable[..., TestClient], redis_url: str
):
    answer = open_client(Path(settings.lake), redis_url=redis_url).get("/readyz")
    assert answer.json()["detail"] == "not there yet: workers"


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ({"supervisor_pid": os.getpid(), "processes": {"batch": {"worker": "w"}}}, "starting"),
        ({"supervisor_pid": os.getpid(), "processes": {"server": {"worker": ""}}}, "none"),
        ({"supervisor_pid": 2**22 + 1, "processes": {"batch": {"worker": "w"}}}, "none"),
        ({}, "none"),
    ],
)
@pytest.mark.parametrize("answers", [True, False])
def test_workers_that_are_being_started_are_reported(
    settings: Settings,
    open_client: Callable[..., TestClient],
    redis_url: str,
    state: dict[str, Any],
    told: str,
    answers: bool,
):
    """Given the state file of a living or dead supervisor, Then the queue says whether workers
    come."""
    path = state_path(settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(state))
    url = redis_url if answers else NO_SERVER
    queue = open_client(Path(settings.lake), redis_url=url).get("/v1/queue").json()
    assert (queue["state"], queue["answers"], queue["workers"]) == (told, answers, [])


def test_requests_are_counted_by_route_and_not_by_arbitrary_paths(
    sample_lake: Path, open_client: Callable[..., TestClient]
):
    client = open_client(sample_lake)
    before = samples(client)
    for path in ("/v1/games", "/v1/puzzles/pips", "/v1/puzzles/tiles", "/v1/puzzles/odd/x"):
        client.get(path)
    for path in ("/made/up/1", "/made/up/2", "/static/made-up"):
        client.get(path)
    client.request("MADEUP", "/v1/games")
    client.get("/v1/games", headers={"host": "evil.example"})
    # Services of other tests have counted in this process.
    found = {key: n - before.get(key, 0) for key, n in samples(client).items()}
    name = "nightgrid_http_requests_total"
    requests = {key[1:]: n for key, n in found.items() if key[0] == name and n}
    assert requests.pop(("GET", "/metrics", "200")) == 1
    assert requests == {
        ("GET", "/v1/games", "200"): 1,
        ("GET", "/v1/puzzles/{game}", "200"): 2,
        ("GET", "/v1/puzzles/{game}/{date}", "422"): 1,
        ("GET", "other", "404"): 2,
        ("GET", "/static", "404"): 1,
        ("other", "/v1/games", "405"): 1,
        ("GET", "other", "421"): 1,
    }
    assert found["nightgrid_http_request_seconds_count", "GET", "/v1/puzzles/{game}"] == 2


def test_the_lake_is_counted_with_the_requests(
    sample_lake: Path, open_client: Callable[..., TestClient]
):
    client = open_client(sample_lake)
    found = samples(client)
    files = {key[1]: n for key, n in found.items() if key[0] == "nightgrid_lake_files"}
    assert sum(files.values()) == len(Lake.open(str(sample_lake)).list())
    assert files["results"] == 1
    assert found["nightgrid_results", "pips", "solved"] == 9
    assert found["nightgrid_night_good", "pips"] == 1
    assert found["nightgrid_night_timestamp_seconds", "pips"] > 1_700_000_000
    assert (
        found["nightgrid_night_success_timestamp_seconds", "pips"]
        == found["nightgrid_night_timestamp_seconds", "pips"]
    )
    assert found["nightgrid_night_jobs", "pips"] == 9
    assert found["nightgrid_quarantine", "pips"] == 0
    assert found["nightgrid_contradictions", "pips"] == 0
    assert found["nightgrid_lake_counted_timestamp_seconds",] > 1_700_000_000


def test_a_night_that_failed_is_not_good(
    sample_lake: Path, open_client: Callable[..., TestClient], tmp_path: Path
):
    lake = Lake.open(str(tmp_path / "lake"))
    good_at = "2026-01-01T00:00:00+00:00"
    filed = read_state(Lake.open(str(sample_lake)), "pips", NIGHT_REPORT)
    assert filed is not None
    failed = {"failure": "no source", "succeeded_at": good_at}
    write_state(lake, "pips", NIGHT_REPORT, filed | failed)
    found = samples(open_client(tmp_path / "lake"))
    assert found["nightgrid_night_good", "pips"] == 0
    assert found["nightgrid_night_success_timestamp_seconds", "pips"] == 1_767_225_600
    write_state(lake, "pips", NIGHT_REPORT, filed | failed | {"succeeded_at": None})
    found = samples(open_client(tmp_path / "lake"))
    assert ("nightgrid_night_success_timestamp_seconds", "pips") not in found

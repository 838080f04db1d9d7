"""Solutions and pictures of an answered job."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pyarrow as pa
import pytest
from starlette.testclient import TestClient

from nightgrid.archive.ingest.puzzles import add_puzzles, puzzles_table
from nightgrid.archive.lake.schemas import RESULTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.words.binding import bind_game
from nightgrid.flows.maintenance.prune import prune_lake
from nightgrid.service.http.app import create_app
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.service.http.solves.found import NDJSON
from nightgrid.workers.settings import Settings


@pytest.fixture
def at(client: TestClient, work: Callable[[], int], board: dict[str, Any]) -> str:
    solve = client.post("/v1/solves", json=board).json()
    work()
    return str(solve["links"]["self"])


def test_pages_lead_to_all_solutions(client: TestClient, at: str) -> None:
    pages, where = [], f"{at}/solutions?limit=1"
    while where:
        page = client.get(where).json()
        assert page["total"] == "2"
        pages.append(page["solutions"])
        where = page["next"]
    assert [len(page) for page in pages] == [1, 1]
    stream = client.get(f"{at}/solutions", headers={"Accept": NDJSON})
    assert stream.headers["content-type"].startswith(NDJSON)
    assert [json.loads(line) for line in stream.text.splitlines()] == [p[0] for p in pages]
    assert client.get(f"{at}/solutions?offset=5").json()["solutions"] == []


def test_a_job_without_an_answer_has_no_solutions(
    client: TestClient, board: dict[str, Any]
) -> None:
    at = client.post("/v1/solves", json={**board, "ask": "count"}).json()["links"]["self"]
    assert client.get(f"{at}/solutions").status_code == 409
    assert client.get(f"{at}/picture.svg").status_code == 200, "the board can be drawn"


def test_pictures_show_the_board_and_each_solution(client: TestClient, at: str) -> None:
    pictures = [
        client.get(f"{at}/picture.svg{which}") for which in ("", "?solution=0", "?solution=1")
    ]
    assert len({picture.text for picture in pictures}) == 3
    for picture in pictures:
        assert picture.headers["content-type"].startswith("image/svg+xml")
        assert ET.fromstring(picture.text).tag.endswith("svg")
    assert client.get(f"{at}/picture.svg?solution=2").status_code == 404


def test_a_board_that_cannot_be_read_is_reported_and_is_there_when_it_can(
    client: TestClient, at: str, lake: Lake, settings: Settings
) -> None:
    """Given an answer whose board is in a damaged file, Then that is reported, and not cached."""
    game = bind_game("pips")
    add_puzzles(
        lake, "pips", puzzles_table(game, [game.puzzle_from_json(client.get(at).json()["puzzle"])])
    )
    (result,) = lake.list("results")
    rows = lake.read_table(result, RESULTS)
    lake.write_table(
        result,
        rows.set_column(
            RESULTS.names.index("puzzle"),
            RESULTS.field("puzzle"),
            [pa.nulls(len(rows), pa.string())],
        ),
    )
    (path,) = lake.list("puzzles")
    file = Path(lake.url) / path
    sound = file.read_bytes()
    file.write_bytes(b"")
    with TestClient(
        create_app(ServiceSettings(workers=settings)), base_url="http://localhost"
    ) as other:
        answer = other.get(at)
        assert (answer.status_code, answer.json()["puzzle"]) == (200, None)
        assert answer.headers["nightgrid-skipped-files"] == "1"
        file.write_bytes(sound)
        answer = other.get(at)
        assert answer.json()["puzzle"] == client.get(at).json()["puzzle"] is not None
        assert "nightgrid-skipped-files" not in answer.headers


def forget(client: TestClient) -> None:
    """Let a minute pass, after which no reply is cached."""
    client.app.state.service.replies.clear()  # type: ignore[attr-defined]


def test_an_answer_that_was_dropped_is_kept_no_longer(
    client: TestClient, work: Callable[[], int], board: dict[str, Any], lake: Lake
) -> None:
    """Given an answer that a service has shown, When retention drops its row, Then it is gone."""
    wanted = {**board, "ask": "all"}
    at = client.post("/v1/solves", json=wanted).json()["links"]["self"]
    work()
    for _ in range(2):
        assert client.post("/v1/solves", json=wanted).status_code == 200
    assert len(client.get(f"{at}/solutions").json()["solutions"]) == 2

    now = dt.datetime.now(dt.UTC) + dt.timedelta(days=400)
    dropped = list(prune_lake(lake, {"results": 30.0}, now=now))

    assert sum(done.count for done in dropped) >= 1
    forget(client)
    for path in (f"{at}/solutions", at, f"{at}/picture.svg?solution=0"):
        gone = client.get(path)
        assert (gone.status_code, gone.json()["type"]) == (404, "/problems/no-such-solve")
    assert client.post("/v1/solves", json=wanted).status_code == 202
    assert work() == 1
    assert client.post("/v1/solves", json=wanted).status_code == 200
    assert len(client.get(f"{at}/solutions").json()["solutions"]) == 2

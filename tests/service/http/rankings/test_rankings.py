"""Ranked covers over HTTP and at the command line: asked for, made by a worker, shown with why."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis
from starlette.testclient import TestClient

from nightgrid.archive.games.strands.ranking.ranker import Ranker
from nightgrid.archive.games.strands.ranking.weights import NAME, fitted_weights
from nightgrid.archive.lake.json_files import read_json, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results import rankings
from nightgrid.archive.results.rankings import RankingRequest
from nightgrid.solvers.strands.ranking.vocabulary import vocabulary_of
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.ranking import ondemand, work
from nightgrid.workers.ranking.ondemand import (
    SENDS_MAX,
    RankingKeeper,
    ranking_status,
    submit_ranking,
)
from nightgrid.workers.ranking.work import attempts_path, rank_message, request_path
from nightgrid.workers.settings import Settings
from tests.solvers.strands.boards import board

WORDS = {"HOTDOGOG": 350, "CATS": 450, "SCAT": 250, "ACTS": 400, "CAST": 500}
RANKER = Ranker(fitted_weights(), vocabulary_of(WORDS, set(WORDS), []), None)
ALONE = f"{NAME}-alone"
BOARD = {"board": ["HOTD", "GOGO", "CATS", "SCAT"], "theme_words": 2}
WANTED = RankingRequest(puzzle=board("HOTD GOGO CATS SCAT", 2), clue="Pets")
RANKING = WANTED.ranking_id(ALONE)
Invoke = Callable[..., tuple[int, str, str]]
Write = Callable[..., str]


@pytest.fixture(autouse=True)
def without_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "open_ranker", lambda: RANKER)
    monkeypatch.setattr(
        "nightgrid.archive.games.strands.ranking.minilm.is_installed", lambda: False
    )


@pytest.fixture
def settings(tmp_path: Path, redis_url: str) -> Settings:
    return Settings(lake=str(tmp_path / "lake"), redis_url=redis_url)  # type: ignore[arg-type]


@pytest.fixture
def client(
    settings: Settings, open_client: Callable[..., TestClient], redis_url: str
) -> TestClient:
    return open_client(Path(settings.lake), redis_url=redis_url, ondemand_wait_seconds=1e9)


@pytest.fixture
def answered(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let every message be worked at once, as if a worker was there."""
    sent: list[str] = []

    def send(_app: object, _task: str, _queue: str, about: str, message: dict[str, Any]) -> None:
        sent.append(about)
        rank_message(Lake.open(settings.lake), message, settings)

    monkeypatch.setattr(ondemand, "send", send)
    return sent


def test_a_ranking_is_made_once_and_shown_with_what_spoke_for_each_word(
    client: TestClient, answered: list[str]
):
    body = {"puzzle": BOARD, "clue": "Pets"}
    for _ in range(2):
        answer = client.post("/v1/rankings", json=body, headers={"Prefer": "wait=5"})
        assert answer.status_code == 200, answer.text
    assert answered == [RANKING]
    value = answer.json()
    assert (value["id"], value["state"], value["ranker"]) == (RANKING, "done", ALONE)
    assert value["with_model"] is False
    assert "its models are not installed" in value["note"]
    first = value["covers"][0]
    assert set(first["words"]) == {first["spangram"], *first["theme_words"]}
    assert client.get(value["links"]["self"], params={"limit": 1}).json()["covers"] == [first]
    assert client.post("/v1/rankings", json={"puzzle": BOARD}).json()["clue"] is None


def test_what_is_not_made_is_202_and_then_found(client: TestClient, settings: Settings):
    answer = client.post("/v1/rankings", json={"puzzle": BOARD, "clue": "Pets"})
    assert (answer.status_code, answer.json()["state"]) == (202, "queued")
    assert answer.headers["Location"] == f"/v1/rankings/{RANKING}"
    lake = Lake.open(settings.lake)
    note = read_json(lake, request_path(RANKING))
    assert note is not None
    rank_message(lake, note["message"], settings)
    assert client.get(f"/v1/rankings/{RANKING}").json()["state"] == "done"
    assert not lake.exists(request_path(RANKING))


def test_a_ranking_that_is_left_is_cancelled_unless_another_client_wants_it(
    client: TestClient, settings: Settings
):
    lake = Lake.open(settings.lake)
    body = {"puzzle": BOARD, "clue": "Pets"}
    for key in ("one", "two"):
        client.post("/v1/rankings", json=body, headers={"Idempotency-Key": key})
    place = f"/v1/rankings/{RANKING}"

    first = client.delete(place, headers={"Idempotency-Key": "one"}).json()
    assert (first["state"], first["reason"]) == ("queued", "left; 1 other client wants it")
    second = client.delete(place, headers={"Idempotency-Key": "two"}).json()
    assert (second["state"], second["reason"]) == ("cancelled", "cancelled by its client")
    assert client.delete(place).json()["state"] == "cancelled", "a second time changes nothing"
    assert lake.list("runs/wishes") == []

    note = read_json(lake, request_path(RANKING))
    assert note is not None
    late = rank_message(lake, note["message"], settings, about=RANKING)
    assert late == {"ranked": 0, "boards": 1}, "its message is on the queue all the same"
    again = client.post("/v1/rankings", json=body)
    assert (again.status_code, again.json()["state"]) == (202, "queued")
    assert rank_message(lake, note["message"], settings, about=RANKING)["ranked"] == 1
    assert client.delete(place).json()["state"] == "done"


def test_events_tell_where_a_ranking_is_until_it_ends(client: TestClient, settings: Settings):
    lake = Lake.open(settings.lake)
    client.post("/v1/rankings", json={"puzzle": BOARD, "clue": "Pets"})
    place = f"/v1/rankings/{RANKING}"
    told: list[tuple[str, str]] = []
    with client.stream("GET", f"{place}/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        name = ""
        for line in answer.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                told.append((name, json.loads(line.removeprefix("data: "))["state"]))
                if len(told) == 1:
                    write_json(lake, attempts_path(RANKING), {"attempts": 1, "worker": "w"})
                elif len(told) == 2:
                    client.delete(place)
    assert told == [
        ("state", "queued"),
        ("state", "running"),
        ("state", "cancelled"),
        ("end", "cancelled"),
    ]
    last = client.get(f"{place}/events", headers={"Last-Event-ID": "1"})
    assert last.text.count("event: ") == 1
    assert client.get("/v1/rankings/nonsense/events").status_code == 404
    assert client.delete("/v1/rankings/nonsense").status_code == 404


@pytest.mark.parametrize(
    ("body", "status", "pointer"),
    [
        ({"puzzle": {"board": BOARD["board"]}}, 422, "/puzzle"),
        ({"puzzle": BOARD, "clue": "x" * 501}, 422, "/clue"),
        ({"puzzle": BOARD, "rules": {}}, 422, "/rules"),
        ({}, 422, ""),
        ({"id": "strands/2026-01-01"}, 404, "/id"),
        ({"id": "pips/2026-01-01/easy"}, 404, "/id"),
    ],
)
def test_bad_requests_name_the_field(
    client: TestClient, body: dict[str, Any], status: int, pointer: str
):
    answer = client.post("/v1/rankings", json=body)
    assert answer.status_code == status, answer.text
    assert pointer in {error["pointer"] for error in answer.json()["errors"]}


def test_there_is_no_ranking_that_was_not_asked_for(client: TestClient):
    for name in (RANKING, "nonsense", "0" * 32):
        answer = client.get(f"/v1/rankings/{name}")
        assert (answer.status_code, answer.json()["type"]) == (404, "/problems/no-such-ranking")


def test_the_keeper_sends_what_is_lost_and_gives_up_in_the_end(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    """Given messages that get lost, Then each is sent again, and no worker is a failure."""
    sent: list[str] = []
    monkeypatch.setattr(ondemand, "send", lambda *words: sent.append(words[3]))
    lake = Lake.open(settings.lake)
    assert submit_ranking(lake, WANTED, settings) == RANKING
    assert submit_ranking(lake, WANTED, settings) == RANKING
    assert sent == [RANKING]
    client: redis.Redis = connect(settings)
    keeper = RankingKeeper(lake, settings, client)
    for _ in range(4 * SENDS_MAX):
        keeper.poll()
    assert sent == [RANKING] * SENDS_MAX
    found = ranking_status(lake, RANKING)
    assert found.state == "failed"
    assert f"no worker has ranked it by {ALONE}" in found.reason
    keeper.drop_old_ends(kept_days=1)
    assert ranking_status(lake, RANKING).state == "failed"
    keeper.drop_old_ends(kept_days=-1)
    assert ranking_status(lake, RANKING).state == "unknown"
    submit_ranking(lake, WANTED, settings)
    assert ranking_status(lake, RANKING).state == "queued"
    rankings.keep_ranking(lake, rankings.rank(RANKER, WANTED))
    keeper.poll()
    assert not lake.exists(request_path(RANKING))
    client.close()


def test_an_idempotency_key_stands_for_one_ranking(client: TestClient):
    body = {"puzzle": BOARD, "clue": "Pets"}
    keyed = {"Idempotency-Key": "once"}
    refused = client.post("/v1/rankings", json=body | {"puzzle": {"board": ["A1"]}}, headers=keyed)
    assert refused.status_code == 422
    for _ in range(2):
        assert client.post("/v1/rankings", json=body, headers=keyed).status_code == 202
    other = client.post("/v1/rankings", json=body | {"clue": "Dogs"}, headers=keyed)
    assert (other.status_code, other.json()["type"]) == (422, "/problems/replayed-key")
    solve = client.post("/v1/solves", json={"puzzle": BOARD}, headers=keyed)
    assert (solve.status_code, solve.json()["type"]) == (422, "/problems/replayed-key")
    wrong = client.post("/v1/rankings", json=body, headers={"Idempotency-Key": "a b"})
    assert wrong.json()["errors"][0]["pointer"] == "Idempotency-Key"


def test_a_board_is_ranked_from_the_command_line(
    invoke: Invoke, write: Write, settings: Settings, answered: list[str],
    monkeypatch: pytest.MonkeyPatch, redis_url: str,
):  # fmt: skip
    monkeypatch.setenv("NIGHTGRID_REDIS_URL", redis_url)
    place = ("--lake", settings.lake)
    code, out, err = invoke("submit", write(BOARD), "--rank", *place)
    assert code == 0, err
    ranking_id = out.split()[0]
    assert answered == [ranking_id]
    code, out, _ = invoke("result", ranking_id, *place)
    assert code == 0
    assert "covers ranked in" in out
    assert "HOTDOGOG: " in out
    assert "its models are not installed" in out
    code, out, _ = invoke("result", ranking_id, "--json", *place)
    value = json.loads(out)
    assert (value["state"], value["ranking_id"]) == ("done", ranking_id)
    code, out, _ = invoke("submit", write(BOARD), "--rank", "--wait", "5", *place)
    assert code == 0
    assert "covers ranked in" in out


def test_a_ranking_is_cancelled_from_the_command_line(
    invoke: Invoke, write: Write, settings: Settings, monkeypatch: pytest.MonkeyPatch,
    redis_url: str,
):  # fmt: skip
    monkeypatch.setenv("NIGHTGRID_REDIS_URL", redis_url)
    place = ("--lake", settings.lake)
    _, out, _ = invoke("submit", write(BOARD), "--rank", *place)
    ranking_id = out.split()[0]
    assert "queued" in invoke("status", ranking_id, *place)[1]
    code, out, err = invoke("cancel", ranking_id, *place)
    assert (code, err) == (0, "")
    assert out == f"{ranking_id}  cancelled; nightgrid submit asks it again\n"
    assert "nothing to cancel" in invoke("cancel", ranking_id, *place)[1]
    assert "cancelled" in invoke("status", ranking_id, *place)[1]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--ask", "first"), "--ask and --rank exclude one another"),
        (("--spangram", "off"), "expected files or references of Strands alone"),
    ],
)
def test_submit_rank_refuses_what_it_does_not_know(
    invoke: Invoke, write: Write, settings: Settings, words: tuple[str, ...], sentence: str
):
    code, _, err = invoke("submit", write(BOARD), "--rank", "--lake", settings.lake, *words)
    assert code == 3
    assert sentence in err


def test_boards_of_other_games_are_told(invoke: Invoke, write: Write, settings: Settings):
    pips = {"dominoes": [[0, 0]], "regions": [{"type": "empty", "indices": [[0, 0], [0, 1]]}]}
    code, _, err = invoke("submit", write(pips), "--rank", "--lake", settings.lake)
    assert code == 3
    assert "--rank is for Strands; this board is of pips" in err

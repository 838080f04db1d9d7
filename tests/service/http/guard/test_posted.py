"""The board of a request: its faults have a place, down to the cell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.service.scenes import BROKEN, PAIR, payload

URL = "/v1/boards/picture"
STRANDS = {"board": ["ABCD", "EFGH"]}


def faults(answer: Any, status: int = 422) -> dict[str, str]:
    assert answer.status_code == status, answer.text
    return {each["pointer"]: each["detail"] for each in answer.json()["errors"]}


@pytest.mark.parametrize(
    "body",
    [
        {"puzzle": PAIR},
        {"puzzle": PAIR, "game": "pips", "ask": "all(5)", "rules": {}},
        {"puzzle": payload(hard=PAIR)},
        {"puzzle": payload(easy=BROKEN, hard=PAIR), "level": "hard"},
        {"puzzle": payload(easy=PAIR, hard=PAIR), "level": "HARD"},
        {"id": "pips/2026-01-01/hard"},
        {"id": "PIPS/2026-01-01", "level": "Hard"},
        {"puzzle": STRANDS, "words": ["ABCD", "Efgh"], "rules": {"spangram": "off"}},
        {"puzzle": ["ABCD", "EFGH"], "game": "strands"},
        {"puzzle": {"sides": ["ABC", "DEF"]}, "rules": {"words": "3", "min_length": 2}},
        {"puzzle": {"tiles": [["a"], ["a"]]}, "ask": "first"},
    ],
)
def test_a_board_is_drawn(body: dict[str, Any], sample: TestClient):
    answer = sample.post(URL, json=body)
    assert answer.status_code == 200, answer.text
    assert answer.text.startswith("<svg ")


SEVERAL: dict[str, tuple[Any, list[str]]] = {
    "pips": (
        {
            "dominoes": [[1, 2], [3, -9], [4, 5, 6]],
            "regions": [
                {"indices": [[0, 0], [0, 1]], "type": "sum"},
                {"indices": [[0, 1], [0, 2]], "type": "foo"},
                {"indices": [[5, 5], [0, "x"], [5, 5]], "type": "sum", "target": -4},
                {"type": "empty"},
            ],
        },
        [
            "/dominoes/1/1",
            "/dominoes/2",
            "/regions/1/type",
            "/regions/2/indices/1/1",
            "/regions/2/target",
            "/regions/3/indices",
            "/regions/0/target",
            "/regions/1/indices/0",
            "/regions/2/indices/2",
        ],
    ),
    "strands": ({"board": ["AB ", "C", "D\nE"]}, ["/board/0", "/board/1", "/board/2"]),
    "letterboxed": (
        {"sides": ["A1", "B", "", "C?"], "dictionary": ["AB", "", "A-B"]},
        ["/sides/0", "/sides/2", "/sides/3", "/dictionary/1", "/dictionary/2"],
    ),
    "tiles": (
        {"tiles": [["a", "a"], ["b", "b"], ["c"]]},
        ["/tiles/0", "/tiles/1"],
    ),
    "tiles, as its page has them": (
        {"board": [{"layers": [{"id": ""}, {"id": "A", "hidden": 1}]}, {}, {"layers": [{}]}]},
        ["/board/0/layers/0/id", "/board/0/layers/1/hidden", "/board/1", "/board/2/layers/0/id"],
    ),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_all_that_is_wrong_with_a_board_is_reported_at_once(name: str, sample: TestClient):
    puzzle, pointers = SEVERAL[name]
    answer = sample.post(URL, json={"puzzle": puzzle, "game": name.partition(",")[0]})
    told = list(faults(answer))
    assert told == [f"/puzzle{pointer}" for pointer in pointers]
    first = answer.json()["errors"][0]["detail"]
    assert answer.json()["detail"].endswith(first)


def test_a_title_is_text_and_never_markup(sample: TestClient):
    title = "</title><script>alert(1)</script>&\"'"
    text = sample.post(URL, json={"puzzle": PAIR, "title": title}).text
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_letters_that_are_markup_stay_letters(sample: TestClient):
    answer = sample.post(URL, json={"puzzle": {"tiles": [["<script>"], ["<script>", "&x"]]}})
    assert answer.status_code == 200
    assert "<script" not in answer.text


def test_large_boards_and_long_solves_are_refused(
    open_client: Callable[..., TestClient], sample_lake: Path
):
    client = open_client(sample_lake, http_board_size=2, http_expected_seconds=1e-9)
    assert "size is 8; expected at most 2" in faults(
        client.post(URL, json={"puzzle": STRANDS, "words": ["ABCD"]})
    ).get("/puzzle", "")
    slow = client.post("/v1/solves", json={"puzzle": PAIR, "ask": "count"})
    assert slow.json()["type"] == "/problems/too-long"
    assert "the board would take about " in faults(slow)["/puzzle"]
    assert client.post(URL, json={"puzzle": PAIR}).status_code == 200, "a picture takes no solve"

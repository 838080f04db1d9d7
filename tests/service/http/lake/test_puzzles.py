"""The calendar of a game, the boards of a date, and their pictures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import read_results
from nightgrid.service.cli.app import main
from tests.service.http.conftest import DAYS

URL = "/v1/puzzles/pips"


def problem(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].removeprefix("/problems/")


def test_the_calendar_has_every_date_with_its_counts(sample: TestClient, sample_lake: Path):
    told = sample.get(URL).json()
    assert (told["total"], told["first"], told["last"], told["next"]) == (
        3,
        DAYS[0],
        DAYS[-1],
        None,
    )
    assert [day["date"] for day in told["dates"]] == list(DAYS)
    levels = [level for day in told["dates"] for level in day["levels"]]
    assert [level["level"] for level in levels[:3]] == ["easy", "medium", "hard"]
    rows = read_results(Lake.open(str(sample_lake))).to_pylist()
    counts = {row["puzzle_id"]: str(row["count"]) for row in rows}
    assert {level["puzzle_id"]: level["count"] for level in levels} == counts
    assert {level["status"] for level in levels} == {"solved"}
    assert levels[2]["reference"] == "pips/2026-01-01/hard"


def test_pages_of_the_calendar_are_all_of_it(sample: TestClient):
    found, url = [], f"{URL}?limit=1&to={DAYS[1]}"
    while url:
        told = sample.get(url).json()
        assert told["total"] == 2
        found += [day["date"] for day in told["dates"]]
        url = told["next"]
    assert found == list(DAYS[:2])


def test_a_range_bounds_the_calendar(sample: TestClient):
    told = sample.get(URL, params={"from": DAYS[1], "to": DAYS[1]}).json()
    assert [day["date"] for day in told["dates"]] == [DAYS[1]]
    assert sample.get(URL, params={"from": "2030-01-01"}).json()["dates"] == []


def test_a_lake_that_is_not_there_yet_has_empty_calendars(
    open_client: Callable[..., TestClient], tmp_path: Path
):
    client = open_client(tmp_path / "none")
    assert client.get(URL).json()["total"] == 0
    assert client.get("/v1/results").json() == {"results": [], "next": None}
    assert client.get("/v1/runs").json()["total"] == 0
    answer = client.get(f"{URL}/{DAYS[0]}")
    assert problem(answer) == (404, "no-such-board")
    assert str(tmp_path) not in answer.text
    assert not (tmp_path / "none").exists()


def test_the_boards_of_a_date_are_in_their_own_form(sample: TestClient):
    told = sample.get(f"{URL}/{DAYS[0]}").json()
    assert [board["level"] for board in told["boards"]] == ["easy", "medium", "hard"]
    hard = told["boards"][2]
    assert hard["puzzle"]["game"] == "pips"
    (answer,) = hard["results"]
    assert (answer["ask"], answer["status"], answer["solutions_stored"]) == ("count", "solved", 0)
    assert answer["count"].isdecimal()
    # Its own form can be submitted again.
    posted = sample.post("/v1/boards/picture", json={"puzzle": hard["puzzle"]})
    assert posted.text == sample.get(hard["picture"]).text
    (same,) = sample.get(f"{URL}/{DAYS[0]}?level=HARD").json()["boards"]
    assert same == hard


def test_answers_to_other_asks_follow_the_usual_one(
    sample_lake: Path, open_client: Callable[..., TestClient], tmp_path: Path
):
    import shutil

    shutil.copytree(sample_lake, tmp_path / "lake")
    source = tmp_path / "source"
    source.mkdir()
    shutil.copy(Path(__file__).parents[4] / f"service/sample/pips/{DAYS[0]}.json", source)
    words = ("--source", f"pips={source}", "--lake", str(tmp_path / "lake"), "--ask", "all")
    assert main(("nightly", *words, "--inline", "--no-prefect")) == 0
    client = open_client(tmp_path / "lake")
    for board in client.get(f"{URL}/{DAYS[0]}").json()["boards"]:
        count, every = board["results"]
        assert (count["ask"], every["ask"]) == ("count", "all")
        assert every["solutions_stored"] == int(count["count"])


def test_a_board_of_a_date_is_drawn(sample: TestClient):
    answer = sample.get(f"{URL}/{DAYS[0]}/easy/picture.svg")
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert answer.text.startswith("<svg ")

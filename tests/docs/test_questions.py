"""The page of five questions: the answers of a small lake, and the page's own answers."""

from __future__ import annotations

import datetime as dt
import json
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import nightgrid
from docs.questions import PAGE, PICTURES, QUESTIONS, answer, answers_in, charts, command, write
from nightgrid.archive.ingest.editions import editions_path
from nightgrid.archive.lake.schemas import COUNTS_BY_DATE, EDITIONS, RANKS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.gold.rebuild import COUNTS_PATH, RANKS_PATH
from nightgrid.service.cli.app import main

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "service" / "sample" / "pips"
PIPS_DAYS = 12
MAKERS = ("Ada", "Ben", "Ada and Ben, Jr.")
PICTURE_BYTES_MAX = 10_000
BEGIN = dt.date(2025, 8, 20)
Rows = list[dict[str, Any]]


def of_day(game: str, date: dt.date, **given: Any) -> dict[str, Any]:
    told = {"game": game, "date": date, "level": "daily", "revision": 1, "status": "solved"}
    board = f"{game}{date}".encode().hex().rjust(32, "0")[-32:]
    return {**told, "puzzle_id": board, "size": 48, "states": 1, "kernel_ns": 1, **given}


def strands_days(draw: random.Random) -> tuple[Rows, Rows]:
    """Draw counts and ranks of five months; some boards have no cover."""
    counts, ranks = [], []
    for day in range(150):
        date = BEGIN + dt.timedelta(days=day)
        covers = Decimal(draw.choice([0, 1, 7, 245, 31_857, 10 ** draw.randrange(9)]))
        status = "solved" if covers else "unsolvable"
        counts.append(of_day("strands", date, count=covers, status=status))
        rank = draw.choice([1, 1, 2, 10, None]) if covers else None
        ranks.append(of_day("strands", date, ask="best(10)", status=status, official_rank=rank))
    return counts, ranks


def letterboxed_days(draw: random.Random) -> tuple[Rows, Rows]:
    """Draw counts and editions of boards; some need three words, and some have no par."""
    counts, editions = [], []
    for day in range(120):
        date = BEGIN + dt.timedelta(days=day)
        counts.append(
            of_day(
                "letterboxed", date, count=Decimal(draw.randrange(1, 600)),
                value=draw.choice([2, 2, 3]), official_solution_best=draw.random() < 0.5,
            )
        )  # fmt: skip
        seen = {"seen_at": dt.datetime(2026, 1, 1, tzinfo=dt.UTC), "raw_sha256": "", "draft": False}
        editions.append(of_day("letterboxed", date, **seen, par=draw.choice([4, 5, 6, None])))
    return counts, editions


def table(rows: Rows, schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=schema)


class SmallLake:
    """A lake after a night of Pips, with random rows for the two other games."""

    def __init__(self, folder: Path, draw: random.Random) -> None:
        self.url = str(folder / "lake")
        payloads_with_makers(folder / "pips")
        words = ["nightly", "--source", str(folder / "pips"), "--lake", self.url]
        assert main([*words, "--inline", "--no-prefect"]) == 0
        lake = Lake.open(self.url)
        self.strands, self.ranks = strands_days(draw)
        self.letterboxed, self.editions = letterboxed_days(draw)
        counts = lake.read_table(COUNTS_PATH, COUNTS_BY_DATE)
        more = table([*self.strands, *self.letterboxed], COUNTS_BY_DATE)
        lake.write_table(COUNTS_PATH, pa.concat_tables([counts, more]))
        lake.write_table(RANKS_PATH, table(self.ranks, RANKS))
        lake.write_table(editions_path("letterboxed"), table(self.editions, EDITIONS))


def payloads_with_makers(folder: Path) -> None:
    """Copy some days of the sample; the levels of a day are of different makers."""
    folder.mkdir()
    for day, path in enumerate(sorted(SAMPLE.glob("*.json"))[:PIPS_DAYS]):
        payload = json.loads(path.read_text())
        for i, level in enumerate(("easy", "medium", "hard")):
            payload[level]["constructors"] = MAKERS[(day + i) % len(MAKERS)]
        (folder / path.name).write_text(json.dumps(payload))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> SmallLake:
    return SmallLake(tmp_path_factory.mktemp("questions"), random.Random(20))


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_command_of_the_page_prints_the_answer(
    name: str, small: SmallLake, capsys: pytest.CaptureFixture[str]
) -> None:
    sql = QUESTIONS[name].sql
    assert command(sql) in PAGE.read_text()
    words = ["query", " ".join(sql.split()), "--format", "csv", "--lake", small.url]
    assert main(words) == 0
    assert capsys.readouterr().out == answer(nightgrid.Lake(small.url), sql)


def test_the_page_and_its_charts_are_generated_from_the_answers() -> None:
    text = PAGE.read_text()
    answers = answers_in(text)
    assert all(len(told.splitlines()) > 2 for told in answers.values())
    assert write(text, answers) == text, "run python -m docs.questions LAKE"
    drawn = charts(answers)
    assert {path.name for path in PICTURES.glob("questions*.svg")} == set(drawn)
    for name, picture in drawn.items():
        assert (PICTURES / name).read_text() == picture, name
        assert len(picture) < PICTURE_BYTES_MAX, name
        assert "prefers-color-scheme:dark" in picture


def test_a_page_without_a_place_for_a_question_is_refused() -> None:
    answers = answers_in(PAGE.read_text())
    with pytest.raises(SystemExit, match="no place for makers"):
        write("# A page\n", answers)

"""The page of five questions: answers of a small lake, and the page against its own answers."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import math
import random
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import nightgrid
from docs.questions import PAGE, PICTURES, QUESTIONS, answer, answers_in, charts, command, write
from nightgrid.archive.ingest.editions import editions_path
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import COUNTS_BY_DATE, EDITIONS, ranks_schema
from nightgrid.archive.results.gold.gold import COUNTS_PATH, ranks_path
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
    """Draw counts and ranks of five months; a board has no cover now and then."""
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
    """Draw counts and editions of boards, of which some need three words and some have no par."""
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
    """A lake of a night of Pips, and of rows that were drawn for the two other games."""

    def __init__(self, folder: Path, draw: random.Random) -> None:
        self.url = str(folder / "lake")
        self.payloads = payloads_with_makers(folder / "pips")
        words = ["nightly", "--source", str(folder / "pips"), "--lake", self.url]
        assert main([*words, "--inline", "--no-prefect"]) == 0
        lake = Lake.open(self.url)
        self.strands, self.ranks = strands_days(draw)
        self.letterboxed, self.editions = letterboxed_days(draw)
        counts = lake.read_table(COUNTS_PATH, COUNTS_BY_DATE)
        more = table([*self.strands, *self.letterboxed], COUNTS_BY_DATE)
        lake.write_table(COUNTS_PATH, pa.concat_tables([counts, more]))
        lake.write_table(ranks_path("strands"), table(self.ranks, ranks_schema("strands")))
        lake.write_table(editions_path("letterboxed"), table(self.editions, EDITIONS))

    def answer(self, name: str) -> list[dict[str, str]]:
        text = answer(nightgrid.Lake(self.url), QUESTIONS[name].sql)
        return list(csv.DictReader(io.StringIO(text)))


def payloads_with_makers(folder: Path) -> list[dict[str, Any]]:
    """Copy some days of the sample; the levels of a day are of different makers."""
    folder.mkdir()
    found = []
    for day, path in enumerate(sorted(SAMPLE.glob("*.json"))[:PIPS_DAYS]):
        payload = json.loads(path.read_text())
        for i, level in enumerate(("easy", "medium", "hard")):
            payload[level]["constructors"] = MAKERS[(day + i) % len(MAKERS)]
        (folder / path.name).write_text(json.dumps(payload))
        found.append(payload)
    return found


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> SmallLake:
    return SmallLake(tmp_path_factory.mktemp("questions"), random.Random(20))


def pips_boards(small: SmallLake) -> Rows:
    """Solve the boards of the payloads one by one, without a lake."""
    found = []
    for payload in small.payloads:
        for board in nightgrid.read(payload):
            raw = payload[board.level]
            outcome = nightgrid.solve(board, "count")
            kinds = {r["type"]: 0 for r in raw["regions"]}
            for region in raw["regions"]:
                kinds[region["type"]] += len(region["indices"])
            open_cells = kinds.get("empty", 0)
            found.append(
                {
                    "level": board.level,
                    "maker": raw["constructors"],
                    "count": outcome.count,
                    "states": outcome.statistics.states,
                    "dominoes": len(raw["dominoes"]),
                    "open_cells": str(open_cells) if open_cells < 3 else "3 or more",
                }
            )
    return found


def grouped(rows: Rows, *columns: str) -> dict[tuple[str, ...], Rows]:
    found = defaultdict(list)
    for row in rows:
        found[tuple(row[column] for column in columns)].append(row)
    return dict(sorted(found.items()))


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    if len(values) == 1:
        return (values[0],) * 3
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def numbers(row: Mapping[str, str], *columns: str) -> list[float]:
    return [float(row[column]) for column in columns]


def test_makers_are_counted_by_level(small: SmallLake) -> None:
    expected = [
        {
            "level": level,
            "maker": maker,
            "boards": str(len(mine)),
            "with_one": str(sum(row["count"] == 1 for row in mine)),
            "most": str(max(row["count"] for row in mine)),
        }
        for (level, maker), mine in grouped(pips_boards(small), "level", "maker").items()
    ]
    assert len(expected) == 9
    assert small.answer("makers") == expected


def test_states_are_those_of_boards_with_as_many_open_cells(small: SmallLake) -> None:
    expected = grouped(pips_boards(small), "level", "open_cells")
    rows = small.answer("open")
    assert [(row["level"], row["open_cells"]) for row in rows] == list(expected)
    for row, mine in zip(rows, expected.values(), strict=True):
        assert int(row["boards"]) == len(mine)
        assert float(row["states"]) == statistics.median(m["states"] for m in mine)
        mean = statistics.mean(m["dominoes"] for m in mine)
        assert float(row["dominoes"]) == pytest.approx(mean, abs=0.051)


def test_covers_have_quartiles_by_month_without_boards_that_have_none(small: SmallLake) -> None:
    months = defaultdict(list)
    for row in small.strands:
        if row["count"]:
            months[f"{row['date']:%Y-%m}"].append(math.log10(row["count"]))
    rows = small.answer("covers")
    assert [row["month"] for row in rows] == sorted(months)
    for row in rows:
        logs = months[row["month"]]
        assert int(row["boards"]) == len(logs)
        expected = [*quartiles(logs), max(logs)]
        assert numbers(row, "low", "middle", "high", "most") == pytest.approx(expected, abs=0.0051)


def test_places_add_up_to_the_boards_of_a_quarter(small: SmallLake) -> None:
    quarters: dict[str, list[int | None]] = defaultdict(list)
    for row in small.ranks:
        if row["status"] == "solved":
            quarter = f"{row['date'].year} Q{(row['date'].month + 2) // 3}"
            quarters[quarter].append(row["official_rank"])
    expected = [
        {
            "quarter": quarter,
            "boards": str(len(ranks)),
            "first": str(ranks.count(1)),
            "listed": str(ranks.count(2) + ranks.count(10)),
            "beyond": str(ranks.count(None)),
        }
        for quarter, ranks in sorted(quarters.items())
    ]
    assert len(expected) == 3
    assert small.answer("places") == expected


def test_par_stands_beside_the_solutions_of_boards_that_two_words_solve(small: SmallLake) -> None:
    par = {row["date"]: row["par"] for row in small.editions}
    rows = small.answer("par")
    assert [row["par"] for row in rows] == ["4", "5", "6"]
    for row in rows:
        mine = [one for one in small.letterboxed if par[one["date"]] == int(row["par"])]
        two = [one for one in mine if one["value"] == 2]
        assert len(mine) > len(two) > 1
        expected = [len(mine), len(two), sum(one["official_solution_best"] for one in two)]
        assert numbers(row, "boards", "in_two", "published_in_two") == expected
        counts = [float(one["count"]) for one in two]
        told = numbers(row, "low", "middle", "high", "most")
        assert told == pytest.approx([*quartiles(counts), max(counts)])


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_command_of_the_page_prints_the_answer(
    name: str, small: SmallLake, capsys: pytest.CaptureFixture[str]
) -> None:
    sql = QUESTIONS[name].sql
    assert command(sql) in PAGE.read_text()
    words = ["query", " ".join(sql.split()), "--format", "csv", "--lake", small.url]
    assert main(words) == 0
    assert capsys.readouterr().out == answer(nightgrid.Lake(small.url), sql)


def test_the_page_and_its_charts_are_what_the_program_makes_of_the_answers() -> None:
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


def test_another_answer_gives_another_page_and_another_chart(small: SmallLake) -> None:
    lake = nightgrid.Lake(small.url)
    answers = {name: answer(lake, question.sql) for name, question in QUESTIONS.items()}
    text = write(PAGE.read_text(), answers)
    assert answers_in(text) == answers
    for row in small.answer("par"):
        assert f"par {row['par']}" in text or row["par"] == "5"
    published = charts(answers_in(PAGE.read_text()))
    assert all(picture != published[name] for name, picture in charts(answers).items())


def test_a_page_without_a_place_for_a_question_is_refused() -> None:
    answers = answers_in(PAGE.read_text())
    with pytest.raises(SystemExit, match="no place for makers"):
        write("# A page\n", answers)

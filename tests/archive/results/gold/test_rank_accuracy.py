"""Gold has the places of official covers among ranked ones, which rankings never see."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest

from nightgrid.archive.games.strands.ranking import vocabularies
from nightgrid.archive.games.strands.ranking.plugged import ranker_here
from nightgrid.archive.ingest.editions import clued_boards, current_editions
from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.lake.schemas import RANK_ACCURACY
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.gold import rank_accuracy
from nightgrid.archive.results.gold.rank_accuracy import (
    PATH,
    accuracy_by_month,
    calibration,
    miss_counts,
    whole,
    write_accuracy,
)
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.archive.words.binding import bind_game
from nightgrid.solvers.algebra import MEANT, Outcome, Statistics, Status
from nightgrid.solvers.question import question_of
from nightgrid.solvers.strands.ranking.vocabulary import vocabulary_of
from nightgrid.workers.ondemand.answers import answer_of, put_answers
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.settings import load_settings
from tests.archive.games.strands.ranking.test_misses import ranked

SAMPLE = Path(__file__).parents[4] / "service" / "sample" / "strands"
KNOWN = {"OTHER": 400, "WORDS": 400}


@pytest.fixture(autouse=True)
def small_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    small = vocabulary_of(KNOWN, set(KNOWN), [])
    monkeypatch.setattr(vocabularies, "ranking_vocabulary", lambda: small)


@pytest.fixture
def filled(lake: Lake, now: Callable[[], dt.datetime], tmp_path: Path) -> Lake:
    """Fill a lake with two boards of the sample."""
    folder = tmp_path / "payloads"
    folder.mkdir()
    for path in sorted(SAMPLE.glob("*.json"))[:2]:
        shutil.copyfile(path, folder / path.name)
    fetch(lake, FolderSource(folder), game="strands", now=now)
    normalise(lake, game="strands")
    return lake


def editions(lake: Lake) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = current_editions(lake, "strands").to_pylist()
    return found


def kept(lake: Lake, edition: dict[str, Any], *covers: dict[str, Any]) -> None:
    """Store covers as the answer of `meant` to the board of an edition."""
    game = bind_game("strands", ask=MEANT)
    table = clued_boards(lake, "strands")
    row = table.column("puzzle_id").to_pylist().index(edition["puzzle_id"])
    puzzle = game.from_arrays(arrays_of(table), row)
    assert puzzle.clue == edition["clue"]
    outcome = Outcome(
        status=Status.SOLVED if covers else Status.UNSOLVABLE,
        count=len(covers),
        solutions=covers,
        statistics=Statistics(kernel_ns=1_500_000_000),
    )
    budget = JobBudget.of(load_settings(), None)
    question, puzzle_id = question_of(game, MEANT), game.puzzle_id(puzzle)
    job_id = question.job_id(game.subject(puzzle))
    values = map(game.solution_to_json, covers)
    put_answers(lake, [answer_of(question, job_id, puzzle_id, {}, budget, outcome, values)])


def test_official_answers_are_measured_once_and_ranking_never_sees_them(filled: Lake):
    first, second = editions(filled)
    official = json.loads(first["official_solution"]) | {"confidence": 0.9}
    kept(filled, first, ranked("OTHER", "WORDS"), official)
    write_accuracy(filled)
    (row,) = filled.read_table(PATH, RANK_ACCURACY).to_pylist()
    assert (row["official_place"], row["official_confidence"], row["confidence"]) == (2, 0.9, 0.5)
    assert (row["ranker"], row["cover_count"], row["seconds"]) == (ranker_here(), 2, 1.5)
    assert row["miss"] is not None
    kept(filled, second)
    solutions_of = rank_accuracy.solutions_of
    with mock.patch.object(rank_accuracy, "solutions_of", wraps=solutions_of) as looked:
        write_accuracy(filled)
        ((_, runs), _) = looked.call_args
        assert len(runs) == 1
    rows = filled.read_table(PATH, RANK_ACCURACY).to_pylist()
    assert [row["official_place"] for row in rows] == [2, None]
    assert rows[1]["miss"] == "no_theme_word"
    (month,) = accuracy_by_month(filled, ranker_here())
    assert (month.month, month.boards, month.first, month.in_five) == ("2026-01", 2, 0, 1)
    assert whole([month, month]).boards == 4


def test_rows_of_other_rankers_stay(filled: Lake):
    first, _ = editions(filled)
    kept(filled, first, ranked("OTHER", "WORDS"))
    write_accuracy(filled)
    (row,) = filled.read_table(PATH, RANK_ACCURACY).to_pylist()
    other = row | {"ranker": "earlier"}
    filled.write_table(PATH, pa.Table.from_pylist([other, row], RANK_ACCURACY))
    write_accuracy(filled)
    assert filled.read_table(PATH, RANK_ACCURACY).to_pylist() == [other, row]
    assert accuracy_by_month(filled, ranker_here())[0].misses == {"no_theme_word": 1}


def test_boards_have_their_clues(filled: Lake):
    table = clued_boards(filled, "strands")
    assert len(table) == 2
    clues = {edition["puzzle_id"]: edition["clue"] for edition in editions(filled)}
    assert {row["puzzle_id"]: row["clue"] for row in table.to_pylist()} == clues


def test_confidence_is_compared_with_how_often_it_is_right():
    rows = [
        {"confidence": confidence, "official_place": place}
        for confidence, place in (
            (0.95, 1), (0.97, 1), (1.0, 1), (0.92, 2), (0.7, 1), (0.69, None), (None, None),
        )
    ]  # fmt: skip
    found = calibration(rows)
    assert [(one.low, one.high, one.boards, one.right) for one in found] == [
        (0.5, 0.7, 1, 0),
        (0.7, 0.85, 1, 1),
        (0.85, 0.95, 1, 0),
        (0.95, 1.0, 3, 1),
    ]
    assert [one.said for one in found] == pytest.approx([0.69, 0.7, 0.92, 2.92 / 3])
    assert calibration([]) == []


def test_misses_are_counted_in_the_order_of_classes():
    told = ("not_listed", "no_theme_word", "not_listed", None)
    counts = miss_counts({"miss": miss} for miss in told)
    assert list(counts.items()) == [
        ("no_theme_word", 1),
        ("not_listed", 2),
    ]

"""Gold says where official covers stand among ranked ones, and rankings are not told of them."""

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
from nightgrid.archive.games.strands.ranking.misses import EARLIER_MISSES, MISSES, Miss
from nightgrid.archive.games.strands.ranking.weights import NAME
from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RANK_ACCURACY
from nightgrid.archive.results.gold import rank_accuracy
from nightgrid.archive.results.gold.rank_accuracy import (
    PATH,
    accuracy_by_month,
    calibration,
    editions,
    miss_counts,
    miss_phrase,
    read_accuracy,
    whole,
    write_accuracy,
)
from nightgrid.archive.results.rankings import find_ranking, keep_ranking, known_rankings, rank
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.archive.views.catalogue import view_named
from tests.archive.games.strands.ranking.test_misses import ranked
from tests.archive.results.test_rankings import ALONE, RANKER

SAMPLE = Path(__file__).parents[4] / "service" / "sample" / "strands"


@pytest.fixture(autouse=True)
def small_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabularies, "ranking_vocabulary", lambda: RANKER.vocabulary)


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


def kept(lake: Lake, edition: rank_accuracy.Edition, *covers: dict[str, Any]) -> None:
    row = rank(RANKER, edition.request)
    keep_ranking(lake, row | {"covers": list(covers), "cover_count": len(covers)})


def test_official_answers_are_measured_once_and_ranking_never_sees_them(filled: Lake):
    first, second = editions(filled)
    assert first.official is not None
    official = json.loads(first.official)
    right = {
        "spangram": official["spangram"]["word"],
        "theme_words": [entry["word"] for entry in official["theme_words"]],
        "confidence": 0.9,
        "cover": official,
    }
    with mock.patch.object(rank_accuracy, "rank", create=True):
        kept(filled, first, ranked("OTHER", "WORDS"), right)
    known = known_rankings(filled)
    write_accuracy(filled, ALONE, known)
    (row,) = filled.read_table(PATH, RANK_ACCURACY).to_pylist()
    assert (row["official_place"], row["official_confidence"]) == (2, 0.9)
    assert row["miss"] is not None
    kept(filled, second)
    with mock.patch.object(rank_accuracy, "find_ranking", wraps=find_ranking) as looked:
        write_accuracy(filled, ALONE, known_rankings(filled))
        assert looked.call_count == 1
    rows = filled.read_table(PATH, RANK_ACCURACY).to_pylist()
    assert [row["official_place"] for row in rows] == [2, None]
    assert rows[1]["miss"] == Miss.NO_THEME_WORD
    (month,) = accuracy_by_month(filled, ALONE)
    assert (month.month, month.boards, month.first, month.in_five) == ("2026-01", 2, 0, 1)
    assert whole([month, month]).boards == 4
    write_accuracy(filled, NAME, known_rankings(filled))
    assert len(filled.read_table(PATH, RANK_ACCURACY)) == 2


def test_a_class_that_is_not_used_any_more_is_told_anew(filled: Lake):
    """Given a table of an earlier version, Then a miss that said less is looked at again."""
    first, _ = editions(filled)
    kept(filled, first, ranked("OTHER", "WORDS"))
    write_accuracy(filled, ALONE, known_rankings(filled))
    (row,) = filled.read_table(PATH, RANK_ACCURACY).to_pylist()
    old = pa.Table.from_pylist([row | {"miss": "not in the list"}], RANK_ACCURACY)
    filled.write_table(PATH, old)
    assert accuracy_by_month(filled, ALONE)[0].misses == {"not in the list": 1}
    write_accuracy(filled, ALONE, known_rankings(filled))
    assert filled.read_table(PATH, RANK_ACCURACY).to_pylist() == [row]
    assert accuracy_by_month(filled, ALONE)[0].misses == {Miss.NO_THEME_WORD: 1}


def test_phrases_of_an_earlier_version_are_read_as_codes_and_written_so(filled: Lake):
    """Given rows of two rankers with phrases, Then codes are read, and written by the next."""
    first, _ = editions(filled)
    kept(filled, first, ranked("OTHER", "WORDS"))
    write_accuracy(filled, ALONE, known_rankings(filled))
    (row,) = filled.read_table(PATH, RANK_ACCURACY).to_pylist()
    assert row["miss"] == Miss.NO_THEME_WORD
    phrases = [*EARLIER_MISSES, "a class of before", None]
    rows = [row | {"ranker": "earlier", "miss": phrase} for phrase in phrases]
    rows.append(row | {"miss": MISSES[Miss.NO_THEME_WORD]})
    filled.write_table(PATH, pa.Table.from_pylist(rows, RANK_ACCURACY))
    codes = [*EARLIER_MISSES.values(), "a class of before", None, Miss.NO_THEME_WORD]
    assert read_accuracy(filled).column("miss").to_pylist() == codes
    assert read_accuracy(filled, ["ranker", "miss"]).column_names == ["ranker", "miss"]
    assert read_accuracy(filled, ["ranker"]).num_columns == 1
    view = view_named("rank_accuracy").read(filled, ["miss"])
    assert view.column("miss").to_pylist() == codes
    with mock.patch.object(rank_accuracy, "find_ranking", wraps=find_ranking) as looked:
        write_accuracy(filled, ALONE, known_rankings(filled))
        assert looked.call_count == 0
    written = filled.read_table(PATH, RANK_ACCURACY).select(["ranker", "miss"]).to_pylist()
    expected = zip(["earlier"] * len(phrases) + [ALONE], codes, strict=True)
    assert sorted(map(str, written)) == sorted(
        str({"ranker": ranker, "miss": code and str(code)}) for ranker, code in expected
    )


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
    told = (Miss.NOT_LISTED, "a class of before", Miss.NO_THEME_WORD, Miss.NOT_LISTED, None)
    counts = miss_counts({"miss": miss} for miss in told)
    assert list(counts.items()) == [
        (Miss.NO_THEME_WORD, 1),
        (Miss.NOT_LISTED, 2),
        ("a class of before", 1),
    ]


def test_people_read_phrases():
    assert miss_phrase(Miss.SWAP) == "letters or words between spangram and theme words"
    assert miss_phrase("a class of before") == "a class of before"

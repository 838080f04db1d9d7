"""Dictionaries in the lake, and observations about editions of Letter Boxed."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nightgrid.archive.ingest.editions import current_editions, observations
from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import NormaliseReport, normalise
from nightgrid.archive.ingest.puzzles import read_puzzle_table
from nightgrid.archive.ingest.raw import RawArchive
from nightgrid.archive.lake.schemas import DICTIONARIES
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.files import merge_answers
from nightgrid.archive.skipped_files import forget, skipped_files
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.archive.words.dictionaries import (
    DICTIONARY_FILES,
    LakeDictionaries,
    MissingDictionaryError,
    add_dictionaries,
    words_of,
)
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from tests.archive.games.letterboxed.letter_days import (
    FIRST,
    SIDES,
    WORDS,
    letter_day,
    turned,
    write_days,
)

Now = Callable[[], dt.datetime]


def ingest(lake: Lake, folder: Path, now: Now) -> NormaliseReport:
    fetch(lake, FolderSource(folder), game="letterboxed", now=now)
    return normalise(lake, game="letterboxed")


def observed(lake: Lake) -> list[tuple[Any, ...]]:
    rows = observations(lake, RawArchive(lake, "letterboxed")).to_pylist()
    return [(row["date"].day, row["rule"], row["place"]) for row in rows]


def test_dictionaries_are_stored_once_per_content_and_boards_name_them(
    lake: Lake, tmp_path: Path, now: Now
) -> None:
    again = {3: {"sides": SIDES, "dictionary": WORDS, "ourSolution": None}}
    report = ingest(lake, write_days(tmp_path / "days", 4, again), now)
    assert report.editions_added == 4
    table = lake.read_table(DICTIONARY_FILES.path, DICTIONARIES)
    assert table.num_rows == 3
    ids = table.column("dictionary_id").to_pylist()
    assert ids == sorted(ids)
    boards = read_puzzle_table(lake, "letterboxed").to_pylist()
    words = LakeDictionaries(lake)
    assert {words(row["dictionary_id"]) for row in boards} == {
        tuple(sorted(turned(word, day) for word in WORDS)) for day in range(3)
    }
    before = {path: lake.read_bytes(path) for path in lake.list(DICTIONARY_FILES.path)}
    report = normalise(lake, game="letterboxed", rebuild=True)
    assert {path: lake.read_bytes(path) for path in lake.list(DICTIONARY_FILES.path)} == before
    (row,) = [r for r in current_editions(lake, "letterboxed").to_pylist() if r["date"] == FIRST]
    assert (row["par"], row["source_id"]) == (4, "7000")
    assert json.loads(row["official_solution"])["words"] == ["RADICLE", "ENTROPY"]


def test_another_dictionary_for_the_same_sides_is_a_revision(
    lake: Lake, tmp_path: Path, now: Now
) -> None:
    ingest(lake, write_days(tmp_path / "days", 1), now)
    shorter = {0: {"dictionary": WORDS[:4]}}
    report = ingest(lake, write_days(tmp_path / "days", 1, shorter), now)
    assert report.revisions_added == 1
    assert lake.read_table(DICTIONARY_FILES.path, DICTIONARIES).num_rows == 2


def test_an_unknown_dictionary_is_read_again_before_it_is_missing(lake: Lake) -> None:
    words = LakeDictionaries(lake)
    first, second = (Puzzle(sides=("AB", "C"), dictionary=(w,)) for w in ("ABC", "CAB"))
    with pytest.raises(MissingDictionaryError, match="is not in"):
        words(first.dictionary_id)
    add_dictionaries(lake, {first.dictionary_id: ("ABC",)})
    assert words(first.dictionary_id) == ("ABC",)
    add_dictionaries(lake, {second.dictionary_id: ("CAB",)})
    assert words(second.dictionary_id) == ("CAB",)
    with pytest.raises(MissingDictionaryError):
        words("../editions/letterboxed")


def test_the_words_of_a_single_board_get_a_file_unless_the_lake_has_them(lake: Lake) -> None:
    known, new = (Puzzle(sides=("AB", "C"), dictionary=(w,)) for w in ("ABC", "CAB"))
    add_dictionaries(lake, {known.dictionary_id: ("ABC",)})
    for puzzle in (known, new, new, Puzzle(sides=("AB", "C"))):
        add_dictionaries(lake, words_of([puzzle]), merges=False)
    assert len(lake.list(DICTIONARY_FILES.path)) == 2
    assert LakeDictionaries(lake)(new.dictionary_id) == ("CAB",)
    merge_answers(lake)
    assert len(lake.list(DICTIONARY_FILES.path)) == 1
    assert LakeDictionaries(lake)(new.dictionary_id) == ("CAB",)


def test_words_that_cannot_be_read_are_missing_and_no_fault_of_a_board(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a damaged file, or one of another user, Then its words are reported missing."""
    board = Puzzle(sides=("AB", "C"), dictionary=("ABC",))
    add_dictionaries(lake, words_of([board]))
    (path,) = lake.list(DICTIONARY_FILES.path)
    sound = lake.read_bytes(path)
    lake.write_bytes(path, sound[:100])
    with pytest.raises(MissingDictionaryError, match="is not in"):
        LakeDictionaries(lake)(board.dictionary_id)
    assert path in skipped_files()
    forget(path)
    add_dictionaries(lake, words_of([board]))
    forget(path)
    assert lake.read_bytes(path) == sound, "who brings the words again mends the file"

    def refuse(*_: object) -> None:
        raise PermanentError(f"{path}: the lake refuses: Permission denied")

    monkeypatch.setattr(Lake, "open_file", refuse)
    with pytest.raises(MissingDictionaryError, match=r"cannot be read: .* the lake refuses"):
        LakeDictionaries(lake)(board.dictionary_id)


def test_days_that_agree_leave_nothing_to_observe(lake: Lake, tmp_path: Path, now: Now) -> None:
    turned_about = {2: {"yesterdaysSides": [s[::-1] for s in letter_day(2)["yesterdaysSides"]]}}
    report = ingest(lake, write_days(tmp_path / "days", 3, turned_about), now)
    assert report.observation_count == 0


def test_wrong_words_about_yesterday_and_repeated_ids_are_reported_and_affect_no_edition(
    lake: Lake, tmp_path: Path, now: Now
) -> None:
    changes: dict[int, dict[str, Any]] = {
        1: {"yesterdaysSides": ["ABC", "DEF", "GHI", "JKL"]},
        2: {"yesterdaysSolution": ["OTHER", "RIGHT"], "id": 7001},
        3: {"yesterdaysSides": "unreadable"},
    }
    report = ingest(lake, write_days(tmp_path / "days", 5, changes), now)
    assert (report.editions_added, report.quarantine_count) == (5, 0)
    assert report.observation_count == 4
    assert observed(lake) == [
        (2, "yesterday-sides", "yesterdaysSides"),
        (3, "id-twice", "id"),
        (3, "yesterday-solution", "yesterdaysSolution"),
        (4, "yesterday-unreadable", "yesterdaysSides"),
    ]
    (row, *_) = observations(lake, RawArchive(lake, "letterboxed")).to_pylist()
    assert row["message"] == ("'ABC DEF GHI JKL'; the edition of 2026-01-01 has 'TAL ERD NIP YCO'")
    assert row["url"].endswith("2026-01-02.json")
    # Facts that are corrected later do not count against the day.
    ingest(lake, write_days(tmp_path / "days", 5), now)
    assert observed(lake) == []

"""Nights of Letter Boxed: the published archive, and a word list."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from nightgrid.archive.lake.schemas import COUNTS_BY_DATE, SOLUTIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.gold.rebuild import COUNTS_PATH
from nightgrid.archive.words.dictionaries import DICTIONARY_FILES
from nightgrid.flows.night.settings import NightSettings
from tests.archive.games.letterboxed.letter_days import WORDS, write_days
from tests.flows.nights import run_one

Night = Callable[..., NightSettings]


@pytest.mark.long(
    short="tests/solvers/letterboxed/test_published.py::test_every_day_is_solved_in_two_words_and_the_official_answer_is_one_of_them"
)
def test_on_every_published_day_the_official_answer_is_among_the_shortest_chains(
    published: Path, night: Night
) -> None:
    settings = night(published / "letterboxed", game="letterboxed")
    report = run_one(settings)
    assert (report.editions, report.quarantined, report.observations) == (332, 0, 0)
    assert (report.planned, report.solved) == (332, 332)
    lake = Lake.open(settings.workers.lake)
    rows = lake.read_table(COUNTS_PATH, COUNTS_BY_DATE).to_pylist()
    assert {row["official_solution_valid"] for row in rows} == {True}
    assert {row["official_solution_best"] for row in rows} == {True}
    assert Counter(row["value"] for row in rows) == {2: 332}
    counts = sorted(int(row["count"]) for row in rows)
    assert counts[0] == 1
    raw_bytes = sum(path.stat().st_size for path in (published / "letterboxed").glob("*.json"))
    assert sum(lake.sizes(DICTIONARY_FILES.path).values()) < raw_bytes / 6.9


def test_a_word_list_takes_the_place_of_all_dictionaries(tmp_path: Path, night: Night) -> None:
    folder = write_days(tmp_path / "days", 2)
    words = tmp_path / "words.txt"
    words.write_text("".join(f"{word}\n" for word in WORDS if word != "ENTROPY") + "ENTOPY\n")
    settings = night(folder, game="letterboxed", lexicon=str(words))
    report = run_one(settings)
    assert (report.solved, report.unsolvable) == (1, 1)
    assert report.lexicon_id
    lake = Lake.open(settings.workers.lake)
    rows = lake.read_table(COUNTS_PATH, COUNTS_BY_DATE).to_pylist()
    told = {row["date"].day: (row["value"], row["official_solution_valid"]) for row in rows}
    assert told == {1: (2, False), 2: (None, False)}
    (row,) = lake.read_table("solutions", SOLUTIONS).to_pylist()
    assert "ENTOPY" in row["solution"]


def test_a_night_reads_lost_dictionaries_again_from_the_payloads(
    tmp_path: Path, night: Night
) -> None:
    """Given a lake without its dictionaries and results, Then all boards are solved again."""
    settings = night(write_days(tmp_path / "days", 2), game="letterboxed")
    assert run_one(settings).solved == 2
    for name in ("dictionaries", "results", "runs"):
        shutil.rmtree(Path(settings.workers.lake) / name)
    assert run_one(settings).solved == 2

"""Nights of Strands: two asks a night, a word list, and a lake shared with Pips."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nightgrid.archive.ingest.editions import editions_path
from nightgrid.archive.lake.schemas import COUNTS_BY_DATE, EDITIONS, RANKS, RESULTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.gold.rebuild import COUNTS_PATH, RANKS_PATH
from nightgrid.archive.state import NIGHT_REPORT, read_state
from nightgrid.flows.night import steps
from nightgrid.flows.night.report import GameReport
from nightgrid.flows.night.settings import NightSettings
from tests.flows.nights import ROOT, run_one

SAMPLE = ROOT / "service" / "sample" / "strands"
DAYS = 3
TO_COME = dt.date(2199, 1, 1)

Night = Callable[..., NightSettings]


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A word list that has the words of every board of the sample, and few others."""
    found = {"cat", "dog", "star", "rest", "tree", "stone", "tone", "rain", "train"}
    for path in SAMPLE.glob("*.json"):
        payload = json.loads(path.read_text())
        found |= {payload["spangram"], *payload["themeWords"]}
    path = tmp_path_factory.mktemp("words") / "words.txt"
    path.write_text("".join(f"{word}\n" for word in sorted(found)))
    return str(path)


@pytest.fixture
def boards(tmp_path: Path) -> Path:
    """The first days of the sample."""
    folder = tmp_path / "strands"
    folder.mkdir()
    for path in sorted(SAMPLE.glob("*.json"))[:DAYS]:
        shutil.copyfile(path, folder / path.name)
    return folder


def test_a_night_counts_and_ranks_every_board(boards: Path, night: Night, words: str) -> None:
    settings = night(boards, game="strands", lexicon=words)
    report = run_one(settings)
    assert (report.fetched, report.editions, report.quarantined) == (DAYS, DAYS, 0)
    assert (report.planned, report.solved, report.ask) == (DAYS, DAYS, "best(10)")
    assert report.rules.startswith("spangram=required words=given")
    lake = Lake.open(settings.workers.lake)
    assert lake.exists(f"lexicons/{report.lexicon_id}.txt")
    results = lake.read_table("results", RESULTS).to_pylist()
    assert {(row["rules"], row["lexicon_id"]) for row in results} == {
        (report.rules, report.lexicon_id)
    }
    for row in lake.read_table(COUNTS_PATH, COUNTS_BY_DATE).to_pylist():
        assert (row["status"], row["official_solution_valid"]) == ("solved", True)
        assert row["count"] >= 1
    ranks = lake.read_table(RANKS_PATH, RANKS).to_pylist()
    assert len(ranks) == DAYS
    assert all(1 <= row["official_rank"] <= row["best_count"] <= 10 for row in ranks)
    assert all(Path(path).exists() for path in report.paths.values())
    assert "ranks" in report.paths


def test_a_future_board_is_solved_as_a_draft_and_not_shown(
    boards: Path, night: Night, words: str
) -> None:
    sample = sorted(SAMPLE.glob("*.json"))[DAYS:]

    def foretell(path: Path) -> None:
        payload = json.loads(path.read_text()) | {"printDate": str(TO_COME)}
        (boards / f"{TO_COME}.json").write_text(json.dumps(payload))

    foretell(sample[0])
    settings = night(boards, game="strands", lexicon=words)
    lake = Lake.open(settings.workers.lake)
    report = run_one(settings)
    assert (report.editions, report.planned, report.solved) == (DAYS + 1, DAYS + 1, DAYS + 1)
    # The draft changes before its day: only the new board needs solving.
    foretell(sample[1])
    report = run_one(settings)
    assert (report.new_payloads, report.revisions, report.planned) == (1, 1, 1)
    editions = lake.read_table(editions_path("strands"), EDITIONS).to_pylist()
    drafts = [(row["date"], row["revision"]) for row in editions if row["draft"]]
    assert drafts == [(TO_COME, 1), (TO_COME, 2)]
    for path, schema in (
        (COUNTS_PATH, COUNTS_BY_DATE),
        (RANKS_PATH, RANKS),
    ):
        dates = [row["date"] for row in lake.read_table(path, schema).to_pylist()]
        assert len(dates) == DAYS
        assert TO_COME not in dates


def test_a_night_in_progress_in_one_game_is_not_resumed_by_the_other(
    source: Callable[[int], Path], boards: Path, night: Night, words: str
) -> None:
    pips, strands = night(source(2)), night(boards, game="strands", lexicon=words)
    for settings in (pips, strands):
        (of,) = settings.games
        report = GameReport(game=of.game, ask="")
        steps.normalise(settings, of, steps.fetch(settings, of, report))
        steps.plan(settings, of, report)
    assert run_one(pips).resumed
    report = run_one(strands)
    assert (report.resumed, report.planned) == (True, DAYS)
    lake = Lake.open(pips.workers.lake)
    for game in ("pips", "strands"):
        told = read_state(lake, game, NIGHT_REPORT)
        assert told is not None
        assert told["game"] == game
    rows = lake.read_table(COUNTS_PATH, COUNTS_BY_DATE).to_pylist()
    assert [row["game"] for row in rows] == ["pips"] * 6 + ["strands"] * DAYS

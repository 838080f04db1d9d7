"""Runs and messages of a word game have its rules and words, and divided jobs equal whole ones."""

import json
from pathlib import Path

import pytest

from nightgrid.archive.games.strands.payload import read_puzzles
from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.schemas import RESULTS, SOLUTIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.words import binding as games
from nightgrid.archive.words import lexicons
from nightgrid.archive.words.binding import bind_game
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.canonical import canonical_json
from nightgrid.workers.chunks.solve import solve_chunk
from nightgrid.workers.driver.drive import drive
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.runs.finishing.finish import finish_run
from nightgrid.workers.runs.manifest import open_run
from tests.workers.conftest import divide_all, quick_settings
from tests.workers.planning import plan_run

pytestmark = pytest.mark.usefixtures("real_games")

SAMPLE = Path(__file__).parents[3] / "service" / "sample" / "strands"
BOARDS = 3
RULES = "words=any"


@pytest.fixture(scope="module")
def published():
    """Boards of the sample, with their official solutions."""
    files = sorted(SAMPLE.glob("*.json"))[:BOARDS]
    return [found for path in files for found in read_puzzles(path.read_bytes(), path.name)]


@pytest.fixture(scope="module")
def words(published, tmp_path_factory):
    """The words of the boards, and further short ones found in them."""
    listed = {entry.word for found in published for entry in found.solution.entries}
    listed |= {word[:4] for word in listed} | {word[-4:] for word in listed}
    path = tmp_path_factory.mktemp("words") / "words.txt"
    path.write_text("".join(f"{word}\n" for word in sorted(listed)))
    return str(path)


@pytest.mark.parametrize("into", [1, 4])
@pytest.mark.parametrize("ask", ["count", "best(4)", "all", "first"])
def test_a_run_equals_the_game_divided_in_advance_or_not(
    tmp_path, published, words, ask, into, monkeypatch
):
    settings = quick_settings(tmp_path)
    lake = Lake.open(settings.lake)
    game = bind_game("strands", RULES, words)
    wanted = Ask.parse(ask)
    puzzles = [found.puzzle for found in published]
    table = puzzles_table(game, puzzles)
    divide_all(monkeypatch, into)
    run_id = plan_run(lake, game, table, wanted, Budget())
    summary = drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert summary.statuses == {"solved": BOARDS}
    rows = lake.read_table(f"results/{run_id}.parquet", RESULTS).to_pylist()
    stored = lake.read_table(f"solutions/{run_id}.parquet", SOLUTIONS).sort_by("rank").to_pylist()
    for puzzle in puzzles:
        (row,) = [r for r in rows if r["puzzle_id"] == puzzle.puzzle_id]
        assert (row["rules"], row["lexicon_id"]) == (game.rules, game.lexicon_id)
        whole = game.solve(puzzle, wanted)
        if ask != "first":
            assert int(row["count"]) == whole.count
        found = [r["solution"] for r in stored if r["puzzle_id"] == puzzle.puzzle_id]
        expected = [canonical_json(game.solution_to_json(s)) for s in whole.solutions]
        if ask == "first":
            assert len(found) == 1
        else:
            assert [canonical_json(json.loads(text)) for text in found] == expected


def solved_inline(lake, settings, game, puzzles, ask, budget=None):
    """Plan a run and solve it in this process; return its id and its summary."""
    table = puzzles_table(game, puzzles)
    run_id = plan_run(lake, game, table, Ask.parse(ask), budget or Budget())
    return run_id, drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)


def test_an_answer_holds_only_for_its_rules_and_words(tmp_path, published, words):
    settings = quick_settings(tmp_path)
    lake = Lake.open(settings.lake)
    fewer = tmp_path / "fewer.txt"
    fewer.write_text("".join(f"{entry.word}\n" for entry in published[0].solution.entries))
    puzzles = [published[0].puzzle]
    bound = [
        bind_game("strands", RULES, words),
        bind_game("strands", "", words),
        bind_game("strands", RULES, str(fewer)),
    ]
    runs = {}
    for game in bound:
        run_id, summary = solved_inline(lake, settings, game, puzzles, "count")
        assert (summary.answered_count, summary.job_count) == (0, 1)
        runs[run_id] = game
    rows = lake.read_table("results", RESULTS).to_pylist()
    assert len({row["job_id"] for row in rows}) == len(runs) == len(bound)
    for row in rows:
        game = runs[row["run_id"]]
        assert (row["rules"], row["lexicon_id"]) == (game.rules, game.lexicon_id)
        assert int(row["count"]) == game.solve(puzzles[0], Ask(kind="count")).count
    for game in bound:
        _, summary = solved_inline(lake, settings, game, puzzles, "count")
        assert (summary.answered_count, summary.job_count) == (1, 0)


def test_parts_are_merged_without_the_words(tmp_path, published, words, monkeypatch):
    settings = quick_settings(tmp_path)
    lake = Lake.open(settings.lake)
    game = bind_game("strands", RULES, words)
    puzzle, best = published[0].puzzle, Ask(kind="best", limit=4)
    divide_all(monkeypatch, 4)
    run_id = plan_run(lake, game, puzzles_table(game, [puzzle]), best, Budget())
    for ref in open_run(lake, run_id).chunks():
        solve_chunk(lake, ref, settings, "w")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another machine"))
    monkeypatch.setattr(lexicons, "_opened", {})
    monkeypatch.setattr(games, "_open", {})
    assert finish_run(lake, run_id)["statuses"] == {"solved": 1}
    table = lake.read_table(f"solutions/{run_id}.parquet", SOLUTIONS)
    rows = table.to_pylist()
    assert [row["rank"] for row in rows] == list(range(len(rows)))
    covers = [json.loads(row["solution"]) for row in rows]
    scores = [cover["score"] for cover in covers]
    assert scores == sorted(scores, reverse=True)
    expected = game.solve(puzzle, best).solutions
    assert covers == [game.solution_to_json(cover) for cover in expected]

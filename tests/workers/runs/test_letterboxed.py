"""Runs and messages of Letter Boxed: words come from the lake, values reach results."""

import json

import pytest

from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.schemas import RESULTS, SOLUTIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.words.binding import bind_game, open_game
from nightgrid.archive.words.dictionaries import DICTIONARY_FILES, add_dictionaries, words_of
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.errors import PermanentError, RefusalError
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.workers.driver.drive import drive
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.ondemand.submissions import read_wanted
from tests.archive.games.letterboxed.letter_days import SIDES, WORDS, turned
from tests.workers.conftest import divide_all, quick_settings
from tests.workers.ondemand.keeping import keep, result, submit_without_server
from tests.workers.planning import plan_run

pytestmark = pytest.mark.usefixtures("real_games")

DAYS = 4
OWN = Puzzle(sides=SIDES, dictionary=WORDS)


def days():
    return [
        Puzzle(
            sides=tuple(turned(side, day) for side in SIDES),
            dictionary=tuple(turned(word, day) for word in WORDS[: len(WORDS) - day]),
        )
        for day in range(DAYS)
    ]


def run_of(lake, settings, ask, rules=""):
    puzzles = days()
    add_dictionaries(lake, words_of(puzzles))
    game = bind_game("letterboxed", rules, None, lake)
    table = puzzles_table(game, puzzles)
    run_id = plan_run(lake, game, table, Ask.parse(ask), Budget())
    return run_id, drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)


@pytest.mark.parametrize("into", [1, 3])
@pytest.mark.parametrize("ask", ["count", "best(3)", "first"])
@pytest.mark.parametrize("rules", ["", "chains=fewest-letters", "chains=4"])
def test_a_run_equals_the_game_whole_or_divided(tmp_path, ask, rules, into, monkeypatch):
    settings = quick_settings(tmp_path)
    lake = Lake.open(settings.lake)
    divide_all(monkeypatch, into)
    run_id, summary = run_of(lake, settings, ask, rules)
    assert summary.statuses == {"solved": DAYS}
    rows = lake.read_table(f"results/{run_id}.parquet", RESULTS).to_pylist()
    table = lake.read_table(f"solutions/{run_id}.parquet", SOLUTIONS).sort_by("rank")
    game = bind_game("letterboxed", rules)
    for puzzle in days():
        (row,) = [r for r in rows if r["puzzle_id"] == puzzle.puzzle_id]
        found = [
            json.loads(r["solution"])
            for r in table.to_pylist()
            if r["puzzle_id"] == puzzle.puzzle_id
        ]
        whole = game.solve(puzzle, Ask.parse(ask))
        assert (row["rules"], row["lexicon_id"]) == (game.rules, "")
        if ask == "first":
            assert len(found) == 1
        else:
            assert (int(row["count"]), row["value"]) == (whole.count, whole.value)
            assert found == [game.solution_to_json(chain) for chain in whole.solutions]


@pytest.mark.parametrize("ask", ["count", "best(2)", "first", "all"])
def test_a_dictionary_that_the_lake_lost_is_not_a_fault_of_the_board(tmp_path, ask):
    settings = quick_settings(tmp_path)
    lake = Lake.open(settings.lake)
    puzzles = days()
    game = bind_game("letterboxed", "", None, lake)
    add_dictionaries(lake, words_of(puzzles[:-1]))
    run_id = plan_run(lake, game, puzzles_table(game, puzzles), Ask.parse(ask), Budget())
    with pytest.raises(RefusalError, match=f"dictionary '{puzzles[-1].dictionary_id}' is not in"):
        drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    add_dictionaries(lake, words_of(puzzles[-1:]))
    summary = drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert (summary.statuses, summary.failures) == ({"solved": DAYS}, 0)


@pytest.mark.parametrize("ask", ["count", "first", "all"])
def test_a_dictionary_that_may_not_be_read_is_not_a_fault_of_the_board(tmp_path, ask, monkeypatch):
    """Given words of another user, When boards are solved, Then none ends as invalid."""
    settings = quick_settings(tmp_path)
    lake = Lake.open(settings.lake)
    puzzles = days()
    game = bind_game("letterboxed", "", None, lake)
    add_dictionaries(lake, words_of(puzzles))
    run_id = plan_run(lake, game, puzzles_table(game, puzzles), Ask.parse(ask), Budget())
    open_file = Lake.open_file

    def refuse(lake, path):
        if path.startswith(DICTIONARY_FILES.path):
            raise PermanentError(f"{path}: the lake refuses: Permission denied")
        return open_file(lake, path)

    with monkeypatch.context() as patch:
        patch.setattr(Lake, "open_file", refuse)
        with pytest.raises(RefusalError, match=r"cannot be read: .* the lake refuses"):
            drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert not lake.list("results")
    summary = drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert (summary.statuses, summary.failures) == ({"solved": DAYS}, 0)


def test_a_worker_that_is_open_finds_dictionaries_that_came_later(tmp_path):
    lake = Lake.open(str(tmp_path / "lake"))
    first, second = days()[:2]
    for puzzle in (first, second):
        add_dictionaries(lake, words_of([puzzle]))
        game = open_game(lake, "letterboxed")
        arrays = game.to_arrays([puzzle])
        assert game.from_arrays(arrays, 0) == puzzle


def test_the_words_of_a_submitted_board_travel_through_the_lake(tmp_path):
    settings = quick_settings(tmp_path)
    lake = Lake.open(settings.lake)
    submit = submit_without_server(lake, settings)
    job = submit(OWN, Ask.parse("best(1)"), game="letterboxed")
    (submission,) = read_wanted(lake, job).submissions
    assert submission.question.lexicon_id == ""
    assert submission.puzzle == {
        "game": "letterboxed",
        "sides": list(SIDES),
        "dictionary_id": OWN.dictionary_id,
    }
    assert lake.list(DICTIONARY_FILES.path)
    assert b"RADICLE" not in lake.read_bytes(submission.path)
    keep(lake, settings)
    answer = result(lake, job)
    assert (answer["status"], answer["count"], answer["value"]) == ("solved", 1, 2)
    assert [chain["words"] for chain in answer["solutions"]] == [["RADICLE", "ENTROPY"]]

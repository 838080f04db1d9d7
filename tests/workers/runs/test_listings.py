"""Runs that list solutions, in ranges and files of bounded size that join to the game's list."""

import json

import pytest

from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.schemas import PARTS, RESULTS, SOLUTIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import solution_tables
from nightgrid.archive.results.solution_files import file_path, files_folder, list_files
from nightgrid.archive.words.binding import bind_game
from nightgrid.archive.words.dictionaries import add_dictionaries, words_of
from nightgrid.solvers.algebra import Ask, Budget, Statistics
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import over_budget
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.pips.game import PipsGame
from nightgrid.solvers.pips.generate.generator import generate_many
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.solvers.strands.puzzle import Puzzle as Strands
from nightgrid.workers.chunks.solve import solve_chunk
from nightgrid.workers.driver.drive import drive
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.ondemand.results import result_row
from nightgrid.workers.ondemand.submissions import read_wanted
from nightgrid.workers.ondemand.submitting import cancel_job
from nightgrid.workers.runs.finishing import finish
from nightgrid.workers.runs.manifest import open_run
from nightgrid.workers.runs.unanswered_jobs import Retry
from tests.workers.conftest import KilledError, quick_settings
from tests.workers.ondemand.keeping import inline_keeper, keep, result, submit_without_server
from tests.workers.planning import plan_run

pytestmark = pytest.mark.usefixtures("real_games")

ALL = Ask(kind="all")
PIPS = PipsGame()
SMALL = {"listing_rows": 40, "listing_file_bytes": 6_000, "listing_row_bytes": 600}


@pytest.fixture(scope="module")
def pips_board():
    """A board with some hundred solutions."""
    boards = (puzzle for puzzle, _ in generate_many(3, 40, [PRESETS["hard"]]))
    return next(p for p in boards if 200 < PIPS.solve(p, Ask(kind="count")).count < 600)


@pytest.fixture
def small(tmp_path):
    return quick_settings(tmp_path, **SMALL)


def letterboxed(lake):
    words = [
        "AC",
        "CB",
        "BD",
        "BDA",
        "DA",
        "CA",
        "AD",
        "DB",
        "BC",
        "ACB",
        "BCA",
        "CAD",
        "DAC",
        "BDAC",
    ]
    puzzle = Puzzle(sides=("AB", "CD"), dictionary=tuple(words))
    add_dictionaries(lake, words_of([puzzle]))
    return bind_game("letterboxed", "chains=4 min_letters=1", None, lake), puzzle


def strands(folder):
    path = folder / "words.txt"
    path.write_text("ab\nba\nabab\nbaba\naba\n")
    rules = "spangram=off words=any min_letters=2"
    return bind_game("strands", rules, str(path)), Strands(board=("ABAB", "BABA", "ABAB"))


def planned(lake, game, puzzles, ask=ALL, budget=None):
    return plan_run(lake, game, puzzles_table(game, puzzles), ask, budget or Budget())


def worked(lake, run_id, settings):
    return drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)


def row_of(lake, run_id):
    (row,) = lake.read_table(f"results/{run_id}.parquet", RESULTS).to_pylist()
    return row | {"count": None if row["count"] is None else int(row["count"])}


def texts_of(lake, row):
    return [t for table in solution_tables(lake, row) for t in table["solution"].to_pylist()]


def whole(game, puzzle, ask=ALL):
    return [game.solution_text(solution) for solution in game.stream(puzzle, ask)]


@pytest.mark.parametrize("ask", ["all", "all(77)", "all(1000000)"])
@pytest.mark.parametrize("name", ["pips", "letterboxed", "strands"])
def test_a_listing_in_files_joins_to_the_list_of_the_game(
    tmp_path, small, name, ask, pips_board, monkeypatch, kept_files
):
    lake = Lake.open(small.lake)
    if name == "pips":
        game, puzzle = PIPS, pips_board
    else:
        game, puzzle = letterboxed(lake) if name == "letterboxed" else strands(tmp_path)
    wanted = Ask.parse(ask)
    expected = whole(game, puzzle, wanted)
    assert len(expected) > 70, "enough for several files"
    monkeypatch.setattr("nightgrid.workers.chunks.listing.RANGES", 4)
    monkeypatch.setattr("nightgrid.workers.chunks.listing.CUT_INTO", 4)
    run_id = planned(lake, game, [puzzle], wanted)
    assert worked(lake, run_id, small).statuses == {"solved": 1}
    row = row_of(lake, run_id)
    assert (row["count"], row["value"]) == (len(expected), game.solve(puzzle, wanted).value)
    assert texts_of(lake, row) == expected
    files = list_files(lake, files_folder(run_id))
    assert len(files) >= len(expected) / small.tuning.listing_rows
    for file in files:
        table = lake.read_table(file.path, SOLUTIONS)
        assert table.column("rank").to_pylist() == list(range(file.first, file.stop))
        assert table.num_rows <= small.tuning.listing_rows
        texts = table.column("solution").to_pylist()
        assert sum(map(len, texts)) <= small.tuning.listing_file_bytes or len(texts) == 1
    parts = lake.read_table(f"runs/run={run_id}/parts", PARTS).to_pylist()
    assert not any(part["solutions"] for part in parts)
    assert row["parts"] == sum(part["status"] == "solved" for part in parts)


def test_jobs_with_few_and_with_many_solutions_share_a_chunk(small, pips_board):
    lake = Lake.open(small.lake)
    boards = [pips_board, *(puzzle for puzzle, _ in generate_many(3, 30, [PRESETS["easy"]]))]
    run_id = planned(lake, PIPS, boards)
    worked(lake, run_id, small)
    rows = lake.read_table(f"results/{run_id}.parquet", RESULTS).to_pylist()
    assert {row["status"] for row in rows} == {"solved"}
    by_puzzle = {row["puzzle_id"]: row for row in rows}
    for board in boards:
        assert texts_of(lake, by_puzzle[board.puzzle_id]) == whole(PIPS, board)


def test_solutions_beyond_the_budget_of_bytes_are_over_budget(tmp_path, pips_board):
    settings = quick_settings(tmp_path, **SMALL, budget_solution_bytes=20_000)
    lake = Lake.open(settings.lake)
    run_id = planned(lake, PIPS, [pips_board])
    assert worked(lake, run_id, settings).statuses == {"over_budget": 1}
    row = row_of(lake, run_id)
    count = PIPS.solve(pips_board, Ask(kind="count")).count
    assert row["reason_code"] == "solution_bytes"
    assert row["reason"].startswith(f"{count:,} solutions of about ")
    assert list_files(lake, files_folder(run_id)) == []


def test_a_chunk_that_is_solved_twice_and_a_driver_that_is_killed_leave_each_solution_once(
    small, pips_board, monkeypatch
):
    lake = Lake.open(small.lake)
    run_id = planned(lake, PIPS, [pips_board])

    def die(*_):
        raise KilledError

    with monkeypatch.context() as patch:
        # After the files and before the results.
        patch.setattr(finish, "_result_tables", die)
        with pytest.raises(KilledError):
            worked(lake, run_id, small)
    run = open_run(lake, run_id)
    job = lake.read_row_groups(run.chunks()[0].manifest_path, [0]).column("job_id")[0].as_py()
    # Files of a killed worker that cut the range in another way, and a foreign one.
    left = [file_path(files_folder(run_id), job, *ranks) for ranks in ((0, 3), (5, 9))]
    for path in left:
        lake.write_table(path, SOLUTIONS.empty_table())
    for ref in run.chunks():
        lake.delete(ref.result_path)
    for ref in reversed(run.chunks()):
        assert solve_chunk(lake, ref, small, "again") == "solved"
        assert solve_chunk(lake, ref, small, "again") == "done"
    assert worked(lake, run_id, small).statuses == {"solved": 1}
    assert texts_of(lake, row_of(lake, run_id)) == whole(PIPS, pips_board)
    assert not any(map(lake.exists, left))
    files = list_files(lake, files_folder(run_id))
    assert sum(file.stop - file.first for file in files) == row_of(lake, run_id)["count"]


def test_fewer_solutions_than_were_counted_are_not_an_answer(small, pips_board, monkeypatch):
    lake = Lake.open(small.lake)
    run_id = planned(lake, PIPS, [pips_board])
    stream = PipsGame.stream

    def shorter(game, puzzle, ask, part=None, budget=None):
        found = stream(game, puzzle, ask, part, budget)
        found.limit = 3 if part else None
        return found

    monkeypatch.setattr(PipsGame, "stream", shorter)
    assert worked(lake, run_id, small).statuses == {"poison": 1}
    assert "fewer solutions than were counted" in row_of(lake, run_id)["reason"]
    assert list_files(lake, files_folder(run_id)) == []


def test_a_solution_file_that_is_gone_is_named_and_rebuilt(small, pips_board, kept_files):
    lake = Lake.open(small.lake)
    run_id = planned(lake, PIPS, [pips_board])
    worked(lake, run_id, small)
    row = row_of(lake, run_id)
    lake.delete(list_files(lake, files_folder(run_id))[1].path)
    with pytest.raises(PermanentError, match=f"lacks some of the {row['count']:,} solutions"):
        texts_of(lake, row)
    lake.delete(f"runs/run={run_id}/DONE.json")
    lake.delete(f"results/{run_id}.parquet")
    assert worked(lake, run_id, small).statuses == {"solved": 1}
    assert texts_of(lake, row_of(lake, run_id)) == whole(PIPS, pips_board)


def test_a_listing_on_demand_goes_into_files_if_a_row_is_too_short(small, pips_board):
    lake = Lake.open(small.lake)
    submit = submit_without_server(lake, small)
    job, few = submit(pips_board, ALL), submit(pips_board, Ask.parse("all(2)"))
    keep(lake, small)
    row = result_row(lake, job)
    assert (row["status"], row["count"]) == ("solved", len(whole(PIPS, pips_board)))
    assert result(lake, job)["solutions"] == [json.loads(t) for t in whole(PIPS, pips_board)]
    assert len(result(lake, few)["solutions"]) == 2


def test_a_run_lists_jobs_again_under_a_larger_bound(small, pips_board):
    lake, boards = Lake.open(small.lake), puzzles_table(PIPS, [pips_board])

    def plan(bound, **more):
        return plan_run(lake, PIPS, boards, ALL, Budget(), solution_bytes=bound, **more)

    first = plan(100)
    assert worked(lake, first, small).statuses == {"over_budget": 1}
    assert open_run(lake, plan(100)).job_count == 0
    assert open_run(lake, plan(None)).job_count == 0
    assert plan(100, retry=Retry.OVER_BUDGET) != first
    again = plan(10**9)
    assert again != first
    assert worked(lake, again, small).statuses == {"solved": 1}
    assert open_run(lake, plan(10**10)).job_count == 0


def test_a_board_that_cannot_be_counted_lists_the_rows_of_its_parts(
    tmp_path, pips_board, monkeypatch, kept_files
):
    sizes = {"listing_rows": 250, "listing_row_bytes": 600}
    settings = quick_settings(tmp_path, **sizes, split_into=16, split_depth_max=8)
    lake = Lake.open(settings.lake)
    solve_counted = PipsGame.solve_counted

    def uncountable(game, puzzle, ask, part, budget):
        if part is None:
            return over_budget(Reason(code=ReasonCode.SECONDS), Statistics())
        return solve_counted(game, puzzle, ask, part, budget)

    expected = whole(PIPS, pips_board)
    monkeypatch.setattr(PipsGame, "solve_counted", uncountable)
    run_id = planned(lake, PIPS, [pips_board])
    assert worked(lake, run_id, settings).statuses == {"solved": 1}
    assert texts_of(lake, row_of(lake, run_id)) == expected
    monkeypatch.setattr(finish, "JOINED_BYTES", 1000)
    lake.delete(f"runs/run={run_id}/DONE.json")
    lake.delete(f"results/{run_id}.parquet")
    assert worked(lake, run_id, settings).statuses == {"over_budget": 1}
    assert row_of(lake, run_id)["reason_code"] == "solution_bytes"


def test_a_listing_that_is_cancelled_leaves_no_files_and_can_be_requested_again(small, pips_board):
    """Given a job in the middle of its listing, When it is cancelled, Then its files are gone."""
    lake = Lake.open(small.lake)
    submit, keeper = submit_without_server(lake, small), inline_keeper(lake, small)
    job = submit(pips_board, ALL)
    run_id = read_wanted(lake, job).run_id
    while len(list_files(lake, files_folder(run_id))) < 2:
        keeper.turn(0.0)
    cancel_job(lake, job)
    keeper.turn(0.0)
    assert list_files(lake, files_folder(run_id)) == []
    assert submit(pips_board, ALL) == job
    keep(lake, small)
    assert texts_of(lake, result_row(lake, job)) == whole(PIPS, pips_board)

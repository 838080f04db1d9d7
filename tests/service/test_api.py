"""The public Python API, as README and docs/reference/python.md describe it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import nightgrid
from nightgrid.solvers.algebra import Budget, Status

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def payload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated payload of three levels."""
    done = subprocess.run(
        [sys.executable, "-m", "nightgrid", "generate", "--days", "1", "--seed", "11"],
        check=True,
        capture_output=True,
        text=True,
    )
    path = tmp_path_factory.mktemp("payloads") / "2026-01-01.json"
    path.write_text(done.stdout)
    return path


def test_a_path_bytes_and_an_object_are_read_alike(payload: Path):
    boards = nightgrid.read(payload)
    assert [board.level for board in boards] == ["easy", "medium", "hard"]
    assert nightgrid.read(payload.read_bytes()) == boards
    assert nightgrid.read(json.loads(payload.read_bytes())) == boards
    assert nightgrid.read(str(payload), level="hard") == boards[2:]


def test_a_level_without_a_puzzle_affects_the_others_only_by_default(payload: Path):
    day = {**json.loads(payload.read_bytes()), "medium": None}
    with pytest.raises(nightgrid.InvalidPuzzleError, match="medium"):
        nightgrid.read(day)
    left = nightgrid.read(day, on_fault="skip")
    assert [board.level for board in left] == ["easy", "hard"]
    assert nightgrid.read(day, level="medium", on_fault="skip") == []


@pytest.mark.parametrize("game", ["pips", "strands"])
@pytest.mark.parametrize("ask", ["count", "first"])
def test_a_solve_needs_exactly_the_nodes_that_it_reports(game: str, ask: str):
    for board in nightgrid.read(ROOT / "service" / "sample" / game / "2026-01-05.json"):
        free = nightgrid.solve(board, ask)
        enough, short = (
            nightgrid.solve(board, ask, budget=Budget(nodes=free.statistics.nodes - less))
            for less in (0, 1)
        )
        assert (enough.status, enough.count) == (free.status, free.count)
        assert (short.status, short.count) == (Status.OVER_BUDGET, None)


@pytest.mark.parametrize("game", ["pips", "strands", "letterboxed"])
def test_the_time_in_kernels_is_in_nanoseconds_and_within_that_of_the_call(game: str):
    board = nightgrid.read(ROOT / "service" / "sample" / game / "2026-01-05.json")[-1]
    nightgrid.solve(board, "count")
    shares = []
    for _ in range(5):
        begun = time.perf_counter_ns()
        outcome = nightgrid.solve(board, "count")
        shares.append(outcome.statistics.kernel_ns / (time.perf_counter_ns() - begun))
    # Microseconds would be less than a thousandth of each call.
    assert 1 / 500 < max(shares) <= 1


def test_a_count_is_the_number_of_all_solutions(payload: Path):
    for board in nightgrid.read(payload):
        counted = nightgrid.solve(board, "count")
        assert counted.status is nightgrid.Status.SOLVED
        assert counted.count == len(nightgrid.solve(board, nightgrid.Ask(kind="all")).solutions)
        assert board.official in nightgrid.solve(board, "all").solutions


def test_the_command_prints_the_same(payload: Path):
    done = subprocess.run(
        [sys.executable, "-m", "nightgrid", "solve", payload, "--count", "--json"],
        check=True,
        capture_output=True,
        text=True,
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["puzzle_id"], row["count"]) for row in told] == [
        (board.puzzle_id, nightgrid.solve(board, "count").count)
        for board in nightgrid.read(payload)
    ]


def test_drawings_are_text_and_svg(payload: Path):
    (board,) = nightgrid.read(payload, level="easy")
    (solution,) = nightgrid.solve(board).solutions
    assert nightgrid.draw(board) != nightgrid.draw(board, solution)
    assert len(nightgrid.draw(board, solution).splitlines()) > 3


def test_words_are_a_list_or_a_file(tmp_path: Path):
    (board,) = nightgrid.read(b'["ANTN","ROEN"]', game="strands")
    words = ["ANTNOERN", "ANT", "NOERN"]
    by_list = nightgrid.solve(board, "count", rules="words=any spangram=off", words=words)
    (tmp_path / "words.txt").write_text("\n".join(words))
    by_file = nightgrid.solve(
        board, "count", rules="words=any spangram=off", words=tmp_path / "words.txt"
    )
    assert (by_list.status, by_list.count) == (by_file.status, by_file.count)
    assert by_list.status in (nightgrid.Status.SOLVED, nightgrid.Status.UNSOLVABLE)


def test_rules_are_those_of_the_command_line_or_of_an_answer():
    (sides,) = nightgrid.read({"sides": ["TAP", "ERD", "NIL", "YCO"]})
    (grid,) = nightgrid.read(b'["ANTN", "ROEN"]')
    for board, rules, words, count in (
        (sides, "words=2 min_length=4", ["DICTIONARY", "YELP", "YEP"], 1),
        (sides, "chains=2 min_letters=4", ["DICTIONARY", "YELP", "YEP"], 1),
        (grid, "spangram=off words=1", ["ANTN", "ROEN"], 0),
        (grid, "spangram=off words=2", ["ANTN", "ROEN"], 1),
    ):
        assert nightgrid.solve(board, "count", rules=rules, words=words).count == count


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda path: nightgrid.read(path.with_name("none.json")), "cannot read"),
        (lambda path: nightgrid.read(path, level="fiendish"), "no level 'fiendish'"),
        (lambda path: nightgrid.read(b"{"), "the text ends"),
        (lambda path: nightgrid.solve(nightgrid.read(path)[0], "best(3)"), "best"),
        (lambda path: nightgrid.solve(nightgrid.read(path)[0], "some"), "unknown ask"),
        (lambda path: nightgrid.solve(nightgrid.read(path)[0], words=["ANT"]), "words"),
        (lambda path: nightgrid.solve(nightgrid.read(path)[0], rules="words=2"), "this is Pips"),
    ],
)
def test_bad_input_is_one_sentence(payload: Path, call, said: str):
    with pytest.raises(nightgrid.PermanentError, match=re.escape(said)):
        call(payload)


def test_a_lake_that_is_not_there_is_empty_and_stays_so(tmp_path: Path):
    lake = nightgrid.Lake(tmp_path / "lake")
    for name in ("results", "counts", "puzzles"):
        assert lake.view(name).num_rows == 0
    assert not (tmp_path / "lake").exists()


def test_importing_the_package_loads_no_floor():
    code = "import nightgrid, sys; print([m for m in sys.modules if m.startswith('nightgrid.')])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there_and_documented():
    page = (ROOT / "docs" / "reference" / "python.md").read_text()
    for name in nightgrid.__all__:
        assert getattr(nightgrid, name).__doc__
        assert f"## `nightgrid.{name}`" in page
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        nightgrid.nothing_of_that_name  # noqa: B018

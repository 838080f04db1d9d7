"""The solver of Tiles agrees with playing every small board in every way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from nightgrid.solvers.algebra import Ask, Budget, Outcome, Status
from nightgrid.solvers.tiles.game import TilesGame
from nightgrid.solvers.tiles.model import model_of
from nightgrid.solvers.tiles.puzzle import Puzzle
from nightgrid.solvers.tiles.rules import Rules
from nightgrid.solvers.tiles.solution import Walk
from nightgrid.solvers.tiles.trail import shares_several
from tests.drawn import drawn
from tests.oracles import tiles_brute_force as oracle
from tests.oracles.tiles_check import check_walk
from tests.solvers.tiles.boards import RULES, boards, renamed, sparse

FIRST = Ask(kind="first")
BEST = Ask(kind="best", limit=1)
GAMES = {name: TilesGame(Rules(teleports=name)) for name in RULES}
SEVEN = 7


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    TilesGame(Rules()).warm()


def fewest(puzzle: Puzzle, teleports: str, first: Any = None) -> int | None:
    try:
        return oracle.fewest_moves(puzzle.tiles, teleports, first)
    except oracle.TooLargeError:
        assume(False)
        raise


def check(puzzle: Puzzle, outcome: Outcome[Walk], teleports: str, *, exists: bool) -> None:
    assert outcome.status is (Status.SOLVED if exists else Status.UNSOLVABLE)
    assert outcome.count == len(outcome.solutions) == int(exists)
    for walk in outcome.solutions:
        check_walk(puzzle, walk, Rules(teleports=teleports))


@settings(max_examples=drawn(80), deadline=None)
@given(boards(odd=True))
def test_theorem_4_solvable_single_combo_and_even_features_are_one_and_the_same(
    puzzle: Puzzle,
) -> None:
    even = oracle.every_feature_is_even(puzzle.tiles)
    event(f"even: {even}")
    assert (fewest(puzzle, "yes") is not None) == even
    assert (fewest(puzzle, "forced") is not None) == even
    # Under both rules the walk is one unbroken combo.
    for teleports in ("yes", "forced"):
        check(puzzle, GAMES[teleports].solve(puzzle, FIRST), "forced", exists=even)


@settings(max_examples=drawn(100), deadline=None)
@given(sparse())
def test_theorem_24_if_two_tiles_share_one_feature_a_trail_decides(puzzle: Puzzle) -> None:
    model = model_of(puzzle)
    assert oracle.sharing_number(puzzle.tiles) <= 1
    assert not shares_several(model)
    exists = oracle.has_euler_trail(puzzle.tiles)
    event(f"trail: {exists}")
    assert (fewest(puzzle, "no") is not None) == exists
    outcome = GAMES["no"].solve(puzzle, FIRST)
    check(puzzle, outcome, "no", exists=exists)
    assert all(walk.moves == model.size // 2 for walk in outcome.solutions)


@settings(max_examples=drawn(60), deadline=None)
@given(boards())
def test_no_teleports_is_decided_if_tiles_share_several_features(puzzle: Puzzle) -> None:
    model = model_of(puzzle)
    shared = oracle.sharing_number(puzzle.tiles)
    assert shares_several(model) == (shared > 1)
    exists = fewest(puzzle, "no") is not None
    event(f"walk: {exists}, sharing number {min(shared, 3)}")
    check(puzzle, GAMES["no"].solve(puzzle, FIRST), "no", exists=exists)


@settings(max_examples=drawn(120), deadline=None)
@given(boards(), st.sampled_from(RULES))
def test_the_fewest_moves_are_those_of_a_breadth_first_search(
    puzzle: Puzzle, teleports: str
) -> None:
    wanted = fewest(puzzle, teleports)
    outcome = GAMES[teleports].solve(puzzle, BEST)
    check(puzzle, outcome, teleports, exists=wanted is not None)
    assert outcome.value == wanted
    assert [walk.moves for walk in outcome.solutions] == [wanted] * len(outcome.solutions)


@settings(max_examples=drawn(25), deadline=None)
@given(boards(), st.sampled_from(RULES), st.integers(2, 4))
def test_parts_make_up_the_whole(puzzle: Puzzle, teleports: str, into: int) -> None:
    game = GAMES[teleports]
    for ask in (FIRST, BEST):
        whole = game.solve(puzzle, ask)
        parts = game.split(puzzle, ask, None, into)
        if len(parts) > 1:
            parts[:1] = game.split(puzzle, ask, parts[0], into)
        assert json.loads(json.dumps(parts)) == parts
        outcomes = [game.solve(puzzle, ask, part) for part in parts]
        merged = game.merge(puzzle, ask, outcomes)
        assert (merged.status, merged.value) == (whole.status, whole.value)
        check(puzzle, merged, teleports, exists=whole.status is Status.SOLVED)
    if len(parts) > 1 and any(puzzle.tiles):
        for part, outcome in zip(parts, outcomes, strict=True):
            # Starting on an empty tile wastes a move.
            begins = [t for t in range(part["from"], part["to"]) if puzzle.tiles[t]]
            assert outcome.value == fewest(puzzle, teleports, begins)
            assert all(walk.tiles[0] in begins for walk in outcome.solutions)


@settings(max_examples=drawn(25), deadline=None)
@given(boards(), st.randoms(use_true_random=False), st.sampled_from(RULES))
def test_neither_places_nor_names_change_the_fewest_moves(
    puzzle: Puzzle, rnd: Any, teleports: str
) -> None:
    order = list(range(len(puzzle.tiles)))
    rnd.shuffle(order)
    other = renamed(puzzle, order)
    assert other.puzzle_id != puzzle.puzzle_id or not any(puzzle.tiles)
    game = GAMES[teleports]
    assert game.solve(other, BEST).value == game.solve(puzzle, BEST).value


@settings(max_examples=drawn(40), deadline=None)
@given(st.lists(boards(odd=True), max_size=6), st.sampled_from(RULES))
def test_a_batch_equals_single_boards(puzzles: list[Puzzle], teleports: str) -> None:
    game = GAMES[teleports]
    arrays = game.to_arrays(puzzles)
    out = game.solve_batch(arrays, FIRST, Budget())
    singles = [game.solve(puzzle, FIRST) for puzzle in puzzles]
    assert out["status"].tolist() == [list(Status).index(o.status) for o in singles]
    assert out["count_lo"].tolist() == [o.count for o in singles]
    assert not out["count_hi"].any()
    assert not out["reason"].any()
    assert out["value"].tolist() == [-1] * len(puzzles)
    for row, puzzle in enumerate(puzzles):
        assert game.from_arrays(arrays, row) == puzzle
        assert game.from_arrays(arrays, row).puzzle_id == puzzle.puzzle_id


@settings(max_examples=drawn(20), deadline=None)
@given(boards(tiles_max=SEVEN))
def test_a_combo_needs_no_more_moves_than_any_walk(puzzle: Puzzle) -> None:
    # Not proven in general; no board so far has needed a voluntary teleport.
    assert GAMES["forced"].solve(puzzle, BEST).value == GAMES["yes"].solve(puzzle, BEST).value


def test_solutions_survive_json() -> None:
    puzzle = Puzzle(tiles=(("A", "B"), ("A",), ("B",), ("C",), ("C",)))
    game = GAMES["yes"]
    (walk,) = game.solve(puzzle, FIRST).solutions
    assert walk.teleports
    written = json.loads(json.dumps(game.solution_to_json(walk)))
    assert game.solution_from_json(written) == walk
    assert game.puzzle_from_json(json.loads(json.dumps(game.puzzle_to_json(puzzle)))) == puzzle


def test_first_is_streamed_as_it_is_solved() -> None:
    for tiles in ((("A",), ("A",)), (("A",), ("B",))):
        puzzle = Puzzle(tiles=tiles)
        stream = GAMES["yes"].stream(puzzle, FIRST)
        outcome = GAMES["yes"].solve(puzzle, FIRST)
        assert tuple(stream) == outcome.solutions
        assert (stream.status, stream.reason) == (outcome.status, "")
        assert stream.truncated == bool(outcome.solutions)

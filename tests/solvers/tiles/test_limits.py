"""Boards of Tiles that are odd, hostile or large; wrong walks; budgets that run out."""

from __future__ import annotations

import re

import pytest

from nightgrid.solvers.algebra import Ask, Budget, Outcome, Status
from nightgrid.solvers.errors import InvalidPuzzleError, PermanentError
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.solvers.tiles.combo import combo
from nightgrid.solvers.tiles.fewest_moves.fewest import fewest_moves
from nightgrid.solvers.tiles.game import TilesGame
from nightgrid.solvers.tiles.generate import Form, generate
from nightgrid.solvers.tiles.model import Model, model_of
from nightgrid.solvers.tiles.puzzle import Puzzle
from nightgrid.solvers.tiles.rules import Rules
from nightgrid.solvers.tiles.solution import Walk, walk_from_json
from nightgrid.solvers.tiles.trail import euler_trail, shares_several
from tests.oracles.tiles_check import check_walk
from tests.oracles.tiles_cp_sat import fewest_visits

FIRST = Ask(kind="first")
BEST = Ask(kind="best", limit=1)
YES, FORCED, NO = (TilesGame(Rules(teleports=t)) for t in ("yes", "forced", "no"))
PAIR = Puzzle(tiles=(("A", "B"), ("A", "C"), ("B", "C")))


def test_a_board_without_features_is_clear_before_the_first_move() -> None:
    for game in (YES, FORCED, NO):
        for tiles in (((),), ((), (), ())):
            for ask in (FIRST, BEST):
                outcome = game.solve(Puzzle(tiles=tiles), ask)
                assert outcome.status is Status.SOLVED
                assert outcome.solutions == (Walk(tiles=(0,)),)
                assert outcome.value == (0 if ask is BEST else None)


@pytest.mark.parametrize("tiles", [(("A",),), (("A", "B"), ("A",)), (("A",), ("A",), ("A",))])
def test_a_feature_on_an_odd_number_of_tiles_is_never_cleared(
    tiles: tuple[tuple[str, ...], ...],
) -> None:
    for game in (YES, FORCED, NO):
        for ask in (FIRST, BEST):
            outcome = game.solve(Puzzle(tiles=tiles), ask)
            answer = (outcome.status, outcome.count, outcome.solutions)
            assert answer == (Status.UNSOLVABLE, 0, ())


def test_equal_tiles_are_cleared_two_by_two() -> None:
    puzzle = Puzzle(tiles=(("A", "B", "C"),) * 30)
    outcome = YES.solve(puzzle, BEST)
    # Every tile is visited once, with a teleport after each pair.
    assert outcome.value == 29
    check_walk(puzzle, outcome.solutions[0], Rules(teleports="forced"))
    assert len(outcome.solutions[0].teleports) == 14
    assert NO.solve(puzzle, FIRST).status is Status.UNSOLVABLE


@pytest.mark.parametrize(
    ("value", "rule", "place"),
    [
        ([], "puzzle-type", ""),
        ({}, "tiles-type", "tiles"),
        ({"tiles": []}, "tile-count", "tiles"),
        ({"tiles": [["A"], "A"]}, "tile-type", "tiles[1]"),
        ({"tiles": [["A", 1]]}, "tile-type", "tiles[0]"),
        ({"tiles": [["A"], ["B", "A", "B"]]}, "feature-twice", "tiles[1]"),
    ],
)
def test_a_wrong_board_names_its_rule_and_place(value: object, rule: str, place: str) -> None:
    with pytest.raises(InvalidPuzzleError) as caught:
        YES.puzzle_from_json(value)
    assert (caught.value.rule, caught.value.place) == (rule, place)


@pytest.mark.parametrize(
    ("walk", "rules", "wrong"),
    [
        (Walk(tiles=()), "yes", "begins on a tile"),
        (Walk(tiles=(0, 0)), "yes", "selected twice in a row"),
        (Walk(tiles=(0, 1, 0, 2), teleports=(1,)), "yes", "are teleports"),
        (Walk(tiles=(0, 1, 0)), "yes", "are teleports"),
        (Walk(tiles=(0, 1, 0, 2), teleports=(2,)), "forced", "breaks the combo"),
        (Walk(tiles=(0, 1, 0, 2), teleports=(2,)), "no", "the rules allow none"),
        (Walk(tiles=(0, 1)), "yes", "features are left"),
        (Walk(tiles=(0, 1, 2, 0), teleports=(9,)), "yes", "the walk ends before it"),
    ],
)
def test_a_wrong_walk_is_refused_with_the_reason(walk: Walk, rules: str, wrong: str) -> None:
    with pytest.raises(AssertionError, match=wrong):
        check_walk(PAIR, walk, Rules.parse(f"teleports={rules}"))
    check_walk(PAIR, Walk(tiles=(0, 1, 2, 0)), Rules(teleports="no"))


def test_unsupported_asks_are_refused_in_one_sentence() -> None:
    for text in ("count", "all", "all(3)", "best(2)"):
        with pytest.raises(PermanentError, match=re.escape(text)):
            YES.solve(PAIR, Ask.parse(text))
    with pytest.raises(PermanentError, match="best"):
        YES.stream(PAIR, BEST)
    with pytest.raises(PermanentError, match="count"):
        YES.solve_batch(YES.to_arrays([PAIR]), Ask(kind="count"), Budget())
    for text in ("teleports=maybe", "teleport=no", "teleports=no teleports=no"):
        with pytest.raises(PermanentError, match="teleports"):
            Rules.parse(text)
    for value in (None, {"tiles": []}, {"tiles": [True]}, {"tiles": [0], "teleports": "x"}):
        with pytest.raises(PermanentError, match="expected a walk"):
            walk_from_json(value)


@pytest.mark.slow
def test_large_boards_are_cleared_by_combo_and_by_trail() -> None:
    tiles = 50_000
    model = model_of(generate(Form(tiles=tiles, shapes_min=12, shapes_max=12), 1))
    assert model.solvable
    assert shares_several(model)
    walk = combo(model)
    # A ring: each tile shares one feature with the next.
    ring = model_of(Puzzle(tiles=tuple((str(t), str((t + 1) % tiles)) for t in range(tiles))))
    assert not shares_several(ring)
    trail = euler_trail(ring)
    assert trail is not None
    assert trail.moves == tiles
    assert walk.moves < model.size
    assert play(model, walk) == model.size
    assert play(ring, trail) == 2 * tiles


def play(model: Model, walk: Walk) -> int:
    """Count what a walk deletes, feature by feature, with nothing but Python's sets."""
    left = [set(features) for features in model.tiles]
    deleted = 0
    teleports = set(walk.teleports)
    for i in range(1, len(walk.tiles)):
        before, now = left[walk.tiles[i - 1]], left[walk.tiles[i]]
        shared = before & now
        assert bool(shared) != (i in teleports)
        assert shared or not before
        before -= shared
        now -= shared
        deleted += 2 * len(shared)
    return deleted


@pytest.mark.parametrize("seed", range(50, 58))
def test_boards_of_the_published_form_are_proven(seed: int) -> None:
    puzzle = generate(Form(), seed)
    outcome = YES.solve(puzzle, BEST, None, Budget(nodes=200_000))
    assert outcome.status is Status.SOLVED
    check_walk(puzzle, outcome.solutions[0], Rules(teleports="forced"))
    assert outcome.value is not None
    # A relaxation without order and components: rarely more than a move off.
    assert 0 <= outcome.value - (fewest_visits(puzzle.tiles) - 1) <= 1


def test_a_board_too_large_to_search_has_honest_bounds() -> None:
    puzzle = generate(Form(tiles=600), 1)
    outcome = YES.solve(puzzle, BEST)
    assert outcome.status is Status.OVER_BUDGET
    assert re.fullmatch(r".*at least 599 moves, \d+ were found", outcome.reason)
    assert (outcome.reason_code, outcome.value_at_least) == (ReasonCode.CAPACITY, 599)
    assert outcome.solutions == ()
    assert YES.solve(puzzle, FIRST).status is Status.SOLVED


def test_a_spent_budget_reports_bounds() -> None:
    puzzle = generate(Form(layers=6, shapes_min=6, shapes_max=6), 1)
    outcome = YES.solve(puzzle, BEST, None, Budget(nodes=300))
    assert outcome.status is Status.OVER_BUDGET
    found = re.fullmatch(
        r"the budget of nodes ran out; at least (\d+) moves, (\d+) were found", outcome.reason
    )
    assert found is not None
    assert outcome.reason_code is ReasonCode.NODES
    assert (outcome.value_at_least, outcome.value_at_most) == (int(found[1]), int(found[2]))
    assert 29 <= int(found[1]) <= int(found[2])
    hard = NO.solve(puzzle, FIRST, None, Budget(nodes=20))
    assert (hard.status, hard.reason) == (Status.OVER_BUDGET, "the budget of nodes ran out")
    quick = fewest_moves(model_of(puzzle), "yes", Budget(seconds=1e-6))
    assert quick.reason == Reason(code=ReasonCode.SECONDS)


def test_bounds_of_parts_are_combined() -> None:
    spent = "the budget of seconds ran out; at least"

    def over(at_least: int | None, at_most: int | None = None) -> Outcome[Walk]:
        return Outcome(
            status=Status.OVER_BUDGET,
            reason_code=ReasonCode.SECONDS,
            reason="some words that no program reads",
            value_at_least=at_least,
            value_at_most=at_most,
        )

    def solved(moves: int) -> Outcome[Walk]:
        return Outcome(status=Status.SOLVED, count=1, value=moves)

    def joined(*parts: Outcome[Walk]) -> tuple[object, ...]:
        merged = YES.merge(PAIR, BEST, parts)
        assert (merged.status, merged.reason_code) == (Status.OVER_BUDGET, ReasonCode.SECONDS)
        return merged.value_at_least, merged.value_at_most, merged.reason

    assert joined(over(9), over(7, 12)) == (7, 12, f"{spent} 7 moves, 12 were found")
    assert joined(over(9), solved(8)) == (8, 8, f"{spent} 8 moves, 8 were found")
    assert joined(over(9), solved(11)) == (9, 11, f"{spent} 9 moves, 11 were found")
    # An unsolved part has no bound, and so neither has the whole.
    lost: Outcome[Walk] = Outcome(
        status=Status.OVER_BUDGET, reason_code=ReasonCode.UNRECOVERABLE_JOB
    )
    assert joined(lost, over(9, 12)) == (None, None, "the budget of seconds ran out")
    assert NO.merge(PAIR, FIRST, [over(None), solved(11)]).status is Status.SOLVED


def test_generated_boards_have_the_form_that_was_asked_for() -> None:
    form = Form(tiles=20, layers=4, shapes_min=3, shapes_max=5)
    for seed in range(50):
        puzzle = generate(form, seed)
        assert puzzle == generate(form, seed)
        assert [len(tile) for tile in puzzle.tiles] == [4] * 20
        assert model_of(puzzle).solvable
        for layer in range(4):
            shapes = [tile[layer] for tile in puzzle.tiles]
            assert 3 <= len(set(shapes)) <= 5
            assert {shape[0] for shape in shapes} == {"ABCD"[layer]}
    with pytest.raises(PermanentError, match="even number"):
        Form(tiles=7)
    with pytest.raises(PermanentError, match="seed"):
        generate(Form(), -1)

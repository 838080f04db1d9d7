"""The general search of Strands agrees with the fast ones, and answers where they cannot."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.solvers.algebra import Ask, Budget, Status
from nightgrid.solvers.kernel.codes import FIXED_TABLE_FULL
from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.reasons import BudgetSpentError
from nightgrid.solvers.strands import game as strands_game
from nightgrid.solvers.strands import listing
from nightgrid.solvers.strands.check import check_cover
from nightgrid.solvers.strands.game import StrandsGame
from nightgrid.solvers.strands.general import wide_pieces as general_pieces
from nightgrid.solvers.strands.general.engine import GeneralEngine
from nightgrid.solvers.strands.general.wide_pieces import find_wide_pieces
from nightgrid.solvers.strands.pieces.pieces import TooManyPiecesError, find_pieces
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.sweep.engine import SweepEngine
from tests.drawn import drawn
from tests.oracles import strands_cp_sat
from tests.oracles.strands_brute_force import TooLargeError, Vocabulary
from tests.solvers.strands.boards import (
    Instance,
    all_rules,
    instances,
    spell,
    walk,
)

COUNT, ALL, TEN = Ask(kind="count"), Ask(kind="all"), Ask(kind="best", limit=10)
FREE = Rules(
    spangram="off", words="any", crossing=True, repeats=True, min_letters=1, compound_parts=1
)


def game_of(instance: Instance) -> StrandsGame:
    return StrandsGame(instance.rules, compile_lexicon(instance.vocabulary.words.items()))


@pytest.mark.slow
@settings(max_examples=drawn(25), deadline=None)
@given(
    instances(all_rules.map(lambda r: replace(r, compound_parts=min(2, r.compound_parts)))),
    st.integers(1, 9),
)
def test_both_searches_answer_alike_whole_and_in_parts(instance: Instance, into: int) -> None:
    game, puzzle = game_of(instance), instance.puzzle
    by_sweep = game.solve(puzzle, COUNT, None, Budget(nodes=20_000))
    if by_sweep.status is Status.OVER_BUDGET or (by_sweep.count or 0) > 100:
        return
    expected = {ask: game.solve(puzzle, ask) for ask in (ALL, TEN)}
    with (
        mock.patch.object(strands_game, "engine_for", GeneralEngine),
        mock.patch.object(listing, "engine_for", GeneralEngine),
    ):
        for ask, fast in expected.items():
            whole = game.solve(puzzle, ask)
            assert whole.statistics.engine == "general"
            assert (whole.status, whole.count) == (fast.status, fast.count)
            if ask is TEN:
                assert [c.score for c in whole.solutions] == [c.score for c in fast.solutions]
            else:
                identities = {cover.identity for cover in fast.solutions}
                assert {cover.identity for cover in whole.solutions} == identities
            parts = game.split(puzzle, ask, None, into)
            merged = game.merge(puzzle, ask, [game.solve(puzzle, ask, part) for part in parts])
            assert merged.solutions == whole.solutions
        assert game.solve(puzzle, COUNT).count == by_sweep.count
        first = game.solve(puzzle, Ask(kind="first"))
        assert first.solutions == game.solve(puzzle, ALL).solutions[:1]


@settings(max_examples=drawn(25), deadline=None)
@given(instances(all_rules.map(lambda r: replace(r, spangram="off")), 24, 6))
def test_pieces_found_on_any_board_are_those_found_as_masks(instance: Instance) -> None:
    lexicon = compile_lexicon(instance.vocabulary.words.items())
    wide = find_wide_pieces(instance.puzzle, instance.rules, lexicon).words
    try:
        masks = find_pieces(instance.puzzle, instance.rules, lexicon).words
    except TooManyPiecesError:
        return
    assert wide.wide
    assert not masks.wide
    for name in ("low", "cells", "word", "score", "spans", "block_offsets", "blocks"):
        assert getattr(wide, name).tolist() == getattr(masks, name).tolist(), name


def copies(one: Puzzle, across: int, down: int) -> Puzzle:
    """Arrange copies of a board in a grid, with blank cells around each."""
    blank = "." * ((one.column_count + 1) * across)
    rows = [".".join([row] * across) + "." for row in one.board]
    return Puzzle(board=tuple([*rows, blank] * down))


@pytest.mark.parametrize("crossing", [True, False])
@pytest.mark.parametrize("repeats", [True, False])
def test_boards_side_by_side_have_the_product_of_their_covers(
    crossing: bool, repeats: bool
) -> None:
    rules = Rules(
        spangram="off", words="any", crossing=crossing, repeats=repeats, min_letters=1,
        compound_parts=1,
    )  # fmt: skip
    pairs = ["AB", "CD", "EF", "GH", "IJ", "KL", "MN", "OP"]
    words = ["".join(w) for p in pairs for n in (2, 3) for w in itertools.product(p, repeat=n)]
    game = StrandsGame(rules, compile_lexicon([(w, 300) for w in [*words, "QQQ"]]))
    # A ninth is one word, down the side.
    boards = [(a + b + a + a, b + b + a + b, a + b + b + a) for a, b in pairs]
    single = game.solve(Puzzle(board=boards[0]), COUNT)
    assert single.count
    assert single.statistics.engine == "sweep"
    beside = Puzzle(board=tuple("".join(board[r] for board in boards) + "Q" for r in range(3)))
    outcome = game.solve(beside, Ask(kind="first"))
    assert outcome.statistics.engine == "general"
    check_cover(beside, rules, outcome.solutions[0])
    assert game.solve(beside, COUNT).count == single.count**8


@pytest.mark.slow
def test_a_board_of_thousands_of_cells_is_counted_and_listed() -> None:
    one = Puzzle(board=("ABBA", "BAAB", "ABAB"))
    words = ["AB", "BA", "ABBA", "."]
    game = StrandsGame(FREE, compile_lexicon([(w, 100 + 50 * len(w)) for w in words]))
    many = copies(one, 10, 1)
    single = game.solve(one, Ask(kind="best", limit=1))
    outcome = game.solve(many, COUNT)
    assert outcome.count == (single.count or 0) ** 10
    assert outcome.statistics.engine == "general"
    best = game.solve(many, Ask(kind="best", limit=2))
    assert best.count == outcome.count
    dots = sum(row.count(".") for row in many.board)
    dot = game.solve(Puzzle(board=(".",)), Ask(kind="best", limit=1)).solutions[0].score
    assert best.solutions[0].score == 10 * single.solutions[0].score + dots * dot
    large = copies(one, 25, 8)
    for ask in (Ask(kind="first"), Ask(kind="all", limit=2)):
        listed = game.solve(large, ask)
        assert listed.status is Status.SOLVED
        for cover in listed.solutions:
            check_cover(large, FREE, cover)
    assert game.solve(large, COUNT).reason == "the count is 10^38 or more"


def test_a_long_word_is_found_on_any_path() -> None:
    letters = "".join(random.Random(3).choices("ABCDEFGH", k=90))
    board = Puzzle(board=(letters[:30], letters[30:60][::-1], letters[60:]))
    game = StrandsGame(FREE, compile_lexicon([(letters, 0)]))
    outcome = game.solve(board, ALL)
    assert [entry.word for cover in outcome.solutions for entry in cover.entries] == [letters]
    check_cover(board, FREE, outcome.solutions[0])


def test_walks_over_the_same_cells_are_one() -> None:
    # 10^8 ways through 30 blocks of 3 x 3; the word list knows only their letters.
    board = Puzzle(board=("aaabbb" * 4, "axabxb" * 4, "aaabbb" * 4))
    ring = board.board[0][0]
    other = board.board[0][3]
    middle = board.board[1][1]
    block = [letter * 4 + middle + letter * 4 for letter in (ring, other)]
    game = StrandsGame(
        FREE, compile_lexicon([("".join(block[i % 2] for i in range(8)), 0), (block[0], 0)])
    )
    assert game.solve(board, COUNT).count == 1


def test_the_number_of_words_may_be_thousands() -> None:
    rules = Rules(spangram="off", words="given", repeats=True, min_letters=1, compound_parts=1)
    lexicon = compile_lexicon([("A", 0), ("AA", 0)])
    strip = Puzzle(board=("A" * 400,), theme_words=399)
    assert StrandsGame(rules, lexicon).solve(strip, COUNT).count == 399
    assert StrandsGame(rules, lexicon).solve(
        Puzzle(board=("A" * 400,), theme_words=401 - 2), Ask(kind="first")
    ).statistics.engine == "general"  # fmt: skip


def test_rules_that_need_compounds_are_refused_with_the_rule_and_the_size() -> None:
    board = Puzzle(board=("ABCDEFGH" * 5,) * 9)
    game = StrandsGame(Rules(min_letters=3), compile_lexicon([("AAA", 500)]))
    outcome = game.solve(board, COUNT)
    assert outcome.status is Status.OVER_BUDGET
    assert "64 cells" in outcome.reason
    assert "compound_parts=1 or spangram=off" in outcome.reason


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (Budget(nodes=50), "nodes"),
        (Budget(table_bytes=1 << 16), "table bytes"),
        (Budget(seconds=1e-9), "seconds"),
    ],
)
def test_a_budget_that_runs_out_says_which(budget: Budget, reason: str) -> None:
    game = StrandsGame(FREE, compile_lexicon([(w, 0) for w in ("A", "AA", "AAA")]))
    outcome = game.solve(Puzzle(board=("A" * 40,) * 9), COUNT, None, budget)
    assert (outcome.status, outcome.count) == (Status.OVER_BUDGET, None)
    assert reason in outcome.reason


def test_too_many_walks_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(general_pieces, "STEPS_MAX", 1000)
    lexicon = compile_lexicon([("AB" * 40, 0)])
    with pytest.raises(TooManyPiecesError, match="too many ways"):
        find_wide_pieces(Puzzle(board=("ABABAB", "BABABA") * 8), FREE, lexicon)


def test_a_large_board_with_more_sets_of_words_than_the_sweep_holds_continues() -> None:
    rules = replace(FREE, crossing=False, repeats=False)
    words = ["".join(w) for n in (2, 3) for w in itertools.product("ABC", repeat=n)]
    game = StrandsGame(rules, compile_lexicon([(w, 300) for w in words]))
    board = Puzzle(board=("ABC" * 22,))
    expected = game.solve(board, COUNT)
    assert expected.statistics.engine == "sweep"
    full = BudgetSpentError(FIXED_TABLE_FULL)
    with mock.patch.object(SweepEngine, "value", side_effect=full):
        outcome = game.solve(board, COUNT)
    assert (outcome.count, outcome.statistics.engine) == (expected.count, "general")


@pytest.mark.slow
def test_a_budget_beyond_all_memory_is_no_error() -> None:
    game = StrandsGame(FREE, compile_lexicon([("AB", 0)]))
    wide = Puzzle(board=("AB" * 20, "BA" * 20, "AB" * 20))
    assert game.solve(wide, Ask(kind="first"), None, Budget(table_bytes=2**50)).count == 1


@settings(max_examples=drawn(8), deadline=None)
@given(
    seed=st.integers(0, 2**32),
    crossing=st.booleans(),
    repeats=st.booleans(),
    words=st.sampled_from(["any", "given"]),
    spangram=st.sampled_from(["off", "off", "required"]),
)
def test_wide_boards_give_the_covers_of_cp_sat(
    seed: int, crossing: bool, repeats: bool, words: str, spangram: str
) -> None:
    rng = random.Random(seed)
    rules = Rules.parse(
        f"spangram={spangram} words={words} crossing={'yes' if crossing else 'no'} "
        f"repeats={'yes' if repeats else 'no'} min_letters=1 compound_parts=1"
    )
    puzzle = Puzzle(board=tuple("".join(rng.choices("ABCDEFGH", k=34)) for _ in range(3)))
    cuts = [[0, *sorted(rng.sample(range(3, 32, 3), 7)), 34] for _ in range(3)]
    paths = [
        [(r, c) for c in range(a, b)] for r in range(3) for a, b in itertools.pairwise(cuts[r])
    ]
    down = walk(puzzle, rules, [(r, 5) for r in range(3)], 3, rng)
    spelled = [spell(puzzle, path) for path in (*paths, down)]
    puzzle = replace(puzzle, theme_words=len(paths) - (spangram != "off"))
    instance = Instance(
        puzzle=puzzle,
        rules=rules,
        vocabulary=Vocabulary(words=dict.fromkeys(spelled, 300)),
    )
    try:
        found = strands_cp_sat.enumerate_covers(
            puzzle, instance.rules, instance.vocabulary, limit=151, time_limit_s=1,
            most_steps=10_000,
        )  # fmt: skip
    except TooLargeError:
        return
    if not found.complete or len(found.covers) > 150:
        return
    outcome = game_of(instance).solve(puzzle, ALL)
    assert {cover.identity for cover in outcome.solutions} == found.covers
    assert game_of(instance).solve(puzzle, COUNT).count == len(found.covers)

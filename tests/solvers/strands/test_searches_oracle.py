"""Both searches of Strands and OR-Tools CP-SAT agree on boards too large for brute force."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest import mock

import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from nightgrid.solvers.algebra import Ask, Budget, Status
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.registry import game
from nightgrid.solvers.strands import game as strands_game
from nightgrid.solvers.strands.listing import engine_for
from nightgrid.solvers.strands.pieces.pieces import Found, TooManyPiecesError, find_pieces
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.sweep.engine import SweepEngine
from nightgrid.solvers.strands.zones.engine import ZoneEngine
from tests.drawn import drawn
from tests.oracles import strands_cp_sat
from tests.oracles.strands_brute_force import Covering, TooLargeError
from tests.solvers.strands.boards import Instance, board, lexicon_of_words, zoned

COUNT, ALL, TEN = Ask(kind="count"), Ask(kind="all"), Ask(kind="best", limit=10)
SHORT = Budget(nodes=40_000)
MOST_STEPS = 10_000
LISTED = 150
plain_rules = st.builds(
    Rules,
    spangram=st.sampled_from(["required", "one"]),
    crossing=st.booleans(),
    repeats=st.booleans(),
    min_letters=st.integers(2, 4),
    compound_parts=st.integers(1, 2),
    compound_centibels=st.sampled_from([1100, 1250]),
)
"""The number of words is given, as the search by zones requires."""
MIDDLE = ((5, 5), (6, 4), (4, 7), (5, 6), (7, 4))
LARGE = ((8, 6), (6, 8), (7, 9), (9, 7), (21, 3), (3, 21))
"""Up to 63 cells, the most that are searched by zones."""
BEYOND = ((8, 8), (4, 16), (9, 8), (23, 3), (3, 23), (2, 40), (40, 2), (14, 5), (66, 1))
"""From 64 cells on, boards are swept."""
FEW = ("ABCD", "ABCDEF", "ABCDEFGH")
MANY = ("ABCDEF", "ABCDEFGH", "ABCDEFGHIJKL")


def game_of(instance: Instance) -> Game[Any, Any]:
    return game("strands", str(instance.rules), compile_lexicon(instance.vocabulary.words.items()))


def sweeping(
    puzzle: Puzzle, rules: Rules, found: Found, budget: Budget, *, exists: bool
) -> SweepEngine:
    return SweepEngine(puzzle, rules, found, budget, exists=exists)


def engine_of(instance: Instance) -> object:
    """Choose the search; reject an example whose words reach too far, which is refused."""
    lexicon = compile_lexicon(instance.vocabulary.words.items())
    try:
        found = find_pieces(instance.puzzle, instance.rules, lexicon)
    except TooManyPiecesError:
        assume(False)
    return engine_for(instance.puzzle, instance.rules, found, Budget(), exists=True)


def by_cp_sat(instance: Instance) -> frozenset[Covering] | None:
    """Enumerate by CP-SAT; None if that takes long."""
    try:
        found = strands_cp_sat.enumerate_covers(
            instance.puzzle, instance.rules, instance.vocabulary, limit=LISTED + 1,
            time_limit_s=1, most_steps=MOST_STEPS,
        )  # fmt: skip
    except TooLargeError:
        return None
    return found.covers if found.complete and len(found.covers) <= LISTED else None


def assert_solved_as_by_cp_sat(instance: Instance) -> None:
    covers = by_cp_sat(instance)
    if covers is None:
        reject()
    strands = game_of(instance)
    assert strands.solve(instance.puzzle, COUNT).count == len(covers)
    listed = strands.solve(instance.puzzle, ALL).solutions
    assert len(listed) == len(covers)
    assert {cover.identity for cover in listed} == covers
    ranked = sorted((instance.vocabulary.score(instance.rules, c) for c in covers), reverse=True)
    best = strands.solve(instance.puzzle, Ask(kind="best", limit=5)).solutions
    assert [cover.score for cover in best] == ranked[:5]


@pytest.mark.slow
@settings(max_examples=drawn(40), deadline=None)
@given(instance=zoned(rules=plain_rules, shapes=MIDDLE, alphabets=FEW, longest=6, more_words=12))
def test_zones_give_the_covers_of_cp_sat(instance: Instance) -> None:
    assert_solved_as_by_cp_sat(instance)


@pytest.mark.slow
@settings(max_examples=drawn(40), deadline=None)
@given(instance=zoned(rules=plain_rules, shapes=LARGE, alphabets=MANY, longest=7, more_words=20))
def test_zones_give_the_covers_of_cp_sat_on_boards_of_published_size(instance: Instance) -> None:
    assert isinstance(engine_of(instance), ZoneEngine)
    assert_solved_as_by_cp_sat(instance)


@pytest.mark.slow
@settings(max_examples=drawn(40), deadline=None)
@given(
    instance=zoned(
        rules=st.builds(
            lambda rules, spangram, words: replace(rules, spangram=spangram, words=words),
            plain_rules,
            st.sampled_from(["required", "one", "off"]),
            st.sampled_from(["given", "any"]),
        ),
        shapes=BEYOND,
        alphabets=MANY,
        longest=6,
        more_words=12,
    )
)
def test_boards_beyond_a_mask_give_the_covers_of_cp_sat(instance: Instance) -> None:
    assert isinstance(engine_of(instance), SweepEngine)
    assert_solved_as_by_cp_sat(instance)


@pytest.mark.slow
@settings(max_examples=drawn(60), deadline=None)
@given(instance=zoned(rules=plain_rules, shapes=MIDDLE + LARGE, alphabets=FEW, more_words=25))
def test_zones_and_sweep_agree(instance: Instance) -> None:
    """On boards with up to millions of covers: counts and best scores; if few, the covers."""
    strands, puzzle = game_of(instance), instance.puzzle
    by_zones = strands.solve(puzzle, COUNT, None, SHORT)
    with mock.patch.object(strands_game, "engine_for", sweeping):
        by_sweep = strands.solve(puzzle, COUNT, None, SHORT)
        assume(Status.OVER_BUDGET not in (by_zones.status, by_sweep.status))
        assert by_zones.count == by_sweep.count
        best_of_sweep = strands.solve(puzzle, TEN).solutions
        few = (by_sweep.count or 0) <= LISTED
        swept = strands.solve(puzzle, ALL).solutions if few else ()
    best = strands.solve(puzzle, TEN).solutions
    assert [cover.score for cover in best] == [cover.score for cover in best_of_sweep]
    listed = strands.solve(puzzle, ALL).solutions if few else ()
    assert {cover.identity for cover in listed} == {cover.identity for cover in swept}


@pytest.mark.parametrize(
    ("letters", "theme_words", "words", "rules", "count"),
    [
        # AB fits on either side of the spangram: not on both, unless words may repeat.
        ("ABXAB ABXAB", 4, ["XX", "AB"], "min_letters=2", 0),
        ("ABXAB ABXAB", 4, ["XX", "AB"], "min_letters=2 repeats=yes diagonal=no", 1),
        ("ABXAB", 2, ["X", "AB"], "min_letters=1", 0),
        # The zones swap words: AB left and BA right, or the other way round.
        ("AXA BXB", 2, ["XX", "AB", "BA"], "min_letters=2", 2),
        ("AXA BXB", 2, ["XX", "AB", "BA"], "min_letters=2 repeats=yes", 4),
        # Two words that span, one of them the spangram, whichever it is: one cover.
        ("AB CD", 1, ["AC", "BD"], "min_letters=2", 1),
        ("AB CD", 1, ["AC", "BD"], "min_letters=2 spangram=one", 0),
        # A word three cells wide on the largest board that a mask holds.
        (" ".join(["ABC"] * 21), 20, ["ABC"], "min_letters=3 repeats=yes diagonal=no", 1),
        (" ".join(["ABC"] * 22), 21, ["ABC"], "min_letters=3 repeats=yes diagonal=no", 1),
        (" ".join(["ABC"] * 22), 20, ["ABC"], "min_letters=3 repeats=yes diagonal=no", 0),
        # Compounds cut in several ways are one; two compounds are never in one cover.
        ("ABC ABC", 1, ["A", "BC", "AB", "C"], "min_letters=3", 0),
        ("ABC DEF", 1, ["A", "BC", "AB", "C", "DEF"], "min_letters=3", 1),
    ],
)
def test_boards_with_zones_have_the_covers_found_by_hand(
    letters: str, theme_words: int, words: list[str], rules: str, count: int
) -> None:
    instance = Instance(
        puzzle=board(letters, theme_words),
        rules=Rules.parse(rules),
        vocabulary=lexicon_of_words(*words),
    )
    assert_solved_as_by_cp_sat(instance)
    assert game_of(instance).solve(instance.puzzle, COUNT).count == count

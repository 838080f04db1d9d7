"""Letter Boxed is solved, counted and listed by Definition 6 of the article, whole and in parts."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nightgrid.solvers.algebra import Ask, Outcome
from nightgrid.solvers.letterboxed.check import check_chain, strokes
from nightgrid.solvers.letterboxed.game import LetterBoxedGame
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.rules import Chains, Rules
from nightgrid.solvers.letterboxed.solution import Chain
from nightgrid.solvers.lexicon.compile import compile_lexicon
from tests.drawn import drawn
from tests.oracles.letterboxed_brute_force import chains as brute_force
from tests.oracles.letterboxed_brute_force import letters_of, order
from tests.solvers.letterboxed.boards import boards, distinct_boards

FEW = settings(max_examples=drawn(60), deadline=None, suppress_health_check=list(HealthCheck))
ANY_BOARD = st.one_of(boards(), distinct_boards(), boards(sides_max=8, letters_max=8))
WORDS_MAX = 3
COUNT, ALL = Ask(kind="count"), Ask(kind="all")


def game_of(chains: Chains) -> LetterBoxedGame:
    return LetterBoxedGame(Rules(chains=chains, min_letters=1), None)


def said(outcome: Outcome[Chain]) -> tuple[object, ...]:
    return outcome.status, outcome.count, outcome.solutions, outcome.truncated, outcome.value


def words_of(outcome: Outcome[Chain]) -> list[tuple[str, ...]]:
    return [chain.words for chain in outcome.solutions]


@pytest.mark.slow
@FEW
@given(ANY_BOARD)
def test_chains_of_few_words_are_those_of_the_definition(puzzle: Puzzle):
    expected = sorted(brute_force(puzzle.sides, puzzle.dictionary, WORDS_MAX), key=order)
    fewest = len(expected[0]) if expected else None
    game = game_of(WORDS_MAX)
    assert words_of(game.solve(puzzle, ALL)) == expected
    counted = game.solve(puzzle, COUNT)
    assert (counted.count, counted.value) == (len(expected), fewest)
    if expected:
        outcome = game_of("fewest-words").solve(puzzle, Ask(kind="best", limit=4))
        shortest = [chain for chain in expected if len(chain) == fewest]
        assert words_of(outcome) == shortest[:4]
        assert (outcome.count, outcome.value) == (len(shortest), fewest)


@FEW
@given(ANY_BOARD, st.sampled_from([WORDS_MAX, "fewest-words", "fewest-letters"]), st.data())
def test_chains_of_equally_many_words_are_sorted_by_doubt(
    puzzle: Puzzle, chains: Chains, data: st.DataObject
):
    doubts = {word: data.draw(st.integers(0, 80)) for word in puzzle.dictionary}
    lexicon = compile_lexicon([(word, 0) for word in doubts], doubts=doubts)
    bare = Puzzle(sides=puzzle.sides)
    found = LetterBoxedGame(Rules(chains=chains, min_letters=1), lexicon).solve(bare, ALL)
    expected = words_of(game_of(chains).solve(puzzle, ALL))
    doubt = {words: sum(map(doubts.__getitem__, words)) for words in expected}
    key = lambda words: (len(words), doubt[words], letters_of(words), words)  # noqa: E731
    assert words_of(found) == sorted(expected, key=key)
    known = any(doubts.values())
    assert [chain.doubt for chain in found.solutions] == [
        doubt[chain.words] if known else None for chain in found.solutions
    ]


@FEW
@given(ANY_BOARD)
def test_chains_of_the_fewest_letters_are_those_of_the_definition(puzzle: Puzzle):
    outcome = game_of("fewest-letters").solve(puzzle, ALL)
    most = 5 if outcome.value is None else min(outcome.value, 6)
    # A word of one letter collects nothing in a longer chain.
    words = [word for word in puzzle.dictionary if len(word) > 1]
    found = list(brute_force(puzzle.sides, words, most, most))
    found += [
        (word,) for word in puzzle.dictionary if "".join(puzzle.sides) == word and not word[1:]
    ]
    least = min(map(letters_of, found), default=None)
    if outcome.value is None or outcome.value > 6:
        assert least is None
        return
    assert outcome.value == least
    assert words_of(outcome) == sorted((c for c in found if letters_of(c) == least), key=order)
    counted = game_of("fewest-letters").solve(puzzle, COUNT)
    assert (counted.count, counted.value) == (outcome.count, outcome.value)


@pytest.mark.slow
@FEW
@given(ANY_BOARD, st.sampled_from([2, 4, "fewest-words", "fewest-letters"]), st.integers(0, 2**32))
def test_parts_merge_to_the_whole(puzzle: Puzzle, chains: Chains, seed: int):
    game, rnd = game_of(chains), random.Random(seed)
    for ask in map(Ask.parse, ("count", "all(40)", "all(2)", "best(3)", "first")):
        parts = [None]
        for _ in range(rnd.randint(1, 4)):
            i = rnd.randrange(len(parts))
            parts[i : i + 1] = game.split(puzzle, ask, parts[i], rnd.randint(1, 4))
        outcomes = [game.solve(puzzle, ask, part) for part in parts]
        assert said(game.merge(puzzle, ask, outcomes)) == said(game.solve(puzzle, ask))


@FEW
@given(ANY_BOARD)
def test_chains_that_are_found_can_be_checked_and_drawn(puzzle: Puzzle):
    rules = Rules(chains=3, min_letters=1)
    for chain in LetterBoxedGame(rules, None).solve(puzzle, Ask.parse("all(5)")).solutions:
        check_chain(puzzle, rules, chain)
        drawn = strokes(puzzle, chain)
        letters = "".join(puzzle.sides[side][at] for side, at in drawn)
        assert letters == chain.words[0] + "".join(word[1:] for word in chain.words[1:])
        assert len(set(drawn)) == puzzle.letter_count
        assert all(a[0] != b[0] for a, b in pairwise(drawn))


@FEW
@given(ANY_BOARD, st.sampled_from(["fewest-words", "fewest-letters"]), st.integers(0, 2**32))
def test_neither_order_nor_direction_matters(puzzle: Puzzle, chains: Chains, seed: int):
    rnd = random.Random(seed)
    game = game_of(chains)
    expected = game.solve(puzzle, COUNT)
    shuffled = ["".join(rnd.sample(side, len(side))) for side in puzzle.sides]
    rnd.shuffle(shuffled)
    moved = Puzzle(sides=tuple(shuffled), dictionary=puzzle.dictionary)
    assert moved.puzzle_id == puzzle.puzzle_id
    assert said(game.solve(moved, COUNT)) == said(expected)
    backwards = tuple(word[::-1] for word in puzzle.dictionary)
    turned = Puzzle(sides=puzzle.sides, dictionary=backwards)
    assert said(game.solve(turned, COUNT)) == said(expected)


@FEW
@given(ANY_BOARD)
def test_more_words_never_mean_fewer_chains(puzzle: Puzzle):
    counts = [game_of(words).solve(puzzle, COUNT).count for words in range(1, 6)]
    assert counts == sorted(counts)


@FEW
@given(distinct_boards(), st.sampled_from([1, 2, 4, "fewest-words", "fewest-letters"]))
def test_the_general_engine_agrees_on_distinct_letters(puzzle: Puzzle, chains: Chains):
    # With a letter twice on a side, letters are not distinct, and one more visit is needed.
    game = game_of(chains)
    by_distinct = game.solve(puzzle, COUNT)
    assert game.stream(puzzle, ALL).engine == "distinct"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nightgrid.solvers.letterboxed.search.search.DISTINCT_LETTERS_MAX", 0)
        general = game.solve(puzzle, COUNT)
        assert game.stream(puzzle, ALL).engine == "general"
        listed = said(game.solve(puzzle, Ask.parse("all(50)")))
    assert said(general) == said(by_distinct)
    assert said(game.solve(puzzle, Ask.parse("all(50)"))) == listed
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nightgrid.solvers.letterboxed.search.search.SETS_STEPS_MAX", 0)
        assert said(game.solve(puzzle, COUNT)) == said(by_distinct)

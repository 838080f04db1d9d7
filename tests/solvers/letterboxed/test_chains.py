"""Chains of Letter Boxed are checked, drawn and chosen, and boards dealt and encoded."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.letterboxed.check import check_chain, strokes
from nightgrid.solvers.letterboxed.columns import from_arrays, to_arrays
from nightgrid.solvers.letterboxed.game import LetterBoxedGame
from nightgrid.solvers.letterboxed.generate import generate, par_of
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.rules import Rules
from nightgrid.solvers.letterboxed.search.disjoint import disjoint_chains
from nightgrid.solvers.letterboxed.solution import Chain, chain_from_json, chain_to_json
from nightgrid.solvers.lexicon.compile import compile_lexicon

WORDS = ("BAD", "DACE", "FEB", "BEADED", "ACE", "CAFE")
BOARD = Puzzle(sides=("AB", "CD", "EF"), dictionary=("BDFACE", "EB", "BDA", "ACF", "AC", "CE"))


def chain(*words: str) -> Chain:
    return Chain(words=words)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("XYZ",), "XYZ is not one of the board's words"),
        (("AC",), "AC: expected at least 3 letters"),
        (("BDA", "BDA"), "BDA does not begin with 'A'"),
        (("BDA", "ACF"), "'E' is not collected"),
        (("BDFACE", "EB"), "EB: expected at least 3 letters"),
    ],
)
def test_a_chain_that_breaks_a_rule_is_refused(words: tuple[str, ...], error: str):
    with pytest.raises(PermanentError, match=error):
        check_chain(BOARD, Rules(chains=2), chain(*words))


def test_a_chain_is_refused_when_it_is_too_long_or_complete_too_early():
    rules = Rules(chains=1, min_letters=2)
    with pytest.raises(PermanentError, match="2 words; expected at most 1"):
        check_chain(BOARD, rules, chain("BDFACE", "EB"))
    with pytest.raises(PermanentError, match="collected before the end: 'BDFACE'"):
        check_chain(BOARD, Rules(chains=2, min_letters=2), chain("BDFACE", "EB"))
    with pytest.raises(PermanentError, match="no way of playing it continues from 'AB' to 'A'"):
        check_chain(Puzzle(sides=("AB", "AC")), Rules(chains=2), chain("ABAC"))
    with pytest.raises(PermanentError, match="the board has no 'Q'"):
        check_chain(Puzzle(sides=("AB", "CD")), Rules(), chain("ACQ"))


def test_a_letter_that_occurs_twice_is_drawn_twice():
    board = Puzzle(sides=("AAB", "AC"), dictionary=("ACBAA",))
    assert strokes(board, chain("ACBAA")) == [(0, 0), (1, 1), (0, 2), (1, 0), (0, 1)]


def test_chains_survive_json():
    found = chain("BDA", "ACF")
    assert chain_to_json(found) == {"words": ["BDA", "ACF"], "letters": 5}
    assert chain_from_json(chain_to_json(found)) == found
    for doubt in (0, 1, 69, 4_321):
        doubted = Chain(words=("BDA", "ACF"), doubt=doubt)
        assert chain_from_json(chain_to_json(doubted)).doubt == doubt
    with pytest.raises(PermanentError, match="above 0, at most 1"):
        chain_from_json({"words": ["BDA"], "probability": 1.5})


def test_columns_restore_boards_with_their_dictionaries():
    boards = [BOARD, Puzzle(sides=("É𐎀", "C")), Puzzle(sides=tuple("ABCDE"), dictionary=WORDS)]
    arrays = to_arrays(boards)
    words = {board.dictionary_id: board.dictionary for board in boards}
    assert [from_arrays(arrays, row, words.__getitem__) for row in range(3)] == boards
    assert arrays["dictionary_id"].tolist()[1] == ""
    assert arrays["size"].tolist() == [6, 3, 5]
    empty = to_arrays([])
    assert all(len(empty[name]) == 0 for name in ("letter.values", "size", "dictionary_id"))
    batch = LetterBoxedGame(Rules(), None).solve_batch(empty, Ask(kind="count"), Budget())
    assert len(batch["value"]) == 0


def test_disjoint_chains_are_a_largest_set():
    rnd = random.Random(7)
    for _ in range(40):
        chains = [
            chain(*(rnd.choice("ABCDEFGH") for _ in range(rnd.randint(1, 2))))
            for _ in range(rnd.randint(1, 8))
        ]
        found = disjoint_chains(chains)
        assert set(found) <= set(chains)
        assert all(not set(a.words) & set(b.words) for a, b in combinations(found, 2))
        more = combinations(sorted(set(chains), key=lambda c: c.order), len(found) + 1)
        assert not any(
            all(not set(a.words) & set(b.words) for a, b in combinations(some, 2)) for some in more
        )
    with pytest.raises(PermanentError, match="chains of at most two"):
        disjoint_chains([chain("AB", "BC", "CD")])


@pytest.mark.parametrize("sides", [2, 3, 4, 7])
@pytest.mark.parametrize("letters", [1, 2, 3, 5])
def test_generated_boards_have_the_shape_and_vowels_asked_for(sides: int, letters: int):
    board = generate(5, sides=sides, letters_per_side=letters, vowels_min=2)
    assert [len(side) for side in board.sides] == [letters] * sides
    text = "".join(board.sides)
    assert sum(letter in "AEIOU" for letter in text) >= 2
    assert len(set(text)) == min(len(text), 26)
    assert board == generate(5, sides=sides, letters_per_side=letters, vowels_min=2)
    assert board != generate(6, sides=sides, letters_per_side=letters, vowels_min=2) or letters == 1


def test_a_board_that_cannot_be_dealt_is_refused():
    for shape in ({"sides": 1}, {"letters_per_side": 0}, {"vowels_min": 13}, {"sides": 65}):
        with pytest.raises(PermanentError, match="expected"):
            generate(1, **shape)


def test_a_par_is_two_to_four_words_more_than_the_fewest():
    consonants = [f"{a}A{b}E{c}" for a, b, c in combinations("BCDFGHKLMNPRST", 3)]
    lexicon = compile_lexicon((word, 0) for word in (*consonants, *(w[::-1] for w in consonants)))
    solved = 0
    for seed in range(20):
        board = generate(
            seed, sides=4, letters_per_side=2, vowels_min=2, vowels="AE", consonants="BCDFGH"
        )
        fewest = LetterBoxedGame(Rules(), lexicon).solve(board, Ask(kind="count")).value
        par = par_of(board, lexicon)
        assert (fewest is None) == (par is None)
        if fewest is not None:
            solved += 1
            assert fewest + 2 <= par <= fewest + 4
    assert solved > 0
    assert par_of(board, compile_lexicon([("XYX", 0)])) is None


@pytest.mark.parametrize("chains", ["fewest-words", "fewest-letters", 4])
def test_chains_before_a_rank_are_left_out(chains: int | str) -> None:
    words = ("AC", "CB", "BD", "BDA", "DA", "CA", "AD", "DB", "BC", "ACB", "BCA", "CAD")
    puzzle = Puzzle(sides=("AB", "CD"), dictionary=words)
    game = LetterBoxedGame(Rules(chains=chains, min_letters=1), None)
    whole = list(game.stream(puzzle, Ask(kind="all")))
    assert len(whole) > 3
    for skip in range(len(whole) + 2):
        for limit in (None, 2):
            stream = game.stream(puzzle, Ask(kind="all", limit=limit))
            stream.skip = skip
            assert list(stream) == whole[skip:][:limit]

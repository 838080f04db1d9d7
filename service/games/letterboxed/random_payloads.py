"""Random boards of Letter Boxed with their dictionaries, as payloads of the published form."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nightgrid.solvers.algebra import Ask, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.letterboxed.game import LetterBoxedGame
from nightgrid.solvers.letterboxed.generate import CONSONANTS, VOWELS, generate, par_of
from nightgrid.solvers.letterboxed.model import model_of
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.rules import Rules
from nightgrid.solvers.lexicon.compile import compile_lexicon

if TYPE_CHECKING:
    from nightgrid.solvers.letterboxed.solution import Chain
    from nightgrid.solvers.lexicon.lexicon import Lexicon

GENERATOR_NAME = "nightgrid generator"
SIDES = 4
SIDE_LETTERS = 3
"""The form of published boards; ours have at least one vowel a side."""
MIN_LETTERS = 3
"""Fewest letters of a word of a published dictionary."""
COMMON_CENTIZIPF = 450
"""Least frequency of the words that are taken from a lexicon with frequencies: 32 in a million."""
TRIES = 250
"""Boards of distinct letters that are drawn until one is solved by two words, as published ones
are."""
FEW = 12
"""Boards of which the best one is taken where none is."""
COMMON_CONSONANTS = 12
"""Consonants that boards are drawn from, the most common ones."""
SEED_STEP = 1_000_003
FIRST, BEST = Ask(kind="first"), Ask(kind="best", limit=1)


def letter_payloads(lexicon: Lexicon, seed: int) -> Callable[[dt.date, int], dict[str, Any]]:
    """Choose the words that boards are drawn for; return what makes the payload of a day.

    Consonants that few words have are left out as long as there are others. Raises PermanentError
    when no board can be solved with the words.
    """
    words = _words(lexicon)
    letters = _alphabet(words)
    if not all(letters):
        raise PermanentError("boards need words with vowels and words with consonants")
    common = compile_lexicon((word, 0) for word in words)

    def make(date: dt.date, day: int) -> dict[str, Any]:
        puzzle, chain = _solvable(letters, common, (seed * SEED_STEP + day) * TRIES)
        return _payload(date, day + 1, puzzle, chain)

    return make


def _words(lexicon: Lexicon) -> list[str]:
    least = COMMON_CENTIZIPF if lexicon.has_frequencies else 0
    words = (lexicon.word(i) for i in range(len(lexicon)) if int(lexicon.centizipf[i]) >= least)
    return [word for word in words if len(word) >= MIN_LETTERS]


def _alphabet(words: list[str]) -> tuple[str, str]:
    """Choose the vowels and the most common consonants that words have."""
    common = Counter(letter for word in words for letter in set(word))
    consonants = sorted(filter(common.__getitem__, CONSONANTS), key=lambda letter: -common[letter])
    common_ones = consonants[:COMMON_CONSONANTS]
    return "".join(filter(common.__getitem__, VOWELS)), "".join(common_ones)


def _solvable(letters: tuple[str, str], words: Lexicon, seed: int) -> tuple[Puzzle, Chain]:
    for i in range(TRIES):
        puzzle = _board(letters, words, seed + i)
        if _is_solved_by_two(puzzle):
            chain = _best(puzzle)
            assert chain is not None
            return puzzle, chain
    few = (_board(letters, words, seed + i) for i in range(FEW))
    found = [(puzzle, chain) for puzzle in few if (chain := _best(puzzle)) is not None]
    if not found:
        raise PermanentError(f"none of {FEW} boards can be solved with these words")
    return min(found, key=lambda pair: pair[1].order)


def _best(puzzle: Puzzle) -> Chain | None:
    solutions = LetterBoxedGame(Rules(), None).solve(puzzle, BEST).solutions
    return solutions[0] if solutions else None


def _is_solved_by_two(puzzle: Puzzle) -> bool:
    if len(set("".join(puzzle.sides))) < puzzle.letter_count:
        return False
    return LetterBoxedGame(Rules(chains=2), None).solve(puzzle, FIRST).status is Status.SOLVED


def _board(letters: tuple[str, str], words: Lexicon, seed: int) -> Puzzle:
    board = generate(
        seed,
        sides=SIDES,
        letters_per_side=SIDE_LETTERS,
        vowels_min=SIDES,
        vowels=letters[0],
        consonants=letters[1],
    )
    playable = model_of(board, Rules(min_letters=MIN_LETTERS), words).words
    return Puzzle(sides=board.sides, dictionary=tuple(playable))


def _payload(date: dt.date, number: int, puzzle: Puzzle, chain: Chain) -> dict[str, Any]:
    assert puzzle.dictionary is not None
    return {
        "id": number,
        "ourSolution": list(chain.words),
        "printDate": date.isoformat(),
        "sides": list(puzzle.sides),
        "date": f"{date:%B} {date.day}, {date.year}",
        "dictionary": list(puzzle.dictionary),
        "par": par_of(puzzle),
        "editor": GENERATOR_NAME,
    }

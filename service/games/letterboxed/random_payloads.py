"""Random boards of Letter Boxed with their dictionaries, as payloads of the published form."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
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
SIDES_MAX = 12
SIDE_LETTERS_MAX = 12
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
"""Consonants that boards are drawn from, the most common ones, unless they need more."""
SEED_STEP = 1_000_003
FIRST, BEST = Ask(kind="first"), Ask(kind="best", limit=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What boards look like. The defaults are the published form."""

    sides: int = 4
    letters: int = 3
    """Letters a side."""
    vowels: int | None = None
    """Least number of vowels; None: as many as there are sides, one in the middle of each."""

    def __post_init__(self) -> None:
        for option, value, least, most in (
            ("--sides", self.sides, 2, SIDES_MAX),
            ("--letters", self.letters, 1, SIDE_LETTERS_MAX),
            ("--vowels", self.least_vowels, 0, self.sides * self.letters),
        ):
            if not least <= value <= most:
                raise PermanentError(f"{option} is {value}; expected {least} to {most}")

    @property
    def least_vowels(self) -> int:
        """Vowels that a board has at least."""
        return self.sides if self.vowels is None else self.vowels


def letter_payloads(
    shape: Shape, lexicon: Lexicon, seed: int
) -> Callable[[dt.date, int], dict[str, Any]]:
    """Choose the words that boards are drawn for; return what makes the payload of a day.

    Consonants that few words have are left out as long as there are others. Raises PermanentError
    when no board can be solved with the words.
    """
    words = _words(lexicon)
    letters = _alphabet(words, shape)
    if not all(letters):
        raise PermanentError("boards need words with vowels and words with consonants")
    common = compile_lexicon((word, 0) for word in words)

    def make(date: dt.date, day: int) -> dict[str, Any]:
        puzzle, chain = _solvable(shape, letters, common, (seed * SEED_STEP + day) * TRIES)
        return _payload(date, day + 1, puzzle, chain)

    return make


def _words(lexicon: Lexicon) -> list[str]:
    least = COMMON_CENTIZIPF if lexicon.has_frequencies else 0
    words = (lexicon.word(i) for i in range(len(lexicon)) if int(lexicon.centizipf[i]) >= least)
    return [word for word in words if len(word) >= MIN_LETTERS]


def _alphabet(words: list[str], shape: Shape) -> tuple[str, str]:
    """Choose the vowels and consonants that words have, of these the most common ones.

    There are as many consonants as a board needs at least, if words have as many.
    """
    common = Counter(letter for word in words for letter in set(word))
    consonants = sorted(filter(common.__getitem__, CONSONANTS), key=lambda letter: -common[letter])
    most = max(COMMON_CONSONANTS, shape.sides * shape.letters)
    return "".join(filter(common.__getitem__, VOWELS)), "".join(consonants[:most])


def _solvable(
    shape: Shape, letters: tuple[str, str], words: Lexicon, seed: int
) -> tuple[Puzzle, Chain]:
    for i in range(TRIES):
        puzzle = _board(shape, letters, words, seed + i)
        if _is_solved_by_two(puzzle):
            chain = _best(puzzle)
            assert chain is not None
            return puzzle, chain
    few = (_board(shape, letters, words, seed + i) for i in range(FEW))
    found = [(puzzle, chain) for puzzle in few if (chain := _best(puzzle)) is not None]
    if not found:
        raise PermanentError(
            f"none of {FEW} boards of {shape.sides} sides with {shape.letters} letters can be "
            "solved with these words"
        )
    return min(found, key=lambda pair: pair[1].order)


def _best(puzzle: Puzzle) -> Chain | None:
    solutions = LetterBoxedGame(Rules(), None).solve(puzzle, BEST).solutions
    return solutions[0] if solutions else None


def _is_solved_by_two(puzzle: Puzzle) -> bool:
    if len(set("".join(puzzle.sides))) < puzzle.letter_count:
        return False
    return LetterBoxedGame(Rules(chains=2), None).solve(puzzle, FIRST).status is Status.SOLVED


def _board(shape: Shape, letters: tuple[str, str], words: Lexicon, seed: int) -> Puzzle:
    board = generate(
        seed,
        sides=shape.sides,
        letters_per_side=shape.letters,
        vowels_min=shape.least_vowels,
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

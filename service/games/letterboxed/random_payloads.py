"""Random boards of Letter Boxed with their dictionaries, as payloads in the published format."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable
from typing import Any

from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.letterboxed.game import LetterBoxedGame
from nightgrid.solvers.letterboxed.generate import generate, par_of
from nightgrid.solvers.letterboxed.model import model_of
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.rules import Rules
from nightgrid.solvers.letterboxed.solution import Chain
from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.lexicon.lexicon import Lexicon

GENERATOR_NAME = "nightgrid generator"
MIN_LETTERS = 3
"""Fewest letters of a word in a published dictionary."""
COMMON_CENTIZIPF = 450
"""Least frequency of the words of a board: 32 in a million."""
CONSONANTS = "RTNSLDCPMGHY"
"""The consonants of most of these words, the most common first."""
TRIES = 250
"""Seeds of one day; a board that two words solve, like published ones, takes about 60."""
SEED_STEP = 1_000_003


def letter_payloads(lexicon: Lexicon, seed: int) -> Callable[[dt.date, int], dict[str, Any]]:
    """Select the words that boards are drawn for; return a function that makes a day's payload."""
    is_common = (lexicon.centizipf >= COMMON_CENTIZIPF).tolist()
    words = (lexicon.word(i) for i, wanted in enumerate(is_common) if wanted)
    common = compile_lexicon((word, 0) for word in words if len(word) >= MIN_LETTERS)

    def make(date: dt.date, day: int) -> dict[str, Any]:
        first = (seed * SEED_STEP + day) * TRIES
        seeds = (first + i % TRIES + (i // TRIES << 40) for i in itertools.count())
        return _payload(date, day + 1, *next(filter(None, (_solved(s, common) for s in seeds))))

    return make


def _solved(seed: int, words: Lexicon) -> tuple[Puzzle, Chain] | None:
    """Draw a board with its dictionary and the best chain, if that has two words or less."""
    board = generate(seed, consonants=CONSONANTS)
    model = model_of(board, Rules(min_letters=MIN_LETTERS), words)
    playable = list(map(model.word, range(len(model))))
    puzzle = Puzzle(sides=board.sides, dictionary=tuple(playable))
    if len(set("".join(playable))) < puzzle.letter_count:
        return None
    two = LetterBoxedGame(Rules(chains=2), None).solve(puzzle, Ask(kind="first"))
    if not two.solutions:
        return None
    best = LetterBoxedGame(Rules(), None).solve(puzzle, Ask(kind="best", limit=1))
    return puzzle, best.solutions[0]


def _payload(date: dt.date, number: int, puzzle: Puzzle, chain: Chain) -> dict[str, Any]:
    return {
        "id": number,
        "ourSolution": list(chain.words),
        "printDate": date.isoformat(),
        "sides": list(puzzle.sides),
        "date": f"{date:%B} {date.day}, {date.year}",
        "dictionary": list(puzzle.dictionary or ()),
        "par": par_of(puzzle),
        "editor": GENERATOR_NAME,
    }

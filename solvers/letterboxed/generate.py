"""Make Letter Boxed boards: random letters on any number of sides, as article 003 does."""

from __future__ import annotations

import random
from collections.abc import Callable

from nightgrid.solvers.algebra import Ask, Outcome
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.letterboxed.game import LetterBoxedGame
from nightgrid.solvers.letterboxed.puzzle import LETTERS_MAX, SIDES_MAX, Puzzle
from nightgrid.solvers.letterboxed.rules import Chains, Rules
from nightgrid.solvers.letterboxed.solution import Chain
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.reasons import ReasonCode

SIDES = 4
LETTERS_PER_SIDE = 3
VOWELS_MIN = 4
PAR_EASY_CHAINS, PAR_FAIR_CHAINS = 58_000, 4_100
VOWELS = "AEIOU"
CONSONANTS = "BCDFGHJKLMNPQRSTVWXYZ"


def generate(
    seed: int,
    *,
    sides: int = SIDES,
    letters_per_side: int = LETTERS_PER_SIDE,
    vowels_min: int = VOWELS_MIN,
    vowels: str = VOWELS,
    consonants: str = CONSONANTS,
) -> Puzzle:
    """Deal random letters round a polygon; the board has no dictionary.

    Letters differ as long as there are enough: there are more than `vowels_min` vowels only if the
    consonants run out, and letters repeat only once both have run out. Vowels are dealt first to
    the middle of each side, as the article does for looks. The same arguments give the same board
    on every machine: the only source of randomness is `random.Random(int).random()`, whose sequence
    Python guarantees.

    Raises PermanentError for an impossible number of sides, letters or vowels.
    """
    size = sides * letters_per_side
    if not 2 <= sides <= SIDES_MAX or not 1 <= letters_per_side or size > LETTERS_MAX:
        raise PermanentError(
            f"{sides} sides of {letters_per_side} letters; expected 2 to {SIDES_MAX} sides of at"
            f" least one letter, and at most {LETTERS_MAX} letters in all"
        )
    if not 0 <= vowels_min <= size:
        raise PermanentError(f"at least {vowels_min} vowels; expected 0 to {size}")
    rnd = random.Random(seed).random
    chosen = _draw(rnd, vowels, vowels_min)
    rest = size - vowels_min
    if rest <= len(consonants) or vowels_min >= len(vowels):
        chosen += _draw(rnd, consonants, rest)
    else:
        # The consonants run out: use the remaining vowels before any letter twice.
        spare = [letter for letter in vowels if letter not in chosen]
        more = _draw(rnd, consonants, len(consonants)) + _shuffled(rnd, spare)
        chosen += (more + _draw(rnd, consonants + vowels, size))[:rest]
    return Puzzle(sides=_deal(chosen, vowels_min, sides, letters_per_side))


def par_of(puzzle: Puzzle, lexicon: Lexicon | None = None) -> int | None:
    """Estimate the words that an average player needs; None for a board without a solution.

    Published pars are 4 to 6, on boards that can all be solved in two words: the lower, the more
    chains have at most one word more than necessary. Par is the fewest words plus 2 with
    PAR_EASY_CHAINS such chains or more, plus 3 with PAR_FAIR_CHAINS or more, else plus 4: these
    bounds give each par as often as it was published. Raises PermanentError beyond the usual
    budget.
    """
    found = _solve(puzzle, "fewest-words", lexicon)
    if found.value is None:
        return None
    more = _solve(puzzle, found.value + 1, lexicon)
    # A count that overflows is more than enough.
    chains = PAR_EASY_CHAINS if more.count is None else more.count
    easy = 2 if chains >= PAR_EASY_CHAINS else 3 if chains >= PAR_FAIR_CHAINS else 4
    return found.value + easy


def _solve(puzzle: Puzzle, chains: Chains, lexicon: Lexicon | None) -> Outcome[Chain]:
    outcome = LetterBoxedGame(Rules(chains=chains), lexicon).solve(puzzle, Ask(kind="count"))
    if outcome.count is None and outcome.reason_code is not ReasonCode.COUNT_TOO_LARGE:
        raise PermanentError(f"the par is not known: {outcome.reason}")
    return outcome


def _deal(letters: list[str], vowels: int, sides: int, per_side: int) -> tuple[str, ...]:
    places = [(row, side) for row in range(per_side) for side in range(sides)]
    middle = (per_side - 1) // 2
    # Vowels go to the middle of all sides, then next to it.
    places.sort(key=lambda place: abs(place[0] - middle))
    at = dict(zip(places[:vowels], letters, strict=False))
    others = sorted(places[vowels:])
    at.update(zip(others, letters[vowels:], strict=True))
    return tuple("".join(at[row, side] for row in range(per_side)) for side in range(sides))


def _draw(rnd: Callable[[], float], letters: str, count: int) -> list[str]:
    drawn: list[str] = []
    while len(drawn) < count:
        drawn += _shuffled(rnd, list(letters))[: count - len(drawn)]
    return drawn


def _shuffled(rnd: Callable[[], float], letters: list[str]) -> list[str]:
    return sorted(letters, key=lambda _: rnd())

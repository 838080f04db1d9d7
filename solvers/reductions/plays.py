"""Check on which side every letter of a chain of Letter Boxed is taken."""

from __future__ import annotations

from collections import Counter

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.letterboxed.check import text_of
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.solution import Chain

Play = tuple[int, ...]
"""The side of every letter, in the order of play; the letter that two words share counts once."""


def check_play(puzzle: Puzzle, chain: Chain, play: Play) -> None:
    """Raise PermanentError naming what a play breaks of article 000, Definition 6; else return."""
    known = set(puzzle.dictionary or ())
    for i, word in enumerate(chain.words):
        if word not in known:
            raise PermanentError(f"{word:.40} is no word of the dictionary")
        if i and word[0] != chain.words[i - 1][-1]:
            raise PermanentError(f"{word:.40} does not begin where the word before it ended")
    letters = text_of(chain)
    if len(letters) != len(play):
        raise PermanentError(f"{len(letters)} letters are played on {len(play)} sides")
    for i, (letter, side) in enumerate(zip(letters, play, strict=True)):
        if letter not in puzzle.sides[side]:
            raise PermanentError(f"letter {i + 1}, {letter}, is not on side {side + 1}")
        if i and play[i - 1] == side:
            raise PermanentError(f"letters {i} and {i + 1} are both taken on side {side + 1}")
    taken = Counter(zip(play, letters, strict=True))
    for side, text in enumerate(puzzle.sides):
        for letter, wanted in Counter(text).items():
            if taken[side, letter] < wanted:
                raise PermanentError(
                    f"side {side + 1} has {letter} {wanted} times; it is taken"
                    f" {taken[side, letter]} times"
                )

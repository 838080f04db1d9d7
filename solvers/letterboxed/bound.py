"""How many words a chain can need at most: article 000, Lemma 9."""

from __future__ import annotations

from solvers.letterboxed.puzzle import Puzzle


def words_bound(puzzle: Puzzle) -> int:
    """Bound the words of a shortest chain: a board that can be solved is, with so many or fewer.

    Between two words that collect something new a shortest chain never is twice on the same letter
    of the same side. With L letters to collect, of which the first word collects at least one, and
    P different places (a letter on a side), each of the other L - 1 comes at most P words later.
    """
    places = sum(len(set(side)) for side in puzzle.sides)
    return 1 + (puzzle.letter_count - 1) * places

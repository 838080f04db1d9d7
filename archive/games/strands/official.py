"""Official covers of Strands: whether one covers the board, and whether another is the same."""

from __future__ import annotations

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.strands.check import check_cover
from nightgrid.solvers.strands.placing import TooManySteps, place_words
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.solution import Cover


def is_same_cover(official: Cover, cover: Cover) -> bool:
    """Tell whether a cover is the official one: the same words on the same cells.

    Of a word that the official one does not place, the word alone has to agree.
    """
    if len(official.entries) != len(cover.entries):
        return False
    words = {entry.word for entry in cover.entries}
    return all(
        (entry.word, entry.cells) in cover.identity if entry.path else entry.word in words
        for entry in official.entries
    )


def is_cover(puzzle: Puzzle, rules: Rules, cover: Cover) -> bool | None:
    """Check a cover that may name words without placing them; None where that is open."""
    if cover.spangram is None or all(entry.path for entry in cover.entries):
        return _keeps(puzzle, rules, cover)
    known = {entry.word: entry.path for entry in cover.entries if entry.path}
    theme_words = [entry.word for entry in cover.theme_words]
    try:
        covers = place_words(puzzle, cover.spangram.word, theme_words, known)
    except TooManySteps:
        return None
    if any(_keeps(puzzle, rules, found) for found in covers):
        return True
    return None if len(covers) > 1 or rules.crossing else False


def _keeps(puzzle: Puzzle, rules: Rules, cover: Cover) -> bool:
    try:
        check_cover(puzzle, rules, cover)
    except PermanentError:
        return False
    return True

"""Official covers of Strands: whether one covers the board, is another one, and has what words."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.strands.check import check_cover
from nightgrid.solvers.strands.placing import TooManySteps, place_words
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.score import component_costs
from nightgrid.solvers.strands.solution import Cover


def missing_words(lexicon: Lexicon, rules: Rules, cover: Cover) -> tuple[str, ...]:
    """Name the words of a cover that are no pieces: neither words nor compounds that rules allow.

    Theme words may be compounds only where they touch two opposite sides, which is left open here:
    one that could be a compound is not named.
    """
    unknown = [entry.word for entry in cover.entries if lexicon.find(entry.word) < 0]
    if not unknown:
        return ()
    parts = 1 if rules.spangram == "off" else rules.compound_parts
    costs = component_costs(lexicon, rules.part_centizipf)
    most = rules.compound_centibels
    return tuple(word for word in unknown if not _is_compound(lexicon, costs, word, parts, most))


def _is_compound(
    lexicon: Lexicon, costs: npt.NDArray[Any], text: str, parts: int, most: int
) -> bool:
    """Return whether a text is at most so many words run together that cost no more than `most`."""
    if not text:
        return True
    return parts > 0 and any(
        costs[word] <= most
        and _is_compound(lexicon, costs, text[letters:], parts - 1, most - int(costs[word]))
        for letters, word in lexicon.beginnings(text)
    )


def is_same_cover(official: Cover, cover: Cover) -> bool:
    """Return whether a cover is the official one: the same words on the same cells.

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

"""How Letter Boxed is shown: the polygon with its letters, and the words of a chain as strokes."""

from __future__ import annotations

from nightgrid.service.drawing.styled import Drawing
from nightgrid.service.games.letterboxed.grid import Place, draw_board, list_words
from nightgrid.service.games.letterboxed.svg import draw_svg
from nightgrid.service.terminal.console import plural
from nightgrid.solvers.letterboxed.check import strokes
from nightgrid.solvers.letterboxed.playing import TooManyWaysError
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.solution import Chain


class LetterBoxedView:
    """See nightgrid.service.drawing.View."""

    def describe(self, puzzle: Puzzle) -> str:
        """Count sides, letters and the board's own words."""
        words = puzzle.dictionary
        own = "" if words is None else f", {plural(len(words), 'word')}"
        return f"{plural(len(puzzle.sides), 'side')}, {plural(puzzle.letter_count, 'letter')}{own}"

    def board(self, puzzle: Puzzle) -> Drawing:
        """Draw the polygon with its letters."""
        return draw_board(puzzle)

    def solution(self, puzzle: Puzzle | None, solution: Chain, *, scored: bool) -> Drawing:  # noqa: ARG002 - the words say what they are worth
        """Draw the strokes, and list the words below; a chain without its board has no strokes."""
        words = list_words(solution.words)
        if puzzle is None:
            return words
        return (*draw_board(puzzle, _places(puzzle, solution)), (("", ""),), *words)

    def line(self, solution: Chain) -> str:
        """Write the words, and how many letters they take."""
        return f"{' - '.join(solution.words)}  ({solution.letters} letters)"

    def value(self, value: int, rules: str) -> str:
        """Write a number of words, or of letters where the fewest of these were asked for."""
        return plural(value, "letter" if "chains=fewest-letters" in rules.split() else "word")

    def svg(self, puzzle: Puzzle, solution: Chain | None, title: str | None) -> str:
        """Draw the polygon and the strokes."""
        if solution is None:
            return draw_svg(puzzle, title=title)
        return draw_svg(puzzle, solution.words, _places(puzzle, solution), title)


def _places(puzzle: Puzzle, chain: Chain) -> list[list[Place]]:
    """Give the places that each word passes; two words share the one between them.

    None where there are too many ways of playing to choose one: the words are listed alone.
    """
    try:
        places = strokes(puzzle, chain)
    except TooManyWaysError:
        return []
    words = []
    start = 0
    for word in chain.words:
        words.append(places[start : start + len(word)])
        start += len(word) - 1
    return words

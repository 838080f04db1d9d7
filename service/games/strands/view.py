"""How Strands is shown: the letters, and the words of a cover along their paths."""

from __future__ import annotations

from nightgrid.service.drawing.styled import Drawing, plain
from nightgrid.service.games.strands.grid import draw_cover, draw_letters, list_words, spell
from nightgrid.service.games.strands.svg import draw_svg
from nightgrid.service.terminal.console import plural
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.solution import Cover


class StrandsView:
    """See nightgrid.service.drawing.View."""

    def describe(self, puzzle: Puzzle) -> str:
        """Name the size, and how many words there are where that is known."""
        words = puzzle.theme_words
        known = "" if words is None else f", {plural(words, 'theme word')}"
        return f"{puzzle.row_count} x {puzzle.column_count} letters{known}"

    def board(self, puzzle: Puzzle) -> Drawing:
        """Draw the letters."""
        return plain(draw_letters(puzzle))

    def solution(self, puzzle: Puzzle | None, solution: Cover, *, scored: bool) -> Drawing:
        """Draw the paths, and list the words below."""
        puzzle = puzzle or _board_of(solution)
        score = plain(f"Score: {score_text(solution)}") if scored else ()
        return (*draw_cover(puzzle, solution), (("", ""),), *list_words(solution), *score)

    def line(self, solution: Cover) -> str:
        """Write the score, the spangram and the theme words."""
        words = ", ".join(spell(entry) for entry in solution.theme_words)
        head = "" if solution.spangram is None else f"{spell(solution.spangram)}: "
        return f"{score_text(solution)}  {head}{words}"

    def value(self, value: int, rules: str) -> str:  # noqa: ARG002 - covers have a score instead
        """Write a value; covers have a score instead."""
        return str(value)

    def svg(self, puzzle: Puzzle, solution: Cover | None, title: str | None) -> str:
        """Draw circles and strokes."""
        return draw_svg(puzzle, solution, title)


def _board_of(cover: Cover) -> Puzzle:
    """Read the board off a cover: its words have every letter."""
    letters = {
        cell: letter
        for entry in cover.entries
        for cell, letter in zip(entry.path, entry.word, strict=True)
    }
    rows = max(r for r, _ in letters) + 1
    columns = max(c for _, c in letters) + 1
    return Puzzle(board=tuple("".join(letters[r, c] for c in range(columns)) for r in range(rows)))


def score_text(cover: Cover) -> str:
    """Write a score in decades of probability."""
    return f"{cover.score / 100:.2f}"

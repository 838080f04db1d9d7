"""How Strands is shown: the letters, and strokes between those of a word along its path.

A letter stands every STEP columns and every second line; between two letters of a word that follow
one another runs a stroke, heavy for the spangram. Colours only add to that.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterator

from nightgrid.service.drawing import LINE_CHARS, STYLES, Drawing, Line, View, plain, wrapped
from nightgrid.service.drawing.canvas import Canvas
from nightgrid.service.drawing.colours import distinct_colours
from nightgrid.solvers.sentences import plural
from nightgrid.solvers.strands.puzzle import Cell, Puzzle
from nightgrid.solvers.strands.solution import Cover, Entry

STEP = 4
"""Columns from one letter to the next."""
GAP = STEP // 2
"""Columns from a letter to a diagonal stroke beside it."""
SPANGRAM_STYLE = "bold bright_yellow"
WORD_STYLES = tuple(style for style in STYLES if style not in SPANGRAM_STYLE)
"""Styles of theme words; words side by side have different ones."""

_LIGHT, _HEAVY = ("─", "│"), ("━", "┃")
_FALLING, _RISING, _BOTH = "╲", "╱", "╳"  # noqa: RUF001 - strokes, not letters


def draw_letters(puzzle: Puzzle) -> str:
    """Draw a board without paths."""
    return "\n".join("  ".join(map(_letter, row)).rstrip() for row in puzzle.board)


def draw_cover(puzzle: Puzzle, cover: Cover) -> Drawing:
    """Draw a board with the paths of a cover; letters of words without a path have none."""
    canvas = Canvas()
    styles: dict[Cell, str] = {}
    for entry, style in styled_entries(cover):
        _draw_path(canvas, entry, style, _HEAVY if entry is cover.spangram else _LIGHT)
        styles |= dict.fromkeys(entry.path, style)
    for r, row in enumerate(puzzle.board):
        for c, letter in enumerate(row):
            line, column = 2 * r, STEP * c
            canvas.write((line, column), letter, styles.get((r, c), ""))
            if _is_wide(letter):
                canvas.texts[line, column + 1] = ("", "")
    return canvas.drawing()


def styled_entries(cover: Cover) -> list[tuple[Entry, str]]:
    """Assign a style to every word of a cover, the spangram first."""
    of = {cell: i for i, entry in enumerate(cover.entries) for cell in entry.path}
    neighbours: dict[int, set[int]] = {
        i: {of[cell] for cell in _around(entry) if cell in of} - {i}
        for i, entry in enumerate(cover.entries)
        if entry is not cover.spangram
    }
    colours = distinct_colours(neighbours, len(WORD_STYLES))
    return [
        (entry, WORD_STYLES[colours[i]] if i in colours else SPANGRAM_STYLE)
        for i, entry in enumerate(cover.entries)
    ]


def _around(entry: Entry) -> Iterator[Cell]:
    """Yield the cells of a word and those next to it."""
    for (r, c), down, right in itertools.product(entry.path, (-1, 0, 1), (-1, 0, 1)):
        yield r + down, c + right


def list_words(cover: Cover) -> Drawing:
    """List a cover's words in lines: the spangram by its parts, then the theme words."""
    entries = styled_entries(cover)
    lines: list[Line] = []
    if cover.spangram is not None:
        lines.append((("Spangram: ", ""), (spell(cover.spangram), entries.pop(0)[1])))
    head = f"{plural(len(entries), 'theme word')}: " if lines else "Words: "
    items = [[(spell(entry), style), (",", "")] for entry, style in entries]
    for runs in items[-1:]:
        runs.pop()
    for i, line in enumerate(wrapped(items, " ", LINE_CHARS - len(head))):
        lines.append(((" " * len(head) if i else head, ""), *line))
    return tuple(lines)


def spell(entry: Entry) -> str:
    """Write a word with spaces between the parts that it is run together from."""
    return " ".join(entry.components)


def _draw_path(canvas: Canvas, entry: Entry, style: str, strokes: tuple[str, str]) -> None:
    level, upright = strokes
    for (r, c), (below, right) in itertools.pairwise(entry.path):
        line, column = r + below, STEP * min(c, right)
        if r == below:
            canvas.write((line, column + 1), level * (STEP - 1), style)
        elif c == right:
            canvas.write((line, column), upright, style)
        else:
            place = (line, column + GAP)
            stroke = _FALLING if below - r == right - c else _RISING
            text, other = canvas.texts.get(place, (stroke, style))
            # Where two words cross, the cross belongs to neither.
            mark = stroke if text == stroke else _BOTH
            canvas.write(place, mark, style if style == other else "")


def _letter(letter: str) -> str:
    return letter if _is_wide(letter) else f"{letter} "


def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in ("W", "F")


class StrandsView(View):
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


def _board_of(cover: Cover) -> Puzzle:
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


VIEW = StrandsView()

"""Pictures of Strands boards as SVG: a circle a letter, a thick stroke from letter to letter."""

from __future__ import annotations

import itertools
import textwrap

from nightgrid.service.drawing.colours import GOLD, INK, PLAIN, TINTS
from nightgrid.service.drawing.svg import CHAR_PX, MARGIN_PX, Caption, Picture
from nightgrid.service.games.strands.view import spell
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.solution import Cover

STEP_PX = 56
"""From the centre of one letter to that of the next."""
RADIUS_PX = 21
STROKE_PX = 14
LETTER_PX = 24
LINE_CHARS = 38
"""Letters of a line of words below a board of six columns; wider boards take more."""

LARGE_CELLS_MAX = 600
"""Boards with more cells have small ones."""
CELLS_MAX = 20_000

SMALL_CELL_PX = 20
SMALL_LETTER_PX = 13
SMALL_TINTS = (*TINTS[:4], GOLD, *TINTS[4:6], TINTS[7])
"""Strokes of words on a large board: each different word has its own while there are enough."""


def draw_svg(
    puzzle: Puzzle,
    cover: Cover | None = None,
    title: str | None = None,
    note: str | None = None,
) -> str:
    """Draw a board, with the words of a cover, as the text of an SVG file.

    `title` stands above it, `note` below the words. A large board has small cells and no list of
    words. Raises PermanentError for a board too large for a picture.
    """
    if puzzle.cell_count > LARGE_CELLS_MAX:
        return draw_small_svg(puzzle, cover, title)
    words = itertools.cycle(TINTS)
    fills = [
        (entry, GOLD if cover and entry is cover.spangram else next(words))
        for entry in (cover.entries if cover else ())
    ]
    wide = (puzzle.column_count - 1) * STEP_PX + 2 * RADIUS_PX
    high = (puzzle.row_count - 1) * STEP_PX + 2 * RADIUS_PX
    captions = _captions(cover, max(LINE_CHARS, (wide + 2 * MARGIN_PX) // CHAR_PX))
    if note:
        captions.append([(note, INK, False)])
    named = "; ".join(spell(entry) for entry, _ in fills)
    spoken = ": ".join(part for part in (title or "Strands board", named) if part)
    picture = Picture(spoken, title, wide, high, captions)
    left = (picture.width - wide) // 2 + RADIUS_PX
    centre = {
        (r, c): (left + c * STEP_PX, picture.top + RADIUS_PX + r * STEP_PX)
        for r in range(puzzle.row_count)
        for c in range(puzzle.column_count)
    }
    for entry, fill in fills:
        if len(entry.path) > 1:
            _stroke(picture, [centre[cell] for cell in entry.path], fill)
    owner = {cell: fill for entry, fill in fills for cell in entry.path}
    for (r, c), (x, y) in centre.items():
        fill = owner.get((r, c), PLAIN)
        picture.add("circle", cx=x, cy=y, r=RADIUS_PX, fill=fill, data_cell=f"{r},{c}")
        weight = "700" if fill == GOLD else "500"
        look = {"font_weight": weight, "class_": "on-gold" if fill == GOLD else None}
        picture.middle(x, y, puzzle.board[r][c], LETTER_PX, **look)
    return picture.text()


def draw_small_svg(
    puzzle: Puzzle, cover: Cover | None = None, title: str | None = None, blank: str = ""
) -> str:
    """Draw a large board: small cells, words in colours, no list of words.

    Cells with the letter `blank` stay empty. Raises PermanentError for one too large for a picture.
    """
    if puzzle.cell_count > CELLS_MAX:
        raise PermanentError(
            f"{puzzle.row_count} x {puzzle.column_count} letters are too many for a picture"
        )
    wide, high = puzzle.column_count * SMALL_CELL_PX, puzzle.row_count * SMALL_CELL_PX
    picture = Picture(title or "Strands board", title, wide, high)
    half = SMALL_CELL_PX // 2
    centre = {
        (r, c): (MARGIN_PX + c * SMALL_CELL_PX + half, picture.top + r * SMALL_CELL_PX + half)
        for r, row in enumerate(puzzle.board)
        for c in range(len(row))
    }
    shown = {(r, c) for r, c in centre if puzzle.board[r][c] != blank}
    entries = [entry for entry in (cover.entries if cover else ()) if entry.word != blank]
    words = sorted({entry.word for entry in entries})
    tint = {word: SMALL_TINTS[i % len(SMALL_TINTS)] for i, word in enumerate(words)}
    for cell in sorted(shown) if cover is None else ():
        x, y = centre[cell]
        picture.add("circle", cx=x, cy=y, r=half - 2, fill=PLAIN)
    for entry in entries:
        points = [centre[cell] for cell in entry.path]
        # A word of one letter is a stroke of no length, which round ends make a dot.
        _stroke(picture, points if len(points) > 1 else 2 * points, tint[entry.word])
    for r, c in sorted(shown):
        picture.middle(*centre[r, c], puzzle.board[r][c], SMALL_LETTER_PX, font_weight=None)
    return picture.text()


def _stroke(picture: Picture, points: list[tuple[int, int]], colour: str) -> None:
    picture.add(
        "polyline",
        points=points,
        fill="none",
        stroke=colour,
        stroke_width=STROKE_PX,
        stroke_linejoin="round",
        stroke_linecap="round",
    )


def _captions(cover: Cover | None, width: int) -> list[Caption]:
    if cover is None:
        return []
    spangram: list[Caption] = [[(spell(cover.spangram), INK, True)]] if cover.spangram else []
    words = ", ".join(spell(entry) for entry in cover.theme_words)
    lines = textwrap.wrap(words, width, break_long_words=False, break_on_hyphens=False)
    return [*spangram, *([(line, INK, False)] for line in lines)]

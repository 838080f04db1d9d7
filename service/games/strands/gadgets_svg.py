"""Pictures of large Strands boards as SVG: small cells, words in colours, no list of words."""

from __future__ import annotations

from nightgrid.service.drawing.svg import LINE_PX, MARGIN_PX, add, add_line, page, text_of
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.solution import Cover

CELL_PX = 20
LETTER_PX = 13
STROKE_PX = 14
CHAR_PX = 10

FREE = "#e9e6dc"
TINTS = ("#aedfee", "#bfe3b4", "#e3c2ee", "#f5c6b0", "#f8cd05", "#b9c8f2", "#d6dd9f", "#f3bccb")
"""Strokes of words: each different word has its own, as far as there are enough."""


def draw_svg(
    puzzle: Puzzle, cover: Cover | None = None, title: str | None = None, blank: str = ""
) -> str:
    """Draw a board, with the words of a cover, as the text of an SVG file.

    Cells with the letter `blank` stay empty.
    """
    head = MARGIN_PX + (LINE_PX if title else 0)
    width = max(puzzle.column_count * CELL_PX, len(title or "") * CHAR_PX) + 2 * MARGIN_PX
    svg = page(width, head + puzzle.row_count * CELL_PX + MARGIN_PX, title or "Strands board")
    if title:
        add_line(svg, MARGIN_PX, MARGIN_PX + 2, title, bold=True)
    half = CELL_PX // 2
    centre = {
        (r, c): (MARGIN_PX + c * CELL_PX + half, head + r * CELL_PX + half)
        for r, row in enumerate(puzzle.board)
        for c in range(len(row))
    }
    shown = {(r, c) for r, c in centre if puzzle.board[r][c] != blank}
    entries = [entry for entry in (cover.entries if cover else ()) if entry.word != blank]
    words = sorted({entry.word for entry in entries})
    tint = {word: TINTS[i % len(TINTS)] for i, word in enumerate(words)}
    for cell in sorted(shown) if cover is None else ():
        x, y = centre[cell]
        add(svg, "circle", cx=x, cy=y, r=half - 2, fill=FREE)
    for entry in entries:
        points = [f"{x} {y}" for x, y in (centre[cell] for cell in entry.path)]
        # A word of one letter is a stroke of no length, which round ends make a dot.
        path = f"M{points[0]}" + "".join(f"L{point}" for point in points[1:] or points)
        add(
            svg,
            "path",
            d=path,
            fill="none",
            stroke=tint[entry.word],
            stroke_width=STROKE_PX,
            stroke_linecap="round",
            stroke_linejoin="round",
        )
    for r, c in sorted(shown):
        x, y = centre[r, c]
        add(
            svg,
            "text",
            puzzle.board[r][c],
            x=x,
            y=y,
            dy="0.36em",
            text_anchor="middle",
            font_size=LETTER_PX,
        )
    return text_of(svg)

"""Pictures of Strands boards as SVG: a circle a letter, a thick stroke from letter to letter."""

from __future__ import annotations

import itertools
from xml.etree import ElementTree as ET

from nightgrid.service.drawing import svg as pictures
from nightgrid.service.drawing.svg import CHAR_PX, LINE_PX, MARGIN_PX, PLAIN, TINTS
from nightgrid.service.games.strands.view import spell
from nightgrid.solvers.strands.puzzle import Cell, Puzzle
from nightgrid.solvers.strands.solution import Cover, Entry

STEP_PX = 56
"""From the centre of one letter to that of the next."""
RADIUS_PX = 21
STROKE_PX = 14
LETTER_PX = 24
LINE_CHARS = 38
"""Letters of a line of words below a board of six columns; wider boards take more."""

SPANGRAM = "#f8cd05"
SMALL_CELL_PX = 20
SMALL_LETTER_PX = 13
SMALL_TINTS = (*TINTS[:4], SPANGRAM, *TINTS[4:6], TINTS[7])
"""Strokes of words on a large board: each different word has its own while there are enough."""


def draw_svg(
    puzzle: Puzzle,
    cover: Cover | None = None,
    title: str | None = None,
    note: str | None = None,
) -> str:
    """Draw a board, with the words of a cover, as the text of an SVG file.

    `title` stands above it, `note` below the words.
    """
    fills = {} if cover is None else dict(zip(cover.entries, _fills(cover), strict=True))
    columns_px = (puzzle.column_count - 1) * STEP_PX + 2 * (MARGIN_PX + RADIUS_PX)
    captions = _captions(cover, max(LINE_CHARS, columns_px // CHAR_PX))
    if note:
        captions.append((note, False))
    longest = max((len(text) for text, _ in captions), default=0)
    width = max(columns_px, 2 * MARGIN_PX + longest * CHAR_PX)
    top = pictures.head_px(title)
    board_px = (puzzle.row_count - 1) * STEP_PX + 2 * RADIUS_PX
    height = top + board_px + MARGIN_PX + (len(captions) * LINE_PX)
    svg = pictures.page(width, height, _spoken(title, cover), title)
    left = (width - columns_px) // 2 + MARGIN_PX + RADIUS_PX
    centre = {
        (r, c): (left + c * STEP_PX, top + RADIUS_PX + r * STEP_PX)
        for r in range(puzzle.row_count)
        for c in range(puzzle.column_count)
    }
    for entry, fill in fills.items():
        _path(svg, entry, fill, centre)
    owner = {cell: fill for entry, fill in fills.items() for cell in entry.path}
    for (r, c), (x, y) in centre.items():
        fill = owner.get((r, c), PLAIN)
        pictures.add(svg, "circle", cx=x, cy=y, r=RADIUS_PX, fill=fill)
        weight = "700" if fill == SPANGRAM else "500"
        pictures.add_middle(svg, x, y, puzzle.board[r][c], LETTER_PX, weight=weight)
    for i, (text, bold) in enumerate(captions):
        y = top + board_px + MARGIN_PX + i * LINE_PX + 6
        pictures.add_line(svg, MARGIN_PX, y, text, bold=bold)
    return pictures.text_of(svg)


def draw_small_svg(
    puzzle: Puzzle, cover: Cover | None = None, title: str | None = None, blank: str = ""
) -> str:
    """Draw a large board: small cells, words in colours, no list of words.

    Cells with the letter `blank` stay empty.
    """
    head = pictures.head_px(title)
    width = max(puzzle.column_count * SMALL_CELL_PX, len(title or "") * CHAR_PX) + 2 * MARGIN_PX
    spoken = title or "Strands board"
    height = head + puzzle.row_count * SMALL_CELL_PX + MARGIN_PX
    svg = pictures.page(width, height, spoken, title)
    half = SMALL_CELL_PX // 2
    centre = {
        (r, c): (MARGIN_PX + c * SMALL_CELL_PX + half, head + r * SMALL_CELL_PX + half)
        for r, row in enumerate(puzzle.board)
        for c in range(len(row))
    }
    shown = {(r, c) for r, c in centre if puzzle.board[r][c] != blank}
    entries = [entry for entry in (cover.entries if cover else ()) if entry.word != blank]
    words = sorted({entry.word for entry in entries})
    tint = {word: SMALL_TINTS[i % len(SMALL_TINTS)] for i, word in enumerate(words)}
    for cell in sorted(shown) if cover is None else ():
        x, y = centre[cell]
        pictures.add(svg, "circle", cx=x, cy=y, r=half - 2, fill=PLAIN)
    for entry in entries:
        points = [f"{x} {y}" for x, y in (centre[cell] for cell in entry.path)]
        # A word of one letter is a stroke of no length, which round ends make a dot.
        path = f"M{points[0]}" + "".join(f"L{point}" for point in points[1:] or points)
        pictures.add(
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
        pictures.add_middle(svg, x, y, puzzle.board[r][c], SMALL_LETTER_PX, weight=None)
    return pictures.text_of(svg)


def _fills(cover: Cover) -> list[str]:
    words = itertools.cycle(TINTS)
    return [SPANGRAM if entry is cover.spangram else next(words) for entry in cover.entries]


def _path(svg: ET.Element, entry: Entry, fill: str, centre: dict[Cell, tuple[int, int]]) -> None:
    if len(entry.path) < 2:
        return
    points = " ".join(f"{x},{y}" for x, y in (centre[cell] for cell in entry.path))
    pictures.add(
        svg,
        "polyline",
        points=points,
        fill="none",
        stroke=fill,
        stroke_width=STROKE_PX,
        stroke_linejoin="round",
        stroke_linecap="round",
    )


def _captions(cover: Cover | None, width: int) -> list[tuple[str, bool]]:
    if cover is None:
        return []
    lines = [] if cover.spangram is None else [(spell(cover.spangram), True)]
    line = ""
    for entry in cover.theme_words:
        longer = f"{line}, {spell(entry)}" if line else spell(entry)
        if line and len(longer) > width:
            lines.append((f"{line},", False))
            longer = spell(entry)
        line = longer
    return [*lines, (line, False)] if line else lines


def _spoken(title: str | None, cover: Cover | None) -> str:
    words = "" if cover is None else "; ".join(spell(entry) for entry in cover.entries)
    return ": ".join(part for part in (title or "Strands board", words) if part)

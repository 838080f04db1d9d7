"""Pictures of Strands boards as SVG: a circle a letter, a thick stroke from letter to letter."""

from __future__ import annotations

import itertools
from xml.etree import ElementTree as ET

from nightgrid.service.drawing import svg as pictures
from nightgrid.service.drawing.svg import CHAR_PX, LINE_PX, MARGIN_PX
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

FREE = "#e9e6dc"
"""Fill of a letter that no word has."""
SPANGRAM = "#f8cd05"
WORDS = ("#aedfee", "#bfe3b4", "#e3c2ee", "#f5c6b0", "#b9c8f2", "#d6dd9f", "#a9ddd0", "#f3bccb")
"""Fills of theme words, taken in turn."""


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
    top = MARGIN_PX + (LINE_PX if title else 0)
    board_px = (puzzle.row_count - 1) * STEP_PX + 2 * RADIUS_PX
    height = top + board_px + MARGIN_PX + (len(captions) * LINE_PX)
    svg = pictures.page(width, height, _spoken(title, cover))
    if title:
        pictures.add_line(svg, MARGIN_PX, MARGIN_PX + 2, title, bold=True)
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
        fill = owner.get((r, c), FREE)
        pictures.add(svg, "circle", cx=x, cy=y, r=RADIUS_PX, fill=fill)
        pictures.add(
            svg,
            "text",
            puzzle.board[r][c],
            x=x,
            y=y,
            dy="0.36em",
            text_anchor="middle",
            font_size=LETTER_PX,
            font_weight="700" if fill == SPANGRAM else "500",
        )
    for i, (text, bold) in enumerate(captions):
        y = top + board_px + MARGIN_PX + i * LINE_PX + 6
        pictures.add_line(svg, MARGIN_PX, y, text, bold=bold)
    return pictures.text_of(svg)


def _fills(cover: Cover) -> list[str]:
    words = itertools.cycle(WORDS)
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
    """List the words below a board: the spangram in bold, then the others in lines."""
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
    """Say what the picture shows to those who do not see it."""
    words = "" if cover is None else "; ".join(spell(entry) for entry in cover.entries)
    return ": ".join(part for part in (title or "Strands board", words) if part)

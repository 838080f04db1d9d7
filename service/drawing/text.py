"""Drawings for a terminal: a canvas of characters, walls of box characters, and braille lines.

A character is about twice as high as it is wide and has two by four dots, so a dot is about square.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

from rich.text import Text

from nightgrid.service.drawing import LINE_CHARS

DOTS_WIDE = 2
DOTS_HIGH = 4
STYLES = (
    "bright_cyan",
    "bright_magenta",
    "bright_green",
    "bright_blue",
    "bright_red",
    "cyan",
    "magenta",
    "green",
)
"""Styles of neighbouring items, used in rotation, as many as pictures have colours."""
_EMPTY = 0x2800
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bit of a dot in its character, by line and column."""
_UP, _RIGHT, _DOWN, _LEFT = 1, 2, 4, 8
_JOINTS = "   └ │┌├ ┘─┴┐┤┬┼"
"""Index = the arms of a joint. A single arm cannot occur: walls are closed lines."""

Place = tuple[int, int]
"""(line, column) of a character; of either sign, until the canvas is written out."""


def wrapped(items: Iterable[Text], separator: str, width: int = LINE_CHARS) -> list[Text]:
    """Write items after one another, on a new line what does not fit."""
    lines: list[Text] = []
    for item in items:
        if lines and lines[-1].cell_len + len(separator) + item.cell_len <= width:
            lines[-1].append(separator).append_text(item)
        else:
            lines.append(item.copy())
    return lines


def stacked(*lines: Text) -> Text:
    """Stack texts vertically."""
    return Text("\n").join(lines)


class Canvas:
    """Dots and characters; a character hides the dots under it."""

    def __init__(self) -> None:
        self._dots: dict[Place, tuple[int, str]] = {}
        self.texts: dict[Place, tuple[str, str]] = {}
        """Characters one column wide with their style; a wide one is followed by an empty text."""
        self._grounds: dict[Place, str] = {}

    def line(self, start: Place, end: Place, style: str, pattern: Sequence[bool] = (True,)) -> None:
        """Draw a line between two dots given as (x, y); `pattern` repeats along it."""
        (ax, ay), (bx, by) = start, end
        steps = max(abs(bx - ax), abs(by - ay), 1)
        for i in range(steps + 1):
            if pattern[i % len(pattern)]:
                x, y = ax + round((bx - ax) * i / steps), ay + round((by - ay) * i / steps)
                place = (y // DOTS_HIGH, x // DOTS_WIDE)
                mask, _ = self._dots.get(place, (0, ""))
                self._dots[place] = (mask | _BITS[y % DOTS_HIGH][x % DOTS_WIDE], style)

    def write(self, place: Place, text: str, style: str) -> None:
        """Write a text starting at a place; its spaces keep what is there."""
        y, x = place
        self.texts |= {(y, x + i): (c, style) for i, c in enumerate(text) if c != " "}

    def ground(self, places: Iterable[Place], style: str) -> None:
        """Colour the background of places, whatever their text."""
        self._grounds |= dict.fromkeys(places, style)

    def cells(
        self,
        groups: Mapping[Place, int],
        width: int,
        height: int,
        style: str,
        grounds: Mapping[int, str] | None = None,
    ) -> dict[Place, Place]:
        """Draw walls around cells, given as (row, column), and between those of different groups.

        The inside of a cell has `height` lines of `width` columns. `grounds` has the background
        styles of groups, which extend from cell to cell without walls. Returns the first place
        inside each cell.
        """
        top, left = min(r for r, _ in groups), min(c for _, c in groups)
        corners = {
            (r + down, c + right): (
                (1 + height) * (r + down - top),
                (1 + width) * (c + right - left),
            )
            for r, c in groups
            for down, right in itertools.product((0, 1), repeat=2)
        }
        for (r, c), (y, x) in corners.items():
            nw, ne = groups.get((r - 1, c - 1)), groups.get((r - 1, c))
            sw, se = groups.get((r, c - 1)), groups.get((r, c))
            arms = _UP * (nw != ne) | _RIGHT * (ne != se) | _DOWN * (sw != se) | _LEFT * (nw != sw)
            self.write((y, x), _JOINTS[arms], style)
            if ne != se:
                self.write((y, x + 1), "─" * width, style)
            for line in range(y + 1, y + 1 + height) if sw != se else ():
                self.write((line, x), "│", style)
            if grounds and se is not None:
                lines = range(y + (ne != se), y + 1 + height)
                columns = range(x + (sw != se), x + 1 + width)
                filled = {*itertools.product(lines, columns)} - ({(y, x)} if arms else set())
                self.ground(filled, grounds[se])
        return {cell: (corners[cell][0] + 1, corners[cell][1] + 1) for cell in groups}

    def drawing(self) -> Text:
        """Return the canvas as text, from its top line to its bottom line."""
        used = {*self._dots, *self.texts, *self._grounds}
        left = min(x for _, x in used)
        lines = []
        ends: dict[int, int] = {}
        for y, x in used:
            ends[y] = max(ends.get(y, left), x + 1)
        for y in range(min(ends), max(ends) + 1):
            line = Text()
            characters = (self._character((y, x)) for x in range(left, ends.get(y, left)))
            for style, run in itertools.groupby(characters, key=itemgetter(1)):
                line.append("".join(text for text, _ in run), style)
            lines.append(line)
        return stacked(*lines)

    def _character(self, place: Place) -> tuple[str, str]:
        mask, style = self._dots.get(place, (0, ""))
        text, style = self.texts.get(place, (chr(_EMPTY + mask) if mask else " ", style))
        return text, f"{self._grounds.get(place, '')} {style}".strip()

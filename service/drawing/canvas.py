"""A canvas for a terminal: characters, walls of box characters, and lines of braille dots.

A character is about twice as high as it is wide and has two by four dots, so a dot is about square.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from nightgrid.service.drawing import Drawing, Run, joined

DOTS_WIDE = 2
DOTS_HIGH = 4
_EMPTY = 0x2800
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bit of a dot in its character, by line and column."""
_UP, _RIGHT, _DOWN, _LEFT = 1, 2, 4, 8
_JOINTS = "   └ │┌├ ┘─┴┐┤┬┼"
"""Index = the arms of a joint. A single arm cannot occur: walls are closed lines."""

Place = tuple[int, int]
"""(line, column) of a character; of either sign, until the canvas is written out."""


class Canvas:
    """Dots and characters; a character hides the dots beneath it."""

    def __init__(self) -> None:
        self._masks: Counter[Place] = Counter()
        self._styles: dict[Place, Counter[str]] = {}
        self.texts: dict[Place, Run] = {}
        """Characters one column wide; beside a wide one stands an empty text."""
        self._grounds: dict[Place, str] = {}

    def line(self, start: Place, end: Place, style: str, pattern: Sequence[bool] = (True,)) -> None:
        """Draw a line between two dots given as (x, y); `pattern` says in turn which dots of it."""
        (ax, ay), (bx, by) = start, end
        steps = max(abs(bx - ax), abs(by - ay), 1)
        for i in range(steps + 1):
            if pattern[i % len(pattern)]:
                self._dot(_share(ax, bx, i, steps), _share(ay, by, i, steps), style)

    def write(self, place: Place, text: str, style: str) -> None:
        """Write a text from a place on; its spaces leave what stands there."""
        y, x = place
        self.texts |= {(y, x + i): (c, style) for i, c in enumerate(text) if c != " "}

    def ground(self, places: Iterable[Place], style: str) -> None:
        """Colour the ground of places, whatever is written there."""
        self._grounds |= dict.fromkeys(places, style)

    def cross(self, place: Place, level: bool, style: str) -> None:
        """Write a piece of a heavy stroke, level or upright, over what wall stands there."""
        stroke, crossing, wall = ("━", "┿", "│") if level else ("┃", "╂", "─")
        there = self.texts.get(place, ("", ""))[0]
        self.write(place, crossing if there == wall else stroke, style)

    def cells(
        self,
        groups: Mapping[Place, int],
        widths: Mapping[int, int],
        height: int,
        style: str,
        grounds: Mapping[int, str] | None = None,
    ) -> dict[Place, Place]:
        """Draw walls around cells, given as (row, column), and between those of different groups.

        The inside of a cell has the width of its column and `height` lines. `grounds` has the style
        of the ground of groups, which reaches from cell to cell where no wall stands. Returns the
        first place inside each cell.
        """
        grounds = grounds or {}
        top, below = min(r for r, _ in groups), max(r for r, _ in groups)
        left, right = min(widths), max(widths)
        starts = itertools.accumulate((1 + widths[c] for c in range(left, right + 1)), initial=0)
        corners = {
            (r, c): ((1 + height) * (r - top), x)
            for c, x in zip(range(left, right + 2), starts, strict=True)
            for r in range(top, below + 2)
        }
        for (r, c), (y, x) in corners.items():
            nw, ne = groups.get((r - 1, c - 1)), groups.get((r - 1, c))
            sw, se = groups.get((r, c - 1)), groups.get((r, c))
            arms = _UP * (nw != ne) | _RIGHT * (ne != se) | _DOWN * (sw != se) | _LEFT * (nw != sw)
            lines = range(1, 1 + height)
            self.write((y, x), _JOINTS[arms], style)
            if ne != se:
                self.write((y, x + 1), "─" * widths[c], style)
            for line in lines if sw != se else ():
                self.write((y + line, x), "│", style)
            ground = None if se is None else grounds.get(se)
            if ground is not None:
                below_x = [x + 1 + i for i in range(widths[c])]
                filled = [(y + line, i) for line in lines for i in below_x]
                filled += [(y, i) for i in below_x] if ne == se else []
                filled += [(y + line, x) for line in lines] if sw == se else []
                filled += [] if arms else [(y, x)]
                self.ground(filled, ground)
        return {cell: (corners[cell][0] + 1, corners[cell][1] + 1) for cell in groups}

    def drawing(self) -> Drawing:
        """Write the canvas out from its uppermost to its lowest line, runs of one style joined."""
        used = [*self._masks, *self.texts, *self._grounds]
        left = min(x for _, x in used)
        ends: dict[int, int] = {}
        for y, x in used:
            ends[y] = max(ends.get(y, left), x + 1)
        return tuple(
            joined(self._run((y, x)) for x in range(left, ends.get(y, left)))
            for y in range(min(ends), max(ends) + 1)
        )

    def _dot(self, x: int, y: int, style: str) -> None:
        place = (y // DOTS_HIGH, x // DOTS_WIDE)
        self._masks[place] |= _BITS[y % DOTS_HIGH][x % DOTS_WIDE]
        self._styles.setdefault(place, Counter())[style] += 1

    def _run(self, place: Place) -> Run:
        text, style = self._character(place)
        return (text, f"{self._grounds.get(place, '')} {style}".strip() if text else style)

    def _character(self, place: Place) -> Run:
        if place in self.texts:
            return self.texts[place]
        if place not in self._masks:
            return (" ", "")
        # Where lines meet, the character has the colour of most of its dots.
        ((style, _),) = self._styles[place].most_common(1)
        return (chr(_EMPTY + self._masks[place]), style)


def _share(a: int, b: int, i: int, steps: int) -> int:
    """Round a + (b - a) * i / steps."""
    return a + (2 * (b - a) * i + steps) // (2 * steps)

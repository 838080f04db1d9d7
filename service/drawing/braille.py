"""Lines in a terminal, finer than its characters: eight dots to a character, in braille patterns.

A character is about twice as high as it is wide and has two by four dots, so a dot is about square.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from nightgrid.service.drawing import Drawing, Line, Run, joined

DOTS_WIDE = 2
DOTS_HIGH = 4
_EMPTY = 0x2800
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bit of a dot in its character, by line and column."""

_Place = tuple[int, int]
"""(line, column) of a character; of either sign, until the canvas is written out."""


class Canvas:
    """Dots and characters; a character hides the dots beneath it."""

    def __init__(self) -> None:
        self._masks: Counter[_Place] = Counter()
        self._styles: dict[_Place, Counter[str]] = {}
        self._texts: dict[_Place, Run] = {}

    def line(
        self, start: _Place, end: _Place, style: str, pattern: Sequence[bool] = (True,)
    ) -> None:
        """Draw a line between two dots given as (x, y); `pattern` says in turn which dots of it."""
        (ax, ay), (bx, by) = start, end
        steps = max(abs(bx - ax), abs(by - ay), 1)
        for i in range(steps + 1):
            if pattern[i % len(pattern)]:
                self._dot(_share(ax, bx, i, steps), _share(ay, by, i, steps), style)

    def put(self, place: _Place, text: str, style: str) -> None:
        """Write a character that is one column wide."""
        self._texts[place] = (text, style)

    def drawing(self) -> Drawing:
        """Write the canvas out from its uppermost to its lowest line, runs of one style joined."""
        used = [*self._masks, *self._texts]
        top, below = min(y for y, _ in used), max(y for y, _ in used)
        left = min(x for _, x in used)
        ends: Counter[int] = Counter()
        for y, x in used:
            ends[y] = max(ends[y], x - left + 1)
        return tuple(self._line(y, left, ends[y]) for y in range(top, below + 1))

    def _dot(self, x: int, y: int, style: str) -> None:
        place = (y // DOTS_HIGH, x // DOTS_WIDE)
        self._masks[place] |= _BITS[y % DOTS_HIGH][x % DOTS_WIDE]
        self._styles.setdefault(place, Counter())[style] += 1

    def _run(self, place: _Place) -> Run:
        if place in self._texts:
            return self._texts[place]
        if place not in self._masks:
            return (" ", "")
        # Where lines meet, the character has the colour of most of its dots.
        ((style, _),) = self._styles[place].most_common(1)
        return (chr(_EMPTY + self._masks[place]), style)

    def _line(self, y: int, left: int, width: int) -> Line:
        return joined(self._run((y, x)) for x in range(left, left + width))


def _share(a: int, b: int, i: int, steps: int) -> int:
    """Round a + (b - a) * i / steps."""
    return a + (2 * (b - a) * i + steps) // (2 * steps)

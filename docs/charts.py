"""Draw the charts of pages as SVG: columns, stacked columns, ranges and lines over named places.

A chart is a few KB, brings its own ground, follows the reader's light or dark theme, and is the
same bytes for the same figures.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from nightgrid.service.drawing.colours import EDGE, GROUND, INK, LINE, NAMES, STROKES
from nightgrid.service.drawing.svg import Page

WIDTH_PX = 680
HEIGHT_PX = 320
LEFT_PX = 62
RIGHT_PX = 18
TOP_PX = 66
FOOT_PX = 56
TEXT_PX = 13
CHAR_PX = 7.4
"""Width of a character of a text, about: fonts differ."""
TICKS_MAX = 6
LABELS_MAX = 9
"""Places that are named on the axis; of more, every second one is, or every third, and so on."""
BAR_SHARE = 0.72
"""Share of its place that a column takes, or a group of columns."""
SERIES = (STROKES[0], STROKES[1], STROKES[2])
"""Colours of series, in turn. Series differ in their marks or their order as well."""
DARK = {
    GROUND: "#14131f",
    INK: "#f5f3ff",
    EDGE: "#b9b6d0",
    LINE: "#4a4763",
    STROKES[0]: "#4ecbe0",
    STROKES[1]: "#ff9a63",
    STROKES[2]: "#bb9cff",
}
_FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"


class Chart:
    """A chart with an axis of named places and one of numbers; marks are added to it."""

    def __init__(
        self,
        spoken: str,
        *,
        places: Sequence[str],
        across: str,
        up: str,
        span: tuple[float, float],
        powers: bool = False,
        series: Sequence[str] = (),
    ) -> None:
        """Draw the axes and name the series.

        `across` and `up` say what the axes show, with its unit; `span` is the least and the
        greatest number, and `powers` asks for a scale of powers of ten. `spoken` says what is
        shown to those who do not see it.
        """
        self._page = Page(spoken, WIDTH_PX, HEIGHT_PX, GROUND, font_family=_FONT, fill=INK)
        self._page.add("style", _dark())
        self._places = places
        self._powers = powers
        self._ticks = powers_of_ten(*span) if powers else round_numbers(*span)
        for tick in self._ticks:
            y = self._y(tick)
            right = WIDTH_PX - RIGHT_PX
            self._page.add("path", d=f"M{LEFT_PX} {y:.1f}H{right}", stroke=LINE)
            self._text(LEFT_PX - 8, y + 4, f"{tick:,.10g}", "end")
        every = math.ceil(len(places) / LABELS_MAX)
        for i, place in enumerate(places):
            if i % every == 0:
                self._text(self._x(i), HEIGHT_PX - FOOT_PX + 18, place, "middle")
        self._text((WIDTH_PX + LEFT_PX - RIGHT_PX) / 2, HEIGHT_PX - 12, across, "middle", bold=True)
        self._text(14, 24, up, "start", bold=True)
        x = float(LEFT_PX)
        for i, name in enumerate(series):
            self._mark(x + 5, 44, i)
            self._text(x + 16, 48, name, "start")
            x += 16 + CHAR_PX * len(name) + 24

    def columns(self, groups: Sequence[Sequence[float]]) -> None:
        """Draw a column for each number, those of a place beside one another."""
        for i, numbers in enumerate(groups):
            for k, number in enumerate(numbers):
                wide = BAR_SHARE * self._step / len(numbers)
                left = self._x(i) + (k - len(numbers) / 2) * wide
                self._column(left, wide, 0, number, k)

    def stacks(self, groups: Sequence[Sequence[float]]) -> None:
        """Draw the numbers of a place as parts of one column, the first one lowest."""
        for i, numbers in enumerate(groups):
            wide = BAR_SHARE * self._step
            heights = [0.0, *itertools.accumulate(numbers)]
            for k, (low, high) in enumerate(itertools.pairwise(heights)):
                self._column(self._x(i) - wide / 2, wide, low, high, k)

    def ranges(self, rows: Sequence[tuple[float, float, float]]) -> None:
        """Draw a bar from the first to the last number of each place, and a dot at the middle."""
        for i, (low, middle, high) in enumerate(rows):
            x = self._x(i)
            self._page.add(
                "path",
                d=f"M{x:.1f} {self._y(low):.1f}V{self._y(high):.1f}",
                stroke=SERIES[0],
                stroke_width=6,
                stroke_linecap="round",
                opacity="0.4",
            )
            self._page.add("circle", cx=x, cy=self._y(middle), r=4.5, fill=SERIES[0])

    def line(self, number: int, values: Sequence[float | None]) -> None:
        """Draw the values of a series at their places, joined; None is a place without."""
        points = [(self._x(i), self._y(v)) for i, v in enumerate(values) if v is not None]
        colour = SERIES[number]
        self._page.add("polyline", points=points, fill="none", stroke=colour, stroke_width=2)
        for x, y in points:
            self._mark(x, y, number)

    def text(self) -> str:
        """Write the chart as the text of an SVG file."""
        return self._page.text()

    @property
    def _step(self) -> float:
        return (WIDTH_PX - LEFT_PX - RIGHT_PX) / len(self._places)

    def _x(self, place: int) -> float:
        return LEFT_PX + (place + 0.5) * self._step

    def _y(self, value: float) -> float:
        low, high, at = self._ticks[0], self._ticks[-1], value
        if self._powers:
            low, high, at = math.log10(low), math.log10(high), math.log10(value)
        return HEIGHT_PX - FOOT_PX - (HEIGHT_PX - FOOT_PX - TOP_PX) * (at - low) / (high - low)

    def _column(self, left: float, wide: float, low: float, high: float, number: int) -> None:
        """Draw a column; one of nothing is left out."""
        top, foot = self._y(high), self._y(low)
        if high > low:
            self._page.add(
                "rect",
                x=left + 1,
                y=top,
                width=wide - 2,
                height=foot - top,
                fill=SERIES[number],
                fill_opacity=_opacity(number),
            )

    def _mark(self, x: float, y: float, number: int) -> None:
        """Draw the mark of a series: a dot, a square or a diamond."""
        colour, opacity = SERIES[number], _opacity(number)
        look: dict[str, object] = {"fill": colour, "fill_opacity": opacity}
        if number == 0:
            self._page.add("circle", cx=float(x), cy=float(y), r=5, **look)
        elif number == 1:
            self._page.add("rect", x=x - 4.5, y=y - 4.5, width=9, height=9, **look)
        else:
            corners = [(x, y - 6.0), (x + 6.0, y), (x, y + 6.0), (x - 6.0, y)]
            self._page.add("polygon", points=corners, **look)

    def _text(self, x: float, y: float, text: str, anchor: str, *, bold: bool = False) -> None:
        look = {"font_weight": "700"} if bold else {}
        place = {"x": float(x), "y": float(y), "text_anchor": anchor, "font_size": TEXT_PX}
        self._page.add("text", text, **place, **look)


def round_numbers(least: float, most: float) -> list[float]:
    """Find few round numbers at equal distances that enclose a span, from 0 if it is at the foot.

    The distance is 1, 2 or 5 times a power of ten.
    """
    size = (most - least) / (TICKS_MAX - 1) or 1.0
    power = 10.0 ** math.floor(math.log10(size))
    step = next(power * i for i in (1, 2, 5, 10) if power * i >= size * (1 - 1e-9))
    first, last = math.floor(least / step + 1e-9), math.ceil(most / step - 1e-9)
    return [round(i * step, 9) for i in range(first, max(last, first + 1) + 1)]


def powers_of_ten(least: float, most: float) -> list[float]:
    """Find the powers of ten that enclose a span of positive numbers."""
    first, last = math.floor(math.log10(least)), math.ceil(math.log10(most))
    return [10.0**i for i in range(first, max(last, first + 1) + 1)]


def _opacity(number: int) -> str:
    """Let series differ in brightness as well, for readers who do not see the colours."""
    return ("1", "0.75", "0.5")[number]


def _dark() -> str:
    rules = "".join(
        f".fill-{NAMES[colour]}{{fill:{dark}}}.stroke-{NAMES[colour]}{{stroke:{dark}}}"
        for colour, dark in DARK.items()
    )
    return f"@media (prefers-color-scheme:dark){{{rules}}}"

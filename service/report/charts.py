"""Charts of a report as SVG: dots over dates, columns of a distribution, a calendar.

They are drawn here and not by a plotting library because a page that forbids inline styles needs
classes for colours, which then follow the reader's light or dark theme too.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from nightgrid.service.drawing.svg import element

WIDTH_PX = 640
"""Width of a chart. All sizes are units of its view box, which is scaled to the page."""
HEIGHT_PX = 220
LEFT_PX = 64
RIGHT_PX = 24
TOP_PX = 14
FOOT_PX = 30
BIN_WIDTH_MAX_PX = 44
CELL_PX = 15
DOT_PX = 3.4
_WEEKDAYS = ((0, "Mon"), (2, "Wed"), (4, "Fri"), (6, "Sun"))

Point = tuple[dt.date, float, str, str]
"""Date, value, series and tooltip of the point."""


def dots(
    points: Sequence[Point], series: Sequence[str], label: str, written: Callable[[float], str]
) -> str:
    """Draw values over dates on a logarithmic scale; "" without a positive value."""
    shown = [point for point in points if point[1] > 0]
    if not shown:
        return ""
    first, last = min(p[0] for p in shown), max(p[0] for p in shown)
    low = math.floor(math.log10(min(p[1] for p in shown)))
    high = max(low + 1, math.ceil(math.log10(max(p[1] for p in shown))))
    days = (last - first).days

    def x(date: dt.date) -> float:
        return LEFT_PX + (WIDTH_PX - LEFT_PX - RIGHT_PX) * (date - first).days / max(1, days)

    def y(value: float) -> float:
        share = (math.log10(value) - low) / (high - low)
        return HEIGHT_PX - FOOT_PX - (HEIGHT_PX - FOOT_PX - TOP_PX) * share

    chart = _chart(label, WIDTH_PX, HEIGHT_PX)
    for power in range(low, high + 1, max(1, (high - low + 4) // 5)):
        at = y(10.0**power)
        element(chart, "path", d=f"M{LEFT_PX} {at:.1f}H{WIDTH_PX - RIGHT_PX}", class_="rule")
        _text(chart, LEFT_PX - 8, at + 4, written(10.0**power), "end")
    ticks = min(days, 5)
    for i in range(ticks + 1):
        date = first + dt.timedelta(days=round(days * i / max(1, ticks)))
        _text(chart, x(date), HEIGHT_PX - 8, f"{date.day} {date:%b}", "middle")
    for date, value, name, said in shown:
        look = f"dot s{series.index(name) % 4 + 1}"
        dot = element(chart, "circle", cx=x(date), cy=y(value), r=DOT_PX, class_=look)
        element(dot, "title", said)
    return ET.tostring(chart, encoding="unicode")


def columns(values: Iterable[float], label: str, written: Callable[[float], str]) -> str:
    """Draw a histogram by powers of two, or of four if values spread far."""
    logs = [math.log2(value) for value in values if value > 0]
    if not logs:
        return ""
    spread = max(logs) - min(logs)
    wide = 1 if spread <= 16 else 2 if spread <= 32 else 4
    bins = Counter(math.floor(value / wide) for value in logs)
    first, last = min(bins), max(bins)
    counts = [(written(2.0 ** (wide * i)), bins[i]) for i in range(first, last + 1)]
    return bars(counts, label, every=math.ceil(len(counts) / 5))


def bars(counts: Sequence[tuple[str, int]], label: str, *, every: int = 1) -> str:
    """Draw a column for each name, labelling every `every`-th; "" if all counts are 0."""
    wide, high = 320, 150
    most = max(n for _, n in counts)
    if not most:
        return ""
    step = min(BIN_WIDTH_MAX_PX, (wide - 40) / len(counts))
    left = (wide - step * len(counts)) / 2
    chart = _chart(label, wide, high)
    element(chart, "path", d=f"M8 {high - 27.5}H{wide - 8}", class_="rule")
    for i, (name, n) in enumerate(counts):
        tall = (high - 52) * n / most
        x, y = left + i * step, high - 28 - tall
        if n:
            place: dict[str, Any] = {"x": x + 1, "y": y, "width": step - 2, "height": tall}
            column = element(chart, "rect", **place, rx=2, class_="column")
            element(column, "title", f"{name}: {n:,}")
        if n == most:
            _text(chart, x + step / 2, y - 6, f"{n:,}", "middle")
        if i % every == 0:
            _text(chart, x + step / 2, high - 10, name, "middle")
    return ET.tostring(chart, encoding="unicode")


def calendar(
    since: dt.date, until: dt.date, states: Mapping[dt.date, tuple[str, str]], label: str
) -> str:
    """Draw the days of a window as cells in columns of weeks: class and words of each day."""
    monday = since - dt.timedelta(days=since.weekday())
    step = CELL_PX + 3
    wide = max(34 + ((until - monday).days // 7 + 1) * step + 8, 120)
    chart = _chart(label, wide, 20 + 7 * step, "chart natural")
    for i in range((until - since).days + 1):
        day = since + dt.timedelta(days=i)
        kind, said = states.get(day, ("none", "no board"))
        week, row = divmod((day - monday).days, 7)
        place: dict[str, Any] = {"x": 34 + week * step, "y": 20 + row * step, "rx": 3}
        place |= {"width": CELL_PX, "height": CELL_PX, "class_": f"day {kind}"}
        cell = element(chart, "rect", **place)
        element(cell, "title", f"{day}: {said}")
        if day.day == 1 or i == 0:
            _text(chart, 34 + week * step, 13, f"{day:%b}", "start")
    for row, name in _WEEKDAYS:
        _text(chart, 0, 32 + row * step, name, "start")
    return ET.tostring(chart, encoding="unicode")


def _chart(label: str, wide: int, high: int, look: str = "chart") -> ET.Element:
    view = f"0 0 {wide} {high}"
    said = {"role": "img", "aria_label": label, "class_": look}
    chart = element(None, "svg", viewBox=view, width=wide, height=high, **said)
    element(chart, "title", label)
    return chart


def _text(chart: ET.Element, x: float, y: float, text: str, anchor: str) -> None:
    element(chart, "text", text, x=x, y=y, text_anchor=anchor, class_="mark")


def short(value: float) -> str:
    """Format a number briefly: 950, 12 k, 3.4 M, 1e12."""
    if value >= 1e15:
        return f"1e{math.floor(math.log10(value))}"
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g}"

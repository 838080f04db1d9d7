"""Charts of a report as SVG: dots over dates, columns of a distribution, a calendar.

They are drawn here and not by a plotting library because a page that allows no inline styles can
show them only if colours are classes: so they follow the reader's light or dark theme as well.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from nightgrid.service.report.html import Html, tag
from nightgrid.service.terminal.console import duration

WIDTH_PX = 640
"""Width of a chart. All sizes are units of its view box, which is drawn as wide as it may be."""
HEIGHT_PX = 220
LEFT_PX = 64
RIGHT_PX = 14
TOP_PX = 14
FOOT_PX = 30
BIN_WIDTH_MAX_PX = 44
CELL_PX = 15
DOT_PX = 3.4

Point = tuple[dt.date, float, str, str]
"""Date, value, series and what is said of the point."""


def dots(
    points: Sequence[Point], series: Sequence[str], label: str, written: Callable[[float], str]
) -> Html:
    """Draw values over dates, on a scale of powers of ten."""
    shown = [point for point in points if point[1] > 0]
    if not shown:
        return Html("")
    first, last = min(p[0] for p in shown), max(p[0] for p in shown)
    low = math.floor(math.log10(min(p[1] for p in shown)))
    high = max(low + 1, math.ceil(math.log10(max(p[1] for p in shown))))
    days = max(1, (last - first).days)

    def x(date: dt.date) -> float:
        return LEFT_PX + (WIDTH_PX - LEFT_PX - RIGHT_PX) * (date - first).days / days

    def y(value: float) -> float:
        share = (math.log10(value) - low) / (high - low)
        return HEIGHT_PX - FOOT_PX - (HEIGHT_PX - FOOT_PX - TOP_PX) * share

    step = max(1, (high - low + 4) // 5)
    marks = [_level(y(10.0**power), written(10.0**power)) for power in range(low, high + 1, step)]
    marks_drawn: list[Html] = [line for mark in marks for line in mark]
    names = [_date(x(date), date) for date in _ticks(first, last)]
    spots = [
        tag(
            "circle",
            tag("title", said),
            cx=_px(x(date)),
            cy=_px(y(value)),
            r=DOT_PX,
            class_=f"dot s{series.index(name) % 4 + 1}",
        )
        for date, value, name, said in shown
    ]
    return _chart(label, WIDTH_PX, HEIGHT_PX, [*marks_drawn, *names, *spots])


def columns(values: Iterable[float], label: str, written: Callable[[float], str]) -> Html:
    """Draw how many values lie in each power of two, or of four where they spread far."""
    logs = [math.log2(value) for value in values if value > 0]
    if not logs:
        return Html("")
    spread = max(logs) - min(logs)
    wide = 1 if spread <= 16 else 2 if spread <= 32 else 4
    bins = Counter(math.floor(value / wide) for value in logs)
    first, last = min(bins), max(bins)
    return _columns(
        [(written(2.0 ** (wide * i)), bins[i]) for i in range(first, last + 1)],
        label,
        every=math.ceil((last - first + 1) / 5),
    )


def bars(counts: Sequence[tuple[str, int]], label: str) -> Html:
    """Draw a column for each name."""
    return _columns(counts, label, every=1) if any(n for _, n in counts) else Html("")


def _columns(counts: Sequence[tuple[str, int]], label: str, *, every: int) -> Html:
    wide, high = 320, 150
    most = max(n for _, n in counts)
    step = min(BIN_WIDTH_MAX_PX, (wide - 16) / len(counts))
    left = (wide - step * len(counts)) / 2
    drawn: list[Html] = []
    for i, (name, n) in enumerate(counts):
        tall = (high - 52) * n / most
        x, y = left + i * step, high - 28 - tall
        if n:
            drawn.append(
                tag(
                    "rect",
                    tag("title", f"{name}: {n:,}"),
                    x=_px(x + 1),
                    y=_px(y),
                    width=_px(step - 2),
                    height=_px(tall),
                    rx=2,
                    class_="column",
                )
            )
        if n == most:
            drawn.append(_text(x + step / 2, y - 6, f"{n:,}", "middle"))
        if i % every == 0:
            near_end = x + step / 2 > wide - 24 and len(counts) > 1
            at = (wide - 4, "end") if near_end else (x + step / 2, "middle")
            drawn.append(_text(at[0], high - 10, name, at[1]))
    base = tag("path", d=f"M8 {high - 27.5}H{wide - 8}", class_="rule")
    return _chart(label, wide, high, [base, *drawn])


def calendar(
    since: dt.date, until: dt.date, states: Mapping[dt.date, tuple[str, str]], label: str
) -> Html:
    """Draw the days of a window as cells in columns of weeks: class and words of each day."""
    monday = since - dt.timedelta(days=since.weekday())
    weeks = (until - monday).days // 7 + 1
    cells: list[Html] = []
    for i in range((until - since).days + 1):
        day = since + dt.timedelta(days=i)
        kind, said = states.get(day, ("none", "no board"))
        week, row = divmod((day - monday).days, 7)
        cells.append(
            tag(
                "rect",
                tag("title", f"{day}: {said}"),
                x=34 + week * (CELL_PX + 3),
                y=20 + row * (CELL_PX + 3),
                width=CELL_PX,
                height=CELL_PX,
                rx=3,
                class_=f"day {kind}",
            )
        )
        if day.day == 1 or i == 0:
            cells.append(_text(34 + week * (CELL_PX + 3), 13, f"{day:%b}", "start"))
    cells += [_text(0, 32 + row * (CELL_PX + 3), name, "start") for row, name in _WEEKDAYS]
    wide = max(34 + weeks * (CELL_PX + 3) + 8, 120)
    return _chart(label, wide, 20 + 7 * (CELL_PX + 3), cells, "chart natural")


_WEEKDAYS = ((0, "Mon"), (2, "Wed"), (4, "Fri"), (6, "Sun"))


def _chart(
    label: str, wide: float, high: float, content: Sequence[Html], look: str = "chart"
) -> Html:
    return tag(
        "svg",
        tag("title", label),
        list(content),
        viewBox=f"0 0 {wide:g} {high:g}",
        width=f"{wide:g}",
        height=f"{high:g}",
        role="img",
        aria_label=label,
        class_=look,
    )


def _level(y: float, name: str) -> list[Html]:
    line = tag("path", d=f"M{LEFT_PX} {_px(y)}H{WIDTH_PX - RIGHT_PX}", class_="rule")
    return [line, _text(LEFT_PX - 8, y + 4, name, "end")]


def _date(x: float, date: dt.date) -> Html:
    where = "start" if x < LEFT_PX + 20 else "end" if x > WIDTH_PX - RIGHT_PX - 20 else "middle"
    return _text(x, HEIGHT_PX - 8, f"{date.day} {date:%b}", where)


def _ticks(first: dt.date, last: dt.date) -> list[dt.date]:
    days = (last - first).days
    count = min(days, 5)
    return (
        [first + dt.timedelta(days=round(days * i / count)) for i in range(count + 1)]
        if (count)
        else [first]
    )


def _text(x: float, y: float, text: str, anchor: str) -> Html:
    return tag("text", text, x=_px(x), y=_px(y), text_anchor=anchor, class_="mark")


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def short(value: float) -> str:
    """Write a number in few characters: 950, 12 k, 3.4 M, 1e12."""
    if value >= 1e15:
        return f"1e{math.floor(math.log10(value))}"
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g}"


def time_text(nanoseconds: float) -> str:
    """Write a time in few characters."""
    return duration(round(nanoseconds))

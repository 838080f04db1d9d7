"""The findings of the five questions: a sentence with its figures, and a chart, for each.

Both are made of the rows of an answer and of nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from docs.charts import Chart

LEVELS = ("easy", "medium", "hard")
MONTHS = 6
"""Months at each end that are compared."""
QUARTERS = 4
"""Quarters at each end that are compared."""
Row = Mapping[str, str]
"""A row of an answer in CSV, by column."""


def say_makers(rows: Sequence[Row]) -> str:
    """Compare the makers by their boards with one solution."""
    makers = _grouped(rows, "maker")
    shares = {maker: _share(mine) for maker, mine in makers.items()}
    best, least = max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__)
    one, boards = _sum(rows, "with_one"), _sum(rows, "boards")
    most = max(int(row["most"]) for row in rows)
    return (
        f"{one} of {boards} boards have one solution. It is {shares[best]:.0f} % of those that "
        f"{best} made, and {shares[least]:.0f} % of those that {least} made. The board with the "
        f"most solutions has {most:,}."
    )


def draw_makers(alt: str, rows: Sequence[Row]) -> str:
    """Draw the share of boards with one solution, by level and maker."""
    makers = sorted({row["maker"] for row in rows})
    levels = _levels(rows)
    shares = [
        [_share([r for r in rows if (r["level"], r["maker"]) == (level, m)]) for m in makers]
        for level in levels
    ]
    chart = Chart(
        alt, places=levels, across="level", up="boards with one solution (%)", span=(0, 100),
        series=makers,
    )  # fmt: skip
    chart.columns(shares)
    return chart.text()


def say_open(rows: Sequence[Row]) -> str:
    """Compare boards with no open cell and with many."""
    told = []
    for level in _levels(rows):
        mine = [row for row in rows if row["level"] == level]
        first, last = mine[0], mine[-1]
        told.append(
            f"of level {level} it is {_whole(first, 'states')} with {first['open_cells']} such "
            f"cells and {_whole(last, 'states')} with {last['open_cells']} (on "
            f"{first['dominoes']} and {last['dominoes']} dominoes in the mean)"
        )
    return f"The median of the states that boards keep differs: {', '.join(told)}."


def draw_open(alt: str, rows: Sequence[Row]) -> str:
    """Draw the median of states by open cells, a line a level."""
    places = sorted({row["open_cells"] for row in rows})
    states = [float(row["states"]) for row in rows]
    levels = _levels(rows)
    chart = Chart(
        alt, places=places, across="cells without a condition",
        up="states that the count keeps (median)", span=(min(states), max(states)), powers=True,
        series=levels,
    )  # fmt: skip
    for number, level in enumerate(levels):
        mine = {row["open_cells"]: float(row["states"]) for row in rows if row["level"] == level}
        chart.line(number, [mine.get(place) for place in places])
    return chart.text()


def say_covers(rows: Sequence[Row]) -> str:
    """Compare the first months and the last ones, and name the extremes."""
    lowest, highest = (f(rows, key=lambda row: float(row["middle"])) for f in (min, max))
    early, late = (_mean(part, "middle") for part in (rows[:MONTHS], rows[-MONTHS:]))
    return (
        f"The median board of a month has between {_power(lowest['middle'])} covers "
        f"({lowest['month']}) and {_power(highest['middle'])} ({highest['month']}). The mean of "
        f"these medians, as powers of ten, is that of {_power(early)} covers in the first "
        f"{len(rows[:MONTHS])} months and of {_power(late)} in the last {len(rows[-MONTHS:])}. The "
        f"board with the most has {_power(max(float(row['most']) for row in rows))}."
    )


def draw_covers(alt: str, rows: Sequence[Row]) -> str:
    """Draw the middle half of boards by month."""
    spans = [(float(r["low"]), float(r["middle"]), float(r["high"])) for r in rows]
    chart = Chart(
        alt, places=[row["month"] for row in rows], across="month",
        up="covers of a board (log10): median, and the middle half of boards",
        span=(0, max(high for _, _, high in spans)),
    )  # fmt: skip
    chart.ranges(spans)
    return chart.text()


def say_places(rows: Sequence[Row]) -> str:
    """Compare the places of the first quarters and of the last ones."""
    shares = [
        (100 * _sum(part, "first") / _sum(part, "boards"),
         100 * _sum(part, "beyond") / _sum(part, "boards"))
        for part in (rows[:QUARTERS], rows[-QUARTERS:])
    ]  # fmt: skip
    (early, missed), (late, missed_late) = shares
    return (
        f"In the first {len(rows[:QUARTERS])} quarters the published cover is the most probable "
        f"one on {early:.0f} % of boards and not among ten on {missed:.0f} %. In the last "
        f"{len(rows[-QUARTERS:])} quarters it is so on {late:.0f} % and {missed_late:.0f} %."
    )


def draw_places(alt: str, rows: Sequence[Row]) -> str:
    """Draw the shares of places by quarter."""
    chart = Chart(
        alt, places=[row["quarter"] for row in rows], across="quarter",
        up="boards by the place of the published cover (%)", span=(0, 100),
        series=("first", "second to tenth", "not among ten"),
    )  # fmt: skip
    chart.stacks(
        [
            [100 * int(row[name]) / int(row["boards"]) for name in ("first", "listed", "beyond")]
            for row in rows
        ]
    )
    return chart.text()


def say_par(rows: Sequence[Row]) -> str:
    """Compare the smallest and the largest par."""
    low, high = rows[0], rows[-1]
    two, boards = _sum(rows, "in_two"), _sum(rows, "boards")
    return (
        f"{two} of {boards} boards can be solved in two words, and on "
        f"{_sum(rows, 'published_in_two')} of these the published solution is of two words. The "
        f"median board of par {low['par']} has {_whole(low, 'middle')} solutions in two words, "
        f"that of par {high['par']} has {_whole(high, 'middle')}. The most that a board has are "
        f"{max(int(row['most']) for row in rows):,}."
    )


def draw_par(alt: str, rows: Sequence[Row]) -> str:
    """Draw the middle half of boards by par."""
    spans = [(float(r["low"]), float(r["middle"]), float(r["high"])) for r in rows]
    chart = Chart(
        alt, places=[row["par"] for row in rows], across="par (words)",
        up="solutions in two words: median, and the middle half of boards",
        span=(0, max(high for _, _, high in spans)),
    )  # fmt: skip
    chart.ranges(spans)
    return chart.text()


def _grouped(rows: Sequence[Row], column: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row[column], []).append(row)
    return found


def _levels(rows: Sequence[Row]) -> list[str]:
    """Name the levels that rows have, the easiest first."""
    return [level for level in LEVELS if any(row["level"] == level for row in rows)]


def _whole(row: Row, column: str) -> str:
    """Write a median: of an even number of boards it may end in a half."""
    return f"{float(row[column]):,.1f}".removesuffix(".0")


def _power(exponent: str | float) -> str:
    """Write a power of ten with two digits that count."""
    return f"{float(f'{10 ** float(exponent):.1e}'):,.0f}"


def _sum(rows: Sequence[Row], column: str) -> int:
    return sum(int(row[column]) for row in rows)


def _mean(rows: Sequence[Row], column: str) -> float:
    return sum(float(row[column]) for row in rows) / len(rows)


def _share(rows: Sequence[Row]) -> float:
    """Return how many percent of boards have one solution; 0 without boards."""
    return 100 * _sum(rows, "with_one") / (_sum(rows, "boards") or 1)

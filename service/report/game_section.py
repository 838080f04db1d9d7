"""The section of a report about one game: boards, charts, the hardest boards, revisions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence

from nightgrid.archive.games import reader
from nightgrid.archive.lake.storage import Lake
from nightgrid.service.report import charts
from nightgrid.service.report.blocks import (
    board_name,
    count_text,
    day_text,
    figure,
    moment_text,
    table_block,
)
from nightgrid.service.report.boards import Drawn, drawn_boards
from nightgrid.service.report.figures import Figures, GameFigures
from nightgrid.service.report.html import Html, joined, tag
from nightgrid.solvers.sentences import plural

_DAYS_KEY = tag(
    "ul",
    [
        tag("li", tag("i", class_=f"key {kind}"), said)
        for kind, said in {
            "full": "answered",
            "part": "in part",
            "revised": "revised",
            "faulty": "quarantine",
            "none": "no board",
        }.items()
    ],
    class_="days",
)
"""What the colours of the calendar mean."""


def game_section(lake: Lake, figures: Figures, of: GameFigures) -> Html:
    """Write all that the report says of one game."""
    boards, left = drawn_boards(lake, figures, of)
    is_new = any(name == of.name for name, _, _ in figures.new)
    levels = _levels(of)
    return tag(
        "section",
        tag("h2", of.title, id=of.name),
        tag("p", _sentence(of), class_="lead"),
        tag("h3", "New boards" if is_new else "The last boards"),
        tag("div", [_board(one) for one in boards], class_="boards"),
        tag("p", f"{left:,} more are not drawn.", class_="quiet") if left else None,
        _legend(levels),
        tag("div", _charts_by_date(of, levels), class_="wide"),
        tag("div", _charts_of_boards(figures, of), class_="small"),
        tag("h3", "The hardest boards of all time"),
        _hardest(of),
        _revisions(of),
        class_=f"game {of.name}",
    )


def _levels(of: GameFigures) -> list[str]:
    """Name the levels of the boards that are shown: those of the game first, in its order."""
    known = list(reader(of.name).LEVELS)
    there = {str(row["level"]) for row in of.rows}
    return [*(level for level in known if level in there), *sorted(there - {*known})]


def _charts_by_date(of: GameFigures, levels: Sequence[str]) -> list[Html]:
    """Draw counts and times over dates; a chart without a dot is left out."""
    drawn = (
        ("Solutions by date", "count", "solutions by date", "{:,}".format, charts.short),
        ("Time by date", "kernel_ns", "time by date", charts.time_text, charts.time_text),
    )
    plots = (
        (heading, charts.dots(_dots(of, column, text), levels, f"{of.title}: {label}", ticks))
        for heading, column, label, text, ticks in drawn
    )
    return [figure(*plot) for plot in plots if plot[1]]


def _dots(
    of: GameFigures, column: str, text: Callable[[int], str]
) -> list[tuple[dt.date, float, str, str]]:
    """List the boards that have a number in a column: date, number, level and what a dot says."""
    return [
        (
            row["date"],
            float(row[column]),
            str(row["level"]),
            f"{board_name(row)}: {text(row[column])}",
        )
        for row in of.rows
        if row[column]
    ]


def _charts_of_boards(figures: Figures, of: GameFigures) -> list[Html]:
    """Draw the days of the window, and how states and times are spread; empty ones are left out."""
    days = charts.calendar(
        figures.since, figures.until, _days(of), f"{of.title}: days of the window"
    )
    states = (float(row["states"]) for row in of.rows)
    times = (float(row["kernel_ns"]) for row in of.rows)
    plots = (
        ("Coverage", days, _DAYS_KEY),
        ("States of a board", charts.columns(states, f"{of.title}: states", charts.short), None),
        ("Time of a board", charts.columns(times, f"{of.title}: times", charts.time_text), None),
    )
    return [figure(*plot) for plot in plots if plot[1]]


def _hardest(of: GameFigures) -> Html:
    """Write the table of the boards that took the most."""
    rows = [
        (
            board_name(row),
            count_text(row),
            f"{row['states']:,}",
            charts.time_text(row["kernel_ns"]),
        )
        for row in of.hardest
    ]
    return table_block(("board", "solutions", "states", "time"), rows, numbers=3)


def _legend(levels: Sequence[str]) -> Html | None:
    if len(levels) < 2:
        return None
    keys = [
        tag("li", tag("i", class_=f"key s{i % 4 + 1}"), level) for i, level in enumerate(levels)
    ]
    return tag("ul", keys, class_="legend")


def _sentence(of: GameFigures) -> str:
    told = [f"{plural(of.boards, 'board')} from {day_text(of.first)} to {day_text(of.last)}"]
    told.append("all answered" if of.solved == of.boards else f"{of.solved:,} answered")
    if of.drafts:
        told.append(plural(of.drafts, "draft"))
    if of.revised:
        told.append(f"{plural(len(of.revised), 'revision')} within the window")
    return f"{', '.join(told)}."


def _days(of: GameFigures) -> dict[dt.date, tuple[str, str]]:
    """Say of each day of the window what became of its boards: a class, and words."""
    revised = {row["date"] for row in of.revised}
    days: dict[dt.date, tuple[str, str]] = {}
    by_day: dict[dt.date, list[str]] = {}
    for row in of.rows:
        by_day.setdefault(row["date"], []).append(str(row["status"]))
    for day, statuses in by_day.items():
        answered = statuses.count("solved")
        kind = "full" if answered == len(statuses) else "part"
        said = f"{answered} of {plural(len(statuses), 'board')} answered"
        if day in revised:
            kind, said = "revised", f"{said}, revised"
        days[day] = (kind, said)
    for day in of.quarantined:
        said = days[day][1] if day in days else "no board"
        days[day] = ("faulty", f"{said}, something in quarantine")
    return days


def _board(one: Drawn) -> Html:
    svg = one.svg.replace('class="', 'class="board ', 1)
    facts = [tag("b", one.name)]
    if one.clue:
        facts.append(tag("q", one.clue))
    if one.row:
        facts.append(
            tag("span", f"{count_text(one.row)} · {charts.time_text(one.row['kernel_ns'])}")
        )
    if one.solution == "none":
        facts.append(tag("span", "no solution to draw"))
    return tag("figure", Html(svg), tag("figcaption", facts), class_="plate")


def _revisions(of: GameFigures) -> Html | None:
    if not of.revised:
        return None
    rows = [
        (board_name(row), str(row["revision"]), moment_text(row["seen_at"])) for row in of.revised
    ]
    return joined(
        tag("h3", "Revisions"), table_block(("board", "revision", "seen"), rows, numbers=0)
    )

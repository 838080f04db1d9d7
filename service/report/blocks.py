"""What all sections of a report share: headings, figures and tables, dates and counts in words."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from nightgrid.service.report.figures import Row
from nightgrid.service.report.html import Html, tag
from nightgrid.solvers.sentences import plural


def section(name: str, heading: str, *content: object) -> Html:
    """Write a section under a heading; `name` is its anchor."""
    return tag("section", tag("h2", heading, id=name), *content, class_="plain")


def figure(caption: str, chart: Html, key: Html | None = None) -> Html:
    """Write a chart under its caption; `key` says what its marks mean."""
    return tag("figure", tag("figcaption", caption), chart, key, class_="plot")


def table_block(heads: Sequence[str], rows: Sequence[Sequence[Any]], *, numbers: int) -> Html:
    """Write a table whose last `numbers` columns are numbers."""
    first = len(heads) - numbers

    def cells(name: str, row: Sequence[Any]) -> list[Html]:
        return [
            tag(name, cell, class_="number" if i >= first else None) for i, cell in enumerate(row)
        ]

    table = tag(
        "table",
        tag("thead", tag("tr", cells("th", heads))),
        tag("tbody", [tag("tr", cells("td", row)) for row in rows]),
    )
    return tag("div", table, class_="scroll", tabindex=0, role="region", aria_label=heads[0])


def board_name(row: Row) -> str:
    """Name a board of a game by its date and level."""
    level = "" if row["level"] == "daily" else f", {row['level']}"
    return f"{day_text(row['date'])}{level}"


def count_text(row: Row) -> str:
    """Say how many solutions a board has, or else the status of its job."""
    if row["count"] is not None:
        return plural(int(row["count"]), "solution")
    return str(row["status"]).replace("_", " ")


def day_text(date: dt.date) -> str:
    """Write a date for people."""
    return f"{date.day} {date:%B} {date.year}"


def moment_text(when: dt.datetime) -> str:
    """Write a moment, which is in UTC, to the minute."""
    return f"{day_text(when.date())}, {when:%H:%M} UTC"

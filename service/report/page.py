"""Write the report of a lake as one self-contained HTML file.

The text is in the template `report.html`; its data are from `figures`, `boards` and `charts`.
"""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from nightgrid.archive.games import ranking_plug, reader
from nightgrid.archive.games.plug import ALONE_SUFFIX
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.contradictions import said_in
from nightgrid.archive.results.gold.rank_accuracy import calibration, miss_counts
from nightgrid.flows.night.report import REPORT_PATH
from nightgrid.service.drawing.colours import NAMES
from nightgrid.service.report import charts
from nightgrid.service.report.boards import drawn_boards, hardest_boards
from nightgrid.service.report.figures import Figures, Row, gather, keep, reference_of
from nightgrid.service.terminal.console import duration, sentence_of
from nightgrid.solvers.sentences import plural

PAGE = "index.html"
"""File name of a report in a folder."""
RANKS_SHOWN = 10
_HERE = Path(__file__).parent
_FONTS = {
    "Bricolage Grotesque": "bricolage-grotesque.woff2",
    "Instrument Sans": "instrument-sans.woff2",
}


def report_text(lake: Lake, since: dt.date | None = None) -> str | None:
    """Render the report of a lake as it is now; None for a lake without a published board."""
    figures = gather(lake, since)
    return None if figures is None else _render(lake, figures)


def write_report(
    lake: Lake, since: dt.date | None = None, folder: Path | None = None
) -> str | None:
    """Write the report into the lake, or into a folder, which is created; return its location.

    The file is not synced: a lost report can be written again.
    """
    text = report_text(lake, since)
    if text is None:
        return None
    page = text.encode("utf-8", "replace")
    if folder is None:
        lake.write_bytes(REPORT_PATH, page, durable=False)
        return lake.location(REPORT_PATH)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PAGE).write_bytes(page)
    return str(folder / PAGE)


def write_nightly_report(lake: Lake) -> None:
    """Write the report of a night, and save its figures for the comparison of the next night."""
    figures = gather(lake)
    if figures is not None:
        page = _render(lake, figures).encode("utf-8", "replace")
        lake.write_bytes(REPORT_PATH, page, durable=False)
        keep(lake, figures)


def _render(lake: Lake, figures: Figures) -> str:
    style = _page_style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    template = _templates().get_template("report.html")
    return template.render(
        style=style,
        digest=digest,
        lake=lake.url.partition("?")[0],
        figures=figures,
        ended=figures["ended_at"] or dt.datetime.now(dt.UTC),
        games=[_game(lake, figures, of) for of in figures["games"]],
        ranks=[ranked for of in figures["games"] for ranked in _ranks(of)],
    )


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "answer": _answer,
        "board": _board_name,
        "day": _day,
        "median": median,
        "moment": lambda when: f"{_day(when.date())}, {when:%H:%M} UTC",
        "number": "{:,}".format,
        "plural": plural,
        "reference": reference_of,
        "said_in": said_in,
        "share": lambda some, every: f"{some / every:.1%}",
        "time": _time,
    }
    return templates


@cache
def _page_style() -> str:
    """Return the style sheet with embedded fonts, and the colours of boards."""
    folder = _HERE.parent / "web" / "static" / "fonts"
    fonts = "".join(
        f'@font-face{{font-family:"{name}";font-weight:200 800;font-display:swap;'
        f"src:url(data:font/woff2;base64,"
        f'{base64.b64encode((folder / file).read_bytes()).decode()}) format("woff2")}}\n'
        for name, file in _FONTS.items()
    )
    colours = "".join(
        f".board .fill-{name},.board.fill-{name}{{fill:var(--b-{name})}}"
        f".board .stroke-{name}{{stroke:var(--b-{name})}}\n"
        for name in NAMES.values()
    )
    return fonts + (_HERE / "report.css").read_text("utf-8") + colours


def _game(lake: Lake, figures: Figures, of: Figures) -> dict[str, Any]:
    """Draw the boards and charts of a game; a chart without data is ""."""
    boards, left = drawn_boards(lake, figures, of)
    # Draw a board only once, in the first list that has it.
    names = {board["name"] for board in boards}
    hardest = [board for board in hardest_boards(lake, of) if board["name"] not in names]
    there = {str(row["level"]) for row in of["rows"]}
    known = [level for level in reader(of["name"]).LEVELS if level in there]
    levels = [*known, *sorted(there - {*known})]
    counts = _dots(of, "count", "{:,}".format)
    times = _dots(of, "kernel_ns", _time)
    days = f"{of['title']}: days of the window"
    return {
        **of,
        "has_new": any(name == of["name"] for name, _, _ in figures["new"]),
        "drawn": boards,
        "left": left,
        "drawn_hardest": hardest,
        "linked": names | {board["name"] for board in hardest},
        "levels": levels,
        "counts_by_date": charts.dots(
            counts, levels, f"{of['title']}: solutions by date", charts.short
        ),
        "times_by_date": charts.dots(times, levels, f"{of['title']}: time by date", _time),
        "calendar": charts.calendar(of["since"], of["last"], _days(of), days),
        "states": charts.columns(
            (float(row["states"]) for row in of["rows"]), f"{of['title']}: states", charts.short
        ),
        "times": charts.columns(
            (float(row["kernel_ns"]) for row in of["rows"]), f"{of['title']}: times", _time
        ),
    }


def _dots(of: Figures, column: str, text: Any) -> list[charts.Point]:
    return [
        (row["date"], float(value), str(row["level"]), f"{_board_name(row)}: {text(value)}")
        for row in of["rows"]
        if (value := row[column])
    ]


def _days(of: Figures) -> dict[dt.date, tuple[str, str]]:
    """Return the state of each day's boards in the window: a class and a tooltip."""
    revised = {row["date"] for row in of["revised"]}
    days: dict[dt.date, tuple[str, str]] = {}
    by_day: dict[dt.date, list[str]] = {}
    for row in of["rows"]:
        by_day.setdefault(row["date"], []).append(str(row["status"]))
    for day, statuses in by_day.items():
        answered = statuses.count("solved")
        kind = "full" if answered == len(statuses) else "part"
        said = f"{answered} of {plural(len(statuses), 'board')} answered"
        days[day] = ("revised", f"{said}, revised") if day in revised else (kind, said)
    for day in of["quarantined"]:
        said = days[day][1] if day in days else "no board"
        days[day] = ("faulty", f"{said}, something in quarantine")
    return days


def _ranks(of: Figures) -> list[dict[str, Any]]:
    """Return the places of published solutions among the best covers, and for each ranker."""
    plug = ranking_plug()
    found = [_places(of, of["ranks"], "")] if of["ranks"] else []
    for ranker, rows in of["rankings"].items():
        until = plug.fitted_until(ranker)
        fitted = "" if until is None else f" (fitted on boards until {until})"
        places = [row["official_place"] for row in rows]
        found.append(_places(of, places, f", ranked by {ranker}{fitted}", rows))
        found[-1]["alone"] = ranker.endswith(ALONE_SUFFIX) and sentence_of(plug.ALONE)
    return found


def _places(
    of: Figures, places: Sequence[int | None], how: str, rows: Sequence[Row] = ()
) -> dict[str, Any]:
    counts = [(str(i), places.count(i)) for i in range(1, RANKS_SHOWN + 1)]
    counts.append(("else", len(places) - sum(n for _, n in counts)))
    phrases = ranking_plug().MISSES
    return {
        "title": of["title"],
        "how": how,
        "boards": len(places),
        "first": places.count(1),
        "three": sum(place is not None and place <= 3 for place in places),
        "chart": charts.bars(counts, f"{of['title']}: ranks{how}"),
        "alone": "",
        "seconds": [row["seconds"] for row in rows],
        "calibration": list(calibration(rows)),
        "misses": [(phrases[miss], n) for miss, n in miss_counts(rows).items()],
    }


def _board_name(row: Row) -> str:
    level = "" if row["level"] == "daily" else f", {row['level']}"
    return f"{_day(row['date'])}{level}"


def _answer(row: Row) -> str:
    """Format the number of solutions of a board, or the status of its job."""
    if row["count"] is not None:
        return plural(int(row["count"]), "solution")
    return str(row["status"]).replace("_", " ")


def _time(nanoseconds: float) -> str:
    return duration(round(nanoseconds))


def _day(date: dt.date) -> str:
    return f"{date.day} {date:%B} {date.year}"

"""Write the report of a lake as one HTML file: its style is inside, and it loads nothing."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from nightgrid.archive.games import reader
from nightgrid.archive.lake.storage import Lake
from nightgrid.service.drawing.colours import NAMES
from nightgrid.service.report import charts
from nightgrid.service.report.boards import Drawn, drawn_boards
from nightgrid.service.report.figures import Figures, GameFigures, Row
from nightgrid.service.report.html import Html, joined, tag
from nightgrid.solvers.sentences import plural

_HERE = Path(__file__).parent
_FONTS = {
    "Bricolage Grotesque": "bricolage-grotesque.woff2",
    "Instrument Sans": "instrument-sans.woff2",
}
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
COVERAGE = "Coverage"
RANKS_SHOWN = 10


def write_page(lake: Lake, figures: Figures) -> str:
    """Write the report as the text of an HTML file."""
    style = _style()
    policy = f"default-src 'none'; style-src {style_hash(style)}; font-src data:; base-uri 'none'; "
    ended = figures.ended_at or dt.datetime.now(dt.UTC)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=f"{policy}form-action 'none'"),
        tag("title", f"nightgrid: night of {_day(ended.date())}"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        Html(f"<style>{style}</style>"),
    )
    body = tag(
        "body",
        tag("header", _title(figures, ended), class_="top"),
        tag(
            "main",
            _changed(figures),
            [_game(lake, figures, of) for of in figures.games],
            _ranks(figures),
            _costs(figures),
            _quarantine(figures),
        ),
        tag(
            "footer",
            tag("p", f"Written by nightgrid from the lake {lake.url.partition('?')[0]}."),
            class_="foot",
        ),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def style_hash(style: str) -> str:
    """Write the source by which a content security policy allows a style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'"


def policy_of(page: str) -> str:
    """Write the policy under which a report is served: its own style, its own fonts, no more."""
    style = _STYLE.search(page)
    allowed = style_hash(style[1]) if style else "'none'"
    return (
        f"default-src 'none'; style-src {allowed}; font-src data:; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    )


@cache
def _style() -> str:
    fonts = "".join(
        f'@font-face{{font-family:"{name}";font-weight:200 800;font-display:swap;'
        f'src:url(data:font/woff2;base64,{_font(file)}) format("woff2")}}\n'
        for name, file in _FONTS.items()
    )
    colours = "".join(
        f".board .fill-{name},.board.fill-{name}{{fill:var(--b-{name})}}"
        f".board .stroke-{name}{{stroke:var(--b-{name})}}\n"
        for name in NAMES.values()
    )
    return fonts + (_HERE / "report.css").read_text("utf-8") + colours


def _font(file: str) -> str:
    data = (_HERE.parent / "web" / "static" / "fonts" / file).read_bytes()
    return base64.b64encode(data).decode()


def _title(figures: Figures, ended: dt.datetime) -> Html:
    boards = sum(game.boards for game in figures.games)
    solved = sum(game.solved for game in figures.games)
    verdict = "every one answered" if boards == solved else f"{solved:,} answered"
    window = f"{_day(figures.since)} to {_day(figures.until)}"
    return joined(
        tag("p", "nightgrid", class_="mark-name"),
        tag("h1", f"Night of {_day(ended.date())}"),
        tag("p", f"{plural(boards, 'board')}, {verdict}. Charts show {window}.", class_="lead"),
        tag("ul", [_card(game) for game in figures.games], class_="cards"),
    )


def _card(game: GameFigures) -> Html:
    new = int(game.night.get("new_payloads") or 0)
    failure = str(game.night.get("failure") or game.night.get("source_trouble") or "")
    state = tag("span", "failed", class_="bad") if failure else plural(new, "new payload")
    return tag(
        "li",
        tag("a", game.title, href=f"#{game.name}"),
        tag("strong", f"{game.solved:,}", tag("small", f" of {game.boards:,}")),
        tag("span", "boards answered"),
        tag("span", state),
        class_=f"card {game.name}",
    )


def _changed(figures: Figures) -> Html:
    if figures.before is None:
        said = [tag("p", "No report of an earlier night to compare with.", class_="quiet")]
    elif not figures.changes:
        said = [tag("p", f"Nothing since {_moment(figures.before)}.", class_="quiet")]
    else:
        said = [
            tag("p", f"Since {_moment(figures.before)}:", class_="quiet"),
            tag("ul", [tag("li", change) for change in figures.changes], class_="changes"),
        ]
    return _section("changed", "What changed", *said)


def _game(lake: Lake, figures: Figures, of: GameFigures) -> Html:
    boards, left = drawn_boards(lake, figures, of)
    is_new = any(name == of.name for name, _, _ in figures.new)
    heading = "New boards" if is_new else "The last boards"
    more = tag("p", f"{left:,} more are not drawn.", class_="quiet") if left else None
    known = list(reader(of.name).LEVELS)
    there = {str(row["level"]) for row in of.rows}
    levels = [*(level for level in known if level in there), *sorted(there - {*known})]
    counted = [
        (row["date"], float(row["count"]), str(row["level"]), f"{_place(row)}: {row['count']:,}")
        for row in of.rows
        if row["count"]
    ]
    timed = [
        (
            row["date"],
            float(row["kernel_ns"]),
            str(row["level"]),
            f"{_place(row)}: {charts.time_text(row['kernel_ns'])}",
        )
        for row in of.rows
        if row["kernel_ns"]
    ]
    plots = [
        (
            "Solutions by date",
            charts.dots(counted, levels, f"{of.title}: solutions by date", charts.short),
        ),
        ("Time by date", charts.dots(timed, levels, f"{of.title}: time by date", charts.time_text)),
    ]
    small = [
        (
            COVERAGE,
            charts.calendar(
                figures.since, figures.until, _days(of), f"{of.title}: days of the window"
            ),
        ),
        (
            "States of a board",
            charts.columns(
                (float(row["states"]) for row in of.rows), f"{of.title}: states", charts.short
            ),
        ),
        (
            "Time of a board",
            charts.columns(
                (float(row["kernel_ns"]) for row in of.rows), f"{of.title}: times", charts.time_text
            ),
        ),
    ]
    return tag(
        "section",
        tag("h2", of.title, id=of.name),
        tag("p", _sentence(of), class_="lead"),
        tag("h3", heading),
        tag("div", [_board(one) for one in boards], class_="boards"),
        more,
        _legend(levels),
        tag("div", [_figure(*plot) for plot in plots if plot[1]], class_="wide"),
        tag("div", [_figure(*plot) for plot in small if plot[1]], class_="small"),
        tag("h3", "The hardest boards of all time"),
        _table(
            ("board", "solutions", "states", "time"),
            [
                (
                    _place(row),
                    _count(row),
                    f"{row['states']:,}",
                    charts.time_text(row["kernel_ns"]),
                )
                for row in of.hardest
            ],
            numbers=3,
        ),
        _revisions(of),
        class_=f"game {of.name}",
    )


def _sentence(of: GameFigures) -> str:
    told = [f"{plural(of.boards, 'board')} from {_day(of.first)} to {_day(of.last)}"]
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
        facts.append(tag("span", f"{_count(one.row)} · {charts.time_text(one.row['kernel_ns'])}"))
    if one.solution == "none":
        facts.append(tag("span", "no solution to draw"))
    return tag("figure", Html(svg), tag("figcaption", facts), class_="plate")


def _revisions(of: GameFigures) -> Html | None:
    if not of.revised:
        return None
    rows = [(_place(row), str(row["revision"]), _moment(row["seen_at"])) for row in of.revised]
    return joined(tag("h3", "Revisions"), _table(("board", "revision", "seen"), rows, numbers=0))


def _ranks(figures: Figures) -> Html | None:
    content: list[Html] = []
    for game in figures.games:
        if game.ranks:
            content += _places(game, game.ranks, "")
        for ranker, places in game.places.items():
            content += _places(game, places, f", ranked by {ranker},")
    return _section("ranks", "How good the ranks are", *content) if content else None


def _places(game: GameFigures, places: Sequence[int | None], how: str) -> list[Html]:
    """Say and draw where published solutions stand; `how` covers were ranked, unless by score."""
    total = len(places)
    ranked = [place for place in places if place is not None]
    first = sum(place == 1 for place in ranked)
    three = sum(place <= 3 for place in ranked)
    counts = [(str(i), sum(place == i for place in ranked)) for i in range(1, RANKS_SHOWN + 1)]
    counts.append(("else", total - sum(n for _, n in counts)))
    said = (
        f"Of {plural(total, 'board')} of {game.title}{how} the published solution is the best one "
        f"of {first:,} ({first / total:.1%}) and among the first three of {three:,} "
        f"({three / total:.1%})."
    )
    how = how.rstrip(",")
    return [
        tag("p", said, class_="lead"),
        _figure(
            f"Rank of the published solution{how}",
            charts.bars(counts, f"{game.title}: ranks{how}"),
        ),
    ]


def _costs(figures: Figures) -> Html | None:
    if not figures.runtimes:
        return None
    rows = [
        (
            f"{row['game']}, {row['level']}",
            str(row["ask"]),
            f"{row['job_count']:,}",
            charts.time_text(row["kernel_ns_p50"]),
            charts.time_text(row["kernel_ns_p99"]),
            charts.time_text(row["kernel_ns_max"]),
        )
        for row in figures.runtimes
    ]
    heads = ("boards", "ask", "jobs", "half below", "99 % below", "longest")
    return _section("costs", "What it cost", _table(heads, rows, numbers=4))


def _quarantine(figures: Figures) -> Html:
    if not figures.quarantine:
        nothing = tag("p", "Nothing is in quarantine.", class_="quiet")
        return _section("quarantine", "Quarantine", nothing)
    rows = [
        (
            " ".join(str(row[name]) for name in ("game", "date", "level") if row[name]),
            str(row["rule"]),
            str(row["place"]),
            str(row["message"]),
        )
        for row in figures.quarantine
    ]
    left = figures.quarantine_count - len(rows)
    more = tag("p", f"{left:,} more: nightgrid list quarantine.", class_="quiet") if left else None
    heads = ("payload", "rule", "place", "message")
    return _section("quarantine", "Quarantine", _table(heads, rows, numbers=0), more)


def _section(name: str, heading: str, *content: object) -> Html:
    return tag("section", tag("h2", heading, id=name), *content, class_="plain")


def _figure(caption: str, chart: Html) -> Html:
    key = _DAYS_KEY if caption == COVERAGE else None
    return tag("figure", tag("figcaption", caption), chart, key, class_="plot")


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


def _legend(levels: Sequence[str]) -> Html | None:
    if len(levels) < 2:
        return None
    keys = [
        tag("li", tag("i", class_=f"key s{i % 4 + 1}"), level) for i, level in enumerate(levels)
    ]
    return tag("ul", keys, class_="legend")


def _table(heads: Sequence[str], rows: Sequence[Sequence[Any]], *, numbers: int) -> Html:
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


def _place(row: Row) -> str:
    level = "" if row["level"] == "daily" else f", {row['level']}"
    return f"{_day(row['date'])}{level}"


def _count(row: Row) -> str:
    if row["count"] is not None:
        return plural(int(row["count"]), "solution")
    return str(row["status"]).replace("_", " ")


def _day(date: dt.date) -> str:
    return f"{date.day} {date:%B} {date.year}"


def _moment(when: dt.datetime) -> str:
    return f"{_day(when.date())}, {when:%H:%M} UTC"

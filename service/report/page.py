"""Write the report of a lake as one HTML file: its style is inside, and it loads nothing."""

from __future__ import annotations

import datetime as dt

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.contradictions import said_in
from nightgrid.service.report import charts
from nightgrid.service.report.blocks import day_text, moment_text, section, table_block
from nightgrid.service.report.figures import Figures, GameFigures
from nightgrid.service.report.game_section import game_section
from nightgrid.service.report.html import Html, joined, tag
from nightgrid.service.report.ranks import ranks_section
from nightgrid.service.report.style import page_style, style_hash
from nightgrid.solvers.sentences import plural


def write_page(lake: Lake, figures: Figures) -> str:
    """Write the report as the text of an HTML file."""
    style = page_style()
    policy = f"default-src 'none'; style-src {style_hash(style)}; font-src data:; base-uri 'none'; "
    ended = figures.ended_at or dt.datetime.now(dt.UTC)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=f"{policy}form-action 'none'"),
        tag("title", f"nightgrid: night of {day_text(ended.date())}"),
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
            [game_section(lake, figures, of) for of in figures.games],
            ranks_section(figures),
            _costs(figures),
            _quarantine(figures),
            _contradictions(figures),
        ),
        tag(
            "footer",
            tag("p", f"Written by nightgrid from the lake {lake.url.partition('?')[0]}."),
            class_="foot",
        ),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _title(figures: Figures, ended: dt.datetime) -> Html:
    boards = sum(game.boards for game in figures.games)
    solved = sum(game.solved for game in figures.games)
    verdict = "every one answered" if boards == solved else f"{solved:,} answered"
    window = f"{day_text(figures.since)} to {day_text(figures.until)}"
    return joined(
        tag("p", "nightgrid", class_="mark-name"),
        tag("h1", f"Night of {day_text(ended.date())}"),
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
        said = [tag("p", f"Nothing since {moment_text(figures.before)}.", class_="quiet")]
    else:
        said = [
            tag("p", f"Since {moment_text(figures.before)}:", class_="quiet"),
            tag("ul", [tag("li", change) for change in figures.changes], class_="changes"),
        ]
    return section("changed", "What changed", *said)


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
    return section("costs", "What it cost", table_block(heads, rows, numbers=4))


def _quarantine(figures: Figures) -> Html:
    if not figures.quarantine:
        nothing = tag("p", "Nothing is in quarantine.", class_="quiet")
        return section("quarantine", "Quarantine", nothing)
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
    return section("quarantine", "Quarantine", table_block(heads, rows, numbers=0), more)


def _contradictions(figures: Figures) -> Html:
    if not figures.contradictions:
        nothing = tag("p", "No two versions of a solver contradict one another.", class_="quiet")
        return section("contradictions", "Contradictions", nothing)
    rows = [
        (f"{row['game']} {row['board']}", str(row["ask"]), str(row["solver_version"]), said_in(row))
        for row in figures.contradictions
    ]
    left = figures.contradiction_count - len(rows)
    query = 'nightgrid query "select * from contradictions"'
    more = tag("p", f"{left:,} more: {query}.", class_="quiet") if left else None
    heads = ("board", "ask", "version of the solver", "answer")
    return section("contradictions", "Contradictions", table_block(heads, rows, numbers=0), more)

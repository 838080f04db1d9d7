"""Write the report of a lake as one HTML file: its style is inside, and it loads nothing."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from nightgrid.archive.games import ranking_plug
from nightgrid.archive.lake.storage import Lake
from nightgrid.service.report import charts
from nightgrid.service.report.blocks import day_text, figure, moment_text, section, table_block
from nightgrid.service.report.figures import Figures, GameFigures
from nightgrid.service.report.game_section import game_section
from nightgrid.service.report.html import Html, joined, tag
from nightgrid.service.report.style import page_style, style_hash
from nightgrid.solvers.sentences import plural

RANKS_SHOWN = 10


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


def _ranks(figures: Figures) -> Html | None:
    content: list[Html] = []
    for game in figures.games:
        if game.ranks:
            content += _places(game, game.ranks, "")
        for ranker, places in game.places.items():
            content += _places(game, places, f", ranked by {ranker}{_fitted(ranker)},")
    return section("ranks", "How good the ranks are", *content) if content else None


def _fitted(ranker: str) -> str:
    """Say which boards judge a ranker: those after the ones that it was fitted on."""
    until = ranking_plug().fitted_until(ranker)
    return "" if until is None else f" (fitted on boards until {until})"


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
        figure(
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

"""The section of a report about ranks: where published solutions stand, how sure, and misses."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from nightgrid.archive.games import ranking_plug
from nightgrid.archive.games.plug import ALONE_SUFFIX
from nightgrid.archive.results.gold.rank_accuracy import calibration, miss_counts, miss_phrase
from nightgrid.service.report import charts
from nightgrid.service.report.blocks import figure, section, table_block
from nightgrid.service.report.figures import Figures, GameFigures, Row
from nightgrid.service.report.html import Html, tag
from nightgrid.service.terminal.console import sentence_of
from nightgrid.solvers.sentences import plural

RANKS_SHOWN = 10


def ranks_section(figures: Figures) -> Html | None:
    """Write where published solutions stand among the best covers, and among ranked ones."""
    content: list[Html | None] = []
    for game in figures.games:
        if game.ranks:
            content += _places(game, game.ranks, "")
        for ranker, rows in game.rankings.items():
            content += _ranked(game, ranker, rows)
    return section("ranks", "How good the ranks are", *content) if content else None


def _ranked(game: GameFigures, ranker: str, rows: Sequence[Row]) -> list[Html | None]:
    """Write how the covers that one ranker has ranked fare, how sure it was, and its misses."""
    places = [row["official_place"] for row in rows]
    alone = sentence_of(ranking_plug().ALONE) if ranker.endswith(ALONE_SUFFIX) else None
    seconds = [row["seconds"] for row in rows]
    took = (
        f"Ranking a board took {charts.time_text(1e9 * median(seconds))} at the median and "
        f"{charts.time_text(1e9 * max(seconds))} at most."
    )
    return [
        *_places(game, places, f", ranked by {ranker}{_fitted(ranker)},"),
        None if alone is None else tag("p", alone, class_="quiet"),
        tag("p", took, class_="quiet"),
        _confidence(rows),
        _misses(rows),
    ]


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


def _confidence(rows: Sequence[Row]) -> Html | None:
    """Compare how sure first covers were with how often they were right."""
    told = [
        (
            f"{one.low:.0%} to {one.high:.0%}",
            f"{one.boards:,}",
            f"{one.said:.1%}",
            f"{one.right:.1%}",
        )
        for one in calibration(rows)
    ]
    if not told:
        return None
    heads = ("confidence of the first cover", "boards", "mean confidence", "right")
    return table_block(heads, told, numbers=3)


def _misses(rows: Sequence[Row]) -> Html | None:
    """Count the boards whose first cover is another one, by how it differs."""
    counts = miss_counts(rows)
    if not counts:
        return None
    told = [(miss_phrase(miss), f"{count:,}") for miss, count in counts.items()]
    return table_block(("how the first cover differs", "boards"), told, numbers=1)

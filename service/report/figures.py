"""Read the figures of a report from a lake: those of a window of days, and totals of all time.

It reads the tables for people (editions, counts, ranks, rankings), which have a row for each date
and level, and never the results of jobs: the size of corpora does not slow a report down.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.games import archived_games
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup.reference import reference_text
from nightgrid.archive.results.contradictions import contradicted_count
from nightgrid.archive.state import NIGHT_REPORT, read_state, write_state
from nightgrid.archive.views.catalogue import view_named
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import game_plug

DAYS = 60
"""Days of a window, unless `since` is given."""
HARDEST = 5
UNANSWERED_MAX = 10
QUARANTINE_ROWS_MAX = 30
CONTRADICTION_ROWS_MAX = 30
CHANGES_MAX = 40
SHOWN = "shown"
"""Step of the state: figures of the last two nights, to compare with the next report."""
RANKING_COLUMNS = ("game", "ranker", "official_place", "confidence", "seconds", "miss")
"""Columns of the view of rank accuracy."""
Row = Mapping[str, Any]
Figures = Mapping[str, Any]
"""Figures of a report apart from boards, or of one game, by their names in `report.html`. Counts
and changes are of all time; `rows`, `revised` and `quarantined` of the game's window."""


def gather(lake: Lake, since: dt.date | None = None) -> Figures | None:
    """Read the figures of a lake from `since` on; by default of the DAYS before each game's last.

    None for a lake without editions. Raises PermanentError for a `since` after its last date.
    """
    counts = view_named("counts").read(lake)
    revisions = view_named("revisions").read(
        lake, ["game", "date", "level", "revision", "seen_at", "puzzle_id", "draft"]
    )
    last = pc.max(revisions.column("date")).as_py()
    if last is None:
        return None
    if since is not None and since > last:
        raise PermanentError(f"since {since} is after the last board, of {last}; expected no later")
    quarantine = view_named("quarantine").read(
        lake, ["game", "date", "level", "source", "rule", "place", "message", "corpus"]
    )
    ranks = view_named("ranks").read(lake, ["game", "official_rank", "status"])
    rankings = view_named("rank_accuracy").read(lake, RANKING_COLUMNS)
    present = {*pc.unique(revisions.column("game")).to_pylist()}
    games = [
        _game(lake, name, since, (counts, revisions, quarantine, ranks, rankings))
        for name in archived_games()
        if name in present
    ]
    quarantine_rows = quarantine.sort_by([("date", "descending")])
    ends = [_ended(game["night"]) for game in games]
    ended_at = max(filter(None, ends), default=None)
    figures = {
        "ended_at": ended_at,
        "games": games,
        "quarantine": quarantine_rows.slice(0, QUARANTINE_ROWS_MAX).to_pylist(),
        "quarantine_count": len(quarantine),
        "runtimes": view_named("runtimes").read(lake).to_pylist(),
    }
    return {**figures, **_contradictions(lake, revisions), **_changed(lake, figures, revisions)}


def _contradictions(lake: Lake, revisions: pa.Table) -> dict[str, Any]:
    """List the contradicting answers, with their boards.

    Results are read only if the last comparisons have found some.
    """
    if not any(contradicted_count(lake, game) for game in archived_games()):
        return {"contradictions": [], "contradiction_count": 0}
    table = view_named("contradictions").read(lake)
    order = ("game", "puzzle_id", "ask", "rules", "lexicon_id", "solver_version")
    rows = table.sort_by([(name, "ascending") for name in order])
    shown = rows.slice(0, CONTRADICTION_ROWS_MAX).to_pylist()
    places = {row["puzzle_id"]: row for row in revisions.to_pylist()} if shown else {}
    for row in shown:
        place = places.get(row["puzzle_id"])
        row["board"] = row["puzzle_id"] if place is None else f"{place['date']} {place['level']}"
    return {"contradictions": shown, "contradiction_count": len(rows)}


def _game(lake: Lake, name: str, since: dt.date | None, tables: Sequence[pa.Table]) -> Figures:
    counts, revisions, quarantine, ranks, rankings = (
        table.filter(pc.equal(table.column("game"), name)) for table in tables
    )
    ends = pc.min_max(revisions.column("date")).as_py()
    first, last = ends["min"], ends["max"]
    # Archives of games end on different days, and a window without boards shows nothing.
    since = max(min(since or last - dt.timedelta(days=DAYS - 1), last), first)
    within = counts.filter(pc.greater_equal(counts.column("date"), since))
    status = counts.column("status")
    hardest = counts.sort_by([("states", "descending"), ("kernel_ns", "descending")])
    unanswered = counts.filter(pc.invert(pc.fill_null(pc.equal(status, "solved"), False)))
    revised = revisions.filter(pc.greater(revisions.column("revision"), 1))
    revised = revised.filter(pc.greater_equal(revised.column("date"), since))
    faulty = (day for day in quarantine.column("date").to_pylist() if day and day >= since)
    found = ranks.filter(pc.equal(ranks.column("status"), "solved"))
    night = read_state(lake, name, NIGHT_REPORT) or {}
    return {
        "name": name,
        "title": game_plug(name).title,
        "boards": len(counts),
        "solved": pc.sum(pc.equal(status, "solved")).as_py() or 0,
        "unanswered": unanswered.sort_by([("date", "descending")])
        .slice(0, UNANSWERED_MAX)
        .to_pylist(),
        "first": first,
        "last": last,
        "since": since,
        "rows": within.sort_by([("date", "ascending"), ("level", "ascending")]).to_pylist(),
        "revised": revised.sort_by([("date", "descending")]).to_pylist(),
        "quarantined": frozenset(faulty),
        "quarantine_count": len(quarantine),
        "drafts": pc.sum(pc.fill_null(revisions.column("draft"), False)).as_py() or 0,
        "hardest": [row for row in hardest.slice(0, HARDEST).to_pylist() if row["kernel_ns"]],
        "ranks": found.column("official_rank").to_pylist(),
        "rankings": {
            ranker: rankings.filter(pc.equal(rankings.column("ranker"), ranker)).to_pylist()
            for ranker in sorted(pc.unique(rankings.column("ranker")).to_pylist())
        },
        "night": night,
    }


def _ended(night: Row) -> dt.datetime | None:
    ended_at = night.get("ended_at")
    return None if ended_at is None else dt.datetime.fromisoformat(ended_at)


def _changed(lake: Lake, figures: Figures, revisions: pa.Table) -> dict[str, Any]:
    """Describe what has changed since the last night's report, and list the new boards."""
    earlier = {
        of["name"]: nights[-1] for of in figures["games"] if (nights := _earlier(lake, figures, of))
    }
    since = max(filter(None, map(_ended, earlier.values())), default=None)
    if since is None:
        return {"before": None, "changes": [], "new": set()}
    seen = revisions.filter(pc.greater(revisions.column("seen_at"), pa.scalar(since)))
    names = (seen.column(name).to_pylist() for name in ("game", "date", "level"))
    changes = (
        line for of in figures["games"] for line in _changes(of, earlier.get(of["name"], {}), since)
    )
    return {
        "before": since,
        "changes": list(islice(changes, CHANGES_MAX)),
        "new": set(zip(*names, strict=True)),
    }


def keep(lake: Lake, figures: Figures) -> None:
    """Save the figures of this night and the one before, to compare with the next report."""
    for of in figures["games"]:
        now = {"ended_at": _this(figures), **_counted(of), "answers": _answers(of)}
        nights = [*_earlier(lake, figures, of)[-1:], now]
        write_state(lake, of["name"], SHOWN, {"nights": nights})


def _earlier(lake: Lake, figures: Figures, of: Figures) -> list[Row]:
    """Read the nights of a game before this one."""
    nights = (read_state(lake, of["name"], SHOWN) or {}).get("nights", [])
    return [night for night in nights if night["ended_at"] != _this(figures)]


def _this(figures: Figures) -> str | None:
    return None if figures["ended_at"] is None else str(figures["ended_at"].isoformat())


def _counted(of: Figures) -> dict[str, int]:
    return {
        "boards": of["boards"],
        "boards with an answer": of["solved"],
        "drafts": of["drafts"],
        "revisions within the window": len(of["revised"]),
        "rows in quarantine": of["quarantine_count"],
    }


def reference_of(row: Row) -> str:
    """Return the reference of a row's board: GAME/DATE/LEVEL."""
    return reference_text(row["game"], row["date"], row["level"])


def _answers(of: Figures) -> dict[str, list[str | None]]:
    return {
        reference_of(row): [
            row["puzzle_id"],
            row["status"],
            None if row["count"] is None else str(row["count"]),
        ]
        for row in of["rows"]
    }


def _changes(now: Figures, before: Row, since: dt.datetime) -> Iterator[str]:
    """Describe the differences between two nights of a game; the first ended at `since`."""
    for key, present in _counted(now).items():
        more = present - int(before.get(key, 0))
        if more:
            yield f"{now['title']}: {abs(more):,} {'more' if more > 0 else 'fewer'} {key}"
    for row in now["revised"]:
        if row["seen_at"] > since:
            yield f"{reference_of(row)} is another board now, revision {row['revision']}"
    for name, (puzzle_id, status, count) in _answers(now).items():
        known = before.get("answers", {}).get(name)
        if known is None or known[0] != puzzle_id or known == [puzzle_id, status, count]:
            continue
        if known[1] != status:
            yield f"{name} was {known[1].replace('_', ' ')} and is {status}"
        else:
            yield f"{name} had {known[2]} solutions and has {count}"

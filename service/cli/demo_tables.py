"""What `nightgrid demo` shows of its nights: counts, runtimes, ranks of official answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from nightgrid.service.games import view
from nightgrid.service.terminal.console import duration, say_table
from nightgrid.solvers.registry import game_plug

if TYPE_CHECKING:
    from nightgrid.archive.lake.storage import Lake


def counts_by_date(lake: Lake, game: str) -> Iterator[dict[str, Any]]:
    """Read the counts by date, as JSON values."""
    from nightgrid.archive.lake.tables import COUNTS_BY_DATE
    from nightgrid.archive.results.gold import COUNTS_PATH

    table = lake.read_table(COUNTS_PATH, COUNTS_BY_DATE)
    for row in table.to_pylist():
        if row["game"] != game:
            continue
        count = row["count"]
        yield row | {
            "date": row["date"].isoformat(),
            "count": None if count is None else int(count),
        }


def official_ranks(lake: Lake, game: str) -> dict[str, str]:
    """Say of every date where its official solution stands among the best; {} without ranks."""
    from nightgrid.archive.games import archive_plug
    from nightgrid.archive.lake.tables import ranks_schema
    from nightgrid.archive.results.gold import ranks_path

    if not archive_plug(game).ranked:
        return {}
    table = lake.read_table(ranks_path(game), ranks_schema(game))
    return {
        row["date"].isoformat(): f"{row['official_rank'] or '-'} of {row['best_count'] or 0}"
        for row in table.to_pylist()
    }


def say_counts(counts: list[dict[str, Any]], ranks: dict[str, str], *, game: str) -> None:
    """Show one line a date, with the count and the time of every level.

    In a game that asks for the fewest of something also how few that is, and whether the official
    solution needs no more; and ranks where given.
    """
    levels = sorted({row["level"] for row in counts}, key=_level_rank(game))
    by_date: dict[str, dict[str, dict[str, Any]]] = {}
    for row in counts:
        by_date.setdefault(row["date"], {})[row["level"]] = row
    valued = any(row.get("value") is not None for row in counts)
    headings = ["date"]
    for level in levels:
        headings += ["fewest", level] if valued else [level]
        headings.append(f"{level} time")
    if ranks:
        headings.append("official among the best")
    if valued:
        headings.append("official among them")
    lines = []
    for date, rows in sorted(by_date.items()):
        line = [date]
        for level in levels:
            line += _cells(rows.get(level), game, valued=valued)
        if ranks:
            line.append(ranks.get(date, ""))
        if valued:
            line.append(" ".join(_official(rows[level]) for level in levels if level in rows))
        lines.append(line)
    title = f"{game_plug(game).title}: number of solutions"
    say_table(headings, lines, title=title, numbers=headings[1:])


def _cells(row: dict[str, Any] | None, game: str, *, valued: bool) -> list[str]:
    if row is None:
        return [""] * (3 if valued else 2)
    count = f"{row['count']:,}" if row["status"] == "solved" else row["status"]
    value = row.get("value")
    worth = "" if value is None else view(game).value(value, "")
    return [*([worth] if valued else []), count, duration(row["kernel_ns"])]


def _official(row: dict[str, Any]) -> str:
    best = row.get("official_solution_best")
    return "-" if best is None else "yes" if best else "no"


def _level_rank(game: str) -> Callable[[str], tuple[int, str]]:
    """Sort levels as payloads have them, others after those by name."""
    from nightgrid.archive.games import reader

    known = reader(game).LEVELS
    return lambda level: (known.index(level) if level in known else len(known), level)


def say_runtimes(lake: Lake, game: str) -> None:
    """Show what the kernels cost, by level and ask."""
    from nightgrid.archive.lake.tables import RUNTIMES
    from nightgrid.archive.results.gold import RUNTIMES_PATH

    table = lake.read_table(RUNTIMES_PATH, RUNTIMES)
    mine = (row for row in table.to_pylist() if row["game"] == game)
    rank = _level_rank(game)
    rows = sorted(mine, key=lambda row: (rank(row["level"]), row["ask"] or ""))
    headings = ("level", "ask", "jobs", "solved", "median", "99 %", "longest", "total", "states")
    say_table(
        headings,
        [
            (
                row["level"],
                row["ask"] or "",
                f"{row['job_count']:,}",
                f"{row['solved_count']:,}",
                duration(row["kernel_ns_p50"]),
                duration(row["kernel_ns_p99"]),
                duration(row["kernel_ns_max"]),
                duration(row["kernel_ns_total"]),
                f"{row['states_total']:,}",
            )
            for row in rows
        ],
        title=f"{game_plug(game).title}: time inside the kernels",
        numbers=headings[2:],
    )

"""What a night found, read from the lake and shown as tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from service.console import duration, say_table

if TYPE_CHECKING:
    from flows.settings import NightlySettings


def counts_by_date(settings: NightlySettings) -> Iterator[dict[str, Any]]:
    """Read the counts by date, as JSON values."""
    from archive.lake import Lake
    from archive.tables import COUNTS_BY_DATE

    table = Lake.open(settings.workers.lake).read_table(
        "gold/counts_by_date.parquet", COUNTS_BY_DATE
    )
    for row in table.to_pylist():
        if row["game"] != settings.game:
            continue
        count = row["count"]
        yield row | {
            "date": row["date"].isoformat(),
            "count": None if count is None else int(count),
        }


def official_ranks(settings: NightlySettings) -> dict[str, str]:
    """Say of every date where its official solution stands among the best; {} without ranks."""
    from archive.lake import Lake
    from archive.ranks import RANKS_PATH
    from archive.tables import STRANDS_RANKS

    if settings.game != "strands":
        return {}
    table = Lake.open(settings.workers.lake).read_table(RANKS_PATH, STRANDS_RANKS)
    return {
        row["date"].isoformat(): f"{row['official_rank'] or '-'} of {row['best_count'] or 0}"
        for row in table.to_pylist()
    }


def say_counts(counts: list[dict[str, Any]], ranks: dict[str, str]) -> None:
    """Show one line a date, with the count and the time of every level, and ranks where given."""
    levels = sorted({row["level"] for row in counts}, key=_level_rank)
    by_date: dict[str, dict[str, dict[str, Any]]] = {}
    for row in counts:
        by_date.setdefault(row["date"], {})[row["level"]] = row
    headings = ["date"]
    for level in levels:
        headings += [level, f"{level} time"]
    if ranks:
        headings.append("official among the best")
    lines = []
    for date, rows in sorted(by_date.items()):
        line = [date]
        for level in levels:
            if level not in rows:
                line += ["", ""]
                continue
            row = rows[level]
            count = row["count"]
            line.append(f"{count:,}" if row["status"] == "solved" else row["status"])
            line.append(duration(row["kernel_ns"]))
        if ranks:
            line.append(ranks.get(date, ""))
        lines.append(line)
    say_table(headings, lines, title="Number of solutions", numbers=headings[1:])


def _level_rank(level: str) -> tuple[int, str]:
    from solvers.pips.mix import LEVELS

    return (LEVELS.index(level) if level in LEVELS else len(LEVELS), level)


def say_runtimes(settings: NightlySettings) -> None:
    """Show what the kernels cost, by level and ask."""
    from archive.lake import Lake
    from archive.tables import RUNTIMES

    table = Lake.open(settings.workers.lake).read_table("gold/runtimes.parquet", RUNTIMES)
    mine = (row for row in table.to_pylist() if row["game"] == settings.game)
    rows = sorted(mine, key=lambda row: (_level_rank(row["level"]), row["ask"] or ""))
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
        title="Time inside the kernels",
        numbers=headings[2:],
    )

"""Run the nightly job over the published archive and hold its results against both lists.

`python -m benchmarks.nights.night [--write]`: through Celery workers, into a lake of its own; then
once more, when there must be nothing left to solve. Exits with 1 if a count differs or is missing.
"""

from __future__ import annotations

import argparse
import csv
import datetime as dt
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.instruments.boards import archive_folder
from benchmarks.instruments.report import Section, add_write, finish
from benchmarks.kernels.published import article_counts
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import COUNTS_BY_DATE
from nightgrid.flows.night.report import GameReport
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.flows.start import run_night
from nightgrid.workers.settings import Settings

Key = tuple[dt.date, str]


def main() -> int:
    """Run two nights and print what became of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nights.night")
    add_write(parser)
    options = parser.parse_args()
    folder = archive_folder()
    with tempfile.TemporaryDirectory(prefix="nightgrid-night-") as place:
        workers = Settings(lake=str(Path(place) / "lake"))
        games = (NightGame(source=str(folder / "pips")),)
        settings = NightSettings(games=games, workers=workers)
        first, first_s = _night(settings)
        second, second_s = _night(settings)
        gold = Lake.open(workers.lake).read_table("gold/counts_by_date.parquet", COUNTS_BY_DATE)
    counts = {(row["date"], row["level"]): int(row["count"]) for row in gold.to_pylist()}
    lists = {"the article's hard boards": _article(folder), "the second list": _second(folder)}
    section = Section(
        name="night",
        title="The published archive, from payloads to gold",
        command="python -m benchmarks.nights.night",
    )
    section.table(
        ("night", "payloads", "planned", "solved", "already known", "wall s"),
        [
            (name, night.fetched, night.planned, night.solved, night.already_known, f"{wall:.1f}")
            for name, night, wall in (("first", first, first_s), ("second", second, second_s))
        ],
    )
    compared = {
        name: ([key for key in known if key in counts], known) for name, known in lists.items()
    }
    section.table(
        ("compared with", "puzzles", "equal"),
        [
            (name, len(keys), sum(counts[key] == known[key] for key in keys))
            for name, (keys, known) in compared.items()
        ],
    )
    section.say("Wall seconds include starting server and workers, and without Prefect's own.")
    finish(section, to_results=options.write)
    wrong = [k for keys, known in compared.values() for k in keys if counts[k] != known[k]]
    return 1 if wrong or not counts or second.planned or first.solved != len(counts) else 0


def _night(settings: NightSettings) -> tuple[GameReport, float]:
    begun = time.monotonic()
    (report,) = run_night(settings, prefect=False).games
    return report, time.monotonic() - begun


def _article(folder: Path) -> dict[Key, int]:
    counts = article_counts(folder)
    return {(dt.date.fromisoformat(date), "hard"): count for date, count in counts.items()}


def _second(folder: Path) -> dict[Key, int]:
    with (folder / "pips-published-counts" / "prb_solution_counts.csv").open() as file:
        return {
            (dt.date.fromisoformat(row["date"]), row["difficulty"]): int(row["count"])
            for row in csv.DictReader(file)
        }


if __name__ == "__main__":
    sys.exit(main())

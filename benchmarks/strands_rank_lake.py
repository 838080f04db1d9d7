"""Rank the Strands archive through Celery workers: time, memory, and nothing lost.

python -m benchmarks.strands_rank_lake [--every N] [--workers 2] [--write]

The boards are fetched into a lake of its own, and `nightgrid rank` has workers rank them all. A
second call has to find nothing to rank. Exits with 1 if a board is lost. The vectors of the
vocabulary are made before, unless they are on the machine. Memory is read from /proc.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.instruments.boards import published_files
from benchmarks.instruments.report import Section, add_write, finish
from benchmarks.runs.strands_night import MB, _Watch
from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RANK_ACCURACY
from nightgrid.archive.results.gold.rank_accuracy import PATH
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.archive.words.binding import bind_game
from nightgrid.flows.night.rank_lake import RankReport, rank_lake
from nightgrid.flows.runs import RunSettings
from nightgrid.solvers.algebra import MEANT
from nightgrid.workers.driver.progress import Progress
from nightgrid.workers.settings import Settings


def main() -> int:
    """Rank the boards, and print what that took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take every N-th board")
    parser.add_argument("--workers", type=int, default=2, metavar="N")
    add_write(parser)
    options = parser.parse_args()
    bind_game("strands", ask=MEANT).warm()
    with tempfile.TemporaryDirectory(prefix="nightgrid-rank-") as place:
        folder = Path(place)
        settings = Settings(lake=str(folder / "lake"), batch_processes=options.workers)
        lake = Lake.open(settings.lake)
        (folder / "boards").mkdir()
        for path in published_files("strands")[:: options.every]:
            (folder / "boards" / path.name).symlink_to(path)
        fetch(lake, FolderSource(folder / "boards"), game="strands")
        normalise(lake, game="strands")
        begun = time.monotonic()
        with _Watch(settings.side_dir) as memory:
            report = rank_lake(RunSettings(workers=settings), _tell)
        seconds = time.monotonic() - begun
        again = rank_lake(RunSettings(workers=settings))
        lost = report.boards - again.known
        section = _section(lake, report, options, seconds, memory.peak_bytes)
    section.say(f"Lost: {lost} boards. A second call ranked {again.ranked}.")
    finish(section, to_results=options.write)
    return 1 if lost or again.ranked else 0


def _tell(progress: Progress) -> None:
    said = f"{progress.jobs_done} of {progress.jobs_total} boards"
    print(f"{time.strftime('%H:%M:%S')} {said}", file=sys.stderr, flush=True)


def _section(
    lake: Lake,
    report: RankReport,
    options: argparse.Namespace,
    seconds: float,
    peak_bytes: int | None,
) -> Section:
    every = "" if options.every == 1 else f" --every {options.every}"
    section = Section(
        name="strands-rank-lake",
        title=f"{report.boards} published Strands boards, ranked through Celery",
        command=f"python -m benchmarks.strands_rank_lake{every} --workers {options.workers}",
    )
    rows = lake.read_table(PATH, RANK_ACCURACY)
    spent = np.array(rows.column("seconds").to_pylist())
    section.table(
        ["workers", "minutes", "boards a minute", "s a board, median", "worst", "worker, MB"],
        [
            [
                options.workers,
                f"{seconds / 60:.1f}",
                f"{60 * report.ranked / seconds:.0f}",
                f"{np.median(spent):.2f}",
                f"{spent.max():.2f}",
                "-" if peak_bytes is None else f"{peak_bytes / MB:.0f}",
            ]
        ],
    )
    whole = report.whole
    section.say(
        f"Ranked by {report.ranker}. Official cover first on {whole.first} of {whole.boards}, in "
        f"five on {whole.in_five}, in the list on {whole.listed}; its weights were fitted on "
        f"boards until {report.fitted_until}."
    )
    return section


if __name__ == "__main__":
    sys.exit(main())

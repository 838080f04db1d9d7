"""Count and rank the Strands archive through Celery workers: time, memory, and nothing lost.

python -m benchmarks.runs.strands_night [--every N] [--workers 2 1] [--check N] [--write]

A night for each number of workers, into a lake of its own. `--check N` solves N of the boards
once more in this process and holds the rows of the last night against that. Exits with 1 if a row
is lost or differs. Memory is read from /proc, and left out where there is none.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.instruments.boards import archive_folder
from benchmarks.instruments.processes import children_of, peak_bytes
from benchmarks.instruments.report import Section, add_write, finish
from nightgrid.archive.ingest.editions import current_editions
from nightgrid.archive.ingest.puzzles import read_puzzle_table
from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RESULTS, ranks_schema
from nightgrid.archive.results.gold.gold import ranks_path
from nightgrid.archive.results.results import find_results, solutions_of
from nightgrid.archive.words.binding import bind_game
from nightgrid.flows.night.report import GameReport
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.flows.start import run_night
from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.question import question_of
from nightgrid.solvers.registry import game_plug
from nightgrid.workers.settings import Settings

ASKS = game_plug("strands").night_asks
SAMPLE_S = 0.5
MB = 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """What became of one night."""

    workers: int
    report: GameReport
    jobs: int
    """One for each ask and each distinct board."""
    rows: int
    """Result rows, one a job."""
    kernel_s: float
    parts: int
    table_bytes: int
    """Table bytes of the job that took most."""
    worker_bytes: int | None
    """Resident memory of the largest worker process at its peak, words included."""

    @property
    def lost(self) -> int:
        """Jobs without a row."""
        return self.jobs - self.rows


def main() -> int:
    """Run the nights and print what became of them."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.runs.strands_night",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take every N-th board")
    parser.add_argument(
        "--workers", type=int, nargs="+", default=[2, 1], metavar="N", help="one night for each"
    )
    parser.add_argument("--check", type=int, default=0, metavar="N", help="solve N boards again")
    add_write(parser)
    options = parser.parse_args()
    files = sorted((archive_folder() / "strands").glob("*.json"))[:: options.every]
    with tempfile.TemporaryDirectory(prefix="nightgrid-strands-") as place:
        source = Path(place) / "payloads"
        source.mkdir()
        for path in files:
            shutil.copyfile(path, source / path.name)
        nights = []
        for count in options.workers:
            lake = Path(place) / f"lake-{count}"
            nights.append(night(source, lake, count))
            print(f"{count} workers: {nights[-1].report.wall_seconds:.1f} s", file=sys.stderr)
        last = Lake.open(str(lake))
        section = tell(options, nights, last)
        wrong = check(section, last, options.check)
    finish(section, to_results=options.write)
    return 1 if wrong or any(night.lost for night in nights) else 0


def night(source: Path, folder: Path, workers: int) -> Night:
    """Run one night and read from its lake what it cost."""
    settings = Settings(lake=str(folder), batch_processes=workers, interactive_processes=1)
    watch = _Watch(settings.side_dir)
    with watch:
        games = (NightGame(source=str(source), game="strands"),)
        (report,) = run_night(NightSettings(games=games, workers=settings), prefect=False).games
    lake = Lake.open(settings.lake)
    results = lake.read_table("results", RESULTS)
    return Night(
        workers=workers,
        report=report,
        jobs=len(ASKS) * read_puzzle_table(lake, "strands").num_rows,
        rows=len(pc.unique(results.column("job_id"))),
        kernel_s=pc.sum(results.column("kernel_ns")).as_py() / 1e9,
        parts=pc.sum(results.column("parts")).as_py(),
        table_bytes=pc.max(results.column("table_bytes")).as_py(),
        worker_bytes=watch.peak_bytes,
    )


class _Watch(contextlib.AbstractContextManager["_Watch"]):
    """Look at the memory of a night's batch processes while it lasts."""

    def __init__(self, side: Path) -> None:
        self._note = side / "supervisor.json"
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self.peak_bytes: int | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(SAMPLE_S):
            with contextlib.suppress(OSError, ValueError, KeyError):
                batch = json.loads(self._note.read_text())["processes"]["batch"]["pid"]
                peaks = [peak_bytes(pid) for pid in (batch, *children_of(batch))]
                self.peak_bytes = max(self.peak_bytes or 0, *peaks)


def tell(options: argparse.Namespace, nights: list[Night], lake: Lake) -> Section:
    """Write the figures of all nights."""
    every = "" if options.every == 1 else f" --every {options.every}"
    boards = read_puzzle_table(lake, "strands").num_rows
    section = Section(
        name="strands-night",
        title=f"{boards} published Strands boards, counted and ranked through Celery",
        command=f"python -m benchmarks.runs.strands_night{every}",
    )
    section.table(
        ("workers", "jobs", "solved", "over budget", "lost", "parts", "wall s", "kernel s",
         "largest tables MB", "largest worker MB"),
        [
            (
                found.workers,
                found.jobs,
                found.report.solved,
                found.report.over_budget,
                found.lost,
                found.parts,
                f"{found.report.wall_seconds:.1f}",
                f"{found.kernel_s:.1f}",
                f"{found.table_bytes / MB:.0f}",
                "" if found.worker_bytes is None else f"{found.worker_bytes / MB:.0f}",
            )
            for found in nights
        ],
    )  # fmt: skip
    ranks = lake.read_table(ranks_path("strands"), ranks_schema("strands"))
    places = [rank for rank in ranks.column("official_rank").to_pylist() if rank is not None]
    section.say(
        f"One job a board: {ASKS[0]}, which counts all covers as well. Wall seconds are "
        f"those of the whole night: payloads, server, workers, words, gold. Tables may take "
        f"{Budget().table_bytes / MB:.0f} MB a job. Of {ranks.num_rows} official solutions "
        f"{places.count(1)} are first and {len(places)} among the best that were kept."
    )
    return section


def check(section: Section, lake: Lake, wanted: int) -> int:
    """Solve some boards in this process; return how many rows are not what that says."""
    if not wanted:
        return 0
    game = bind_game("strands")
    editions = current_editions(lake, "strands").to_pylist()
    boards = {
        row["puzzle_id"]: row for row in editions[:: max(1, len(editions) // wanted)][:wanted]
    }
    table = read_puzzle_table(lake, "strands")
    table = table.filter(pc.is_in(table.column("puzzle_id"), value_set=pa.array(list(boards))))
    wrong = sum(_differs(game, lake, row) for row in _rows(game, table))
    section.say(
        f"Of {len(boards)} boards solved once more by themselves, {wrong} differ in count, status "
        "or covers."
    )
    return wrong


def _rows(game: Any, table: pa.Table) -> list[Any]:
    arrays = arrays_of(table)
    return [game.from_arrays(arrays, row) for row in range(table.num_rows)]


def _differs(game: Any, lake: Lake, puzzle: Any) -> bool:
    for ask in ASKS:
        job = question_of(game, ask).job_id(puzzle.puzzle_id)
        (row,) = find_results(lake, [job]).to_pylist()
        outcome = game.solve(puzzle, ask)
        covers = solutions_of(lake, {job: row["run_id"]}).get(job, [])
        found = [canonical_json(json.loads(cover)) for cover in covers]
        said = [canonical_json(game.solution_to_json(cover)) for cover in outcome.solutions]
        if (row["status"], row["count"], found) != (outcome.status, outcome.count, said):
            print(f"{puzzle.board} {ask}: {row['count']} {outcome.count}", file=sys.stderr)
            return True
    return False


if __name__ == "__main__":
    sys.exit(main())

"""Large boards over HTTP as fast as they are solved, a batch beside them, and small boards.

`python -m benchmarks.http.fair` looks for generated boards that take one core `--least` to `--most`
seconds, serves a new lake and begins a count of other boards. Clients ask about large boards, each
as soon as its last one is answered, and others about small ones at a rate. Every question is new:
a board that lies elsewhere in the plane is another puzzle, and takes as long. It prints what the
batch and the large boards got of the time of batch workers, as these log it, how many large boards
were answered and how soon, and how soon the small ones were.

A task on demand may take `TASK_S` here, so that every large board becomes a run and the batch
workers always have both, and a chunk of the batch `CHUNK_S`. It exits with 1 where the batch got
less than `SHARE_LEAST` of the batch workers' time, no large board was answered, or a small board
took longer than `SMALL_S`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.http.client import Connection
from benchmarks.http.load import CLIENTS, RATE, Load, ask_all, batch, elsewhere
from benchmarks.http.service import Serving, serving
from benchmarks.instruments.boards import loose_board
from benchmarks.instruments.report import Section, add_write, command_line, finish
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.registry import game
from nightgrid.workers.runs.manifest import open_run
from nightgrid.workers.settings import Settings

SECONDS = 60.0
DOMINOES = 14
LEAST_S, MOST_S = 2.0, 6.0
BOARDS = 3
"""Large boards that are looked for; each is asked again and again, at other places."""
SEEDS = 100
LARGE_CLIENTS = 6
LOOK_S = 0.1
TASK_S = 0.25
CHUNK_S = 2.0
SHARE_LEAST = 0.1
"""The share of a batch may be off by so much: work is handed out in chunks of seconds."""
SMALL_S = 1.0
"""A small board is answered within this time."""


def large_boards(dominoes: int, least_s: float, most_s: float) -> list[tuple[Puzzle, float]]:
    """Find boards that take one core so long, each with that time."""
    pips, found = game("pips"), []
    for seed in range(SEEDS):
        board = loose_board(dominoes, seed)
        begun = time.process_time()
        # Budgets are told by the clock of the wall, which runs on while other processes work.
        outcome = pips.solve(board, Ask(kind="count"), budget=Budget(seconds=2 * most_s))
        # Time of this process: what else runs here makes no board larger.
        took_s = time.process_time() - begun
        if outcome.status == "solved" and least_s <= took_s <= most_s:
            found.append((board, took_s))
            if len(found) == BOARDS:
                return found
    sys.exit(f"{len(found)} of {SEEDS} boards take {least_s:g} to {most_s:g} s: other --dominoes?")


def moved(board: Puzzle, rows: int) -> Puzzle:
    """Move a board down: another puzzle, with as many solutions, found in the same way."""
    regions = (
        replace(region, cells=tuple((row + rows, column) for row, column in region.cells))
        for region in board.regions
    )
    return Puzzle(regions=tuple(regions), dominoes=board.dominoes)


class Large:
    """Clients that ask about large boards without a pause."""

    def __init__(self, service: Serving, boards: list[Puzzle]) -> None:
        self._service = service
        self._boards = boards
        self.asked: list[str] = []
        self.answers: dict[str, dict[str, Any]] = {}
        self.latencies_s: list[float] = []

    async def ask(self, until: float) -> None:
        """Ask about one board after the other until a time on the monotonic clock."""
        pips, connection = game("pips"), Connection(self._service.port)
        while (begun := time.monotonic()) < until:
            rounds, at = divmod(len(self.asked), len(self._boards))
            self.asked.append("")
            puzzle = pips.puzzle_to_json(moved(self._boards[at], 1 + rounds))
            body = json.dumps({"puzzle": puzzle, "ask": "count"}).encode()
            solve = (await connection.send("POST", "/v1/solves", body)).json
            self.asked[rounds * len(self._boards) + at] = solve["id"]
            while solve["state"] in ("queued", "running") and time.monotonic() < until:
                await asyncio.sleep(LOOK_S)
                solve = (await connection.send("GET", solve["links"]["self"])).json
            if solve["state"] == "done":
                self.latencies_s.append(time.monotonic() - begun)
                self.answers[solve["id"]] = solve["answer"]
        await connection.close()


def spent_seconds(settings: Settings, until: float) -> tuple[float, float]:
    """Sum the seconds that batch workers worked on runs of large boards, which have one job each,
    and on batches, as their log tells it: from the first chunk of a large board to a Unix time.
    """
    store = Lake.open(settings.lake)
    worked: list[tuple[bool, float, float]] = []
    is_large: dict[str, bool] = {}
    for line in (settings.side_dir / "logs" / "batch.log").read_text().splitlines():
        told = json.loads(line) if line.startswith("{") else {}
        if told.get("event") == "task ended" and "run" in told:
            name = told["run"]
            if name not in is_large:
                # A run has thousands of lines, and opening it reads its files.
                run = open_run(store, name)
                is_large[name] = max(run.puzzle_count, run.job_count) == 1
            ended = datetime.fromisoformat(told["timestamp"]).timestamp()
            worked.append((is_large[name], ended - told["seconds"], ended))
    since = min((begun for large, begun, _ in worked if large), default=until)
    spent = {True: 0.0, False: 0.0}
    for large, begun, ended in worked:
        spent[large] += max(0.0, min(ended, until) - max(begun, since))
    return spent[True], spent[False]


async def measure(
    service: Serving, seconds: float, rate: float, boards: list[Puzzle]
) -> tuple[Large, Load]:
    """Put large and small boards on a service that works a batch."""
    large = Large(service, boards)
    until = time.monotonic() + seconds
    clients = [asyncio.create_task(large.ask(until)) for _ in range(LARGE_CLIENTS)]
    count = int(2 * seconds * rate)
    small = await asyncio.to_thread(elsewhere, ask_all, service.port, 300, count, seconds, rate)
    await asyncio.gather(*clients)
    return large, small


def main() -> int:
    """Measure and print tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.http.fair")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--dominoes", type=int, default=DOMINOES)
    parser.add_argument("--least", type=float, default=LEAST_S, metavar="SECONDS")
    parser.add_argument("--most", type=float, default=MOST_S, metavar="SECONDS")
    add_write(parser)
    options = parser.parse_args()
    game("pips").warm()
    chosen = large_boards(options.dominoes, options.least, options.most)
    boards = [board for board, _ in chosen]
    with (
        tempfile.TemporaryDirectory(prefix="nightgrid-http-") as folder,
        serving(
            Path(folder),
            NIGHTGRID_ONDEMAND_SECONDS=str(TASK_S),
            NIGHTGRID_TUNING=json.dumps({"batch_chunk_seconds": CHUNK_S}),
        ) as service,
        batch(service),
    ):
        large, small = asyncio.run(measure(service, options.seconds, options.rate, boards))
        of_large, of_batch = spent_seconds(Settings(lake=str(service.lake)), time.time())
    section = Section(
        name="http-fair",
        title="Large boards over HTTP, a batch, and small boards",
        command=command_line("http.fair"),
    )
    total = (of_large + of_batch) or 1.0
    section.table(
        ("who", "worked s", "share"),
        [
            ("large boards", f"{of_large:.1f}", f"{of_large / total:.2f}"),
            ("batch", f"{of_batch:.1f}", f"{of_batch / total:.2f}"),
        ],
    )
    _say_latencies(section, large, small, options.seconds)
    alone = ", ".join(f"{took_s:.1f}" for _, took_s in chosen)
    section.say(
        f"{options.seconds:g} s. {LARGE_CLIENTS} clients asked about {len(large.asked)} loose "
        f"boards of {options.dominoes} dominoes, each as soon as its last one was answered; alone, "
        f"one core takes {alone} s for them. {CLIENTS} clients asked about small boards, "
        f"{options.rate:g} a second together."
    )
    finish(section, to_results=options.write)
    failures = [
        *(["the large boards were not answered"] * (not large.answers)),
        *(
            [f"the batch got {of_batch / total:.2f} of the batch workers"]
            * (of_batch / total < SHARE_LEAST)
        ),
        *([f"{small.wrong} small boards were not answered"] * bool(small.wrong)),
        *([f"a small board took longer than {SMALL_S:g} s"] * (max(small.latencies_s) > SMALL_S)),
    ]
    for failure in failures:
        print(f"FAILED: {failure}")
    return int(bool(failures))


def _say_latencies(section: Section, large: Large, small: Load, seconds: float) -> None:
    """Tell how many of each were answered, and how soon."""
    rows = []
    of_large = Load(large.latencies_s, seconds, 0)
    for name, load in (("large, each as answered", of_large), ("small, at a rate", small)):
        if load.latencies_s:
            times = [f"{load.quantile(share):.1f}" for share in (0.5, 0.99, 1.0)]
            rows.append((name, len(load.latencies_s), f"{load.rate:.2f}", *times, load.wrong))
    section.table(("boards", "answers", "a second", "p50 ms", "p99 ms", "max ms", "wrong"), rows)


if __name__ == "__main__":
    sys.exit(main())

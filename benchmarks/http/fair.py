"""Large boards over HTTP as fast as they are solved, a batch beside them, and small boards.

`python -m benchmarks.http.fair` serves a new lake and begins a count of generated boards. Clients
ask about large boards, each as soon as its last one is answered, and others about small ones at a
rate. It prints what the batch and the large boards got of the batch workers' time, which have
`NIGHTGRID_BATCH_TIME_SHARE` to keep, and how soon the small ones were answered. It exits with 1
where one of the two got nothing done.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.http.client import Connection
from benchmarks.http.load import CLIENTS, RATE, Load, ask_all, batch, elsewhere, row
from benchmarks.http.service import Serving, serving
from benchmarks.instruments.boards import loose_board
from benchmarks.instruments.report import Section, add_write, command_line, finish
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.registry import game
from nightgrid.workers.ondemand.jobs.status import status
from nightgrid.workers.settings import Settings

SECONDS = 60.0
DOMINOES = 16
LARGE_CLIENTS = 3
LOOK_S = 0.5


class Large:
    """Clients that ask about large boards without a pause."""

    def __init__(self, service: Serving, dominoes: int) -> None:
        self._service = service
        self._dominoes = dominoes
        self._seed = 0
        self.asked: list[str] = []
        self.answered = 0

    async def ask(self, until: float) -> None:
        """Ask about one board after the other until a time on the monotonic clock."""
        pips, connection = game("pips"), Connection(self._service.port)
        while time.monotonic() < until:
            self._seed += 1
            puzzle = pips.puzzle_to_json(loose_board(self._dominoes, self._seed))
            body = json.dumps({"puzzle": puzzle, "ask": "count"}).encode()
            reply = await connection.send("POST", "/v1/solves", body)
            solve = reply.json
            self.asked.append(solve["id"])
            while solve["state"] in ("queued", "running") and time.monotonic() < until:
                await asyncio.sleep(LOOK_S)
                solve = (await connection.send("GET", solve["links"]["self"])).json
            self.answered += solve["state"] == "done"
        await connection.close()


def run_seconds(lake: Path, since: float) -> dict[str, float]:
    """Sum the kernel seconds of each run's chunks that ended since a Unix time."""
    found: dict[str, float] = {}
    for path in (lake / "runs").glob("run=*/parts/*.parquet"):
        if path.stat().st_mtime >= since:
            run = path.parts[-3].removeprefix("run=")
            spent = sum(pq.read_table(path, columns=["kernel_ns"]).column(0).to_pylist()) / 1e9
            found[run] = found.get(run, 0.0) + spent
    return found


async def measure(
    service: Serving, seconds: float, rate: float, dominoes: int
) -> tuple[Large, Load]:
    """Put large and small boards on a service that works a batch."""
    large = Large(service, dominoes)
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
    add_write(parser)
    options = parser.parse_args()
    game("pips").warm()
    with (
        tempfile.TemporaryDirectory(prefix="nightgrid-http-") as folder,
        serving(Path(folder)) as service,
        batch(service),
    ):
        begun = time.time()
        large, small = asyncio.run(
            measure(service, options.seconds, options.rate, options.dominoes)
        )
        lake = Lake.open(str(service.lake))
        runs = {status(lake, job).run_id for job in large.asked} - {None}
        spent = run_seconds(service.lake, begun)
    of_large = sum(seconds for run, seconds in spent.items() if run in runs)
    of_batch = sum(seconds for run, seconds in spent.items() if run not in runs)
    total = (of_large + of_batch) or 1.0
    section = Section(
        name="http-fair",
        title="Large boards over HTTP, a batch, and small boards",
        command=command_line("http.fair"),
    )
    section.table(
        ("who", "kernel s in chunks", "share"),
        [
            ("large boards", f"{of_large:.1f}", f"{of_large / total:.2f}"),
            ("batch", f"{of_batch:.1f}", f"{of_batch / total:.2f}"),
        ],
    )
    head = ("clients ask", "answers/s", "p50 ms", "p90 ms", "p99 ms", "wrong")
    # What the service's process took is for large boards, too: no figure of the small ones.
    *figures, _, wrong = row("small boards at a rate", small, 0.0)
    section.table(head, [(*figures, wrong)])
    section.say(
        f"{options.seconds:g} s; {LARGE_CLIENTS} clients asked about {len(large.asked)} loose "
        f"boards of {options.dominoes} dominoes, of which {large.answered} were answered in that "
        f"time; {CLIENTS} clients asked about small boards, {options.rate:g} a second. While both "
        f"want all of them, batches keep {Settings().batch_time_share:g} of the time of batch "
        "workers."
    )
    finish(section, to_results=options.write)
    # A large board that workers share without a run of its own leaves no chunk results.
    got = (("the large boards", of_large or large.answered), ("the batch", of_batch))
    left = [name for name, done in got if not done]
    for name in left:
        print(f"FAILED: {name} got nothing done")
    return int(bool(left))


if __name__ == "__main__":
    sys.exit(main())

"""How soon boards are answered over HTTP while a batch wants every core, and how many known ones.

`python -m benchmarks.http.load` serves a new lake on this machine, begins a count of generated
boards beside it, and has clients of another process ask about boards that were never asked: at a
given rate, and each as soon as its last one is answered. Then the same boards again, which the
service knows. Beside it stands the same solve in one process, without service and queue, in the
same minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.http.client import Connection
from benchmarks.http.service import Serving, serving
from benchmarks.instruments.boards import loose_board
from benchmarks.instruments.report import Section, add_write, command_line, finish
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.pips.generate.generator import generate_many
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.solvers.registry import game

CLIENTS = 20
RATE = 40.0
"""Boards a second that the clients ask together when they ask at a rate."""
SECONDS = 30.0
KNOWN_SECONDS = 10.0
BATCH_BOARDS, BATCH_DOMINOES = 600, 12
"""Loose boards of the batch: a folder of them is counted at once, where a corpus is made first."""
SETTLE_S = 15.0
WAIT = {"Prefer": "wait=20"}


class Load(NamedTuple):
    """What one kind of load came to."""

    latencies_s: list[float]
    seconds: float
    wrong: int
    """Replies that were no answer."""

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.latencies_s) / self.seconds

    def quantile(self, share: float) -> float:
        """Latency that so large a share does not pass, in milliseconds."""
        ordered = sorted(self.latencies_s)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def bodies(seed: int, count: int) -> list[bytes]:
    """Write questions about hard boards that were never asked."""
    pips = game("pips")
    boards = generate_many(seed, count, [PRESETS["hard"]])
    return [
        json.dumps({"puzzle": pips.puzzle_to_json(puzzle), "ask": "count"}).encode()
        for puzzle, _ in boards
    ]


async def load(
    port: int, asked: list[bytes], seconds: float, rate: float | None, clients: int = CLIENTS
) -> Load:
    """Let clients ask: at a rate, together, at random times; or each as soon as it is answered."""
    questions: Iterator[bytes] = iter(asked)
    latencies: list[float] = []
    wrong = 0
    draw = random.Random(1)
    begun = time.perf_counter()

    async def client() -> None:
        nonlocal wrong
        connection = Connection(port)
        due = begun
        while True:
            if rate is not None:
                due += draw.expovariate(rate / clients)
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
            if time.perf_counter() - begun > seconds or (body := next(questions, None)) is None:
                await connection.close()
                return
            # At a rate, the time that a request waits for its own client counts as well.
            sent = due if rate is not None else time.perf_counter()
            reply = await connection.send("POST", "/v1/solves", body, WAIT)
            latencies.append(time.perf_counter() - sent)
            # Searched, not read: the client shares the cores with the service.
            wrong += reply.status != 200 or b'"status":"solved"' not in reply.body

    await asyncio.gather(*(client() for _ in range(clients)))
    return Load(latencies, time.perf_counter() - begun, wrong)


def elsewhere(work: Callable[..., Any], *arguments: Any) -> Any:
    """Run a function in a process of its own, and return what it returns."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def ask_all(
    port: int, seed: int, count: int, seconds: float, rate: float | None, repeats: int = 1
) -> Load:
    """Ask about generated boards, in this process."""
    asked = bodies(seed, count) * repeats
    return asyncio.run(load(port, asked, seconds, rate))


def solve_all(seed: int, count: int) -> list[float]:
    """Solve generated boards in this process; tell what each took, its JSON read included."""
    pips = game("pips")
    pips.warm()
    took = []
    for body in bodies(seed, count):
        begun = time.perf_counter()
        puzzle = pips.puzzle_from_json(json.loads(body)["puzzle"])
        pips.solve(puzzle, Ask(kind="count"))
        took.append(time.perf_counter() - begun)
    return took


@contextmanager
def batch(service: Serving) -> Iterator[None]:
    """Count generated boards for the length of a block, by the workers of the service."""
    folder = service.lake.parent / "batch"
    folder.mkdir()
    pips = game("pips")
    for seed in range(BATCH_BOARDS):
        board = pips.puzzle_to_json(loose_board(BATCH_DOMINOES, seed))
        (folder / f"{seed}.json").write_text(json.dumps(board))
    words = [sys.executable, "-m", "nightgrid", "count", str(folder), "--no-prefect"]
    env = {**os.environ, "NIGHTGRID_GAMES": "pips"}
    log = (service.lake.parent / "batch.log").open("w")
    process = subprocess.Popen(
        [*words, "--lake", str(service.lake)],
        stdout=log,
        stderr=log,
        env=env,
        start_new_session=True,
    )
    time.sleep(SETTLE_S)
    try:
        yield
        if process.poll() is not None:
            sys.exit(f"the batch has ended: {Path(log.name).read_text()[-2000:]}")
    finally:
        process.terminate()
        process.wait(60)
        log.close()


def row(name: str, found: Load, cpu_s: float) -> tuple[str, str, str, str, str, str, int]:
    """Write one kind of load as a row; `cpu_s` is what the service's process took of a core."""
    shown = [f"{found.quantile(share):.1f}" for share in (0.5, 0.9, 0.99)]
    each_ms = f"{1000 * cpu_s / len(found.latencies_s):.2f}"
    return (name, f"{found.rate:.0f}", *shown, each_ms, found.wrong)


def measure(service: Serving, seconds: float, rate: float, seed: int) -> list[Any]:
    """Put both loads on a service."""
    count = int(seconds * rate * 2)
    rows = []
    for name, pace, number in (("at a rate", rate, 0), ("as fast as answered", None, 1)):
        boards = count if pace else 20_000
        before_s = service.cpu_s()
        found = elsewhere(ask_all, service.port, seed + number, boards, seconds, pace)
        rows.append(row(name, found, service.cpu_s() - before_s))
        print(rows[-1], file=sys.stderr, flush=True)
    before_s = service.cpu_s()
    known = elsewhere(ask_all, service.port, seed, 500, KNOWN_SECONDS, None, 200)
    rows.append(row("known", known, service.cpu_s() - before_s))
    took = elsewhere(solve_all, seed, 500)
    one = Load(took, sum(took), 0)
    rows.append(row("one process, no queue", one, sum(took)))
    return rows


def main() -> int:
    """Measure and print tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.http.load")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--only", choices=("quiet", "batch"))
    add_write(parser)
    options = parser.parse_args()
    game("pips").warm()
    found: dict[str, list[Any]] = {}
    with (
        tempfile.TemporaryDirectory(prefix="nightgrid-http-") as folder,
        serving(Path(folder)) as service,
    ):
        if options.only != "batch":
            found["no batch"] = measure(service, options.seconds, options.rate, 100)
        if options.only != "quiet":
            with batch(service):
                found["a batch wants both cores"] = measure(
                    service, options.seconds, options.rate, 200
                )
    section = Section(
        name="http-load",
        title="New and known boards over HTTP, beside a batch",
        command=command_line("http.load"),
    )
    head = ("clients ask", "answers/s", "p50 ms", "p90 ms", "p99 ms", "CPU ms", "wrong")
    for name, rows in found.items():
        section.say(f"{CLIENTS} clients, {name}:")
        section.table(head, rows)
    section.say(
        f"Hard boards of Pips that were generated and never asked; each client waits for its "
        f"answer (`Prefer: wait`). At a rate: {options.rate:g} boards a second of all clients at "
        "random times. Latency is from the time at which a request is due to its answer, HTTP "
        "included, measured in another process on the same cores. CPU: what the service's own "
        "process took for each answer, without those that solve and file."
    )
    finish(section, to_results=options.write)
    return int(any(line[-1] for rows in found.values() for line in rows))


if __name__ == "__main__":
    sys.exit(main())

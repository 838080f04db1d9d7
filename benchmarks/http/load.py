"""Load on a service: clients that ask about boards over HTTP, while a batch wants every core.

`benchmarks.guards` puts it on and writes what came of it.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.http.client import Connection
from benchmarks.http.service import Serving
from benchmarks.instruments.boards import loose_board
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
    """The result of one kind of load."""

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

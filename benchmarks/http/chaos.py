"""Mixed requests for minutes, and the same while worker, server and service are killed in turn.

`python -m benchmarks.http.chaos` serves a new lake. In the first phase clients send valid and
invalid requests: no reply may be a 5xx, the service may not grow, and every job that was accepted
has to be answered. In the second phase a process is killed every few seconds: every job that was
accepted has to end, and a client that follows one by events comes back until it has. It exits with
1 where any of that does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.http.client import Connection
from benchmarks.http.requests import Requests
from benchmarks.http.service import Serving
from benchmarks.instruments.report import Section, add_write, command_line, finish

SECONDS = 600.0
CLIENTS = 8
PAUSE_S = 0.05
"""Pause of a client between two requests."""
STRIKE_S = 15.0
END_S = 240.0
"""How long accepted jobs may take to end after the last request."""
AGAIN_S = 0.2
GROWTH_MAX = 0.05
GROWTH_BYTES_MAX = 12 * 1024**2
"""A service that grew by less than one of the two, from a third of the time on, has not grown."""
ROLES = ("interactive", "server", "service")
OVER = frozenset({"done", "failed", "cancelled", "expired"})


@dataclass(slots=True, kw_only=True)
class Outcome:
    """The result of a phase."""

    replies: Counter[int] = field(default_factory=Counter)
    unexpected: list[str] = field(default_factory=list)
    """Replies that should not have come."""
    broken: int = 0
    """Requests whose connection broke: never accepted."""
    accepted: dict[str, str] = field(default_factory=dict)
    """Jobs of 202, each with the state that it ended in; "" while it has not."""
    reconnects: int = 0
    memory: list[tuple[float, int]] = field(default_factory=list)
    """Resident bytes of the service over the time."""
    strikes: Counter[str] = field(default_factory=Counter)

    @property
    def left(self) -> list[str]:
        """Jobs that were accepted and have not ended."""
        return [job for job, state in self.accepted.items() if state not in OVER]

    @property
    def growth(self) -> tuple[int, int]:
        """Bytes of the service after a third of the time, and at the end: medians of a tenth."""
        sizes = [size for _, size in self.memory]
        if len(sizes) < 10:
            return 0, 0
        tenth = max(1, len(sizes) // 10)
        third = sizes[len(sizes) // 3 :][:tenth]
        return sorted(third)[len(third) // 2], sorted(sizes[-tenth:])[tenth // 2]

    def faults(self, *, struck: bool) -> list[str]:
        """Describe what does not hold."""
        found = [f"{len(self.left)} accepted jobs did not end"] if self.left else []
        failed = [job for job, state in self.accepted.items() if state == "failed"]
        if failed and not struck:
            found.append(f"{len(failed)} accepted jobs failed")
        if self.unexpected and not struck:
            found.append(f"{len(self.unexpected)} unexpected replies: {self.unexpected[0]}")
        crashes = [text for text in self.unexpected if text.startswith("500")]
        if crashes and struck:
            found.append(f"{len(crashes)} replies of 500: {crashes[0]}")
        before, after = self.growth
        grown = after - before
        if not struck and grown > max(GROWTH_BYTES_MAX, GROWTH_MAX * before):
            found.append(f"the service grew from {before:,} to {after:,} bytes")
        return found


class Phase:
    """One phase: clients, those who follow jobs, and what strikes."""

    def __init__(self, service: Serving, requests: Requests, seconds: float) -> None:
        self._service = service
        self._requests = requests
        self._seconds = seconds
        self._ends_at = time.monotonic() + seconds
        self._follows: set[asyncio.Task[None]] = set()
        self.outcome = Outcome()

    async def run(self, strike_s: float | None) -> Outcome:
        """Send requests for the time of the phase, and wait for every job that was accepted."""
        tasks = [asyncio.create_task(self._client()) for _ in range(CLIENTS)]
        tasks.append(asyncio.create_task(self._weigh()))
        if strike_s is not None:
            tasks.append(asyncio.create_task(self._strike(strike_s)))
        await asyncio.gather(*tasks)
        if self._follows:
            await asyncio.wait(self._follows, timeout=END_S)
        for task in self._follows:
            task.cancel()
        return self.outcome

    async def _client(self) -> None:
        connection = Connection(self._service.port)
        found = self.outcome
        while time.monotonic() < self._ends_at:
            wanted = self._requests.next()
            try:
                reply = await connection.send(
                    wanted.method, wanted.path, wanted.body, wanted.headers
                )
            except (OSError, EOFError, ValueError, asyncio.IncompleteReadError):
                found.broken += 1
                await connection.close()
                await asyncio.sleep(AGAIN_S)
                continue
            found.replies[reply.status] += 1
            if reply.status not in wanted.statuses:
                asked = f"{wanted.method} {wanted.path} {wanted.body[:80]!r}"
                found.unexpected.append(f"{reply.status} {reply.body[:200]!r} to {asked}")
            if reply.status == 202:
                self._accept(reply.json["id"])
            await asyncio.sleep(PAUSE_S)
        await connection.close()

    def _accept(self, job: str) -> None:
        if job not in self.outcome.accepted:
            self.outcome.accepted[job] = ""
            task = asyncio.create_task(self._follow(job))
            self._follows.add(task)
            task.add_done_callback(self._follows.discard)

    async def _follow(self, job: str) -> None:
        """Follow a job by its events until it ends, and come back when the connection breaks."""
        last_id = ""
        while self.outcome.accepted[job] not in OVER:
            with contextlib.suppress(OSError, EOFError, ValueError):
                async for name, number, data in events(self._service.port, job, last_id):
                    last_id = number
                    if name in ("state", "end"):
                        self.outcome.accepted[job] = data["state"]
                if self.outcome.accepted[job] in OVER:
                    return
            self.outcome.reconnects += 1
            await asyncio.sleep(AGAIN_S)

    async def _weigh(self) -> None:
        while time.monotonic() < self._ends_at:
            size = resident_bytes(self._service)
            if size:
                self.outcome.memory.append((time.monotonic(), size))
            await asyncio.sleep(min(1.0, self._seconds / 50))

    async def _strike(self, pause_s: float) -> None:
        """Kill one process after the other, until the phase ends."""
        number = 0
        while time.monotonic() + pause_s < self._ends_at:
            await asyncio.sleep(pause_s)
            role = ROLES[number % len(ROLES)]
            number += 1
            self.outcome.strikes[role] += 1
            await asyncio.to_thread(strike, self._service, role)


def strike(service: Serving, role: str) -> None:
    """Kill a worker, the server or the service; the service is started again."""
    if role == "service":
        assert service.process is not None
        service.process.kill()
        service.process.wait()
        service.start()
        return
    path = service.lake.parent / "var" / service.lake.name / "supervisor.json"
    with contextlib.suppress(OSError, ValueError, KeyError):
        os.kill(json.loads(path.read_text())["processes"][role]["pid"], signal.SIGKILL)


def resident_bytes(service: Serving) -> int:
    """Return the memory of the service's own process; 0 while there is none."""
    with contextlib.suppress(OSError, ValueError, IndexError, AttributeError):
        text = Path(f"/proc/{service.process.pid}/status").read_text()  # type: ignore[union-attr]
        return int(text.split("VmRSS:")[1].split()[0]) * 1024
    return 0


async def events(port: int, job: str, last_id: str) -> AsyncIterator[tuple[str, str, Any]]:
    """Read the events of a job until the stream ends. Raises OSError or EOFError when it breaks."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        known = f"Last-Event-ID: {last_id}\r\n" if last_id else ""
        head = f"GET /v1/solves/{job}/events HTTP/1.1\r\nHost: localhost\r\n{known}\r\n"
        writer.write(head.encode())
        status = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in status.split(b"\r\n")[0]:
            raise EOFError(status)
        event: dict[str, str] = {}
        while size := int((await reader.readline()).split(b";")[0] or b"0", 16):
            text = (await reader.readexactly(size)).decode()
            await reader.readexactly(2)
            for line in text.replace("\r", "").split("\n"):
                name, _, value = line.partition(": ")
                if name in ("event", "id", "data"):
                    event[name] = value
                if not line and "data" in event:
                    yield event["event"], event["id"], json.loads(event["data"])
                    event = {}
    finally:
        writer.close()


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.http.chaos")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each phase")
    parser.add_argument("--strike-every", type=float, default=STRIKE_S)
    add_write(parser)
    options = parser.parse_args()
    rows, faults = [], []
    with tempfile.TemporaryDirectory(prefix="nightgrid-http-") as folder:
        service = Serving(Path(folder))
        service.start()
        try:
            service.wait_ready()
            for name, pause_s, seed in (("calm", None, 1), ("struck", options.strike_every, 2)):
                boards = int(options.seconds * CLIENTS / PAUSE_S / 2) + 1000
                requests = Requests(seed, min(boards, 100_000))
                phase = Phase(service, requests, options.seconds)
                found = asyncio.run(phase.run(pause_s))
                rows.append(_row(name, found))
                faults += [f"{name}: {text}" for text in found.faults(struck=pause_s is not None)]
        finally:
            service.stop()
    section = Section(
        name="http-chaos",
        title="Mixed requests, and the same under fire",
        command=command_line("http.chaos"),
    )
    head = ("phase", "requests", "2xx", "4xx", "503", "broken", "accepted", "ended", "failed")
    section.table((*head, "came back", "MB then", "MB at the end"), rows)
    section.say(
        f"{CLIENTS} clients for {options.seconds:g} s each; a third of the requests is wrong. "
        f"Struck: every {options.strike_every:g} s the interactive worker, the Redis server or the "
        "service itself is killed in turn. Accepted are jobs that were answered with 202; each is "
        "followed by its events, and `came back` counts reconnections."
    )
    finish(section, to_results=options.write)
    for fault in faults:
        print(f"FAILED: {fault}")
    return int(bool(faults))


def _row(name: str, found: Outcome) -> tuple[str | int, ...]:
    replies = found.replies
    states = Counter(found.accepted.values())
    then, now = (round(size / 1e6) for size in found.growth)
    return (
        name,
        sum(replies.values()),
        sum(count for status, count in replies.items() if status < 300),
        sum(count for status, count in replies.items() if 400 <= status < 500),
        sum(count for status, count in replies.items() if status >= 500),
        found.broken,
        len(found.accepted),
        len(found.accepted) - len(found.left),
        states["failed"],
        found.reconnects,
        then,
        now,
    )


if __name__ == "__main__":
    sys.exit(main())

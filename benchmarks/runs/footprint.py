"""Measure what each process takes of memory: what limits of containers are set from.

`python -m benchmarks.runs.footprint [--boards 5000] [--write]` starts a server, a batch and an
interactive worker, a keeper and the HTTP service as infra/kubernetes does, solves boards over HTTP,
counts a corpus, and tells for each pod the most memory that its processes had together: pages that
they share are counted once, as a container's limit counts them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.instruments.processes import children_of, wait_for
from benchmarks.instruments.report import Section, add_write, finish
from nightgrid.workers.cluster.probe import probe
from nightgrid.workers.cluster.server import server_binary

BOARDS = 5_000
LOOK_S = 0.1
UP_S = 300.0
ROLES: Mapping[str, tuple[str, ...]] = {
    "batch": ("worker", "--only", "batch"),
    "interactive": ("worker", "--only", "interactive"),
    "keeper": ("worker", "--only", "keeper"),
    "http": ("serve", "--no-workers", "--port", "0", "--json"),
}
BOARD = {
    "game": "letterboxed",
    "puzzle": {"sides": ["ABC", "DEF", "GHI", "JKL"]},
    "ask": "count",
}


def tree_of(pid: int) -> list[int]:
    """List a process and all that descend from it."""
    found = [pid]
    for one in found:
        found += children_of(one)
    return found


def memory_bytes(pids: Sequence[int]) -> int:
    """Tell what processes of one container take together, as if no other had their files.

    Memory that forks share is divided among them (PSS); of files, the most that one of them has.
    """
    own, files = 0, 0
    for pid in pids:
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
            own += sum(map(int, re.findall(r"^Pss_(?:Anon|Shmem):\s+(\d+) kB", text, re.MULTILINE)))
            status = Path(f"/proc/{pid}/status").read_text()
            files = max(files, *map(int, re.findall(r"^RssFile:\s+(\d+) kB", status, re.MULTILINE)))
    return 1024 * (own + files)


class Watch(threading.Thread):
    """Looks at trees of processes until it is told to stop."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.pids: dict[str, int] = {}
        self.peak: dict[str, int] = {}
        self.count: dict[str, int] = {}
        self.idle: dict[str, int] = {}
        self._ended = threading.Event()

    def look(self) -> dict[str, int]:
        """Tell what each tree takes now."""
        found = {}
        for name, pid in list(self.pids.items()):
            tree = tree_of(pid)
            found[name] = memory_bytes(tree)
            self.count[name] = max(self.count.get(name, 0), len(tree))
        return found

    def run(self) -> None:
        """Keep the most of each."""
        while not self._ended.wait(LOOK_S):
            for name, size in self.look().items():
                self.peak[name] = max(self.peak.get(name, 0), size)

    def end(self) -> None:
        """Stop looking."""
        self._ended.set()
        self.join()


@contextmanager
def started(folder: Path, watch: Watch) -> Iterator[tuple[dict[str, str], str]]:
    """Start a server and a process of each role; yield their environment and the address."""
    env = {**os.environ, "NIGHTGRID_LAKE": str(folder / "lake"), "NIGHTGRID_BATCH_PROCESSES": "2"}
    socket = folder / "server.sock"
    env["NIGHTGRID_REDIS_URL"] = f"unix://{socket}"
    words = [
        "--port",
        "0",
        "--unixsocket",
        str(socket),
        "--dir",
        str(folder),
        "--appendonly",
        "yes",
    ]
    running = [subprocess.Popen([server_binary(), *words], stdout=subprocess.DEVNULL)]
    watch.pids["server"] = running[0].pid
    wait_for(socket.exists, "the server", UP_S)
    try:
        for name, role in ROLES.items():
            own = {**env, "NIGHTGRID_VAR_DIR": str(folder / name)}
            out = subprocess.PIPE if name == "http" else subprocess.DEVNULL
            command = [sys.executable, "-m", "nightgrid", *role]
            running.append(
                subprocess.Popen(command, env=own, stdout=out, stderr=subprocess.DEVNULL)
            )
            watch.pids[name] = running[-1].pid
        for name in ("batch", "interactive", "keeper"):
            wait_for(lambda n=name: not probe(folder / n, "ready"), name, UP_S)
        assert running[-1].stdout is not None
        yield env, json.loads(running[-1].stdout.readline())["url"]
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait(60)


def main() -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.footprint")
    parser.add_argument("--boards", type=int, default=BOARDS)
    add_write(parser)
    options = parser.parse_args()
    watch = Watch()
    with (
        tempfile.TemporaryDirectory(prefix="nightgrid-footprint-") as name,
        started(Path(name), watch) as (env, url),
    ):
        time.sleep(2.0)
        watch.idle = watch.look()
        watch.start()
        request = urllib.request.Request(
            f"{url}v1/solves",
            data=json.dumps(BOARD).encode(),
            headers={"Content-Type": "application/json", "Prefer": "wait=30"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()
        own = {**env, "NIGHTGRID_VAR_DIR": f"{name}/driver"}
        command = [sys.executable, "-m", "nightgrid", "count", f"pips:n={options.boards},seed=7"]
        with subprocess.Popen(
            [*command, "--no-prefect"],
            env=own,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as driver:
            watch.pids["driver of a count"] = driver.pid
            if driver.wait():
                raise SystemExit("the count failed")
            del watch.pids["driver of a count"]
        watch.end()
    section = Section(
        name="footprint",
        title="Memory of each kind of process",
        command="python -m benchmarks.runs.footprint"
        + (f" --boards {options.boards}" if options.boards != BOARDS else ""),
    )
    section.table(
        ("processes", "how many", "idle MiB", "most MiB"),
        [
            (
                one,
                watch.count[one],
                f"{watch.idle[one] / 2**20:,.0f}" if one in watch.idle else "-",
                f"{watch.peak.get(one, 0) / 2**20:,.0f}",
            )
            for one in watch.peak
        ],
    )
    section.say(
        f"While {options.boards:,} boards of Pips were counted by two batch processes and a board "
        "of Letter Boxed was solved over HTTP. Pages that processes of a row share count once. "
        "Tables of large boards come on top: NIGHTGRID_BUDGET_TABLE_BYTES for each process at most."
    )
    finish(section, to_results=options.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())

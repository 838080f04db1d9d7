"""Let the same be done on every S3 server that is installed, and say what each does.

`python -m benchmarks.runs.store_servers [--only NAME ...] [--rounds N] [--write]` starts one server
after the other (`benchmarks.instruments.s3_servers`). It lets writers create the same object at
once, asks `nightgrid doctor`, and where the server heeds conditions it does what a lake is for: a
night, a count, a submit to a worker, `lake check` and `query`, each by the command, and compares
the counts with those of a folder. It exits with 1 if a server that heeds conditions fails in
anything, or if one that does not is not refused.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.instruments.report import Section, add_write, command_line, finish
from benchmarks.instruments.s3_servers import MOTO, SERVERS, installed, serve, version_of
from nightgrid.archive.lake.faults import NotExclusiveError
from nightgrid.archive.lake.objects.store import Objects
from nightgrid.archive.lake.storage import Lake
from nightgrid.workers.processes import end_group, spawn

ROOT = Path(__file__).resolve().parents[2]
WRITERS = 8
LANES = 10
ROUNDS = 200
COMMAND_S = 120.0
WARNED = 5
"""The exit code of a night or a count that did what was asked, and names what deserves a look."""
MANY = 1_100
"""Files of one folder: more than one answer of a listing holds."""
LARGE = 20 * 2**20
CORPUS = "pips:n=300,mix=published,seed=7"
SAMPLE = "service/sample"
BOARD = f"{SAMPLE}/pips/2026-01-05.json"
COUNTS = "select puzzle_id, level, count from counts order by all"
MOTO_NOTE = "moto (with a lock of ours)"


@dataclass(slots=True, kw_only=True)
class Told:
    """What was seen of one server."""

    title: str
    version: str
    one_winner: int
    """Rounds in which exactly one writer was told that it had created the object."""
    refusal: str
    """What opening a lake there says, "" where it is opened."""
    checks: dict[str, str]
    """Seconds that each check took, or what was wrong, by its name."""


def race(url: str, rounds: int) -> int:
    """Let writers create an object at once, without the look at the door; count single winners.

    Rounds with objects of their own go on at the same time, `LANES` of them.
    """
    with ThreadPoolExecutor(LANES) as pool:
        shares = [range(lane, rounds, LANES) for lane in range(LANES)]
        return sum(pool.map(_race_in_lane, [url] * LANES, shares))


def _race_in_lane(url: str, numbers: range) -> int:
    storages = [Objects(url) for _ in range(WRITERS)]
    barrier = threading.Barrier(WRITERS, timeout=60.0)

    def create(writer: int, number: int) -> bool:
        barrier.wait()
        body = memoryview(b"%d" % writer)
        return storages[writer]._send_new(f"race/{number}", body)  # noqa: SLF001 - behind the door

    with ThreadPoolExecutor(WRITERS) as pool:
        won = [list(pool.map(create, range(WRITERS), [number] * WRITERS)) for number in numbers]
    return sum(told.count(True) == 1 for told in won)


def refusal_of(url: str) -> str:
    """Give the sentence with which a lake is refused, "" for none."""
    try:
        Lake.open(url).create_bytes("door", b"")
    except NotExclusiveError as error:
        return str(error)
    return ""


@contextmanager
def _commands(url: str) -> Iterator[Callable[..., str]]:
    """Give what runs a command of nightgrid on a lake and returns what it prints."""
    with tempfile.TemporaryDirectory(prefix="nightgrid-stores-") as folder:
        environment = {**os.environ, "NIGHTGRID_LAKE": url, "NIGHTGRID_VAR_DIR": f"{folder}/var"}

        def run(*words: str) -> str:
            done = subprocess.run(
                (sys.executable, "-m", "nightgrid", *words),
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                timeout=COMMAND_S,
                check=False,
            )
            if done.returncode not in (0, WARNED):
                last = (done.stderr or done.stdout).strip().splitlines()[-1:]
                raise RuntimeError(f"exit code {done.returncode}: {' '.join(last)}")
            return done.stdout

        def worker() -> subprocess.Popen[bytes]:
            command = (sys.executable, "-m", "nightgrid", "worker")
            return spawn(command, log_path=Path(folder) / "worker.log", env=environment)

        run.worker = worker  # type: ignore[attr-defined]
        yield run


def _submit(run: Callable[..., str]) -> None:
    worker = run.worker()  # type: ignore[attr-defined]
    try:
        deadline = time.monotonic() + COMMAND_S
        while True:
            try:
                run("submit", BOARD, "--level", "hard", "--first", "--wait", f"{COMMAND_S:g}")
                return
            except RuntimeError:
                # There is no server yet.
                if time.monotonic() > deadline:
                    raise
            time.sleep(1.0)
    finally:
        end_group(worker)


def _listing(url: str) -> None:
    lake = Lake.open(url)
    names = [f"many/{number:05d}.json" for number in range(MANY)]
    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(lambda name: lake.write_bytes(name, b"{}"), names))
    if lake.list("many") != names or lake.folders("") != sorted(lake.folders("")):
        raise RuntimeError("a listing lacks names")
    lake._storage.delete_folder("many", names[0])  # noqa: SLF001 - as a run is deleted
    if lake.list("many"):
        raise RuntimeError("a deleted folder has files")


def _large(url: str) -> None:
    lake = Lake.open(url)
    for data in (os.urandom(LARGE), os.urandom(LARGE + 1)):
        lake.write_bytes("large", data)
        if lake.read_bytes("large") != data:
            raise RuntimeError("a file sent in parts is another")
    lake.delete("large")


def check(url: str, expected: str) -> dict[str, str]:
    """Do on a lake what a lake is for; give seconds or what was wrong, by the check's name."""
    with _commands(url) as run:

        def same_counts() -> None:
            if run("query", COUNTS, "--format", "json") != expected:
                raise RuntimeError("other counts than in a folder")

        steps: Mapping[str, Callable[[], object]] = {
            "`doctor`": lambda: run("doctor"),
            f"{MANY:,} files listed, a folder deleted": lambda: _listing(url),
            "20 MiB replaced in parts": lambda: _large(url),
            "`nightly` of the sample": lambda: run("nightly", "--source", SAMPLE, "--no-prefect"),
            "`count` of 300 boards": lambda: run("count", CORPUS, "--no-prefect"),
            "`submit --wait` to a worker": lambda: _submit(run),
            "`lake check`": lambda: run("lake", "check"),
            "`query`: the counts of a folder": same_counts,
        }
        return {name: _timed(step) for name, step in steps.items()}


def _timed(step: Callable[[], object]) -> str:
    begun = time.monotonic()
    try:
        step()
    except Exception as error:  # noqa: BLE001 - whatever is wrong belongs into the table
        text = " ".join(str(error).split())
        return f"FAILED: {text[:300]}"
    return f"{time.monotonic() - begun:.1f} s"


def counts_of_a_folder() -> str:
    """Count in a folder what is counted on the servers."""
    with (
        tempfile.TemporaryDirectory(prefix="nightgrid-stores-") as folder,
        _commands(folder) as run,
    ):
        run("nightly", "--source", SAMPLE, "--no-prefect")
        run("count", CORPUS, "--no-prefect")
        _submit(run)
        return run("query", COUNTS, "--format", "json")


def look_at(name: str, rounds: int, expected: str) -> Told:
    """Start a server and see what it does."""
    with serve(name) as endpoint:
        lake = f"s3://bucket/lake?endpoint_override={endpoint}"
        one_winner = race(f"s3://bucket/race?endpoint_override={endpoint}", rounds)
        refusal = refusal_of(lake).replace("s3://bucket/lake", "URL")
        return Told(
            title=MOTO_NOTE if name == MOTO else SERVERS[name].title,
            version=version_of(name),
            one_winner=one_winner,
            refusal=refusal,
            checks={} if refusal else check(lake, expected),
        )


def _report(seen: Sequence[Told], options: argparse.Namespace) -> int:
    section = Section(
        name="store-servers",
        title="S3 servers of the package registries",
        command=command_line("runs.store_servers"),
    )
    works = [told for told in seen if not told.refusal]
    names = list(works[0].checks) if works else []
    heads = (f"{told.title} {told.version}" for told in seen)
    section.table(
        ("", *heads),
        [
            (
                f"{options.rounds} rounds of {WRITERS} writers: one winner",
                *(told.one_winner for told in seen),
            ),
            ("a lake there", *("refused" if told.refusal else "works" for told in seen)),
            *((name, *(told.checks.get(name, "-") for told in seen)) for name in names),
        ],
    )
    section.say(
        "A round: eight clients create the same object at the same moment; ten rounds with objects "
        "of their own go on at once. The commands run "
        "with their own server and workers on the machine, the lake on the S3 server, each server "
        "a process on loopback with its data in a temporary folder; times are with everything on "
        "two cores. A lake on a server that is refused is not written; the sentence: "
        + next((f"`{told.refusal}`." for told in seen if told.refusal), "none was refused.")
    )
    finish(section, to_results=options.write)
    failed = [
        f"{told.title}: {name}: {text}"
        for told in seen
        for name, text in told.checks.items()
        if text.startswith("FAILED")
    ]
    failed += [
        f"{told.title}: {told.one_winner} of {options.rounds} rounds had one winner"
        for told in works
        if told.one_winner < options.rounds
    ]
    for line in failed:
        print(line, file=sys.stderr)
    return int(bool(failed))


def main() -> int:
    """Look at each server and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.store_servers")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=(MOTO, *SERVERS))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    add_write(parser)
    options = parser.parse_args()
    expected = counts_of_a_folder()
    seen = []
    for name in options.only or installed():
        seen.append(look_at(name, options.rounds, expected))
        print(seen[-1], flush=True)
    return _report(seen, options)


if __name__ == "__main__":
    sys.exit(main())

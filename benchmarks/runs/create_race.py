"""Let drivers with different splits add the same segment of a run, on S3 and in folders.

`python -m benchmarks.runs.create_race [--rounds N] [--drivers N] [--servers NAME ...] [--lakes N]
[--write]` plans a run, and in each round lets simulated drivers, each with a client of its own, add
the next segment at the same moment, each with chunks of its own choice. It prints how often exactly
one was told that it did, with the manifest having its chunks and no others, and exits with 1 if
that was ever otherwise.
S3 is `benchmarks.instruments.s3_server` in a process of its own; with `--servers` it races on those
of `benchmarks.instruments.s3_servers` alone, the rounds divided over N lakes at the same time:
SeaweedFS lets those who want the same name wait for whole seconds.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from benchmarks.instruments.report import Section, add_write, command_line, finish
from benchmarks.instruments.s3_server import s3_process
from benchmarks.instruments.s3_servers import MOTO, SERVERS, serve, version_of
from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.errors import NightgridError
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.solvers.registry import game
from nightgrid.workers.runs.manifest import SegmentTakenError, add_segment, open_run
from nightgrid.workers.runs.plan.planner import plan_run
from nightgrid.workers.runs.run_files import segment_path

ROUNDS = 1_000
DRIVERS = 8
BOARDS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What became of rounds."""

    rounds: int
    won_by_one: int
    """Rounds in which exactly one driver was told that it has added the segment."""
    right: int
    """Rounds after which the manifest has the chunks of that one."""


def race(url: str, *, rounds: int, drivers: int) -> Told:
    """Let drivers add segments to a run in a lake."""
    lakes = [Lake.open(url) for _ in range(drivers)]
    pips = game("pips")
    boards = [generate(PRESETS["easy"], seed)[0] for seed in range(BOARDS)]
    table = puzzles_table(pips, boards)
    run_id = plan_run(lakes[0], pips, table, Ask(kind="count"), Budget())
    rows = lakes[0].read_row_group(segment_path(run_id, 0), 0)
    first = len(open_run(lakes[0], run_id).segments)
    barrier = threading.Barrier(drivers, timeout=60.0)

    def add(driver: int, number: int) -> bool:
        # Each lets other rows go on, in chunks of other sizes.
        size = 1 + driver % 3
        chunks = [rows.slice((driver + i * size) % (len(rows) - size), size) for i in range(2)]
        barrier.wait()
        try:
            add_segment(lakes[driver], run_id, number, "split", [(0, driver)] * 2, chunks)
        except SegmentTakenError:
            return False
        return True

    won_by_one = right = 0
    with ThreadPoolExecutor(drivers) as pool:
        for number in range(first, first + rounds):
            won = list(pool.map(add, range(drivers), [number] * drivers))
            won_by_one += won.count(True) == 1
            path = segment_path(run_id, number)
            found = lakes[0].read_table(path, rows.schema)
            origins = b"[[0,%d],[0,%d]]" % ((won.index(True),) * 2) if any(won) else b""
            metadata = lakes[0].schema(path).metadata or {}
            is_winners = any(origins in text for text in metadata.values())
            right += bool(origins) and is_winners and len(found) == 2 * (1 + won.index(True) % 3)
    return Told(rounds=rounds, won_by_one=won_by_one, right=right)


def race_in_lakes(url: str, *, rounds: int, drivers: int, lakes: int) -> Told:
    """Divide the rounds over lakes of one server, in which is raced at the same time."""
    with ThreadPoolExecutor(lakes) as pool:
        told = list(
            pool.map(
                lambda number: race(
                    url.replace("/lake?", f"/lake-{number}?"),
                    rounds=rounds // lakes,
                    drivers=drivers,
                ),
                range(lakes),
            )
        )
    return Told(
        rounds=sum(each.rounds for each in told),
        won_by_one=sum(each.won_by_one for each in told),
        right=sum(each.right for each in told),
    )


def _no_links(*_: object) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


def main() -> int:
    """Race in each storage and print what was told."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.create_race")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--drivers", type=int, default=DRIVERS)
    parser.add_argument("--servers", nargs="+", choices=(MOTO, *SERVERS))
    parser.add_argument("--lakes", type=int, default=1)
    add_write(parser)
    options = parser.parse_args()
    servers = options.servers or ()
    section = Section(
        name="create-race-servers" if servers else "create-race",
        title=f"{options.drivers} drivers that add the same segment"
        + (", on S3 servers" if servers else ""),
        command=command_line("runs.create_race"),
    )
    told: dict[str, tuple[Told, float]] = {}

    def measure(name: str, url: str) -> None:
        begun = time.monotonic()
        asked = {"rounds": options.rounds, "drivers": options.drivers}
        found = race_in_lakes(url, lakes=options.lakes, **asked) if servers else race(url, **asked)
        told[name] = (found, time.monotonic() - begun)
        print(f"{name}: {found}", flush=True)

    try:
        for name in servers:
            with serve(name) as url:
                measure(f"{name} {version_of(name)}", f"s3://bucket/lake?endpoint_override={url}")
        if servers:
            return _report(section, told, options)
        with tempfile.TemporaryDirectory(prefix="nightgrid-race-") as folder:
            measure("folder", f"{folder}/with")
            with mock.patch.object(Path, "hardlink_to", _no_links):
                measure("folder without hard links", f"{folder}/without")
        with s3_process() as url:
            measure("S3 (moto)", f"s3://bucket/lake?endpoint_override={url}")
    except NightgridError as error:
        print(f"FAILED: {error}", file=sys.stderr)
        return 1
    return _report(section, told, options)


def _report(
    section: Section, told: Mapping[str, tuple[Told, float]], options: argparse.Namespace
) -> int:
    section.table(
        ("storage", "rounds", "one winner", "the winner's chunks", "s"),
        [
            (name, found.rounds, found.won_by_one, found.right, f"{seconds:.0f}")
            for name, (found, seconds) in told.items()
        ],
    )
    section.say(
        "A round: all drivers, each with a client of its own, add the next segment of one run at "
        "the same moment, each with chunks of its own choice. Clients are threads of one process."
    )
    if not options.servers:
        section.say(
            "S3 is moto's server in a process of its own, with a lock around uploads: moto looks "
            "and then writes, and without the lock two of 1,000 rounds had two winners. With the "
            "client of before (pyarrow, look and then put) none of 40 rounds on S3 had one winner."
        )
    finish(section, to_results=options.write)
    wrong = any(
        found.right < found.rounds or found.won_by_one < found.rounds for found, _ in told.values()
    )
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())

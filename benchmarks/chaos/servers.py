"""Let the faults of storage fall on a shared folder and on each S3 server that can hold a lake.

`python -m benchmarks.chaos.servers [--only NAME ...] [--servers NAME ...] [--seed N] [--write]`
runs the faults of `benchmarks.chaos` that a server has a part in: a worker and the driver killed,
a second driver with other splits, and answers that are slow, throttled, cut off or late, which a
folder does not give. It prints a table with a column a place and exits with 1 as
`benchmarks.chaos` does.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pyarrow as pa

from benchmarks.chaos import faults, runs
from benchmarks.chaos.processes.cluster import QUICK, cluster
from benchmarks.chaos.results import undisturbed
from benchmarks.chaos.runs import Aftermath, Scene
from benchmarks.chaos.trials import BOARDS_SEED, driven_apart
from benchmarks.instruments.boards import published_mix
from benchmarks.instruments.report import Section, add_write, command_line, finish
from benchmarks.instruments.s3_faults import BOARDS, KINDS, PAUSE, WHAT, trial_of
from benchmarks.instruments.s3_servers import MOTO, SERVERS, installed, serve, version_of
from benchmarks.tuned import tuned_settings
from nightgrid.solvers.registry import game

FOLDER = "folder"
"""A folder that all hosts share, in the place of a server."""
HEEDING = (MOTO, "seaweedfs", "localbucket")
"""Servers that create a file once; the others are refused
(`python -m benchmarks.runs.store_servers`)."""
TRIALS_MAX = 4
"""A blow that hits no chunk proves nothing, and runs are short: it falls again on another run."""
NOT_THERE = "-"
"""Stands in the place of a fault that a folder has not."""
Trial = Callable[[Path, pa.Table, int, str], Aftermath]


@contextmanager
def _lake_on(place: str, folder: Path) -> Iterator[str]:
    """Name a new lake in a folder, or on a server of its own that runs meanwhile."""
    if place == FOLDER:
        yield str(folder / "lake")
        return
    with serve(place) as endpoint:
        yield f"s3://bucket/lake?endpoint_override={endpoint}"


def _killed(
    fault: Callable[[Scene], None], folder: Path, boards: pa.Table, seed: int, place: str
) -> Aftermath:
    expected = undisturbed(tuned_settings(**{"lake": str(folder / "alone"), **QUICK}), boards)
    with (
        _lake_on(place, folder) as lake,
        cluster(folder, environment=PAUSE, lake=lake) as made,
    ):
        return runs.run(made, boards, fault, seed=seed, expected=expected)


def _apart(folder: Path, _boards: pa.Table, seed: int, place: str) -> Aftermath:
    with _lake_on(place, folder) as lake:
        return driven_apart(folder, seed, lake)


def _bad(kind: str, folder: Path, boards: pa.Table, seed: int, server: str) -> Aftermath:
    return trial_of(kind, server)(folder, boards, boards, seed)


FAULTS: Mapping[str, tuple[str, Trial]] = {
    "worker": ("kill -9 of a worker's main process", partial(_killed, faults.kill_worker)),
    "driver": ("kill -9 of the driver; another starts", partial(_killed, faults.kill_driver)),
    "apart": ("a second driver with other splits", _apart),
    **{
        kind: (f"{WHAT[kind]}; kill -9 of a worker and of the driver", partial(_bad, kind))
        for kind in KINDS
    },
}


def _cell(found: Aftermath | str) -> str:
    """Write what became of a run: rows lost, doubled, differing; chunks in hand; seconds."""
    if isinstance(found, str):
        return found
    rows = f"{found.lost}, {found.doubled}, {len(found.differing)}"
    return f"{rows}; {found.in_hand} of {found.chunks}; {found.seconds:.0f} s"


def _strike(name: str, boards: pa.Table, seed: int, place: str) -> Aftermath | str:
    if place == FOLDER and name in KINDS:
        return NOT_THERE
    found: Aftermath | str = ""
    for number in range(TRIALS_MAX):
        with tempfile.TemporaryDirectory(prefix="nightgrid-chaos-") as folder:
            try:
                found = FAULTS[name][1](Path(folder), boards, seed + number, place)
            except (SystemExit, TimeoutError) as error:
                return f"FAILED: {error}"
        # What is wrong is shown, whether a chunk was in hand or not.
        if found.in_hand or _is_harmed(found):
            break
    return found


def _is_harmed(found: Aftermath) -> bool:
    return bool(found.lost or found.doubled or found.differing)


def _head(place: str) -> str:
    if place == FOLDER:
        return "a shared folder"
    return f"{'moto' if place == MOTO else SERVERS[place].title} {version_of(place)}"


def _with_seed(arguments: Sequence[str], seed: int) -> Sequence[str]:
    """Name the seed among the arguments, so that a run can be made once more."""
    return arguments if "--seed" in arguments else [*arguments, "--seed", str(seed)]


def main() -> int:
    """Let each fault fall on each server, and print what became of the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos.servers")
    parser.add_argument("--only", nargs="+", choices=FAULTS, default=list(FAULTS))
    parser.add_argument("--servers", nargs="+", choices=(FOLDER, *HEEDING))
    parser.add_argument("--seed", type=int, default=None, help="of everything drawn at random")
    add_write(parser)
    options = parser.parse_args()
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    servers = options.servers or [FOLDER, *(name for name in HEEDING if name in installed())]
    print(f"seed: {seed}", flush=True)
    game("pips").warm()
    boards = published_mix(BOARDS, BOARDS_SEED)
    found: dict[tuple[str, str], Aftermath | str] = {}
    for name in options.only:
        for server in servers:
            found[name, server] = _strike(name, boards, seed, server)
            print(f"{name}, {server}: {_cell(found[name, server])}", flush=True)
    heads = [_head(place) for place in servers]
    section = Section(
        name="-".join(["chaos-servers", *(options.servers or ())]),
        title=f"Faults of storage, on a folder and on S3 servers, in runs of {BOARDS:,} boards",
        command=command_line("chaos.servers", _with_seed(sys.argv[1:], seed)),
    )
    section.table(
        ("fault", *heads),
        [
            (FAULTS[name][0], *(_cell(found[name, server]) for server in servers))
            for name in options.only
        ],
    )
    section.say(
        "Each cell: rows lost, doubled and differing from the undisturbed run, compared as bytes; "
        "chunks in hand at the blows, of the run's chunks; seconds of the run. Two hosts of one "
        "worker process each. The second driver works the boards of `apart` in "
        "`python -m benchmarks.chaos`. Bad answers come from a proxy before the server "
        "(`benchmarks/instruments/s3_faults.py`)."
    )
    finish(section, to_results=options.write)
    bad = [
        f"{name}, {server}"
        for (name, server), told in found.items()
        if told != NOT_THERE and (isinstance(told, str) or _is_harmed(told) or not told.in_hand)
    ]
    for text in bad:
        print(f"FAILED: {text}")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())

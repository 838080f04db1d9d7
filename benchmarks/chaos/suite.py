"""Let everything go wrong in the middle of runs, and compare the results byte for byte.

`python -m benchmarks.chaos [--only NAME ...] [--seed N] [--storms N]` works the same generated
Pips boards once in one process, undisturbed, and then once for each fault with a server, a driver
and two hosts of workers, each a process group of its own. It prints a table and exits with 1 if a
job has no row or two, or if the result table differs in any byte but those of `kernel_ns`.
Limits are short (see `QUICK` in `benchmarks/chaos/processes/cluster.py`), so that whatever only a
time limit ends is seen to end.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from benchmarks.chaos import runs
from benchmarks.chaos.bad_store import BAD_ANSWERS
from benchmarks.chaos.processes.cluster import QUICK, cluster
from benchmarks.chaos.processes.places import (
    NotPermittedError,
)
from benchmarks.chaos.results import undisturbed
from benchmarks.chaos.runs import Aftermath
from benchmarks.chaos.surroundings import INNOCENT
from benchmarks.chaos.trials import APART, BLOWS, BOARDS_SEED, PAUSE, PLAIN, storm
from benchmarks.instruments.boards import published_mix
from benchmarks.instruments.report import Section, add_write, finish
from benchmarks.tuned import tuned_settings
from nightgrid.solvers.registry import game

BOARDS = 4_000
STORMS = 3
NOT_PERMITTED = "not permitted on this machine"
RECOVERY_S = tuned_settings(**QUICK).visibility_timeout_seconds + 10.0
"""What one fault may cost at most; a storm's faults come before others are recovered from."""
LENIENT = frozenset({"storm", "stages", "disk", "driver-disk", "network", "words", *BAD_ANSWERS})
"""What is gone for a while, or struck again and again, is not held to it."""


def main() -> int:
    """Run every fault and print what became of the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos")
    parser.add_argument("--boards", type=int, default=BOARDS)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="faults by name")
    parser.add_argument("--seed", type=int, default=None, help="of everything drawn at random")
    parser.add_argument("--storms", type=int, default=STORMS)
    add_write(parser)
    options = parser.parse_args()
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    print(f"seed: {seed}", flush=True)
    # Or hosts would wait for compilers, and the trials for them.
    game("pips").warm()
    boards = published_mix(options.boards, BOARDS_SEED)
    rows: list[tuple[str, Aftermath | str]] = []
    for what, aftermath in _trials(boards, seed, options):
        shown = aftermath if isinstance(aftermath, str) else runs.say(aftermath)
        print(f"{what}: {shown}", flush=True)
        rows.append((what, aftermath))
    return _report(rows, seed, options)


def _trials(
    boards: pa.Table, seed: int, options: argparse.Namespace
) -> Iterator[tuple[str, Aftermath | str]]:
    def wanted(name: str) -> bool:
        return options.only is None or name in options.only

    with _folder() as folder, cluster(folder, environment=PAUSE) as made:
        expected = undisturbed(made.settings, boards)
        for name, (what, fault) in PLAIN.items():
            if wanted(name):
                yield (
                    what or name,
                    runs.run(made, boards, fault, seed=seed, expected=expected),
                )
        for number in range(options.storms if wanted("storm") else 0):
            yield (
                f"{BLOWS} of the above at random, seed {seed + number}",
                storm(made, boards, expected, seed + number),
            )
    for name, (what, trial) in APART.items():
        if wanted(name):
            try:
                with _folder() as folder:
                    yield what, trial(folder, boards, expected, seed)
            except NotPermittedError as error:
                yield what, f"{NOT_PERMITTED}: {error}"
            except TimeoutError as error:
                yield what, str(error)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="nightgrid-chaos-") as folder:
        yield Path(folder)


STRUCK = frozenset(
    what for name, (what, _) in {**PLAIN, **APART}.items() if name not in ("nothing", "guilty")
)
HELD = frozenset(
    what for name, (what, _) in {**PLAIN, **APART}.items() if name not in {*LENIENT, "nothing"}
)


def _report(rows: list[tuple[str, Aftermath | str]], seed: int, options: argparse.Namespace) -> int:
    only = options.only or ()
    section = Section(
        name="-".join(["chaos", *only]),
        title=f"{'Some faults' if only else 'Faults'} in the middle of a run of "
        f"{options.boards:,} boards",
        command=" ".join(
            [
                "python -m benchmarks.chaos",
                *([f"--boards {options.boards}"] if options.boards != BOARDS else ()),
                f"--seed {seed} --storms {options.storms}",
                *(["--only", *only] if only else ()),
            ]
        ),
    )
    worked = [(what, found) for what, found in rows if not isinstance(found, str)]
    section.table(
        (
            "fault",
            "struck",
            "in hand",
            "chunks",
            "executions",
            "duplicate",
            "rows lost",
            "rows doubled",
            "rows differing",
            "recovery s",
            "run s",
        ),
        [
            (
                what,
                len(found.blows),
                found.in_hand,
                found.chunks,
                found.executions,
                found.duplicates,
                found.lost,
                found.doubled,
                len(found.differing),
                "-" if found.recovery_s is None else f"{found.recovery_s:.1f}",
                f"{found.seconds:.1f}",
            )
            for what, found in worked
        ],
    )
    for what, found in rows:
        if isinstance(found, str):
            section.say(f"Not struck: {what}: {found}")
    quick = tuned_settings(**QUICK)
    section.say(
        f"Two hosts of one worker process each, seed {seed}; every chunk is held for "
        f"{PAUSE['NIGHTGRID_CHAOS_PAUSE_S']} s more, so that blows hit work. Executions: chunks "
        "begun; duplicate: begun again. Result tables are compared as bytes, in every column but "
        "`kernel_ns`; counts by stages without what depends on how they are divided, which budgets "
        "of seconds decide. Recovery: the longest that a chunk in hand at a blow took from there "
        "until it was done, or that nothing got done. "
        f"Visibility timeout {quick.visibility_timeout_seconds} s, hard limit "
        f"{quick.hard_limit_seconds:g} s, liveness {quick.tuning.liveness_ttl_seconds:g} s."
    )
    finish(section, to_results=options.write)
    bad = [what for what, found in worked if found.lost or found.doubled or found.differing]
    # A blow that hits nothing proves nothing.
    idle = [what for what, found in worked if what in STRUCK and not found.in_hand]
    late = [what for what, found in worked if what in HELD and (found.recovery_s or 0) > RECOVERY_S]
    missing = [
        what
        for what, found in rows
        if isinstance(found, str) and not found.startswith(NOT_PERMITTED)
    ]
    blamed = [what for what, found in worked if what in INNOCENT and found.failures]
    for what, names in (
        ("rows", bad),
        ("failures counted", blamed),
        ("nothing in hand", idle),
        ("recovery", late),
        ("not struck", missing),
    ):
        if names:
            print(f"FAILED, {what}: {'; '.join(names)}")
    return 1 if bad or blamed or idle or late or missing else 0


if __name__ == "__main__":
    sys.exit(main())

"""Bugs put in on purpose, to see that the fault suite finds them.

`python -m benchmarks.chaos.bugs`. Each is what a careless change would bring. The fault beside it
is struck in the middle of a run with the bug, and the results have to come out wrong, or the run
must not end; but for those of HARMLESS. Exits with 1 if one of them goes through.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.chaos import faults, runs
from benchmarks.chaos.processes.cluster import cluster
from benchmarks.chaos.results import undisturbed
from benchmarks.instruments.boards import published_mix
from benchmarks.instruments.report import Section, add_write, finish
from nightgrid.solvers.registry import game

BOARDS = 1_200
BOARDS_SEED = 7
RUN_S = 40.0
"""A run that has not ended by then has been caught."""
PAUSE = {"NIGHTGRID_CHAOS_PAUSE_S": "0.15"}


BUGS: dict[str, tuple[str, Callable[[runs.Scene], None], str]] = {
    "none": ("none", faults.crash_before_rename, "a child dies"),
    "torn": (
        "a part is written under its name, piece by piece",
        faults.crash_before_rename,
        "crash in the middle of it",
    ),
    "unchecked": (
        "chunk results are read without a look at their sums",
        faults.changed_counts,
        "counts changed by another program",
    ),
    "unsent": ("the driver sends nothing again", faults.crash_before_rename, "a child dies"),
    "drifting": (
        "a chunk that is worked again answers otherwise",
        faults.crash_before_rename,
        "a child dies",
    ),
    "short": (
        "a chunk that is worked again leaves a row out",
        faults.crash_before_rename,
        "a child dies",
    ),
    "at-once": (
        "a second driver finishes what it has not seen worked",
        faults.kill_driver,
        "kill -9 of the driver",
    ),
}
"""By the name of the defect: what it is, the fault that is struck, and what that is."""
HARMLESS = ("none", "torn")
"""What catches everything catches nothing; and half a file is noticed, and its chunk worked again.
"""


def caught(aftermath: runs.Aftermath) -> str:
    """Say how a check failed, or nothing."""
    told = {
        "rows lost": aftermath.lost,
        "doubled": aftermath.doubled,
        "differing": len(aftermath.differing),
    }
    return ", ".join(f"{number} {what}" for what, number in told.items() if number)


def try_bugs(names: Sequence[str]) -> list[tuple[str, str, str]]:
    """Run every bug with its fault; tell what it is, what was struck, and how it was caught."""
    game("pips").warm()
    boards = published_mix(BOARDS, BOARDS_SEED)
    found = []
    for name in names:
        what, fault, struck = BUGS[name]
        with tempfile.TemporaryDirectory(prefix="nightgrid-chaos-") as folder:
            place = Path(folder)
            with cluster(place, environment={**PAUSE, "NIGHTGRID_CHAOS_BUG": name}) as made:
                expected = undisturbed(made.settings, boards)
                try:
                    how = caught(runs.run(made, boards, fault, expected=expected, run_s=RUN_S))
                except SystemExit:
                    how = "the run does not end"
        print(f"{what}; {struck}: {how or 'nothing wrong'}", flush=True)
        found.append((what, struck, how))
    return found


def main() -> int:
    """Try every bug."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos.bugs")
    parser.add_argument("--only", nargs="+", choices=tuple(BUGS), default=tuple(BUGS))
    add_write(parser)
    options = parser.parse_args()
    found = try_bugs(options.only)
    section = Section(
        name="chaos-bugs",
        title="Bugs that the fault suite has to find",
        command="python -m benchmarks.chaos.bugs",
    )
    section.table(
        ("bug", "struck", "caught by"),
        [(what, struck, how or "nothing") for what, struck, how in found],
    )
    finish(section, to_results=options.write)
    harmless = {BUGS[name][0] for name in HARMLESS}
    return 0 if all(bool(how) == (what not in harmless) for what, _, how in found) else 1


if __name__ == "__main__":
    sys.exit(main())

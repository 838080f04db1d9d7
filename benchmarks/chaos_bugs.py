"""Bugs put in on purpose, to see that the fault suite finds them.

`python -m benchmarks.chaos_bugs`. Each is what a careless change would bring. The fault beside it
is struck in the middle of a run with the bug, and the results have to come out wrong, or the run
must not end. Exits with 1 if one of them goes through.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import chaos_faults as faults
from benchmarks import chaos_runs as runs
from benchmarks.report import Section, finish

BOARDS = 1_200
BOARDS_SEED = 7
RUN_S = 40.0
"""A run that has not ended by then has been caught."""
PAUSE = {"NIGHTGRID_CHAOS_PAUSE_S": "0.15"}


def install(name: str) -> None:
    """Put a bug into this process."""
    BUGS[name][1]()


def _torn() -> None:
    """Write parts under their own names, piece by piece."""
    from archive import disk
    from benchmarks.chaos_inject import claim_death

    link = disk.link

    def torn(staged: Path, target: Path) -> bool:
        if target.parent.name == "parts":
            data = staged.read_bytes()
            target.write_bytes(data[: len(data) // 2])
            if claim_death():
                os.kill(os.getpid(), signal.SIGKILL)
            target.write_bytes(data)
            staged.unlink()
            return True
        return link(staged, target)

    disk.link = torn


def _unsent() -> None:
    """Never send a chunk again."""
    from workers.reconciler import Reconciler

    def forget(self: Any, place: tuple[int, int]) -> None:
        self._flights.pop(place, None)

    Reconciler._requeue = forget  # type: ignore[method-assign]  # noqa: SLF001 - a bug inside of it


def _drifting() -> None:
    """Answer otherwise when a chunk is worked again."""
    import pyarrow as pa

    from workers import chunks

    solve_chunk, solve_rows = chunks.solve_chunk, chunks.solve_rows
    attempt = [1]

    def noting(lake: Any, ref: Any, *others: Any) -> Any:
        attempt[0] = ref.attempt
        return solve_chunk(lake, ref, *others)

    def wrong(*arguments: Any) -> Any:
        part = solve_rows(*arguments)
        if attempt[0] == 1:
            return part
        at = part.schema.get_field_index("nodes")
        more = pa.array([n + 1 for n in part.column(at).to_pylist()], part.schema.field(at).type)
        return part.set_column(at, part.schema.field(at), more)

    chunks.solve_chunk, chunks.solve_rows = noting, wrong


def _short() -> None:
    """Leave out the last row when a chunk is worked again."""
    from workers import chunks

    solve_chunk, solve_rows = chunks.solve_chunk, chunks.solve_rows
    attempt = [1]

    def noting(lake: Any, ref: Any, *others: Any) -> Any:
        attempt[0] = ref.attempt
        return solve_chunk(lake, ref, *others)

    def cut(*arguments: Any) -> Any:
        part = solve_rows(*arguments)
        return part if attempt[0] == 1 else part.slice(0, max(1, part.num_rows - 1))

    chunks.solve_chunk, chunks.solve_rows = noting, cut


def _at_once() -> None:
    """Finish a run while chunks are still being worked."""
    from workers.driver import Reconciler

    work = Reconciler.work

    def hasty(self: Any, stop: Any) -> None:
        self._ready.clear()
        work(self, stop)

    Reconciler.work = hasty  # type: ignore[method-assign]


def _none() -> None:
    """Change nothing."""


BUGS: dict[str, tuple[str, Callable[[], None], Callable[[runs.Scene], None], str]] = {
    "none": ("none", _none, faults.crash_before_rename, "a child dies"),
    "torn": (
        "a part is written under its name, piece by piece",
        _torn,
        faults.crash_before_rename,
        "crash in the middle of it",
    ),
    "unsent": (
        "the driver sends nothing again",
        _unsent,
        faults.crash_before_rename,
        "a child dies",
    ),
    "drifting": (
        "a chunk that is worked again answers otherwise",
        _drifting,
        faults.crash_before_rename,
        "a child dies",
    ),
    "short": (
        "a chunk that is worked again leaves a row out",
        _short,
        faults.crash_before_rename,
        "a child dies",
    ),
    "at-once": (
        "a second driver finishes what it has not seen worked",
        _at_once,
        faults.kill_driver,
        "kill -9 of the driver",
    ),
}


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
    from benchmarks.batch import generate_table
    from benchmarks.chaos_cluster import cluster
    from solvers.registry import game

    game("pips").warm()
    boards, _ = generate_table(BOARDS, BOARDS_SEED)
    found = []
    for name in names:
        what, _, fault, struck = BUGS[name]
        with tempfile.TemporaryDirectory(prefix="nightgrid-chaos-") as folder:
            place = Path(folder)
            with cluster(place, environment={**PAUSE, "NIGHTGRID_CHAOS_BUG": name}) as made:
                expected = runs.undisturbed(made.settings, boards)
                try:
                    how = caught(runs.run(made, boards, fault, expected=expected, run_s=RUN_S))
                except SystemExit:
                    how = "the run does not end"
        print(f"{what}; {struck}: {how or 'NOT CAUGHT'}", flush=True)
        found.append((what, struck, how))
    return found


def main() -> int:
    """Try every bug."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos_bugs")
    parser.add_argument("--only", nargs="+", choices=tuple(BUGS), default=tuple(BUGS))
    parser.add_argument("--write", action="store_true", help="put it into benchmarks/RESULTS.md")
    options = parser.parse_args()
    found = try_bugs(options.only)
    section = Section(
        name="chaos-bugs",
        title="Bugs that the fault suite has to find",
        command="python -m benchmarks.chaos_bugs",
    )
    section.table(
        ("bug", "struck", "caught by"),
        [(what, struck, how or "nothing") for what, struck, how in found],
    )
    finish(section, to_results=options.write)
    # What catches everything catches nothing.
    return 0 if all(bool(how) == (what != "none") for what, _, how in found) else 1


if __name__ == "__main__":
    sys.exit(main())

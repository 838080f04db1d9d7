"""Faults of what nights, merges and other programs do to a lake, and of what comes in at its doors.

`python -m benchmarks.chaos.lakes [--only NAME ...]` works payloads of generated Pips boards night
by night, undisturbed, and then once for each fault. It prints a table, and exits with 1 if a job
has no row or two, or if an answer differs in any byte but those of `kernel_ns` and `run_id`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.chaos.harm import HARMS
from benchmarks.chaos.lakes import doors, harmed, merges, nights
from benchmarks.chaos.lakes.nights import Field, Trial
from benchmarks.instruments.report import Section, add_write, command_line, finish
from nightgrid.solvers.registry import game

TRIALS: dict[str, Trial] = {
    "nights": Trial(
        what="two nights on two hosts at once",
        before="boards lost; every later night ended with KeyError",
        strike=nights.two_hosts,
    ),
    "leaseless": Trial(
        what="two nights whose leases fail them, in forced orders of steps",
        before="boards lost; every later night ended with KeyError",
        strike=nights.in_forced_orders,
    ),
    "merge-killed": Trial(
        what="kill -9 of a merge before each of its steps",
        before="files were not merged: night N opened 24 + 4N",
        strike=merges.killed,
    ),
    "merges": Trial(
        what="another merge at each step of a merge",
        before="files were not merged",
        strike=merges.at_once,
    ),
    **{
        f"answers-{kind}": Trial(
            what=f"results/: {kind}; the next night",
            before="every later count ended with exit code 3",
            strike=harmed.harmed(kind),
        )
        for kind in HARMS
    },
    "replaced-boards": Trial(
        what="puzzles/ replaced by as many others, counted again",
        before='"finished before", no row of the others',
        strike=harmed.replaced_boards,
    ),
    "words-change": Trial(
        what="a word list that changes while a count is planned",
        before="planned again and again, for ever",
        strike=doors.changing_words,
    ),
    "later": Trial(
        what="tables of a later version; a night",
        before="written over",
        strike=harmed.later_version,
    ),
    "redirect": Trial(
        what="a source that redirects to another host",
        before="what the other host had was stored",
        strike=doors.redirected,
    ),
    "bombs": Trial(
        what="inputs that expand (tests/service/cli/bombs.py)",
        before="3,140 bytes of Parquet took 11.8 GB",
        strike=doors.bombs_tried,
    ),
}


def main() -> int:
    """Run every trial and print what became of the lake."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos.lakes")
    parser.add_argument("--only", nargs="+", choices=TRIALS, metavar="NAME", default=list(TRIALS))
    add_write(parser)
    options = parser.parse_args()
    game("pips").warm()
    rows, bad = [], []
    with tempfile.TemporaryDirectory(prefix="nightgrid-chaos-") as text:
        field = Field.make(Path(text))
        for name in options.only:
            trial = TRIALS[name]
            begun = time.monotonic()
            with tempfile.TemporaryDirectory(prefix=f"{name}-", dir=text) as folder:
                found = trial.strike(field, Path(folder))
            took = time.monotonic() - begun
            print(f"{trial.what}: {found} ({took:.1f} s)", flush=True)
            told = (found.struck, found.lost, found.doubled, found.differing)
            rows.append((trial.what, trial.before, *told, found.said, f"{took:.1f}"))
            if not found.struck or found.lost or found.doubled or found.differing or found.bad:
                bad.append(f"{trial.what}: {found.bad}".rstrip(": "))
    section = Section(
        name="chaos-lakes",
        title="Faults of nights, of files and at the doors",
        command=command_line("chaos.lakes"),
    )
    section.table(
        (
            *("fault", "before", "struck", "rows lost", "rows doubled", "rows differing"),
            *("what became of it", "s"),
        ),
        rows,
    )
    section.say(
        "Before: what was seen with commit 0643c3d, as far as it had what is struck. Rows: of the "
        "results once the last night or count has ended, compared with those of nights that "
        "nothing disturbed, in every column but `kernel_ns` and `run_id`."
    )
    finish(section, to_results=options.write)
    if bad:
        print(f"FAILED: {'; '.join(bad)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

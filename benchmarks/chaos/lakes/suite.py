"""Faults of what nights and other programs do to a lake.

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
from benchmarks.chaos.lakes import harmed, nights
from benchmarks.chaos.lakes.nights import Field, Trial
from benchmarks.instruments.report import Section, add_write, command_line, finish
from nightgrid.solvers.registry import game

TRIALS: dict[str, Trial] = {
    "nights": Trial(
        what="two nights on two hosts at once",
        strike=nights.two_hosts,
    ),
    "leaseless": Trial(
        what="two nights whose leases fail them, in forced orders of steps",
        strike=nights.in_forced_orders,
    ),
    **{
        f"answers-{kind}": Trial(
            what=f"results/: {kind}; the next night",
            strike=harmed.harmed(kind),
        )
        for kind in HARMS
    },
    "replaced-boards": Trial(
        what="puzzles/ replaced by as many others, counted again",
        strike=harmed.replaced_boards,
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
            rows.append((trial.what, *told, found.said, f"{took:.1f}"))
            if not found.struck or found.lost or found.doubled or found.differing or found.bad:
                bad.append(f"{trial.what}: {found.bad}".rstrip(": "))
    section = Section(
        name="chaos-lakes",
        title="Faults of nights and of files",
        command=command_line("chaos.lakes"),
    )
    section.table(
        (
            *("fault", "struck", "rows lost", "rows doubled", "rows differing"),
            *("what became of it", "s"),
        ),
        rows,
    )
    section.say(
        "Rows: of the results once the last night or count has ended, compared with those of "
        "nights that nothing disturbed, in every column but `kernel_ns` and `run_id`."
    )
    finish(section, to_results=options.write)
    if bad:
        print(f"FAILED: {'; '.join(bad)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

"""Decide a million random boards of Tiles in one call: `python -m benchmarks.kernels.tiles_batch`.

Boards of the published form (30 tiles, 3 layers, 6 to 12 shapes a layer). On every other one a
single feature is exchanged for another, which leaves two features on odd numbers of tiles.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from benchmarks.instruments.report import Section, add_write, command_line, finish
from nightgrid.solvers.algebra import STATUS_CODES, Ask, Budget, Status
from nightgrid.solvers.tiles.check import check_walk
from nightgrid.solvers.tiles.game import TilesGame
from nightgrid.solvers.tiles.generate import Form, generate_arrays
from nightgrid.solvers.tiles.rules import Rules

BOARDS = 1_000_000
SEED = 1
REPEATS = 5
CHECKED = 200
"""Boards that are also taken one by one."""
FIRST = Ask(kind="first")


def run(options: argparse.Namespace) -> None:
    section = Section(
        name="tiles-batch",
        title=f"{options.boards:,} boards of Tiles decided in one call",
        command=options.command,
    )
    game = TilesGame(Rules())
    game.warm()
    generate_arrays(Form(), 0, 1)
    begun = time.process_time()
    arrays = generate_arrays(Form(), options.seed, options.boards, names=False)
    generated_s = time.process_time() - begun
    size = Form().tiles * Form().layers
    spoilt = np.arange(1, options.boards, 2) * size
    feature = arrays["feature.values"]
    # Feature 0 stands on the first tile of every board, and feature 1 beside it.
    feature[spoilt] = feature[spoilt + 1]
    taken = []
    for _ in range(REPEATS):
        wall, busy = time.perf_counter(), time.process_time()
        out = game.solve_batch(arrays, FIRST, Budget())
        taken.append((time.process_time() - busy, time.perf_counter() - wall))
    busy, wall = min(taken)
    counts = np.bincount(out["status"], minlength=len(STATUS_CODES))
    solved = int(counts[STATUS_CODES.index(Status.SOLVED)])
    unsolvable = int(counts[STATUS_CODES.index(Status.UNSOLVABLE)])
    assert (solved, unsolvable) == (options.boards - len(spoilt), len(spoilt))
    few = generate_arrays(Form(), options.seed, CHECKED)
    for row in range(CHECKED):
        puzzle = game.from_arrays(few, row)
        check_walk(puzzle, game.solve(puzzle, FIRST).solutions[0])
    mb = sum(array.nbytes for array in arrays.values()) / 1e6
    section.say(
        "Random boards of 30 tiles with 3 layers of 6 to 12 shapes; every other one with one "
        "feature exchanged for another, so that it cannot be cleared (article 000, Theorem 4). On "
        f"one core, the best of {REPEATS} calls."
    )
    section.table(
        ("boards", "solvable", "not", "s", "s of processor time", "boards/s", "MB of columns"),
        [
            (
                f"{options.boards:,}",
                f"{solved:,}",
                f"{unsolvable:,}",
                f"{wall:.3f}",
                f"{busy:.3f}",
                f"{options.boards / busy:,.0f}",
                f"{mb:,.0f}",
            )
        ],
    )
    section.say(
        f"Boards/s of processor time. Generating the boards took {generated_s:.1f} s. The first "
        f"{CHECKED}, unspoilt, were also cleared one by one, and their walks played."
    )
    finish(section, to_results=options.write)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kernels.tiles_batch", description=__doc__
    )
    parser.add_argument("--boards", type=int, default=BOARDS)
    parser.add_argument("--seed", type=int, default=SEED)
    add_write(parser)
    options = parser.parse_args()
    options.command = command_line("kernels.tiles_batch")
    run(options)


if __name__ == "__main__":
    main()

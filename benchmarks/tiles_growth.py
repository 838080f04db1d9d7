"""Measure how Tiles grows with the board: `python -m benchmarks.tiles_growth`.

One board at a time, from a thousand tiles to a million: deciding it, building a single-combo walk
(article 000, Theorem 4) and, on boards where two tiles share at most one feature, building the
walk without teleports (Theorem 24). Every walk is played by the kernels' own check below.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.report import Section, finish
from solvers.algebra import Ask, Budget
from solvers.compiling import kernel
from solvers.tiles.combo import combo
from solvers.tiles.game import TRAIL_FACTOR, TilesGame
from solvers.tiles.generator import Form, generate_arrays
from solvers.tiles.model import Model, index
from solvers.tiles.solution import Walk
from solvers.tiles.trail import euler_trail, shares_several

SIZES = (1_000, 10_000, 100_000, 1_000_000)
REPEATS = 3


@kernel
def features_left(
    start: np.ndarray, feature: np.ndarray, walk: np.ndarray, alive: np.ndarray, forced: np.ndarray
) -> int:
    """Play a walk, two ascending lists at a time; count what is left, -1 for a wrong move."""
    for step in range(1, len(walk)):
        a, b = walk[step - 1], walk[step]
        i, j = start[a], start[b]
        shared = 0
        rest = 0
        while i < start[a + 1] and j < start[b + 1]:
            if feature[i] == feature[j]:
                if alive[i] and alive[j]:
                    alive[i] = alive[j] = False
                    shared += 1
                i += 1
                j += 1
            elif feature[i] < feature[j]:
                i += 1
            else:
                j += 1
        for k in range(start[a], start[a + 1]):
            rest += alive[k]
        if a == b or (shared > 0) == forced[step] or (shared == 0 and rest > 0):
            return -1
    return alive.sum()


def plays_out(model: Model, walk: Walk) -> bool:
    """Tell whether a walk clears a board in a single combo."""
    steps = np.array(walk.tiles, np.int64)
    forced = np.zeros(len(steps), np.bool_)
    forced[list(walk.teleports)] = True
    alive = np.ones(len(model.feature), np.bool_)
    return bool(features_left(model.start, model.feature, steps, alive, forced) == 0)


def published(tiles: int) -> tuple[Model, dict[str, npt.NDArray[Any]]]:
    """Generate a board of 3 layers of 12 shapes."""
    form = Form(tiles=tiles, shapes_min=12, shapes_max=12)
    arrays = generate_arrays(form, tiles, 1, names=False)
    return index(np.full(tiles, form.layers), arrays["feature.values"], 36), arrays


def grid(tiles: int) -> Model:
    """Build a torus: a feature for each two neighbours, four on each tile, sharing number 1."""
    side = int(tiles**0.5)
    cell = np.arange(side * side, dtype=np.int32).reshape(side, side)
    east, south = cell, cell + side * side
    four = np.stack([east, south, np.roll(east, 1, 1), np.roll(south, 1, 0)], axis=2)
    return index(np.full(side * side, 4), four.reshape(-1), 2 * side * side)


def best_of(action: Any) -> tuple[float, Any]:
    """Time an action; return the least processor seconds and what it gave."""
    taken = []
    for _ in range(REPEATS):
        begun = time.process_time()
        given = action()
        taken.append(time.process_time() - begun)
    return min(taken), given


def run(options: argparse.Namespace) -> None:
    section = Section(
        name="tiles-growth",
        title="Tiles, growing boards: decided and cleared in linear time and memory",
        command=options.command,
    )
    game = TilesGame()
    rows, trails = [], []
    for tiles in (100, *SIZES):
        model, arrays = published(tiles)
        decided_s, _ = best_of(lambda a=arrays: game.solve_batch(a, Ask(kind="first"), Budget()))
        built_s, (walk, used) = best_of(lambda m=model: combo(m))
        assert plays_out(model, walk)
        torus = grid(tiles)
        sharing_s, several = best_of(lambda m=torus: shares_several(m))
        assert not several
        trail_s, trail = best_of(lambda m=torus: euler_trail(m))
        assert trail is not None
        assert not trail.teleports
        assert plays_out(torus, trail)
        if tiles < SIZES[0]:
            continue  # The first one compiles.
        features, edges = len(model.feature), len(torus.feature)
        rows.append(
            (
                f"{tiles:,}",
                f"{features:,}",
                f"{decided_s * 1e3:,.3f}",
                f"{built_s * 1e3:,.2f}",
                f"{built_s / features * 1e9:,.0f}",
                f"{walk.moves:,}",
                f"{len(walk.teleports):,}",
                f"{used / 1e6:,.1f}",
                f"{used / features:,.0f}",
            )
        )
        memory = TRAIL_FACTOR * torus.bytes
        trails.append(
            (
                f"{torus.tile_count:,}",
                f"{edges:,}",
                f"{sharing_s * 1e3:,.2f}",
                f"{trail_s * 1e3:,.2f}",
                f"{(sharing_s + trail_s) / edges * 1e9:,.0f}",
                f"{trail.moves:,}",
                f"{memory / 1e6:,.1f}",
                f"{memory / edges:,.0f}",
            )
        )
    section.say(
        "Three layers of 12 shapes on any number of tiles. Milliseconds of processor time on one "
        "core, the walk as a Python value included; ns and bytes a feature would be constant if "
        "memory were equally fast everywhere. Every walk was played."
    )
    section.table(
        (
            "tiles",
            "features",
            "decide ms",
            "combo ms",
            "ns a feature",
            "moves",
            "forced teleports",
            "MB",
            "bytes a feature",
        ),
        rows,
    )
    section.say(
        "Without teleports, on a torus of tiles that shares one feature with each of its four "
        "neighbours (sharing number 1): showing that no two tiles share more, and building the "
        "Eulerian trail."
    )
    section.table(
        (
            "tiles",
            "features",
            "sharing ms",
            "trail ms",
            "ns a feature",
            "moves",
            "MB",
            "bytes a feature",
        ),
        trails,
    )
    finish(section, to_results=options.write)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tiles_growth", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put it into benchmarks/RESULTS.md")
    options = parser.parse_args()
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    options.command = shlex.join(["python", "-m", "benchmarks.tiles_growth", *arguments])
    run(options)


if __name__ == "__main__":
    main()

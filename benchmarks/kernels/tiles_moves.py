"""The fewest moves that clear a board of Tiles, and proofs: `python -m
benchmarks.kernels.tiles_moves`.

Random boards of the published form and of forms around it. For each: the fewest moves, beside those
of the greedy combo, and whether they are proven within the seconds a board may take.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Sequence

import numpy as np

from benchmarks.instruments.report import Section, add_write, command_line, finish
from nightgrid.solvers.algebra import Ask, Budget, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.tiles.check import check_walk
from nightgrid.solvers.tiles.combo import combo
from nightgrid.solvers.tiles.fewest_moves.fewest import Fewest, fewest_moves
from nightgrid.solvers.tiles.game import TilesGame
from nightgrid.solvers.tiles.generate import Form, generate
from nightgrid.solvers.tiles.model import model_of
from nightgrid.solvers.tiles.puzzle import Puzzle
from nightgrid.solvers.tiles.rules import Rules
from nightgrid.solvers.tiles.solution import Walk

SECONDS = 10.0
FORMS: tuple[tuple[str, Form, int], ...] = (
    ("published: 30 tiles, 3 layers, 6-12 shapes", Form(), 1000),
    ("6 shapes", Form(shapes_min=6, shapes_max=6), 200),
    ("12 shapes", Form(shapes_min=12, shapes_max=12), 200),
    ("2 layers", Form(layers=2), 50),
    ("4 layers", Form(layers=4), 100),
    ("5 layers", Form(layers=5), 10),
    ("60 tiles", Form(tiles=60), 50),
    ("120 tiles", Form(tiles=120), 5),
)
FIRST = Ask(kind="first")


def measured(
    form: Form, boards: int, seconds: float
) -> tuple[list[Fewest], list[int], list[float]]:
    """Answer boards 0, 1, ... of a form; return answers, greedy moves and processor seconds."""
    found, greedy, taken = [], [], []
    for seed in range(boards):
        puzzle = generate(form, seed)
        model = model_of(puzzle)
        greedy.append(combo(model).moves)
        begun = time.process_time()
        fewest = fewest_moves(model, "yes", Budget(seconds=seconds))
        taken.append(time.process_time() - begun)
        assert fewest.walk is not None
        check_walk(puzzle, fewest.walk, Rules())
        found.append(fewest)
    return found, greedy, taken


def spread(values: Sequence[float], form: str = "{:,.0f}") -> str:
    """Write the least, the median and the most."""
    return " / ".join(form.format(v) for v in np.percentile(values, [0, 50, 100]))


def without_teleports(form: Form, boards: int, seconds: float) -> Counter[str]:
    """Count which of boards 0, 1, ... of a form can be cleared without a teleport."""
    game = TilesGame(Rules(teleports="no"))
    ends: Counter[str] = Counter()
    for seed in range(boards):
        puzzle = generate(form, seed)
        outcome = game.solve(puzzle, FIRST, None, Budget(seconds=seconds))
        ends[outcome.status] += 1
        for walk in outcome.solutions:
            check_walk(puzzle, walk, game.bound_rules)
    return ends


def run(options: argparse.Namespace) -> None:
    section = Section(
        name="tiles-moves",
        title="Tiles: the fewest moves that clear a board, with proof",
        command=options.command,
    )
    TilesGame(Rules()).warm()
    rows, ends = [], []
    for name, form, boards in FORMS:
        many = max(1, boards // options.fewer)
        found, greedy, taken = measured(form, many, options.seconds)
        proven = [one for one in found if one.reason is None]
        walks = [one.walk for one in found if one.walk is not None]
        combos = sum(
            1
            for seed, one in enumerate(found)
            if one.walk is not None and is_combo(generate(form, seed), one.walk)
        )
        gap = max(
            (one.walk.moves - one.at_least for one in found if one.walk is not None), default=0
        )
        rows.append(
            (
                name,
                many,
                len(proven),
                gap,
                spread([walk.moves for walk in walks]),
                spread(greedy),
                spread([len(walk.teleports) for walk in walks]),
                combos,
                f"{np.percentile(taken, 50) * 1e3:,.1f}",
                f"{np.percentile(taken, 99) * 1e3:,.0f}",
                f"{max(taken):,.2f}",
            )
        )
        if form.tiles == Form().tiles:
            counts = without_teleports(form, min(many, 50), options.seconds / 2)
            ends.append((name, *(counts[s] for s in _ENDINGS)))
    section.say(
        "A move is every selection after the first tile, teleports included; any teleport is "
        f"allowed. Random boards, at most {options.seconds:g} s each. Moves and teleports: least "
        "/ median / most. Greedy: the combo that is built in linear time. Gap: the most moves "
        "between the shortest walk found and the bound, over all boards of the form. Combos: "
        "boards whose shortest walk is one unbroken combo. Processor time on one core."
    )
    section.table(
        (
            "boards of",
            "boards",
            "proven",
            "gap",
            "fewest moves",
            "greedy moves",
            "teleports",
            "combos",
            "p50 ms",
            "p99 ms",
            "max s",
        ),
        rows,
    )
    section.say(
        "Without any teleport (two tiles share several features, so that article 000 leaves it "
        f"open), at most {options.seconds / 2:g} s each:"
    )
    section.table(("boards of", "a walk exists", "none exists", "not known"), ends)
    finish(section, to_results=options.write)


_ENDINGS = (Status.SOLVED, Status.UNSOLVABLE, Status.OVER_BUDGET)


def is_combo(puzzle: Puzzle, walk: Walk) -> bool:
    """Return whether a walk teleports only from tiles on which nothing is left."""
    try:
        check_walk(puzzle, walk, Rules(teleports="forced"))
    except PermanentError:
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kernels.tiles_moves", description=__doc__
    )
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each board")
    parser.add_argument("--fewer", type=int, default=1, help="divide the numbers of boards by N")
    add_write(parser)
    options = parser.parse_args()
    options.command = command_line("kernels.tiles_moves")
    run(options)


if __name__ == "__main__":
    main()

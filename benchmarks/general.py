"""What the general searches of Pips and Strands cost beside the fast ones.

`python -m benchmarks.general [--boards 6] [--write]`: random boards that both searches of a game
can count, the same pieces and rules, each count compared; processor time and states, tables
included, finding the pieces and compiling not. Then boards that the fast searches cannot take.
"""

from __future__ import annotations

import argparse
import random
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from benchmarks.report import Section, finish, seconds
from solvers.algebra import Ask, Budget, Game, Outcome
from solvers.hard import one_in_three_to_pips, one_in_three_to_strands, subset_sum_to_pips
from solvers.hard.formula import exactly_one
from solvers.hard.planar import random_planar_formula
from solvers.hard.subset_sum import random_subset_sum
from solvers.lexicon.compile import compile_lexicon
from solvers.pips.general import count_generally
from solvers.pips.generator import generate
from solvers.pips.mix import LOOSE
from solvers.registry import game
from solvers.strands.general_engine import GeneralEngine
from solvers.strands.general_pieces import widened
from solvers.strands.pieces import find_pieces
from solvers.strands.puzzle import Puzzle
from solvers.strands.rules import Rules
from solvers.strands.sweep_engine import SweepEngine

BOARDS = 6
BUDGET = Budget(seconds=60.0)
COUNT, FIRST = Ask(kind="count"), Ask(kind="first")
ROWS, COLUMNS, LETTERS, WORDS = 8, 6, "ABCDEF", 120
PIPS_DOMINOES = 8
FORMULAS = ((20, 12), (80, 30), (150, 60))
"""Variables and clauses."""
SUMS = (30, 40)
"""Numbers, each up to 10^9."""
Cost = tuple[float, int]
"""Processor seconds and states."""


def _strands(rules: Rules, boards: int) -> tuple[list[Cost], list[Cost]]:
    rng = random.Random(7)
    words = {"".join(rng.choices(LETTERS, k=rng.choice([3, 4, 4, 5, 6]))) for _ in range(WORDS)}
    lexicon = compile_lexicon((word, 300) for word in sorted(words))
    fast, slow = [], []
    for _ in range(boards):
        board = Puzzle(board=tuple("".join(rng.choices(LETTERS, k=COLUMNS)) for _ in range(ROWS)))
        found = find_pieces(board, rules, lexicon)
        wide = widened(found)
        counts = []
        for costs, engine_of in (
            (fast, lambda: SweepEngine(board, rules, found, BUDGET, exists=False)),  # noqa: B023
            (slow, lambda: GeneralEngine(board, rules, wide, BUDGET, exists=False)),  # noqa: B023
        ):
            started = time.process_time()
            engine = engine_of()
            counts.append(engine.value(engine.root)[0])
            costs.append((time.process_time() - started, engine.statistics().states))
        _check(counts)
    return fast, slow


def _pips(boards: int) -> tuple[list[Cost], list[Cost]]:
    pips = game("pips")
    mix = replace(LOOSE, dominoes=((PIPS_DOMINOES, 1.0),), rows=4, cols=PIPS_DOMINOES // 2)
    fast, slow = [], []
    for seed in range(boards):
        puzzle, _ = generate(mix, seed)
        counts = []
        for costs, count in (
            (fast, lambda: pips.solve(puzzle, COUNT, None, BUDGET)),  # noqa: B023
            (slow, lambda: count_generally(puzzle, None, BUDGET)),  # noqa: B023
        ):
            started = time.process_time()
            outcome: Outcome[object] = count()
            costs.append((time.process_time() - started, outcome.statistics.states))
            counts.append(outcome.count)
        _check(counts)
    return fast, slow


def _check(counts: list[int | None]) -> None:
    if any(a != b for a, b in pairwise(counts)):
        raise AssertionError(f"two searches disagree: {counts}")


def _row(name: str, fast: list[Cost], slow: list[Cost]) -> tuple[str, ...]:
    (fast_s, fast_states), (slow_s, slow_states) = (
        (sum(s for s, _ in costs), sum(n for _, n in costs)) for costs in (fast, slow)
    )
    return (
        name,
        f"{fast_states:,}",
        f"{slow_states:,}",
        seconds(fast_s),
        seconds(slow_s),
        f"{1e6 * fast_s / fast_states:.2f}",
        f"{1e6 * slow_s / slow_states:.2f}",
    )


def _beyond(name: str, size: int, bound: Game[object, object], puzzle: object) -> tuple[str, ...]:
    cells = [name, f"{size:,}"]
    for ask in (COUNT, FIRST):
        started = time.process_time()
        outcome = bound.solve(puzzle, ask, None, BUDGET)
        took = time.process_time() - started
        cells += [seconds(took), f"{outcome.statistics.states:,}"]
        if ask is COUNT:
            engine = outcome.statistics.engine
            count = outcome.count or 0
            text = f"{count:,}" if count < 10**12 else f"{count:.2e}"
            cells.append("10^38 or more" if outcome.count is None else text)
    return (*cells, engine)


def run(options: argparse.Namespace) -> None:
    """Measure both games, then what only the general searches take."""
    section = Section(
        name="general",
        title="The general searches beside the fast ones",
        command=options.command,
    )
    for bound in (game("pips"), game("strands", "", compile_lexicon([("AB", 500)]))):
        bound.warm()
    loose = Rules(
        spangram="off", words="any", crossing=True, repeats=True, min_letters=1, compound_parts=1
    )
    rows = []
    for name, rules in (
        ("Strands, words cross and repeat", loose),
        ("Strands, they repeat", replace(loose, crossing=False)),
        ("Strands, neither", replace(loose, crossing=False, repeats=False)),
    ):
        _strands(rules, 1)
        rows.append(_row(name, *_strands(rules, options.boards)))
    rows.append(_row(f"Pips, {PIPS_DOMINOES} loose dominoes", *_pips(options.boards)))
    section.say(
        f"{options.boards} random boards a row that both searches count alike. Strands: {ROWS} x "
        f"{COLUMNS}, {len(LETTERS)} letters, up to {WORDS} words; sweep and general search. Pips: "
        "layers and the general search tile by tile, which is not compiled."
    )
    section.table(
        ("boards", "fast states", "general states", "fast s", "general s", "fast us/state",
         "general us/state"), rows,
    )  # fmt: skip
    section.say("Boards of article 000's reductions, by whichever search they go to:")
    hard = []
    makers: tuple[tuple[str, Callable[..., object]], ...] = (
        ("Strands", one_in_three_to_strands.reduce),
        ("Pips", one_in_three_to_pips.reduce),
    )
    for title, reduce in makers:
        for variables, clauses in FORMULAS:
            reduced = reduce(random_planar_formula(variables, clauses, 3, exactly_one))
            name = f"{title}, {variables} variables, {clauses} clauses"
            hard.append(_beyond(name, _size(reduced.puzzle), reduced.bind(), reduced.puzzle))
    for numbers in SUMS:
        reduced = subset_sum_to_pips.reduce(random_subset_sum(numbers, 10**9, 1, planted=True))
        name = f"Pips, subset sum of {numbers}"
        hard.append(_beyond(name, 2 * numbers, reduced.bind(), reduced.puzzle))
    section.table(
        ("board", "cells", "count s", "states", "solutions", "first s", "states", "engine"), hard
    )
    finish(section, to_results=options.write)


def _size(puzzle: object) -> int:
    return puzzle.cell_count if isinstance(puzzle, Puzzle) else len(puzzle.cells)


def main() -> None:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.general", description=__doc__)
    parser.add_argument("--boards", type=int, default=BOARDS, help="random boards of each kind")
    parser.add_argument("--write", action="store_true", help="put it into benchmarks/RESULTS.md")
    options = parser.parse_args()
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    options.command = shlex.join(["python", "-m", "benchmarks.general", *arguments])
    run(options)


if __name__ == "__main__":
    main()

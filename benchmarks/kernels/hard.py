"""See how far the solvers get with boards made of hard problems: `python -m
benchmarks.kernels.hard`.

Instances that can be solved, of growing size, one seed each; the first that takes longer than the
limit is the last of its kind. With `--exhaustive` every small instance is compared with
brute force instead.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.instruments.report import Section, add_write, command_line, finish
from benchmarks.kernels.hard_sweeps import SWEEPS
from nightgrid.solvers.algebra import Ask, Budget, Outcome, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reductions.catalogue import Made, make, reduction
from nightgrid.solvers.reductions.reduced import Reduced

SECONDS = 60.0
SEED = 1
TABLE_BYTES = 2 * 1024**3
WARMING = 3
"""Boards of each kind that are solved once before they are measured."""
_FORMULAS = (1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 64, 80, 96, 128, 192, 256, 384, 512)
_GROWING: tuple[tuple[str, dict[str, Any], tuple[int, ...]], ...] = (
    ("nae-letterboxed", {}, _FORMULAS[2:]),
    ("matching-letterboxed", {}, tuple(range(2, 41))),
    ("matching-letterboxed", {"sides": 6}, tuple(range(2, 21))),
    ("planar-pips", {}, _FORMULAS),
    ("planar-pips", {"connected": True}, _FORMULAS),
    ("sum-pips", {}, tuple(range(4, 101, 4))),
    ("planar-strands", {}, _FORMULAS),
    ("planar-strands", {"diagonal": False}, _FORMULAS),
    ("planar-strands", {"blocks_size": 3}, _FORMULAS),
    ("flow-strands", {}, tuple(range(2, 21))),
)
_VARIANTS = {
    "sides": "{} sides",
    "connected": "connected",
    "diagonal": "no diagonals",
    "blocks_size": "blocks of {0} x {0}",
}


def _measure(options: argparse.Namespace) -> None:
    section = Section(
        name="hard",
        title=f"Boards made of hard problems, at most {options.seconds:g} s each, one core",
        command=options.command,
    )
    rows: list[tuple[object, ...]] = []
    for name, variant, sizes in _GROWING:
        if options.only and name not in options.only:
            continue
        for row, go_on in _grow(name, variant, sizes, options):
            rows.append(row)
            print(*row, sep="  ", file=sys.stderr, flush=True)
            if not go_on:
                break
    section.table(
        ("reduction", "size", "board", "status", "s", "states", "engine"),
        rows,
    )
    section.say(
        f"One planted instance of each size (seed {SEED}), asked for a solution (`first`); time is "
        f"that of the call, kernels compiled before. Sizes count clauses, elements of a set, "
        f"numbers, or rows and columns. Every answer is mapped back and checked against its "
        f"instance, outside the time. The last row of each kind is the first that took longer "
        f"than the limit, or has no room on a board."
    )
    finish(section, to_results=options.write)


def _grow(
    name: str, variant: dict[str, Any], sizes: Iterable[int], options: argparse.Namespace
) -> Iterator[tuple[tuple[object, ...], bool]]:
    """Solve boards of growing size; give a row for each, and whether to go on."""
    of = reduction(name)
    said = ", ".join(_VARIANTS[key].format(value) for key, value in variant.items())
    label = f"{name} ({said})" if said else name
    for i, size in enumerate(sizes):
        try:
            made = make(of, of.problem.random(size, SEED, True), **variant)
            game = made.reduced.bind()
        except PermanentError as error:
            yield (label, size, "", f"refused: {error}", "", "", ""), False
            return
        if i < WARMING:
            # Whatever compiles for boards of this kind does so now.
            game.solve(made.reduced.puzzle, Ask(kind="first"))
        started = time.perf_counter()
        outcome = game.solve(
            made.reduced.puzzle,
            Ask(kind="first"),
            None,
            Budget(nodes=10**15, table_bytes=TABLE_BYTES, seconds=options.seconds),
        )
        taken = time.perf_counter() - started
        status = _status(made, outcome)
        row = (
            label,
            size,
            _board(made.reduced),
            status,
            f"{taken:,.3f}",
            f"{outcome.statistics.states:,}",
            outcome.statistics.engine or "",
        )
        yield row, outcome.status is Status.SOLVED and taken < options.seconds


def _status(made: Made, outcome: Outcome[Any]) -> str:
    if outcome.status is not Status.SOLVED:
        return f"{outcome.status}: {outcome.reason}"
    try:
        made.solution_of(outcome.solutions[0])
    except PermanentError as error:
        return f"solved, not mapped back: {error}"
    return str(outcome.status)


def _board(reduced: Reduced[Any, Any]) -> str:
    puzzle = reduced.puzzle
    if reduced.game == "strands":
        return f"{puzzle.row_count} x {puzzle.column_count} cells"
    if reduced.game == "pips":
        return f"{len(puzzle.cells):,} cells"
    longest = max(map(len, puzzle.dictionary))
    return f"{len(puzzle.sides)} sides, {puzzle.letter_count:,} letters, words to {longest:,}"


def _exhaustive(options: argparse.Namespace) -> None:
    section = Section(
        name="hard-exhaustive",
        title="Every small instance of every reduction against brute force",
        command=options.command,
    )
    rows = []
    for name, instances, compare in SWEEPS:
        started = time.perf_counter()
        seen = Counter[bool]()
        for instance in instances():
            seen[compare(instance)] += 1
        taken = time.perf_counter() - started
        rows.append(
            (name, f"{seen.total():,}", f"{seen[True]:,}", f"{seen[False]:,}", f"{taken:,.1f}")
        )
        print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    section.table(("instances", "all", "solvable", "unsolvable", "s"), rows)
    section.say(
        "The solver's count is the number of brute force's answers, each as often as the "
        "construction says, on every one; a solution of the board, mapped back, is one of them. "
        "Formulas are taken once for all names of their variables; those without a rectilinear "
        "embedding are left out where one is needed."
    )
    finish(section, to_results=options.write)


def main() -> None:
    """Measure, or compare, as the command line says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels.hard", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="most for one board")
    parser.add_argument("--only", nargs="+", metavar="REDUCTION", help="only these reductions")
    parser.add_argument(
        "--exhaustive", action="store_true", help="compare all small instances with brute force"
    )
    add_write(parser)
    options = parser.parse_args()
    options.command = command_line("kernels.hard")
    (_exhaustive if options.exhaustive else _measure)(options)


if __name__ == "__main__":
    main()

"""Count all solutions of the published hard boards: nightgrid, CP-SAT, tiling trees.

`python -m benchmarks.kernels.published`: one core, warm, every count compared with the article's.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.instruments.boards import archive_folder
from benchmarks.instruments.report import Section, add_write, command_line, finish, ms, seconds
from benchmarks.kernels import tiling_trees
from nightgrid.solvers.algebra import Ask, Outcome, Statistics
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.registry import game
from tests.oracles import cp_sat

COUNT, FIRST = Ask(kind="count"), Ask(kind="first")
REPEATS = 20
CP_SAT_LIMIT_S = 60.0
TREES_LIMIT_S = 300.0
SHOWN = 12
"""Boards listed one by one: those that take nightgrid longest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One board, by every program. Times in nanoseconds for ours, in seconds for the others."""

    date: str
    count: int
    cost: Statistics
    count_ns: int
    first_ns: int
    wall_ns: int
    cp_sat: cp_sat.Enumeration
    trees: tiling_trees.Backtracking


def article_counts(folder: Path) -> dict[str, int]:
    """Read the article's number of solutions of every hard board that it counted, by date."""
    with (folder / "pips-published-counts" / "brianberns_hard_counts.csv").open(newline="") as file:
        return {row["date"]: int(row["readme"]) for row in csv.DictReader(file) if row["readme"]}


def hard_boards(folder: Path) -> list[tuple[str, dict[str, Any], int]]:
    """Read (date, board, the article's count) of every hard board that the article counted."""
    counts = article_counts(folder)
    return [
        (date, json.loads((folder / "pips" / f"{date}.json").read_text())["hard"], count)
        for date, count in sorted(counts.items())
    ]


def fastest(solve: Callable[[], Outcome[Any]], repeats: int) -> tuple[Outcome[Any], int, int]:
    """Solve repeatedly; return the outcome, the least kernel time and the least wall time."""
    kernel_ns, wall_ns = [], []
    for _ in range(repeats):
        begun = time.perf_counter_ns()
        outcome = solve()
        wall_ns.append(time.perf_counter_ns() - begun)
        kernel_ns.append(outcome.statistics.kernel_ns)
    return outcome, min(kernel_ns), min(wall_ns)


def measure(
    date: str, board: dict[str, Any], expected: int, options: argparse.Namespace
) -> Measured:
    """Measure one board with every program, and stop everything if a count is wrong."""
    pips = game("pips")
    puzzle = Puzzle.from_json(board)
    counted, count_ns, wall_ns = fastest(lambda: pips.solve(puzzle, COUNT), options.repeats)
    first, first_ns, _ = fastest(lambda: pips.solve(puzzle, FIRST), options.repeats)
    by_cp_sat = cp_sat.count_solutions(board, time_limit_s=options.cp_sat_limit)
    by_trees = tiling_trees.count_solutions(board, time_limit_s=options.trees_limit)
    for who, count, complete in (
        ("nightgrid", counted.count, True),
        ("CP-SAT", by_cp_sat.count, by_cp_sat.complete),
        ("tiling trees", by_trees.count, by_trees.complete),
    ):
        if count is None or (count != expected if complete else count > expected):
            raise SystemExit(f"{date}: {who} counts {count}, the article {expected}")
    assert len(first.solutions) == 1
    return Measured(
        date=date,
        count=expected,
        cost=counted.statistics,
        count_ns=count_ns,
        first_ns=first_ns,
        wall_ns=wall_ns,
        cp_sat=by_cp_sat,
        trees=by_trees,
    )


def report(boards: list[Measured], options: argparse.Namespace) -> Section:
    """Lay the measurements out."""
    section = Section(
        name="published",
        title=f"All solutions of {len(boards)} published hard boards, one core, warm",
        command=options.command,
    )
    ours = sum(board.count_ns for board in boards)
    programs = (
        ("nightgrid, kernel", [(b.count_ns / 1e9, True) for b in boards]),
        ("nightgrid, call from Python", [(b.wall_ns / 1e9, True) for b in boards]),
        ("OR-Tools CP-SAT, enumerating", [(b.cp_sat.wall_s, b.cp_sat.complete) for b in boards]),
        ("tiling trees, compiled", [(b.trees.search_s, b.trees.complete) for b in boards]),
    )
    rows = []
    for name, times in programs:
        total = sum(taken for taken, _ in times)
        worst, worst_complete = max(times)
        complete = all(done for _, done in times)
        open_boards = sum(not done for _, done in times)
        rows.append(
            (
                name,
                seconds(total, complete=complete),
                seconds(worst, complete=worst_complete),
                f"{'' if complete else '> '}{total * 1e9 / ours:,.1f}",
                open_boards,
            )
        )
    head = ("program", "total s", "worst s", "times nightgrid", "boards not finished")
    section.table(head, rows)
    worst_board = max(boards, key=lambda b: b.count_ns)
    slower = [
        f"{b.date} by {(b.first_ns - b.count_ns) / 1e3:.1f} us"
        for b in boards
        if b.first_ns > b.count_ns
    ]
    section.say(
        f"Every count equals the article's. Kernel time: {ms(ours)} ms in total, "
        f"{ms(worst_board.count_ns)} ms for the worst ({worst_board.date}), "
        f"{sum(b.cost.states for b in boards):,} states, {sum(b.cost.nodes for b in boards):,} "
        f"nodes. Least of {options.repeats} repeats per board for nightgrid; one run for the "
        f"others, at most {options.cp_sat_limit:g} s a board for CP-SAT (one worker, building the "
        f"model not counted) and {options.trees_limit:g} s for the tiling trees (building the "
        f"forest not counted). `>`: at least, since boards were not finished."
    )
    section.say(
        f"`first`: {ms(sum(b.first_ns for b in boards))} ms in total; slower than `count` on "
        f"{len(slower)} of {len(boards)} boards{': ' if slower else ''}{', '.join(slower)}."
    )
    section.table(
        ("date", "solutions", "states", "count ms", "first ms", "CP-SAT s", "tiling trees s"),
        [
            (
                b.date,
                f"{b.count:,}",
                f"{b.cost.states:,}",
                ms(b.count_ns),
                ms(b.first_ns),
                seconds(b.cp_sat.wall_s, complete=b.cp_sat.complete),
                seconds(b.trees.search_s, complete=b.trees.complete),
            )
            for b in sorted(boards, key=lambda b: -b.count_ns)[: options.shown]
        ],
    )
    return section


def main() -> None:
    """Measure every board by every program and print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kernels.published", description=__doc__
    )
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--cp-sat-limit", type=float, default=CP_SAT_LIMIT_S, metavar="S")
    parser.add_argument("--trees-limit", type=float, default=TREES_LIMIT_S, metavar="S")
    parser.add_argument("--shown", type=int, default=SHOWN, metavar="BOARDS")
    add_write(parser)
    options = parser.parse_args()
    options.command = command_line("kernels.published")
    game("pips").warm()
    warm = {
        "dominoes": [[0, 1], [2, 2]],
        "regions": [
            {"type": "sum", "target": 3, "indices": [[0, 0], [0, 1]]},
            {"type": "empty", "indices": [[1, 0], [1, 1]]},
        ],
    }
    tiling_trees.count_solutions(warm)
    boards = [measure(*board, options) for board in hard_boards(archive_folder())]
    finish(report(boards, options), to_results=options.write)


if __name__ == "__main__":
    main()

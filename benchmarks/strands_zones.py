"""Count published Strands boards with zones and without: what zones cost and what they gain.

`python -m benchmarks.strands_zones [--boards 1000] [--least 1.5] [--into 4]`: of so many boards,
those that take long enough to be worth dividing; the same board, rules and pieces

- by zones, whole, in one process;
- by zones, divided by spangrams into parts that two processes take one after the other, each with
  a memory of its own, and merged;
- zoneless: the very same search, but cells that fall apart stay one state;
- swept: the other search, cell by cell, which knows of no zones.

Work is states, nodes and processor time, finding the pieces and dividing included.
"""

from __future__ import annotations

import argparse
import os
import shlex
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from types import FunctionType
from typing import Any
from unittest import mock

import numba

from archive.lexicons import default_lexicon
from benchmarks.published import archive_folder
from benchmarks.report import Section, finish, seconds
from benchmarks.strands_compare import Board, boards_of
from solvers.algebra import Ask, Budget, Outcome, Statistics
from solvers.strands import game as strands_game
from solvers.strands import roots, zone_engine, zones
from solvers.strands.cover import Cover
from solvers.strands.game import StrandsGame
from solvers.strands.pieces import Found
from solvers.strands.puzzle import Puzzle
from solvers.strands.rules import Rules
from solvers.strands.sweep_engine import SweepEngine

COUNT = Ask(kind="count")
PROCESSES = 2
LIMIT_S = 60.0
SWEPT_S = 5.0
"""Limit of the other search, which would take minutes."""
LEAST_S = 1.5
"""A board that takes so long is worth dividing."""
COST_MAX = 1.3
"""What zones may cost in all work, as a multiple of a run without them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What counting one board one way took."""

    count: int | None
    """None where the limit ended it."""
    work: Statistics
    cpu_s: float
    """Processor time of all processes together."""
    longest_s: float
    """Processor time of the process that worked most: the wall time of a machine with a core for
    each and nothing else to do."""
    wall_s: float


def zoneless() -> Any:
    """Compile the search anew with one difference: what falls apart is never taken apart.

    Cells that can take no word are still seen by the zones that they are in.
    """
    options = {"nogil": True, "error_model": "numpy", "_nrt": False}

    def always(*_: Any) -> bool:
        return True

    def again(kernel: Any, names: dict[str, Any]) -> FunctionType:
        function = kernel.py_func
        return FunctionType(function.__code__, names, function.__name__, function.__defaults__)

    # Not cached: under the same names on disk lies the search with zones.
    names = {**vars(zones), "zones_share_words": numba.njit(**options)(always)}
    enter = vars(zones)["_enter"]
    names["_enter"] = numba.njit(forceinline=True, **options)(again(enter, names))
    cover = numba.njit(**options)(again(zones.cover, names))
    beside = {**vars(roots), "cover": cover}
    return numba.njit(**options)(again(roots.cover_beside, beside))


def _swept(
    puzzle: Puzzle, rules: Rules, found: Found, budget: Budget, *, exists: bool
) -> SweepEngine:
    return SweepEngine(puzzle, rules, found, budget, exists=exists)


def whole(board: Board, game: StrandsGame, limit_s: float) -> Run:
    """Count a board in this process."""
    forgetful = StrandsGame(game.bound_rules, game.lexicon)
    wall, cpu = time.perf_counter(), time.process_time()
    outcome = forgetful.solve(board.puzzle, COUNT, None, Budget(seconds=limit_s))
    taken = time.process_time() - cpu
    return Run(
        count=outcome.count,
        work=outcome.statistics,
        cpu_s=taken,
        longest_s=taken,
        wall_s=time.perf_counter() - wall,
    )


def divided(board: Board, game: StrandsGame, pool: ProcessPoolExecutor, into: int) -> Run:
    """Count a board in parts by two processes, and merge."""
    forgetful = StrandsGame(game.bound_rules, game.lexicon)
    wall, cpu = time.perf_counter(), time.process_time()
    parts = forgetful.split(board.puzzle, COUNT, None, into)
    done = list(pool.map(_part, [board.puzzle] * len(parts), parts))
    merged = forgetful.merge(board.puzzle, COUNT, [outcome for outcome, _, _ in done])
    own = time.process_time() - cpu
    by_process: dict[int, float] = {}
    for _, process, taken in done:
        by_process[process] = by_process.get(process, 0.0) + taken
    return Run(
        count=merged.count,
        work=merged.statistics,
        cpu_s=own + sum(by_process.values()),
        longest_s=own + max(by_process.values()),
        wall_s=time.perf_counter() - wall,
    )


_game: StrandsGame


def _start() -> None:
    global _game
    _game = StrandsGame(Rules(), default_lexicon())
    _game.warm()


def _part(puzzle: Puzzle, part: dict[str, Any]) -> tuple[Outcome[Cover], int, float]:
    begun = time.process_time()
    outcome = _game.solve(puzzle, COUNT, part)
    return outcome, os.getpid(), time.process_time() - begun


def measure(
    boards: list[Board], into: int, least_s: float, limit_s: float
) -> list[tuple[Board, Run, Run, Run, Run]]:
    """Count every board in the four ways; end with an error where counts differ."""
    game = StrandsGame(Rules(), default_lexicon())
    game.warm()
    together = zoneless()
    found = []
    with ProcessPoolExecutor(
        PROCESSES, mp_context=get_context("spawn"), initializer=_start
    ) as pool:
        divided(boards[0], game, pool, into)
        with mock.patch.object(zone_engine, "cover_beside", together):
            whole(boards[0], game, 1.0)
        with mock.patch.object(strands_game, "engine_for", _swept):
            whole(boards[0], game, 1.0)
        for board in boards:
            by_zones = whole(board, game, limit_s)
            if by_zones.cpu_s < least_s:
                continue
            by_two = divided(board, game, pool, into)
            with mock.patch.object(zone_engine, "cover_beside", together):
                without = whole(board, game, limit_s)
            with mock.patch.object(strands_game, "engine_for", _swept):
                swept = whole(board, game, SWEPT_S)
            runs = (by_zones, by_two, without, swept)
            print(
                board.date,
                *(f"{r.count} {r.work.nodes} {r.cpu_s:.3f}" for r in runs),
                sep="  ",
                file=sys.stderr,
                flush=True,
            )
            if len({run.count for run in runs if run.count is not None}) != 1:
                raise SystemExit(f"{board.date}: the counts differ")
            found.append((board, *runs))
    return found


def report(found: list[tuple[Board, Run, Run, Run, Run]], options: argparse.Namespace) -> Section:
    """Lay the measurements out, the boards with most work first."""
    section = Section(
        name="strands_zones",
        title=f"Zones on the {len(found)} of {options.looked_at} published Strands boards that "
        f"take {options.least:g} s and more: work, and two processes",
        command=options.command,
    )
    section.table(
        (
            "all boards",
            "states",
            "nodes",
            "processor s",
            "of the busier process",
            "wall s",
            "worst board, processor s",
            "not finished",
        ),
        [
            (
                name,
                f"{sum(r.work.states for r in runs):,}",
                f"{sum(r.work.nodes for r in runs):,}",
                *(
                    f"{sum(getattr(r, f) for r in runs):.2f}"
                    for f in ("cpu_s", "longest_s", "wall_s")
                ),
                seconds(max(r.cpu_s for r in runs)),
                sum(r.count is None for r in runs),
            )
            for name, runs in zip(
                (
                    "zones, one process",
                    f"zones, {PROCESSES} processes, {options.into} parts",
                    "zoneless",
                    "swept",
                ),
                list(zip(*found, strict=True))[1:],
                strict=True,
            )
        ],
    )
    whole_work, two, without = (
        [row[i] for row in found] for i in (1, 2, 3)
    )  # fmt: skip
    over = [
        sum(r.cpu_s for r in runs) / sum(r.cpu_s for r in without) for runs in (whole_work, two)
    ]
    nodes = [
        sum(r.work.nodes for r in runs) / sum(r.work.nodes for r in without)
        for runs in (whole_work, two)
    ]
    gain = sum(r.longest_s for r in whole_work) / sum(r.longest_s for r in two)
    section.say(
        f"Work of zones as a multiple of the zoneless run's: {over[0]:.2f} of its processor time "
        f"and {nodes[0]:.2f} of its nodes in one process, {over[1]:.2f} and {nodes[1]:.2f} "
        f"divided among two that share no memory (bound: {COST_MAX}). Two processes with a core "
        f"each are {gain:.2f} times as fast as one. Dividing and each of the two processes "
        "find the pieces anew, which is in these figures. The zoneless run still gives up what "
        "leaves a zone too few cells, and takes no zone by itself. Median board, processor s: "
        + ", ".join(
            f"{name} {statistics.median(r.cpu_s for r in runs):.3f}"
            for name, runs in (("zones", whole_work), ("divided", two), ("zoneless", without))
        )
        + f". All counts of tries that finished are equal. A try ends after {options.seconds:g} s, "
        f"swept after {SWEPT_S:g} s."
    )
    section.table(
        ("board", "covers", "zones s", "divided s", "of the busier", "zoneless s", "swept s"),
        [
            (
                board.date,
                f"{a.count:,}",
                seconds(a.cpu_s),
                seconds(b.cpu_s),
                seconds(b.longest_s),
                seconds(c.cpu_s, complete=c.count is not None),
                seconds(d.cpu_s, complete=d.count is not None),
            )
            for board, a, b, c, d in sorted(found, key=lambda row: -row[1].cpu_s)
        ],
    )
    return section


def main() -> None:
    """Read the options and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.strands_zones")
    parser.add_argument("--boards", type=int, default=1000, help="boards to look at")
    parser.add_argument("--least", type=float, default=LEAST_S, help="seconds a board has to take")
    parser.add_argument("--into", type=int, default=4, help="parts to divide a board into")
    parser.add_argument("--seconds", type=float, default=LIMIT_S, help="limit of one try")
    parser.add_argument("--write", action="store_true", help="put it into benchmarks/RESULTS.md")
    options = parser.parse_args()
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    options.command = shlex.join(["python", "-m", "benchmarks.strands_zones", *arguments])
    boards = boards_of(archive_folder(), options.boards)
    options.looked_at = len(boards)
    finish(
        report(measure(boards, options.into, options.least, options.seconds), options),
        to_results=options.write,
    )


if __name__ == "__main__":
    main()

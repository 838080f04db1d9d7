"""The published and generated boards that take longest, and some that are quick."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.instruments.boards import loose_board, published_files
from nightgrid.archive.words.binding import bind_game
from nightgrid.solvers.algebra import Ask, Budget, Status
from nightgrid.solvers.strands.puzzle import Puzzle as StrandsPuzzle

ASKS = {"strands": Ask(kind="best", limit=3), "pips": Ask(kind="count")}
TASK_S = 60.0
"""What one task may take here: the comparison is of one task in several processes, not of runs."""
LOOSE_SEEDS = 30
QUICK_DOMINOES = (8, 10, 11, 12)
"""Dominoes of loose boards that mostly take less than a second."""
SMALL_S = 1.0
STRETCHES, SAMPLED = 8, 0.1
"""Stretches of a board's first choices that are worked to tell how long the whole may take, and
the share of all that they are together."""
CANDIDATES = 2
"""Boards that are solved for each of the slowest that is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A board and what it took in this process, without end for one that it did not solve."""

    game: str
    name: str
    puzzle: Any
    alone_s: float


def chosen(options: argparse.Namespace) -> dict[str, list[Board]]:
    """Find the slowest boards of Strands and of Pips, and quick ones of both."""
    strands, quick_strands = _strands(options)
    pips = _solved(_loose([options.dominoes], range(options.seeds)))
    each = -(-options.small // len(QUICK_DOMINOES))
    quick_pips = _loose(QUICK_DOMINOES, range(1000, 1000 + each))
    return {
        "Strands": _solved(strands)[: options.boards],
        "Pips": pips[: options.boards],
        "quick Strands": _quick(quick_strands, options.small),
        "quick Pips": _quick(quick_pips, options.small),
    }


def _solved(boards: Sequence[Board]) -> list[Board]:
    """Leave boards out that one process did not solve: they may become runs."""
    solved = [board for board in boards if board.alone_s < math.inf]
    if unsolved := len(boards) - len(solved):
        print(f"\nleft out: {unsolved}", file=sys.stderr)
    return solved


def _quick(boards: Sequence[Board], most: int) -> list[Board]:
    return [board for board in boards if board.alone_s < SMALL_S][:most]


def _strands(options: argparse.Namespace) -> tuple[list[Board], list[Board]]:
    """Time the published boards that promise to take longest, and some others."""
    sampled = []
    for path in published_files("strands")[:: options.every]:
        payload = json.loads(path.read_text())
        words = len(payload["themeWords"])
        puzzle = StrandsPuzzle(board=tuple(payload["startingBoard"]), theme_words=words)
        sampled.append(_sampled("strands", path.stem, puzzle))
    sampled.sort(key=lambda board: -board.alone_s)
    wanted, few = CANDIDATES * options.boards, max(1, options.small)
    # Of the others some, at even distances.
    others = sampled[wanted:]
    spread = others[:: max(1, len(others) // few)][:few]
    slow, quick = (
        [_timed(board.game, board.name, board.puzzle) for board in boards]
        for boards in (sampled[:wanted], spread)
    )
    slow.sort(key=lambda board: -board.alone_s)
    return slow, quick


def _loose(dominoes: Sequence[int], seeds: range) -> list[Board]:
    """Time generated loose boards, the slowest first."""
    found = [
        _timed("pips", f"{many} dominoes, seed {seed}", loose_board(many, seed))
        for many in dominoes
        for seed in seeds
    ]
    return sorted(found, key=lambda board: -board.alone_s)


def _sampled(name: str, called: str, puzzle: Any) -> Board:
    """Work some first choices of a board; `alone_s` is what all of them would take so."""
    search = bind_game(name).ranged(puzzle, ASKS[name], Budget(seconds=TASK_S))
    if search is None or not search.size:
        return Board(game=name, name=called, puzzle=puzzle, alone_s=0.0)
    long = max(1, round(search.size * SAMPLED / STRETCHES))
    begun = time.thread_time()
    for first in range(0, search.size, max(long, -(-search.size // STRETCHES))):
        search.work(first, min(first + long, search.size))
    taken_s = (time.thread_time() - begun) / SAMPLED
    print(f"\r{name} {called}: about {taken_s:.2f} s    ", end="", file=sys.stderr)
    return Board(game=name, name=called, puzzle=puzzle, alone_s=taken_s)


def _timed(name: str, called: str, puzzle: Any) -> Board:
    game = bind_game(name)
    begun = time.thread_time()
    outcome = game.solve(puzzle, ASKS[name], None, Budget(seconds=TASK_S))
    taken_s = time.thread_time() - begun
    if outcome.status is Status.OVER_BUDGET:
        taken_s = math.inf
    print(f"\r{name} {called}: {taken_s:.2f} s    ", end="", file=sys.stderr)
    return Board(game=name, name=called, puzzle=puzzle, alone_s=taken_s)

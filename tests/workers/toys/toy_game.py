"""A double of a game, in the columns of the Pips puzzles table, that can be slow, split and crash.

A solution is a list of one number, its score: `best` has them from the highest down, `all` from the
lowest up. What a board does besides stands in the pip of its first domino's second half:
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import time
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from toy_layers import ToyLayers

from nightgrid.archive.games import archive_plug
from nightgrid.solvers.algebra import (
    STATUS_CODES,
    Budget,
    Outcome,
    SolutionStream,
    Statistics,
    Status,
)
from nightgrid.solvers.canonical import digest
from nightgrid.solvers.errors import TransientError
from nightgrid.solvers.reasons import Reason, ReasonCode

PIPS_PUZZLES = archive_plug("pips").puzzles()

PLAIN, SLOW, KILL_CHILD, KILL_WORKER, RAISE, LARGE, UNSOLVABLE, NEVER, LAYERED, ENDLESS = range(10)
IMPORTED_BY = os.getpid()
"""Kills nobody in the process that imported this: a test, or a worker before it forked."""
LARGE_LIMIT = 4
"""A part of a large board that covers more residues than this is over budget."""
LARGE_TOTAL = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ToyPuzzle:
    number: int
    behaviour: int

    @property
    def puzzle_id(self):
        return digest("toy", str(self.number), str(self.behaviour))


class ToyGame:
    name = "pips"
    solver_version = os.environ.get("TOY_VERSION", "toy-1")
    rules = ""
    lexicon_id = ""
    parts_in_order = False
    reasons = (None, Reason(code=ReasonCode.NODES))

    def puzzle_from_json(self, value):
        return ToyPuzzle(number=value["number"], behaviour=value["behaviour"])

    def puzzle_to_json(self, puzzle):
        return {"number": puzzle.number, "behaviour": puzzle.behaviour}

    def puzzle_id(self, puzzle):
        return puzzle.puzzle_id

    def clued(self, puzzle, clue):
        return puzzle

    def subject(self, puzzle):
        return puzzle.puzzle_id

    def solution_to_json(self, solution):
        return solution

    def solution_text(self, solution):
        return json.dumps(solution)

    def solution_from_json(self, value):
        return value

    def value_of(self, solutions):
        return None

    def warm(self):
        pass

    def cost_s(self, arrays, ask):
        return np.full(len(arrays["size"]), 0.25e-3)

    def close_cost_s(self, arrays, ask):
        return None

    def to_arrays(self, puzzles):
        table = puzzles_table(puzzles)
        from nightgrid.archive.lake.arrow_to_numpy import arrays_of

        return arrays_of(table)

    def from_arrays(self, arrays, row):
        at = arrays["domino_a.offsets"][row]
        return ToyPuzzle(
            number=int(arrays["domino_a.values"][at]),
            behaviour=int(arrays["domino_b.values"][at]),
        )

    def split(self, puzzle, ask, part, into):
        first, step = part or (0, 1)
        if puzzle.behaviour != LARGE or LARGE_TOTAL // step <= 1:
            return [part]
        return [[first + step * i, step * into] for i in range(into)]

    def solve(self, puzzle, ask, part=None, budget=None):
        misbehave(puzzle.behaviour, puzzle.number)
        budget = budget or Budget()
        if puzzle.behaviour == UNSOLVABLE:
            return Outcome(status=Status.UNSOLVABLE, count=0)
        if puzzle.behaviour == ENDLESS:
            # Ended by its stop alone; the time is what a failing test waits.
            deadline_ns = time.monotonic_ns() + 60 * 10**9
            while not budget.is_over(deadline_ns):
                time.sleep(0.001)
            return Outcome(status=Status.OVER_BUDGET, reason_code=budget.stopped or "seconds")
        if puzzle.behaviour == LAYERED:
            return Outcome(status=Status.OVER_BUDGET, reason_code=self.reasons[1].code)
        if puzzle.behaviour == LARGE:
            first, step = part or (0, 1)
            mine = range(first, LARGE_TOTAL, step)
            if len(mine) > LARGE_LIMIT:
                return Outcome(status=Status.OVER_BUDGET, reason_code=self.reasons[1].code)
            count = sum((puzzle.number + i) % 7 + 1 for i in mine)
            return self._outcome(ask, count, len(mine), mine)
        count = count_of(puzzle.number)
        return self._outcome(ask, count, 3, range(count))

    def stream(self, puzzle, ask, part=None, budget=None):
        return ToyStream(self, puzzle, ask, part, budget)

    def _outcome(self, ask, count, states, scores):
        statistics = Statistics(states=states, nodes=2 * states, kernel_ns=1, table_bytes=64)
        if ask.kind == "count":
            return Outcome(status=Status.SOLVED, count=count, statistics=statistics)
        if ask.kind == "best":
            best = tuple([score] for score in reversed(scores[-ask.limit :]))
            return Outcome(
                status=Status.SOLVED, count=len(best), solutions=best, statistics=statistics
            )
        wanted = 1 if ask.kind == "first" else min(count, ask.limit or count)
        return Outcome(
            status=Status.SOLVED,
            count=wanted,
            solutions=tuple([i] for i in range(wanted)),
            truncated=wanted < count and ask.kind != "first",
            statistics=statistics,
        )

    def layered(self, puzzle, budget):
        return ToyLayers(puzzle.number, budget) if puzzle.behaviour == LAYERED else None

    def merge(self, puzzle, ask, outcomes):
        if any(o.status == Status.OVER_BUDGET for o in outcomes):
            return Outcome(status=Status.OVER_BUDGET, reason_code=self.reasons[1].code)
        total = sum(o.count for o in outcomes)
        if ask.kind == "count":
            return Outcome(status=Status.SOLVED if total else Status.UNSOLVABLE, count=total)
        solutions = [s for o in outcomes for s in o.solutions]
        if ask.kind == "best":
            solutions.sort(reverse=True)
        wanted = 1 if ask.kind == "first" else ask.limit or len(solutions)
        return Outcome(
            status=Status.SOLVED,
            count=min(wanted, len(solutions)),
            solutions=tuple(solutions[:wanted]),
        )

    def solve_batch(self, arrays, ask, budget):
        at = arrays["domino_a.offsets"][:-1]
        number = arrays["domino_a.values"][at].astype(np.int64)
        behaviour = arrays["domino_b.values"][at]
        for code, which in zip(behaviour.tolist(), number.tolist(), strict=True):
            misbehave(code, which)
        rows = len(number)
        large = (behaviour == LARGE) | (behaviour == LAYERED)
        status = np.full(rows, STATUS_CODES.index(Status.SOLVED), np.uint8)
        status[behaviour == UNSOLVABLE] = STATUS_CODES.index(Status.UNSOLVABLE)
        status[large] = STATUS_CODES.index(Status.OVER_BUDGET)
        count = (number * 31 + 7) % 1_000_003 + 1
        count[behaviour == UNSOLVABLE] = 0
        worked = (~large & (behaviour != UNSOLVABLE)).astype(np.int64)
        return {
            "status": status,
            "count_hi": np.zeros(rows, np.uint64),
            "count_lo": count.astype(np.uint64),
            "states": 3 * worked,
            "nodes": 6 * worked,
            "kernel_ns": worked,
            "table_bytes": 64 * worked,
            "reason": large.astype(np.uint8),
        }


class ToyStream(SolutionStream):
    statistics = Statistics()

    def __init__(self, game, puzzle, ask, part, budget):
        self.limit, self.about = ask.limit, (puzzle, replace(ask, limit=None), part, budget)
        self.game = game

    def found(self):
        outcome = self.game.solve(*self.about)
        self.statistics = outcome.statistics
        if outcome.reason_code is not None:
            self.end(Reason(code=outcome.reason_code))
        return iter(outcome.solutions)


def count_of(number):
    return (number * 31 + 7) % 1_000_003 + 1


def misbehave(behaviour, number):
    if behaviour == SLOW:
        time.sleep(float(os.environ.get("TOY_SLOW_SECONDS", "0.2")))
    elif behaviour == KILL_CHILD and os.getpid() != IMPORTED_BY:
        os.kill(os.getpid(), signal.SIGKILL)
    elif behaviour == KILL_WORKER and os.getppid() == IMPORTED_BY:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(5)
    elif behaviour == RAISE:
        raise RuntimeError(f"board {number} is too much for the toy")
    elif behaviour == NEVER:
        raise TransientError("the disk is away")


def puzzles_table(puzzles):
    rows = len(puzzles)
    return pa.table(
        {
            "puzzle_id": [p.puzzle_id for p in puzzles],
            "game": ["pips"] * rows,
            **{
                name: [[0, 0]] * rows
                for name in ("cell_row", "cell_col", "cell_region", "region_type", "region_target")
            },
            "domino_a": [[p.number] for p in puzzles],
            "domino_b": [[p.behaviour] for p in puzzles],
            "size": [1] * rows,
        },
        schema=PIPS_PUZZLES,
    )


def boards(count, behaviours=None, *, start=0):
    """Make boards `start` to `start + count - 1`; `behaviours` maps numbers to what they do."""
    special = behaviours or {}
    return puzzles_table(
        [ToyPuzzle(number=i, behaviour=special.get(i, PLAIN)) for i in range(start, start + count)]
    )


TOY = ToyGame()


def install(patch=setattr):
    """Put the double in the place of the game `pips`, in this process."""
    games = importlib.import_module("nightgrid.archive.words.binding")
    patch(games, "game_named", lambda *_: TOY)
    forget()


def forget():
    """Forget the games that were opened, whichever they were."""
    importlib.import_module("nightgrid.archive.words.binding")._open.clear()

"""The fewest moves that clear a board: a bound from below, walks from above, until they meet.

A move is every selection after the first tile, teleports included. The search begins at the bound:
short tries, each with its ties broken at random, find a walk that meets it on nearly every board of
the published form. If none does, a search among plans (`nightgrid.solvers.tiles.fewest_moves.plan`)
proves on nearly every other board that there is none. For the rest, the search at that limit
continues, with dead ends remembered between tries, until it has found a walk or proven that there
is none.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from nightgrid.solvers.algebra import Budget, Statistics
from nightgrid.solvers.kernel.codes import OUT_OF_NODES, OUT_OF_SECONDS
from nightgrid.solvers.reasons import Reason, ReasonCode, reason_code_of
from nightgrid.solvers.tiles.combo import combo
from nightgrid.solvers.tiles.fewest_moves import plan as plans
from nightgrid.solvers.tiles.fewest_moves import search
from nightgrid.solvers.tiles.fewest_moves.bound import moves_left
from nightgrid.solvers.tiles.fewest_moves.plan import PlanBoard, PlanStack, PlanTry, can_be_planned
from nightgrid.solvers.tiles.fewest_moves.search import Board, Stack, Try
from nightgrid.solvers.tiles.model import Model
from nightgrid.solvers.tiles.solution import Walk

TOO_LARGE = Reason(
    code=ReasonCode.CAPACITY,
    sentence="the board is too large to search: at most 512 tiles and 4096 features",
)
SEARCH_TILES_MAX = 512
SEARCH_FEATURES_MAX = 4096
TABLE_BYTES_MAX = 2**28
"""Most table bytes for dead ends, within the budget's."""
QUICK_TRIES = 4
"""Tries at a limit before the first plan for it."""
QUICK_NODES_PER_MOVE = 2
QUICK_PLAN_NODES = 2048
"""Nodes for the first plan; for the n-th try n times as many."""

_SPENT = (OUT_OF_NODES, OUT_OF_SECONDS)
_MODES = {"yes": search.ANY, "forced": search.FORCED, "no": search.NEVER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fewest:
    """Bounds of the fewest moves of a board."""

    at_least: int
    walk: Walk | None
    """The shortest walk found; none shorter exists if `reason` is None."""
    reason: Reason | None
    """Why the search ended early, if it did."""
    statistics: Statistics


def fewest_moves(
    model: Model, teleports: str, budget: Budget, first: range | None = None
) -> Fewest:
    """Find a walk of as few moves as possible that clears the board.

    `first` are the tiles that it may begin on, all of them if None. The board has to be solvable;
    without teleports it may still have no walk: then the answer is proven and the walk None.
    """
    return _Hunt(model, teleports, budget, first).fewest()


def any_walk(model: Model, teleports: str, budget: Budget, first: range | None = None) -> Fewest:
    """Find a walk that clears the board, however long; if proven and None, there is none."""
    return _Hunt(model, teleports, budget, first).any()


def _share(tries: int) -> int:
    """Weigh the n-th try, from 1 on: 1, 2, 1, 4, 1, 2, 1, 8, ...

    A lucky try finds a walk soon, an unlucky one never, so most are short and a few long.
    """
    return tries & -tries


def _spent(ending: int) -> Reason | None:
    return Reason(code=reason_code_of(ending)) if ending in _SPENT else None


class _Hunt:
    def __init__(self, model: Model, teleports: str, budget: Budget, first: range | None) -> None:
        self.begun = time.monotonic_ns()
        self.deadline = budget.deadline_ns()
        self.budget = budget
        self.mode = _MODES[teleports]
        self.tiles = np.flatnonzero([len(tile) for tile in model.tiles])
        """The tiles that have features: the search knows no others."""
        self.size = model.size
        self.most = self.size // 2 + len(self.tiles)
        """No walk without repeated positions is longer."""
        self.features = len(model.holders)
        self.cost = np.zeros(2, np.int64)
        self.plan_board: PlanBoard | None = None
        self.bytes = 0
        self.too_large = len(self.tiles) > SEARCH_TILES_MAX or self.features > SEARCH_FEATURES_MAX
        self.fallback = first.start if first else 0
        self.first = np.arange(len(self.tiles))
        self.known = None
        """A walk to begin with."""
        if first is not None:
            self.first = self.first[(self.tiles >= first.start) & (self.tiles < first.stop)]
        elif self.mode != search.NEVER:
            self.known = combo(model)
        if not self.too_large and self.size:
            self._lay_out(model)

    def _lay_out(self, model: Model) -> None:
        tiles, features = len(self.tiles), self.features
        alive = np.zeros((tiles, (features + 63) // 64), np.uint64)
        place = np.zeros((tiles, features), np.int32)
        at = 0
        for i, t in enumerate(self.tiles.tolist()):
            for f in model.tiles[t]:
                alive[i, f >> 6] |= np.uint64(1 << (f & 63))
                place[i, f] = at
                at += 1
        left = np.array([len(model.tiles[t]) for t in self.tiles], np.int64)
        key = np.full((at + 63) // 64, 2**64 - 1, np.uint64)
        row = 8 * (len(key) + 1)
        allowed = max(min(self.budget.table_bytes // 2, TABLE_BYTES_MAX) // row, 1)
        table = np.zeros((1 << (allowed.bit_length() - 1), len(key) + 1), np.uint64)
        role, space = np.zeros(tiles, np.int64), np.zeros((4, tiles), np.int64)
        clock = np.array([0, 0, self.budget.stop_address], np.int64)
        self.board = Board(alive, left, place, key, table, role, space, clock)
        self.stack: Stack | None = None
        self.bytes = table.nbytes + place.nbytes + alive.nbytes

    def _bound(self) -> int:
        if self.too_large or not self.size:
            return max(len(self.tiles) - 1, 0)
        board = self.board
        mate = np.full(len(board.left), -1, np.int64)
        return (
            int(moves_left(board.alive.copy(), board.left, -1, board.role, mate, board.space)[0])
            - 1
        )

    def _try(self, limit: int, nodes: int, seed: int) -> tuple[int, Walk | None]:
        """Search for a walk of at most `limit` moves with a share of the nodes."""
        if self.stack is None or len(self.stack.tile) < limit + 5:
            depth, tiles = limit + 5, len(self.tiles)
            self.stack = Stack(
                np.zeros(depth, np.int64),
                np.zeros(depth, np.bool_),
                np.zeros(depth, np.int64),
                np.zeros(depth, np.int64),
                np.zeros((depth, tiles), np.int64),
                np.zeros((depth, tiles), np.int64),
                np.zeros((depth, self.board.alive.shape[1]), np.uint64),
                np.full((depth, tiles), -1, np.int64),
            )
        alive, left, key = self.board.alive, self.board.left, self.board.key
        before = (alive.copy(), left.copy(), key.copy())
        trial = Try(
            teleports=self.mode,
            limit=limit,
            seed=seed,
            nodes=nodes,
            most_nodes=self.budget.nodes,
            deadline_ns=self.deadline,
        )
        ending = search.find_walk(self.board, self.first, trial, self.stack, self.cost)
        if ending != search.FOUND:
            return int(ending), None
        for array, kept in zip((alive, left, key), before, strict=True):
            array[:] = kept
        used = slice(1, int(self.cost[1]) + 1)
        return search.FOUND, Walk(
            tiles=tuple(self.tiles[self.stack.tile[used]].tolist()),
            teleports=tuple(np.flatnonzero(self.stack.tele[used]).tolist()),
        )

    def _result(self, at_least: int, walk: Walk | None, reason: Reason | None = None) -> Fewest:
        statistics = Statistics(
            nodes=int(self.cost[0]),
            kernel_ns=time.monotonic_ns() - self.begun,
            table_bytes=self.bytes,
            engine="search",
        )
        return Fewest(at_least=at_least, walk=walk, reason=reason, statistics=statistics)

    def any(self) -> Fewest:
        # No walk is longer than `most`: the first that is found is one of the shortest allowed.
        return replace(self._search(self.most, None), at_least=self._bound())

    def fewest(self) -> Fewest:
        best = self.known
        if self.mode == search.NEVER:
            existing = self.any()
            if existing.walk is None:
                return existing
            best = existing.walk
        return self._search(self._bound(), best)

    def _search(self, least: int, best: Walk | None) -> Fewest:
        """Find a walk of `least` moves or, if there is none, of as few more as possible."""
        if not self.size:
            return self._result(0, Walk(tiles=(self.fallback,)))
        if self.too_large:
            return self._result(least, best, TOO_LARGE)
        if not len(self.first):
            return self._result(0, None)
        tries, planned, seed, ending = 0, least - 1, 0, search.RESTART
        while ending not in _SPENT:
            most = self.most if best is None else best.moves - 1
            if least > most:
                return self._result(least, best)
            tries += 1
            share = _share(tries) * QUICK_NODES_PER_MOVE * (least + 2)
            if planned < least and tries >= QUICK_TRIES and tries.bit_count() == 1:
                plan = self._plan(least, QUICK_PLAN_NODES * tries)
                if plan == plans.IMPOSSIBLE:
                    least, tries = least + 1, 0
                    continue
                if plan == plans.POSSIBLE:
                    planned = least
            ending, found = self._try(least, share, seed)
            if ending == search.FOUND:
                return self._result(least, found)
            if ending == search.NONE:
                least, tries = least + 1, 0
            elif ending == search.RESTART and most > least and tries % 4 == 0:
                # Now and then half way down.
                goal = most if tries % 8 else (least + most) // 2
                ending, found = self._try(goal, share, seed)
                best = found or best
            seed += 1
        return self._result(least, best, _spent(ending))

    def _plan(self, limit: int, nodes: int) -> int:
        """Return whether moves exist that clear the board with so many moves, in any order."""
        alive, left = self.board.alive, self.board.left
        tiles, pairs = len(left), self.size // 2
        if self.plan_board is None:
            words = (self.features + pairs + 63) // 64
            roomy = np.zeros((tiles, words), np.uint64)
            roomy[:, : alive.shape[1]] = alive
            self.plan_board = PlanBoard(
                alive=roomy,
                left=left.copy(),
                single=np.zeros(words, np.uint64),
                role=self.board.role,
                mate=np.full(tiles, -1, np.int64),
                space=np.zeros((5, tiles), np.int64),
                clock=self.board.clock,
            )
        stack = PlanStack(
            chosen=np.zeros((pairs + 2, 3), np.int64),
            child=np.zeros((pairs + 2, tiles), np.int64),
            counter=np.zeros((pairs + 2, 2), np.int64),
        )
        self.plan_board.single[:] = 0
        trial = PlanTry(
            limit=limit + 1,
            one_trail=self.mode == search.NEVER,
            most_nodes=min(int(self.cost[0]) + nodes, self.budget.nodes),
            deadline_ns=self.deadline,
        )
        return int(can_be_planned(self.plan_board, self.features, trial, stack, self.cost))

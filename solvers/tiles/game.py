"""Tiles as a nightgrid.solvers.game_contract game: ask, split, solve, merge."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers import algebra
from nightgrid.solvers.algebra import Arrays, Ask, Budget, Outcome, Statistics, Status, failure_of
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game, even_parts, over_budget
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.solvers.tiles.columns import features_by_row, from_arrays, to_arrays
from nightgrid.solvers.tiles.combo import combo
from nightgrid.solvers.tiles.fewest_moves.fewest import TOO_LARGE, any_walk, fewest_moves
from nightgrid.solvers.tiles.model import Model, model_of
from nightgrid.solvers.tiles.playing import play_tiles
from nightgrid.solvers.tiles.puzzle import Puzzle
from nightgrid.solvers.tiles.rules import Rules
from nightgrid.solvers.tiles.solution import Walk, walk_from_json, walk_to_json
from nightgrid.solvers.tiles.trail import euler_trail, shares_several

Part = dict[str, int]
"""{"from", "to"}: the walks that start on a tile of this range, `to` excluded."""
FEATURE_S = 2e-6
"""Cost per feature of building a walk, including reading and writing the board."""
FEWEST_S = 0.05
"""Cost of the fewest moves of a published board."""


class TilesGame(Game[Puzzle, Walk]):
    """Tiles, bound to rules.

    `first` is a walk that clears the board: under teleports=yes and forced a single combo, built in
    linear time. `best(1)` is a walk of as few moves as possible, its value; its count is the number
    of returned walks, since walks are not counted.
    """

    name = "tiles"
    solver_version = "tiles-1"
    reasons: tuple[Reason | None, ...] = (
        None,
        Reason(code=ReasonCode.NODES),
        Reason(code=ReasonCode.SECONDS),
        TOO_LARGE,
    )
    streams = ("first",)
    batch = "first"
    has_value = True
    puzzle_from_json = staticmethod(Puzzle.from_json)
    solution_to_json = staticmethod(walk_to_json)
    solution_from_json = staticmethod(walk_from_json)
    to_arrays = staticmethod(to_arrays)
    from_arrays = staticmethod(from_arrays)

    bound_rules: Rules

    def split(self, puzzle: Puzzle, ask: Ask, part: Part | None, into: int) -> list[Part]:
        """Divide a search by the tile that walks start on; a walk built directly is one part."""
        if self._is_built(ask, model_of(puzzle)):
            into = 1
        tiles = _tiles_of(part)
        return even_parts(range(len(puzzle.tiles)) if tiles is None else tiles, into)

    def _is_built(self, ask: Ask, model: Model) -> bool:
        """Return whether an ask is answered in linear time, without a search."""
        if self.bound_rules.teleports == "no":
            return not model.solvable or not shares_several(model)
        return ask.kind == "first" or not model.solvable

    def solve(
        self, puzzle: Puzzle, ask: Ask, part: Part | None = None, budget: Budget | None = None
    ) -> Outcome[Walk]:
        """Answer `first` or `best(1)` for the whole puzzle or one part of it.

        Raises PermanentError for any other ask.
        """
        _check(ask)
        budget = budget or Budget()
        begun = time.perf_counter_ns()
        model = model_of(puzzle)
        if not model.solvable:
            return Outcome(status=Status.UNSOLVABLE, count=0)
        walk: Walk | None
        if self._is_built(ask, model):
            if self.bound_rules.teleports == "no":
                walk, engine = euler_trail(model), "trail"
            else:
                walk, engine = combo(model), "combo"
            return _outcome(
                ask,
                walk,
                Statistics(
                    nodes=model.size,
                    kernel_ns=time.perf_counter_ns() - begun,
                    engine=engine,
                ),
            )
        search = fewest_moves if ask.kind == "best" else any_walk
        found = search(model, self.bound_rules.teleports, budget, _tiles_of(part))
        if found.reason is None:
            return _outcome(ask, found.walk, found.statistics)
        why = budget.stopped if found.reason.code is ReasonCode.SECONDS else None
        return _over_budget(
            ask,
            found.reason if why is None else Reason(code=why),
            found.statistics,
            found.at_least,
            None if found.walk is None else found.walk.moves,
        )

    def continuation(
        self,
        puzzle: Puzzle,
        moves: Sequence[Any],
        budget: Budget,
        published: Walk | None = None,  # noqa: ARG002
    ) -> Outcome[tuple[Any, ...]]:
        """Find the fewest moves from a player's last tile, or any moves if the budget runs out."""
        rest = play_tiles(puzzle, moves, self.bound_rules.teleports)
        if not any(rest.tiles):
            return Outcome(status=Status.SOLVED, count=1, solutions=((),))
        here = moves[-1] if moves else None
        if here is not None and not rest.tiles[here]:
            if self.bound_rules.teleports == "no":
                return Outcome(status=Status.UNSOLVABLE, count=0)
            here = None  # From a cleared tile any other one may follow.
        part = None if here is None else {"from": here, "to": here + 1}
        outcome: Outcome[Any] = self.solve(rest, Ask(kind="best", limit=1), part, budget)
        # If any tile may follow, the rest can be cleared from any tile.
        if outcome.status is Status.OVER_BUDGET and self.bound_rules.teleports == "yes":
            outcome, part = self.solve(rest, Ask(kind="first"), None, budget), None
        walks = (walk.tiles[part is not None :] for walk in outcome.solutions)
        return replace(outcome, solutions=tuple(walks))

    def open_stream(
        self, puzzle: Puzzle, part: Part | None, budget: Budget, limit: int | None, *, first: bool
    ) -> WalkStream:
        """Return a stream of at most one walk."""
        del limit, first
        return WalkStream(self, puzzle, part, budget)

    def merge(
        self,
        puzzle: Puzzle,  # noqa: ARG002  parts in the order of split say all there is
        ask: Ask,
        outcomes: Sequence[Outcome[Walk]],
    ) -> Outcome[Walk]:
        """Combine the outcomes of all parts into that of the whole: the fewest moves of any."""
        statistics = sum((o.statistics for o in outcomes), Statistics())
        found = [o for o in outcomes if o.status is Status.SOLVED]
        failed = failure_of(outcomes)
        if failed is not None and (ask.kind == "best" or not found):
            return _joined(ask, failed, outcomes)
        if not found:
            return Outcome(status=Status.UNSOLVABLE, count=0, statistics=statistics)
        best_part = min(found, key=lambda o: o.value or 0)
        return Outcome(
            status=Status.SOLVED,
            count=1,
            solutions=best_part.solutions[:1],
            statistics=statistics,
            value=best_part.value,
        )

    def solve_batch(self, arrays: Arrays, ask: Ask, budget: Budget) -> dict[str, npt.NDArray[Any]]:
        """Decide every row: `count` is 1 if a walk exists, and 0 if none does.

        With teleports every feature has to be on an even number of tiles (article 000, Theorem 4);
        without them, board by board. Raises PermanentError for an ask other than `first`.
        """
        self.check_batch(ask)
        rows = len(arrays["size"])
        out = self.batch_columns(rows)
        begun = time.perf_counter_ns()
        features, offsets = features_by_row(arrays)
        row_of = np.repeat(np.arange(rows), np.diff(offsets))
        many = int(features.max(initial=0)) + 1
        found, times = np.unique(
            row_of * many + features[offsets[0] : offsets[-1]], return_counts=True
        )
        solvable = np.ones(rows, np.bool_)
        solvable[found[times % 2 == 1] // many] = False
        out["status"][:] = np.where(solvable, _SOLVED, _UNSOLVABLE)
        out["nodes"][:] = np.diff(offsets)
        out["kernel_ns"][:] = (time.perf_counter_ns() - begun) // max(rows, 1)
        if self.bound_rules.teleports == "no":
            for row in np.flatnonzero(solvable):
                outcome = self.solve(from_arrays(arrays, int(row)), ask, None, budget)
                self.write_row(out, int(row), outcome)
        out["count_lo"][:] = out["status"] == _SOLVED
        return out

    def cost_s(self, arrays: Arrays, ask: Ask) -> npt.NDArray[np.float64]:
        """Estimate the seconds that each row takes one core, for planning."""
        sizes = np.diff(arrays["feature.offsets"]).astype(np.float64)
        if ask.kind == "best" or self.bound_rules.teleports == "no":
            return np.full(len(sizes), FEWEST_S)
        cost: npt.NDArray[np.float64] = FEATURE_S * sizes + 1e-4
        return cost

    def warm(self) -> None:
        """Compile or load every kernel, so that the first solve does not have to."""
        ring = Puzzle(tiles=(("A1", "B1"), ("A1", "B2"), ("A2", "B1"), ("A2", "B2")))
        twins = Puzzle(tiles=(("A1", "B1"), ("A1", "B1")))
        self.solve_batch(to_arrays([ring]), Ask(kind="first"), Budget())
        for rules in (Rules(), Rules(teleports="no")):
            for board in (ring, twins):
                for ask in (Ask(kind="first"), Ask(kind="best", limit=1)):
                    TilesGame(rules).solve(board, ask)


_SOLVED = algebra.STATUS_CODES.index(Status.SOLVED)
_UNSOLVABLE = algebra.STATUS_CODES.index(Status.UNSOLVABLE)


class WalkStream(algebra.SolutionStream[Walk]):
    """The walk of `first`, built or searched for on demand."""

    limit, first = 1, True
    statistics = Statistics()

    def __init__(self, game: TilesGame, puzzle: Puzzle, part: Part | None, budget: Budget) -> None:
        self.game, self.puzzle, self.part, self.budget = game, puzzle, part, budget

    def found(self) -> Iterator[Walk]:
        """Find the walk."""
        outcome = self.game.solve(self.puzzle, Ask(kind="first"), self.part, self.budget)
        self.status = outcome.status
        self.reason_code, self.reason = outcome.reason_code, outcome.reason
        self.statistics = outcome.statistics
        return iter(outcome.solutions)


def _tiles_of(part: Part | None) -> range | None:
    """Return the tiles that the walks of a part start on; None for the whole."""
    return None if part is None else range(part["from"], part["to"])


def _outcome(ask: Ask, walk: Walk | None, statistics: Statistics) -> Outcome[Walk]:
    if walk is None:
        return Outcome(status=Status.UNSOLVABLE, count=0, statistics=statistics)
    return Outcome(
        status=Status.SOLVED,
        count=1,
        solutions=(walk,),
        statistics=statistics,
        value=walk.moves if ask.kind == "best" else None,
    )


def _over_budget(
    ask: Ask, reason: Reason, statistics: Statistics, at_least: int | None, at_most: int | None
) -> Outcome[Walk]:
    """Return the outcome of a search that ended early; `best` has its bounds."""
    if ask.kind != "best" or at_least is None:
        return over_budget(reason, statistics)
    found = "" if at_most is None else f", {at_most} were found"
    told = replace(reason, sentence=f"{reason.sentence}; at least {at_least} moves{found}")
    return replace(over_budget(told, statistics), value_at_least=at_least, value_at_most=at_most)


def _joined(ask: Ask, failed: Outcome[Walk], outcomes: Sequence[Outcome[Walk]]) -> Outcome[Walk]:
    """Combine the bounds of parts into the outcome of an unanswered job.

    The fewest moves are at least the lowest bound of the parts, and at most what another part has
    found. If a part has no bound, neither has the whole.
    """
    if failed.status is not Status.OVER_BUDGET or failed.reason_code is None:
        return failed
    code = failed.reason_code
    usual = (r for r in TilesGame.reasons if r is not None and r.code is code)
    over = [o for o in outcomes if o.status is Status.OVER_BUDGET]
    known = [o.value for o in outcomes if o.status is Status.SOLVED and o.value is not None]
    bounds = [o.value_at_least for o in over if o.value_at_least is not None]
    found = known + [o.value_at_most for o in over if o.value_at_most is not None]
    return _over_budget(
        ask,
        next(usual, Reason(code=code)),
        failed.statistics,
        min(known + bounds) if len(bounds) == len(over) else None,
        min(found, default=None),
    )


def _check(ask: Ask) -> None:
    if ask.kind in ("count", "all") or (ask.limit or 1) > 1:
        raise PermanentError(
            f"the walks of Tiles are not listed or counted, as {ask} asks; ask for first, or for "
            "best(1), the fewest moves"
        )

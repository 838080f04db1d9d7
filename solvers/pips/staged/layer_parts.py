"""Parts of a Pips count that are buckets of states: `{"layer": L, "buckets": [i, j]}`.

A part has all solutions whose state after L dominoes is in buckets i to j - 1. Any partition of the
buckets makes up the count, since every solution passes through one state of each layer.
"""

from __future__ import annotations

from typing import Any

from nightgrid.solvers.algebra import MAX_COUNT, Ask, Budget, Outcome, Statistics, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import over_budget
from nightgrid.solvers.pips.general.search import is_first_choice
from nightgrid.solvers.pips.layers.endings import ending, is_refusal
from nightgrid.solvers.pips.layers.space import UNTILEABLE
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.solution import Solution
from nightgrid.solvers.pips.staged.buckets import BUCKETS
from nightgrid.solvers.pips.staged.layers import LayeredCount, take_up
from nightgrid.solvers.reasons import Reason, ReasonCode

LayerPart = dict[str, Any]


def count_layer_part(puzzle: Puzzle, part: LayerPart, budget: Budget) -> Outcome[Solution]:
    """Count the solutions that pass through the buckets of a part, starting from the empty board.

    Raises PermanentError for an invalid part of this puzzle.
    """
    layer, (start, stop) = _read(puzzle, part)
    count, code = (None, 0) if is_first_choice(puzzle) else take_up(puzzle, budget)
    if count is None:
        if code and not is_refusal(code):
            status, why = ending(code)
            assert why is not None
            return Outcome(
                status=status,
                reason_code=why.code,
                reason=why.sentence,
                statistics=Statistics(engine="layers"),
            )
        raise PermanentError(
            "this board has no layers that its count could be divided by: only the general search "
            "takes it"
        )
    if code == UNTILEABLE:
        return Outcome(status=Status.UNSOLVABLE, count=0, statistics=count.statistics)
    stopped = _carry(count, layer, start, stop)
    total = 0 if stopped else count.total()
    if total > MAX_COUNT:
        stopped = ReasonCode.COUNT_TOO_LARGE
    if stopped:
        return over_budget(Reason(code=stopped), count.statistics)
    return Outcome(
        status=Status.SOLVED if total else Status.UNSOLVABLE,
        count=total,
        statistics=count.statistics,
    )


def divide_layer_part(puzzle: Puzzle, ask: Ask, part: LayerPart, into: int) -> list[LayerPart]:
    """Divide the buckets of a part into about `into` ranges; keep its other keys."""
    if ask.kind != "count":
        raise only_counts(ask)
    _, (start, stop) = _read(puzzle, part)
    into = max(min(into, stop - start), 1)
    cuts = [start + (stop - start) * i // into for i in range(into + 1)]
    return [{**part, "buckets": [cuts[i], cuts[i + 1]]} for i in range(into)]


def only_counts(ask: Ask) -> PermanentError:
    """Return the error for an ask that buckets of states do not answer."""
    return PermanentError(f"a part that is buckets of a layer answers only count, not {ask}")


def _carry(count: LayeredCount, layer: int, start: int, stop: int) -> ReasonCode | None:
    count.begin()
    _, stopped = count.advance(0, layer)
    if stopped:
        return stopped
    rows, begins = count.by_bucket()
    count.clear()
    if not count.gather(rows[begins[start] : begins[stop]]):
        return ReasonCode.TABLE_BYTES
    return count.advance(layer, count.layers)[1]


def _read(puzzle: Puzzle, part: LayerPart) -> tuple[int, tuple[int, int]]:
    layers = len(puzzle.dominoes)
    layer, buckets = part.get("layer"), part.get("buckets")
    if type(layer) is not int or not 0 <= layer <= layers:
        raise PermanentError(f"part.layer: expected an integer from 0 to {layers}, got {layer!r}")
    start, stop = buckets if isinstance(buckets, list) and len(buckets) == 2 else (0, 0)
    if not (type(start) is type(stop) is int and 0 <= start < stop <= BUCKETS):
        raise PermanentError(
            f"part.buckets: expected [i, j] with 0 <= i < j <= {BUCKETS}, got {buckets!r}"
        )
    return layer, (start, stop)

"""Boards and columns at the limits of the kernels are refused or solved, never wrong."""

import time

import pytest

from nightgrid.solvers.algebra import Ask, Budget, Status
from nightgrid.solvers.errors import PermanentError


def comb(teeth, *, turned, offset):
    """A board of `teeth` columns whose window of covered cells grows as wide as there are teeth."""
    cells = [(0, 2 * c) for c in range(1, teeth)] + [(1, 2 * c) for c in range(teeth)]
    cells += [(2, c) for c in range(2 * teeth - 1)]
    return [[r + offset, c + offset] for r, c in ([(c, r) for r, c in cells] if turned else cells)]


@pytest.mark.parametrize("teeth", [61, 62, 63, 64])
def test_a_window_of_a_whole_word_loses_no_tiling(pips, teeth):
    # One comb is horizontal and one vertical, so that no sweep avoids the wide window in both.
    lying, standing = comb(teeth, turned=False, offset=0), comb(teeth, turned=True, offset=400)
    top = [cell for cell in lying if cell[0] == 0]
    rest = [cell for cell in lying if cell[0]] + standing
    puzzle = pips.puzzle_from_json(
        {
            "dominoes": [[0, 0]] * ((len(top) + len(rest)) // 2),
            "regions": [
                {"indices": top, "type": "sum", "target": 0},
                {"indices": rest, "type": "empty"},
            ],
        }
    )
    for kind in ("count", "first"):
        outcome = pips.solve(puzzle, Ask(kind=kind))
        if outcome.status is Status.OVER_BUDGET:
            assert teeth == 64
            assert "too wide" in outcome.reason
        else:
            assert (outcome.status, outcome.count) == (Status.SOLVED, 1)


def strip(pips, cells):
    return pips.puzzle_from_json(
        {
            "dominoes": [[0, 1]] * (cells // 2),
            "regions": [{"indices": [[0, c] for c in range(cells)], "type": "empty"}],
        }
    )


def test_the_seconds_of_a_stream_are_checked_in_every_call(pips):
    stream = pips.stream(strip(pips, 40), Ask(kind="all"), None, Budget(seconds=0.02))
    begun = time.monotonic()
    found = sum(1 for _ in stream)
    # 2^20 solutions would take this reader seconds; the kernel's share alone is bounded.
    assert stream.status is Status.OVER_BUDGET
    assert "seconds" in stream.reason
    assert found < 2**20, time.monotonic() - begun


@pytest.mark.parametrize(
    "wrong",
    [{"seconds": float("inf")}, {"seconds": float("nan")}, {"nodes": 2**64}, {"table_bytes": 0}],
)
def test_a_budget_beyond_measure_is_refused(wrong):
    with pytest.raises(PermanentError, match="budget"):
        Budget(**wrong)

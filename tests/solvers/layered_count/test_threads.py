"""Threads that divide the layers of a count find what one finds."""

import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.layered_count import threads
from nightgrid.solvers.layered_count.threads import TABLE_SHARE, ThreadedCount
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import LOOSE
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.registry import game
from nightgrid.solvers.stop import Stop

COUNT = Ask(kind="count")
BUDGET = Budget(table_bytes=2**26)
PIPS = game("pips")


def board(dominoes, seed=1):
    mix = replace(LOOSE, dominoes=((dominoes, 1.0),), rows=4, cols=dominoes // 2)
    return generate(mix, seed)[0]


BOARD = board(10)


def divided(puzzle, layer, many, budget=BUDGET):
    """Count a board alone up to a layer, and take it up with threads from there."""
    alone = PIPS.layered(puzzle, budget)
    alone.begin()
    assert alone.advance(0, layer) == (layer, None)
    take_up = lambda each: PIPS.layered(puzzle, each)  # noqa: E731
    count = ThreadedCount.divide(alone, take_up, budget, many)
    assert count is not None
    return count


@pytest.mark.parametrize("spare_from", [1, 500, threads.SPARE_FROM])
@pytest.mark.parametrize("many", [1, 2, 3])
@pytest.mark.parametrize("layer", [0, 1, 4, 9])
@pytest.mark.parametrize("seed", [1, 2])
def test_threads_count_what_one_counts(monkeypatch, spare_from, many, layer, seed):
    monkeypatch.setattr(threads, "SPARE_FROM", spare_from)
    puzzle = board(10, seed)
    whole = PIPS.solve(puzzle, COUNT)
    count = divided(puzzle, layer, many)
    assert count.advance(layer) is None
    assert sum(count.totals()) == (whole.count or 0)
    assert count.statistics.nodes == whole.statistics.nodes
    # Each range of the last layer but one has the full board as a state of its own.
    ranges = many * (1 if spare_from > 500 else 1 + threads.SPARE_RANGES)
    assert 0 <= count.statistics.states - whole.statistics.states < ranges
    assert len(count.parts) == many


def test_what_one_thread_is_too_slow_for_the_other_takes(monkeypatch):
    monkeypatch.setattr(threads, "SPARE_FROM", 1)
    count = divided(BOARD, 3, 2)
    slow, quick = count._counts
    worked = Counter()

    def watch(one, name):
        advance = one.advance

        def watched(layer, last):
            # All that is spare is taken before the slow one is done with its own range.
            while one is slow and layer == 5 and count._spare:
                time.sleep(0.001)
            worked[name, layer] += 1
            return advance(layer, last)

        one.advance = watched

    watch(slow, "slow")
    watch(quick, "quick")
    assert count.advance(3) is None
    assert sum(count.totals()) == PIPS.solve(BOARD, COUNT).count
    assert (worked["slow", 5], worked["quick", 5]) == (1, 1 + 2 * threads.SPARE_RANGES)


def test_ranges_hold_every_bucket_once_and_the_spare_ones_are_small():
    begins = [np.arange(1025) * 100, np.arange(1025) * 300]
    cuts = threads._cut_buckets(begins, 2, with_spare=True)
    assert [low for low, _ in cuts] == [0, *[high for _, high in cuts[:-1]]]
    assert cuts[-1][1] == 1024
    assert len(cuts) == 2 * (1 + threads.SPARE_RANGES)
    sizes = [high - low for low, high in cuts]
    assert abs(sizes[0] - sizes[1]) <= 1
    assert max(sizes[2:]) < 1024 * threads.SPARE_SHARE / 2 / threads.SPARE_RANGES + 2
    halves = [(0, 512), (512, 1024)]
    assert threads._cut_buckets([np.arange(1025)], 2, with_spare=True) == halves
    assert threads._cut_buckets(begins, 2, with_spare=False) == halves


def test_what_is_spare_has_room_beside_the_tables(monkeypatch):
    monkeypatch.setattr(threads, "SPARE_FROM", 1)
    whole = PIPS.solve(BOARD, COUNT)
    budget = replace(BUDGET, table_bytes=2 * whole.statistics.table_bytes)
    count = divided(BOARD, 3, 2, budget)
    room = (1 - TABLE_SHARE) * budget.table_bytes
    seen, cut = [], threads._cut_buckets

    def cutting(begins, many, *, with_spare):
        states = sum(int(each[-1]) for each in begins)
        row_bytes = 8 * count._counts[0].row_words
        seen.append((with_spare, threads.NEXT_LAYER_MAX * states * row_bytes <= room))
        return cut(begins, many, with_spare=with_spare)

    monkeypatch.setattr(threads, "_cut_buckets", cutting)
    assert count.advance(3) is None
    assert sum(count.totals()) == whole.count
    assert all(with_spare == has_room for with_spare, has_room in seen)
    assert {with_spare for with_spare, _ in seen} == {False, True}
    assert (count._found, len(count._spare)) == ({}, 0)


@pytest.fixture(params=[1, threads.SPARE_FROM], ids=["with spare ranges", "without"])
def spare(request, monkeypatch):
    monkeypatch.setattr(threads, "SPARE_FROM", request.param)


@pytest.mark.usefixtures("spare")
def test_nodes_of_all_threads_count_together():
    whole = PIPS.solve(BOARD, COUNT).statistics.nodes
    assert divided(BOARD, 3, 2, replace(BUDGET, nodes=whole)).advance(3) is None
    short = divided(BOARD, 3, 2, replace(BUDGET, nodes=whole * 2 // 3))
    assert short.advance(3) is ReasonCode.NODES


@pytest.mark.usefixtures("spare")
def test_a_table_that_is_full_ends_every_thread():
    count = divided(BOARD, 2, 2, replace(BUDGET, table_bytes=2**17))
    assert count.advance(2) is ReasonCode.TABLE_BYTES


def test_the_tables_of_all_threads_are_within_the_budget():
    taken = []

    def take_up(budget):
        taken.append(budget.table_bytes)
        return PIPS.layered(BOARD, budget)

    alone = PIPS.layered(BOARD, BUDGET)
    assert ThreadedCount.divide(alone, take_up, BUDGET, 3) is not None
    assert sum(taken) <= TABLE_SHARE * BUDGET.table_bytes


@pytest.mark.usefixtures("spare")
def test_they_stop_when_they_are_told():
    stop = Stop()
    count = divided(BOARD, 2, 2, replace(BUDGET, stop=stop))
    stop.set(ReasonCode.CANCELLED)
    assert count.advance(2) is not None


@pytest.mark.usefixtures("spare")
@pytest.mark.parametrize("failing", [1, 2, 5])
def test_a_thread_that_fails_ends_the_others(failing):
    count = divided(BOARD, 2, 3)
    gather, gathered = count._counts[1].gather_held, []

    def fail():
        gathered.append(1)
        if len(gathered) == failing:
            raise MemoryError
        return gather()

    count._counts[1].gather_held = fail
    with pytest.raises(MemoryError):
        count.advance(2)
    assert (count._found, len(count._spare)) == ({}, 0)


@pytest.mark.parametrize("failing", [1, 2, 5])
def test_a_table_that_is_full_in_a_spare_range_ends_every_thread(monkeypatch, failing):
    monkeypatch.setattr(threads, "SPARE_FROM", 1)
    count = divided(BOARD, 2, 3)
    gather, gathered = count._counts[1].gather_held, []

    def full():
        gathered.append(1)
        return gather() and len(gathered) != failing

    count._counts[1].gather_held = full
    assert count.advance(2) is ReasonCode.TABLE_BYTES


def test_a_board_that_is_laid_out_otherwise_is_not_divided():
    alone = PIPS.layered(BOARD, BUDGET)
    other = lambda each: PIPS.layered(board(10, 2), each)  # noqa: E731
    assert ThreadedCount.divide(alone, other, BUDGET, 2) is None
    assert ThreadedCount.divide(alone, lambda _: None, BUDGET, 2) is None

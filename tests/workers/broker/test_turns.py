"""Workers take large on-demand solves first, and batches keep their share: counted in chunks."""

from collections import Counter

import pytest

from nightgrid.workers.broker.queues import BATCH, URGENT
from nightgrid.workers.broker.turns import LEAST_S, Turns

SHARES = {URGENT: 0.75, BATCH: 0.25}


def worked(turns, processes, takes, seconds, queues=None, begin=0.0):
    """Let processes work messages of queues that never end; name them in the order of taking.

    `queues(n)` names those that have messages at the n-th take; time is counted, not waited for.
    """
    taken, running, now = [], [], begin
    while len(taken) < takes:
        if len(running) == processes:
            running.sort()
            now, begun, name = running.pop(0)
            turns.ended(name, now - begun)
        in_hand = Counter()
        for _, begun, name in running:
            in_hand[name] += max(LEAST_S, now - begun)
        full = queues(len(taken)) if queues else {URGENT, BATCH}
        order = turns.order([URGENT, BATCH], in_hand)
        name = next(name for name in order if name in full)
        turns.took(name)
        taken.append(name)
        running.append((now + seconds[name], now, name))
    return taken


@pytest.mark.parametrize("processes", [1, 2, 3, 4, 16])
def test_a_batch_goes_on_beside_more_urgent_work_than_there_are_workers(processes):
    """Given on-demand chunks without end, When chunks take alike, Then one of four is a batch's."""
    taken = worked(Turns(SHARES), processes, 400, {URGENT: 20.0, BATCH: 20.0})
    assert taken[0] == URGENT
    assert BATCH in taken[: max(4, processes)]
    assert 90 <= taken.count(BATCH) <= 110


@pytest.mark.parametrize("processes", [1, 2, 4])
def test_shares_are_of_time_where_chunks_of_one_queue_take_longer(processes):
    taken = worked(Turns(SHARES), processes, 1000, {URGENT: 20.0, BATCH: 4.0})
    urgent_s, batch_s = 20.0 * taken.count(URGENT), 4.0 * taken.count(BATCH)
    assert 0.2 < batch_s / (urgent_s + batch_s) < 0.3


def test_a_queue_without_work_saves_nothing_up():
    turns = Turns(SHARES)
    seconds = {URGENT: 4.0, BATCH: 4.0}
    assert set(worked(turns, 2, 500, seconds, lambda _: {BATCH})) == {BATCH}
    later = worked(turns, 2, 400, seconds)
    assert URGENT in later[:2], "what comes on demand goes first"
    assert 90 <= later.count(BATCH) <= 110, "and does not catch up on what it has not wanted"
    assert set(worked(turns, 2, 500, seconds, lambda _: {URGENT})) == {URGENT}
    assert 90 <= worked(turns, 2, 400, seconds).count(BATCH) <= 115


def test_a_worker_of_one_queue_takes_from_it():
    turns = Turns(SHARES)
    assert turns.order(["interactive"], {}) == ["interactive"]
    turns.took("interactive")
    turns.took("of another channel")
    assert turns.order(["interactive"], {"interactive": 3.0}) == ["interactive"]

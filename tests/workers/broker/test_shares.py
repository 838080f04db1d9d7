"""Steps of a shared job: each is taken once, whichever process takes it, and in ranges."""

import random
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, pairwise

import pytest

from nightgrid.workers.broker import shares
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.shares import CLOSED, NOTHING_LEFT, Share


@pytest.fixture
def client(cluster):
    with connect(cluster) as client:
        yield client


def opened(client, cluster, token, first, steps, size=100):
    share = Share.join(client, cluster, token)
    share.open(first, steps, size, notified=1)
    return share


def dealt(client, cluster, token, first, steps, order):
    """Let processes take steps in an order; tell what each took until there was nothing left."""
    owner = opened(client, cluster, token, first, steps)
    processes = [owner, *(Share.join(client, cluster, token) for _ in range(max(order)))]
    taken = [[] for _ in processes]
    for number in order:
        step = processes[number].take()
        if step != NOTHING_LEFT:
            taken[number].append(step)
    for one, steps_of_one in zip(processes, taken, strict=True):
        while (step := one.take()) != NOTHING_LEFT:
            steps_of_one.append(step)
    owner.close()
    return taken


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("others", [1, 2, 3, 7])
def test_every_step_is_taken_once_and_mostly_beside_the_one_before(client, cluster, seed, others):
    draw = random.Random(seed)
    order = [0, *draw.choices(range(others + 1), k=200)]
    taken = dealt(client, cluster, f"t{seed}-{others}", 5, 96, order)
    assert sorted(chain.from_iterable(taken)) == list(range(5, 96))
    jumps = sum(abs(b - a) != 1 for mine in taken for a, b in pairwise(mine))
    assert jumps <= 3 * others, "a process goes on where it is, and jumps when its range is done"
    assert taken[0][0] == 5


@pytest.mark.parametrize("pace", [1, 2, 9])
def test_two_processes_meet_where_both_are_done(client, cluster, pace):
    order = [0, *[1] * pace] * 40
    first, second = dealt(client, cluster, f"pace{pace}", 3, 40, order)
    assert first == list(range(3, 3 + len(first)))
    assert second == list(range(39, 39 - len(second), -1))
    assert abs(pace * len(first) - len(second)) <= pace


def test_a_third_process_cuts_the_range_of_two_in_the_middle(client, cluster):
    taken = dealt(client, cluster, "three", 0, 96, [0, 1, 2, 0, 1, 2, 3, 3])
    assert taken[0][:2] == [0, 1]
    assert taken[1][:2] == [95, 94]
    assert taken[2][:2] == [47, 46]
    assert taken[3][:2] == [48, 49]


def test_a_share_that_is_closed_gives_nothing(client, cluster):
    owner = opened(client, cluster, "closed", 0, 4)
    other = Share.join(client, cluster, "closed")
    assert other.take() == 3
    owner.close()
    assert (owner.take(), other.take()) == (CLOSED, CLOSED)
    assert Share.join(client, cluster, "never was").take() == CLOSED


def test_what_is_brought_is_read_and_what_another_program_wrote_is_not(client, cluster):
    share = opened(client, cluster, "brought", 0, 4)
    share.bring({"low": 0})
    client.rpush(f"{share.key}:outcomes", "[", "7")
    share.bring({"low": 1})
    assert share.brought(1.0) == [{"low": 0}, {"low": 1}]
    assert share.brought(0.01) == []
    share.close()
    assert not client.keys(f"{share.key}*")
    assert cluster.hard_limit_seconds < shares.KEPT_SECONDS


def test_a_process_that_is_called_early_waits_until_it_is_open(client, cluster):
    owner, other = (Share.join(client, cluster, "early") for _ in range(2))
    assert not other.is_there()
    owner.announce()
    assert other.is_there()
    assert other.take() == NOTHING_LEFT
    with ThreadPoolExecutor(1) as pool:
        shape = pool.submit(other.opened, 60.0)
        owner.open(0, 4, 4711, notified=1)
        assert shape.result() == (4, 4711)
    assert other.take() == 3
    owner.close()


def test_a_process_that_is_called_in_vain_goes_home(client, cluster):
    owner, other = (Share.join(client, cluster, "in vain") for _ in range(2))
    owner.announce()
    assert other.opened(0.0) is None
    with ThreadPoolExecutor(1) as pool:
        shape = pool.submit(other.opened, 60.0)
        owner.close()
        assert shape.result() is None

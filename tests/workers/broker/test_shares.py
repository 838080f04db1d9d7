"""Steps of a shared job: each is taken once, whoever takes them, and in ranges."""

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


@pytest.mark.parametrize("seed", range(3))
def test_every_step_is_taken_once_and_mostly_behind_the_one_before(client, cluster, seed):
    token, steps, first = f"t{seed}", 96, 5
    owner = opened(client, cluster, token, first, steps)
    shares_open = [owner, *(Share.join(client, cluster, token) for _ in range(3))]
    draw, taken = random.Random(seed), {one.process: [] for one in shares_open}
    while shares_open:
        one = draw.choice(shares_open)
        step = one.take()
        if step == NOTHING_LEFT:
            shares_open.remove(one)
        else:
            taken[one.process].append(step)
    assert sorted(chain.from_iterable(taken.values())) == list(range(first, steps))
    jumps = sum(b != a + 1 for mine in taken.values() for a, b in pairwise(mine))
    assert jumps < 24, "a process goes on where it is, and jumps only when its range is at its end"
    assert taken[owner.process][0] == first
    owner.close()


def test_a_share_that_is_closed_gives_nothing(client, cluster):
    owner = opened(client, cluster, "closed", 0, 4)
    other = Share.join(client, cluster, "closed")
    assert other.take() == 2
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
    assert other.take() == 2
    owner.close()


def test_a_process_that_is_called_in_vain_goes_home(client, cluster):
    owner, other = (Share.join(client, cluster, "in vain") for _ in range(2))
    owner.announce()
    assert other.opened(0.0) is None
    with ThreadPoolExecutor(1) as pool:
        shape = pool.submit(other.opened, 60.0)
        owner.close()
        assert shape.result() is None

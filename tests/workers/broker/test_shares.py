"""Steps of a shared job: each is taken once, whichever process takes it, and in ranges."""

import random
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, pairwise

import pytest

from nightgrid.workers.broker import shares
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.shares import TAKEN_SHARE, Share


@pytest.fixture
def client(cluster):
    with connect(cluster) as client:
        yield client


def opened(client, cluster, token, first, steps, size=100):
    share = Share.join(client, cluster, token)
    share.open(first, steps, size, notified=1)
    return share


def dealt(client, cluster, token, first, steps, order, dead=()):
    """Let processes take steps in an order, then all but the dead until there is nothing left.

    Tells what each took, and that a second time for those that are alive takes nothing.
    """
    owner = opened(client, cluster, token, first, steps)
    processes = [owner, *(Share.join(client, cluster, token) for _ in range(max(order)))]
    taken = [[] for _ in processes]
    for number in order:
        taken[number].append(processes[number].take())
    for number, one in enumerate(processes):
        while number not in dead and (more := one.take()):
            taken[number].append(more)
    assert not any(one.take() for one in processes)
    owner.close()
    return [[part for part in parts if part] for parts in taken]


def steps_in(parts):
    return [step for part in parts for step in part]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("others", [1, 2, 3, 7])
def test_every_step_is_taken_once_and_mostly_beside_the_one_before(client, cluster, seed, others):
    draw = random.Random(seed)
    order = [0, *draw.choices(range(others + 1), k=200)]
    taken = dealt(client, cluster, f"t{seed}-{others}", 5, 96, order)
    assert sorted(chain.from_iterable(map(steps_in, taken))) == list(range(5, 96))
    jumps = sum(
        b.start != a.stop and a.start != b.stop for mine in taken for a, b in pairwise(mine)
    )
    assert jumps <= 3 * others, "a process goes on where it is, and jumps when its range is done"
    assert taken[0][0].start == 5


@pytest.mark.parametrize("pace", [1, 2, 9])
def test_two_processes_meet(client, cluster, pace):
    order = [0, *[1] * pace] * 60
    first, second = dealt(client, cluster, f"pace{pace}", 3, 96, order)
    assert steps_in(first) == list(range(3, first[-1].stop))
    assert steps_in(reversed(second)) == list(range(first[-1].stop, 96))
    assert len(first[-1]) == len(second[-1]) == 1, "the less is left, the less is taken at once"
    assert len(first[0]) == 93 // TAKEN_SHARE


def test_a_third_process_cuts_the_range_of_two_in_the_middle(client, cluster):
    taken = dealt(client, cluster, "three", 0, 96, [0, 1, 2, 0, 1, 2, 3, 3])
    assert taken[0][0] == range(12)
    assert taken[1][0].stop == 96
    middle = taken[2][0].stop
    assert 12 < middle < taken[1][0].start
    assert taken[0][1].start == 12, "it goes on in front of the cut"
    assert taken[1][1].stop == taken[1][0].start, "and the other one behind it"
    assert taken[2][1].stop == taken[2][0].start
    assert taken[3][0].start == middle, "a fourth begins at the cut"


@pytest.mark.parametrize(
    ("order", "dead"),
    [
        ([0, 1, 0, 1], [0]),
        ([0, 1, 0, 1], [1]),
        ([0, 1, 2, 0, 1, 2], [0, 1]),
        ([0, 1, 2, 3], [1, 3]),
    ],
    ids=["the one in front", "the one behind", "both of a range", "behind a cut"],
)
def test_what_a_dead_process_leaves_others_take(client, cluster, order, dead):
    taken = dealt(client, cluster, f"dead{order}{dead}", 0, 96, order, dead)
    assert sorted(chain.from_iterable(map(steps_in, taken))) == list(range(96))
    assert all(len(taken[number]) == order.count(number) for number in dead)


def test_a_share_that_is_closed_gives_nothing(client, cluster):
    owner = opened(client, cluster, "closed", 0, 4)
    other = Share.join(client, cluster, "closed")
    assert other.take() == range(3, 4)
    owner.close()
    assert not owner.take()
    assert not other.take()
    assert not client.exists(owner.key)
    assert not Share.join(client, cluster, "never was").take()


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
    assert not other.take()
    with ThreadPoolExecutor(1) as pool:
        shape = pool.submit(other.opened, 60.0)
        owner.open(0, 4, 4711, notified=1)
        assert shape.result() == (4, 4711)
    assert other.take() == range(3, 4)
    owner.close()


def test_a_process_that_is_called_in_vain_goes_home(client, cluster):
    owner, other = (Share.join(client, cluster, "in vain") for _ in range(2))
    owner.announce()
    assert other.opened(0.0) is None
    with ThreadPoolExecutor(1) as pool:
        shape = pool.submit(other.opened, 60.0)
        owner.close()
        assert shape.result() is None

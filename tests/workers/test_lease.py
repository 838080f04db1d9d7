"""A lease has one holder at most, for any interleaving of processes, and ends with its holder."""

import time

import pytest

from benchmarks.chaos.lakes.interleaving import in_turns
from nightgrid.archive.lake.json_files import write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import TransientError
from nightgrid.workers import lease as leases
from nightgrid.workers.lease import LeaseLostError, acquire, check_held, holding, numbers


@pytest.fixture
def lake(tmp_path):
    return Lake.open(str(tmp_path / "lake"))


def expire_quickly(patch):
    patch.setattr(leases, "EXPIRY_S", 0.05)
    patch.setattr(leases, "POLL_S", 0.005)


@pytest.fixture
def quick(monkeypatch):
    expire_quickly(monkeypatch)


def test_a_held_lease_is_refused_and_a_released_one_is_acquired(lake, monkeypatch):
    monkeypatch.setattr(leases, "RENEW_EVERY_S", 0.01)
    with (
        holding(lake, "night", "another night is running"),
        pytest.raises(TransientError, match="another night is running"),
    ):
        acquire(lake, "night", "another night is running")
    acquire(lake, "night", "").release()
    assert numbers(lake, "night") == [2]


@pytest.mark.parametrize("first", range(7))
def test_one_of_two_concurrent_processes_gets_the_lease(lake, quick, first):
    """Given two hosts that start a night at once, When their steps alternate, Then one has it."""
    for second in range(7):
        name = f"night-{second}"

        def attempt(turn, name=name):
            try:
                return acquire(turn(lake), name, "held").number
            except TransientError:
                return None

        found = in_turns("a" * first + "b" * second + "a" * 20, {"a": attempt, "b": attempt})
        held = [number for number in found.values() if number is not None]
        # A process that saw no renewal until the expiry may have taken it from the other.
        assert len(set(held)) == len(held) > 0
        assert max(held) == numbers(lake, name)[-1]


def test_a_lease_without_renewals_expires(lake, quick):
    """Given a host that lost its power, When its lease expires, Then another night takes it."""
    gone = acquire(lake, "night", "")
    begun = time.monotonic()
    assert acquire(lake, "night", "held").number == gone.number + 1
    assert time.monotonic() - begun >= leases.EXPIRY_S


def test_a_suspended_holder_writes_nothing(lake, monkeypatch):
    """Given a holder whose lease another has taken, When it wakes up, Then it gets an error."""
    with holding(lake, "night", ""):
        check_held(lake, "night")
        with monkeypatch.context() as patch:
            expire_quickly(patch)
            acquire(lake, "night", "")
        with pytest.raises(LeaseLostError, match="the same command continues"):
            check_held(lake, "night")
    check_held(lake, "night")


def test_a_holder_whose_lake_keeps_failing_loses_its_lease(lake):
    with holding(lake, "night", "") as held:
        held.renewed_at -= leases.EXPIRY_S / 2
        with pytest.raises(LeaseLostError):
            held.check()


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"holder": 3}'])
def test_a_damaged_lease_counts_as_not_renewed(lake, quick, data):
    acquire(lake, "night", "")
    lake.write_bytes("leases/night/00000001.json", data)
    assert acquire(lake, "night", "held").number == 2


def test_an_old_number_is_not_reused(lake):
    """Given a process that slept after reading the list, Then it holds nothing."""
    write_json(lake, "leases/night/00000009.json", {"ended": True})
    old, looks = [3], []

    def numbers_then(lake, name, now=numbers):
        looks.append(name)
        return old if len(looks) == 1 else now(lake, name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leases, "numbers", numbers_then)
        patch.setattr(leases, "_is_held", lambda *_: False)
        assert acquire(lake, "night", "").number == 10
    assert numbers(lake, "night") == [10]

import time

import pytest
import toy_game as toy

from nightgrid.workers.broker.queues import Traffic
from nightgrid.workers.ondemand import keeper as keeping
from nightgrid.workers.ondemand.keeper import Keeper

PATIENCE_S = 60.0
NOWHERE = Traffic(waiting=frozenset(), acquired=frozenset())


@pytest.fixture
def keeper(lake, settings, mailbox, monkeypatch):
    """A keeper of a server whose queues are empty: every message was taken, or is lost."""
    told = {}
    monkeypatch.setattr(keeping, "traffic", lambda *_: NOWHERE)
    monkeypatch.setattr(keeping, "job_refusals", lambda *_: told)
    monkeypatch.setattr(keeping, "exited_workers", lambda *_: (set(), set()))
    monkeypatch.setattr(keeping, "living_workers", lambda *_: {"w": {}})
    made = Keeper(lake, settings)
    made.told = told
    return made


def puzzle(number, behaviour=toy.PLAIN):
    return toy.ToyPuzzle(number=number, behaviour=behaviour)


def look_until(keeper, done):
    ends_at = time.monotonic() + PATIENCE_S
    keeper.poll()
    while not done():
        assert time.monotonic() < ends_at, f"not in {PATIENCE_S:g} s of looks"
        keeper.poll()

"""A short form of `python -m benchmarks.http.chaos`: undisturbed, and with killed processes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.http import chaos as http_chaos
from benchmarks.http.chaos import Phase
from benchmarks.http.requests import Requests
from benchmarks.http.service import Serving

SECONDS = 4.0
STRIKE_S = 1.0


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Serving]:
    found = Serving(tmp_path, NIGHTGRID_BATCH_PROCESSES="1")
    found.start()
    try:
        found.wait_ready()
        yield found
    finally:
        found.stop()


@pytest.mark.cluster
@pytest.mark.long(
    short="tests/workers/cluster/test_survival.py"
    "::test_whatever_is_killed_the_results_are_those_of_an_undisturbed_run"
)
@pytest.mark.slow
def test_every_accepted_job_ends_despite_kills(
    service: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_chaos, "CLIENTS", 3)
    calm = asyncio.run(Phase(service, Requests(1, 400), SECONDS).run(None))
    assert calm.faults(struck=False) == []
    assert calm.broken == 0
    assert calm.accepted
    assert 400 in calm.replies
    struck = asyncio.run(Phase(service, Requests(2, 400), 2 * SECONDS).run(STRIKE_S))
    assert struck.faults(struck=True) == []
    assert set(struck.strikes) == set(http_chaos.ROLES)
    assert struck.accepted

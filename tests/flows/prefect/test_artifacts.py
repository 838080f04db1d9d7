"""What Prefect's page shows: seldom enough, to the end, and never at the cost of the night."""

from __future__ import annotations

import logging
from itertools import pairwise
from uuid import uuid4

import httpx
import pytest

from nightgrid.flows.night.report import GameReport
from nightgrid.flows.runs import Watch
from nightgrid.workers.driver.progress import Progress


@pytest.fixture(scope="module", autouse=True)
def _prefect() -> None:
    """Load Prefect here: each process that collects the tests would take seconds for it."""
    global artifacts
    from nightgrid.flows.prefect import artifacts


def progress(done: int, total: int = 10) -> Progress:
    return Progress(
        run_id="0" * 32,
        chunks_done=done,
        chunks_total=total,
        jobs_done=done,
        jobs_total=total,
        in_flight=0,
        failures=0,
        seconds=0.0,
    )


@pytest.fixture
def shown(monkeypatch) -> list[float]:
    """Stand in for Prefect's server: every percentage that it was given."""
    percentages: list[float] = []

    def create(*, progress: float, key: str, description: str):
        assert key == artifacts.PROGRESS_KEY
        assert description.startswith(f"{progress / 10:.0f} of 10 jobs")
        percentages.append(progress)
        return uuid4()

    def update(*, artifact_id, progress: float, description: str):
        assert artifact_id is not None
        assert description.startswith(f"{progress / 10:.0f} of 10 jobs")
        percentages.append(progress)

    monkeypatch.setattr(artifacts, "create_progress_artifact", create)
    monkeypatch.setattr(artifacts, "update_progress_artifact", update)
    return percentages


def test_progress_is_shown_at_most_every_two_seconds(shown):
    now_s = 100.0
    bar = artifacts.progress_bar(clock=lambda: now_s)

    for done, at in [(0, 100.0), (1, 100.5), (2, 101.9), (3, 102.0), (4, 103.9), (5, 104.1)]:
        now_s = at
        bar(progress(done))

    assert artifacts.UPDATE_INTERVAL_S == 2.0
    assert shown == [0.0, 30.0, 50.0]


def test_what_takes_hours_is_shown_less_often_but_twice_a_minute(shown):
    now_s = 0.0
    bar = artifacts.progress_bar(clock=lambda: now_s)

    bar(progress(0))
    times = []
    while now_s < 7200.0:
        now_s += 1.0
        before = len(shown)
        bar(progress(1))
        times += [now_s] * (len(shown) - before)
    gaps = [later - earlier for earlier, later in pairwise(times)]

    assert (min(gaps), max(gaps)) == (2.0, 30.0)
    assert gaps == sorted(gaps)


def test_the_end_is_always_shown(shown):
    bar = artifacts.progress_bar(clock=lambda: 0.0)

    bar(progress(9))
    bar(progress(10))

    assert shown == [90.0, 100.0]


def test_of_nothing_all_is_done(monkeypatch):
    told: list[float] = []
    monkeypatch.setattr(
        artifacts, "create_progress_artifact", lambda *, progress, **_: told.append(progress)
    )
    artifacts.ShareBar("key", clock=lambda: 0.0)(0, 0)
    assert told == [100.0]


def test_a_server_that_is_gone_costs_the_picture_and_not_the_night(monkeypatch, caplog):
    def gone(**_):
        raise httpx.ConnectError("gone")

    for name in ("create_progress_artifact", "create_markdown_artifact"):
        monkeypatch.setattr(artifacts, name, gone)
    monkeypatch.setattr(artifacts, "get_run_logger", lambda: logging.getLogger("night"))

    artifacts.progress_bar()(progress(1))
    artifacts.show_summary(GameReport(game="pips", ask="count"))

    assert [record.getMessage() for record in caplog.records] == [
        "progress could not be shown: gone",
        "the summary could not be shown: gone",
    ]


@pytest.mark.parametrize(("slices", "first"), [(None, []), ((2, 8), [25.0])])
def test_a_count_shows_the_parts_of_its_corpus_that_were_there_before(monkeypatch, slices, first):
    """Given a count that goes on, Then its bar begins where the corpus was left."""
    told: list[tuple[str, float]] = []
    for name in ("create_progress_artifact", "update_progress_artifact"):
        monkeypatch.setattr(
            artifacts,
            name,
            lambda *, progress, description, **_: told.append((description, progress)),
        )
    heard: list[tuple[int, int]] = []
    watch = artifacts.shown_count(
        Watch(on_slices=lambda done, total: heard.append((done, total))), slices
    )
    assert [share for _, share in told] == first
    watch.on_slices(8, 8)
    assert heard == [(8, 8)]
    assert told[-1][1] == 100.0

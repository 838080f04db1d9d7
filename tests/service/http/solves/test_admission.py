"""A new job is refused if the expected time of earlier ones is too long."""

from __future__ import annotations

from pathlib import Path

import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.guard.keys import Key
from nightgrid.service.http.problems import Problem
from nightgrid.service.http.solves import admission as module
from nightgrid.service.http.solves.admission import check_admission, client_for
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.pips.generate.generator import generate_many
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.workers.settings import Settings
from tests.workers.ondemand.keeping import submit_without_server

SETTINGS = Settings(
    ondemand_seconds=10, ondemand_wait_seconds=30, interactive_processes=2, batch_processes=1
)
NEW = "0" * 32


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.open(str(tmp_path / "lake"))


def submitted(lake: Lake, seed: int, count: int, expected_s: float) -> list[str]:
    submit = submit_without_server(lake, SETTINGS)
    boards = generate_many(seed, count, [PRESETS["easy"]])
    return [submit(board, Ask(kind="count"), expected_s=expected_s) for board, _ in boards]


def test_small_jobs_wait_for_small_ones_and_large_ones_for_large_ones(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "JOB_S", 0.0)
    jobs = submitted(lake, 1, 10, 9.0)
    check_admission(lake, SETTINGS, None, NEW, expected_s=90.0)
    check_admission(lake, SETTINGS, None, jobs[0], expected_s=1.0)
    with pytest.raises(Problem) as caught:
        check_admission(lake, SETTINGS, None, NEW, expected_s=1.0)
    assert (caught.value.kind.status, caught.value.slug) == (429, "queue-full")
    assert caught.value.detail == (
        "a new job would wait about 45 s for the jobs that come first; expected at most 30 s"
    )
    assert caught.value.headers == {"Retry-After": "15"}


def test_a_large_job_is_refused_while_a_small_one_is_accepted(lake: Lake) -> None:
    submitted(lake, 2, 2, 20.0)
    check_admission(lake, SETTINGS, None, NEW, expected_s=1.0)
    with pytest.raises(Problem):
        check_admission(lake, SETTINGS, None, NEW, expected_s=11.0)


def test_the_open_jobs_of_a_key_are_limited(lake: Lake) -> None:
    limits = {"digest": "0" * 64, "per_minute": 1, "jobs": 2, "created_at": ""}
    alice, bob = (Key.model_validate({"name": name, **limits}) for name in ("alice", "bob"))
    submit, boards = submit_without_server(lake, SETTINGS), generate_many(3, 2, [PRESETS["easy"]])
    jobs = []
    for board, _ in boards:
        check_admission(lake, SETTINGS, alice, NEW, expected_s=1.0)
        jobs.append(submit(board, Ask(kind="count"), client=client_for(alice)))
    with pytest.raises(Problem) as caught:
        check_admission(lake, SETTINGS, alice, NEW, expected_s=1.0)
    assert caught.value.slug == "too-many-jobs"
    check_admission(lake, SETTINGS, alice, jobs[0], expected_s=1.0)
    check_admission(lake, SETTINGS, bob, NEW, expected_s=1.0)

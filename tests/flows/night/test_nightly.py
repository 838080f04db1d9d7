"""Nights without Prefect: their files in the lake, and resuming a killed one."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from nightgrid.archive.games.pips.payload import read_puzzles
from nightgrid.archive.lake.schemas import COUNTS_BY_DATE
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.gold.rebuild import COUNTS_PATH
from nightgrid.archive.state import NIGHT_REPORT, read_state, state_path
from nightgrid.flows.night.report import NightFailedError
from nightgrid.flows.runs import StoppedError
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.registry import game
from nightgrid.workers.driver.progress import Progress
from nightgrid.workers.runs.manifest import read_done
from tests.flows.nights import in_a_process, results, run_one, said

DAYS_OF_SEVERAL_CHUNKS = 22
LEVELS = 3


def files(settings) -> dict[str, int]:
    """Return when every file of the lake was last written."""
    lake = Path(settings.workers.lake)
    return {str(p): p.stat().st_mtime_ns for p in lake.rglob("*") if p.is_file()}


def test_a_night_answers_every_edition_like_the_solver(source, night):
    settings = night(source(2))

    report = run_one(settings)

    assert (report.fetched, report.new_payloads, report.editions) == (2, 2, 2 * LEVELS)
    assert (report.planned, report.solved, report.answered) == (6, 6, 6)
    assert report.quarantined == report.revisions == report.already_known == 0
    expected = {}
    for path in Path(settings.games[0].source).iterdir():
        for published in read_puzzles(path.read_bytes(), path.name):
            outcome = game("pips").solve(published.puzzle, Ask(kind="count"))
            expected[(path.stem, published.level)] = outcome.count
    gold = Lake.open(settings.workers.lake).read_table(COUNTS_PATH, COUNTS_BY_DATE).to_pylist()
    assert {(str(row["date"]), row["level"]): int(row["count"]) for row in gold} == expected
    assert all(Path(path).exists() for path in report.paths.values())


def test_a_second_night_over_the_same_data_solves_nothing_and_says_so(source, night):
    settings = night(source(2))
    run_one(settings)
    state = Path(state_path("pips")).name
    for expected in ({"plan.json", state}, {state}):
        before = files(settings)

        report = run_one(settings)

        assert (report.fetched, report.new_payloads) == (2, 0)
        assert (report.planned, report.already_known, report.answered) == (0, 6, 0)
        assert report.run_id is None
        touched = {path for path, at in files(settings).items() if before.get(path) != at}
        # The lease of the night has one file, numbered by nights.
        touched = {path for path in touched if "/leases/" not in f"/{path}"}
        assert {Path(path).name for path in touched} <= expected


def test_a_new_day_needs_only_its_own_work(source, night):
    run_one(night(source(2)))

    report = run_one(night(source(3)))

    assert (report.new_payloads, report.planned, report.already_known) == (1, LEVELS, 6)


@pytest.fixture
def quick_lease(monkeypatch):
    """Make the lease of a killed night expire soon."""
    monkeypatch.setattr("nightgrid.workers.lease.EXPIRY_S", 2.0)
    monkeypatch.setattr("nightgrid.workers.lease.RENEW_EVERY_S", 0.2)


@pytest.mark.usefixtures("quick_lease")
@pytest.mark.parametrize("step", ["fetch", "normalise", "plan", "solving", "solve", "aggregate"])
def test_a_night_killed_anywhere_is_finished_by_the_next(step, source, night, warm_python):
    undisturbed, settings = (night(source(DAYS_OF_SEVERAL_CHUNKS), lake) for lake in ("a", "b"))
    whole = run_one(undisturbed)

    killed = in_a_process(warm_python, settings, "--kill", step)
    report = run_one(settings)

    assert killed.returncode == -signal.SIGKILL, killed.stderr[-2000:]
    assert results(settings).equals(results(undisturbed))
    assert report.editions == whole.editions == DAYS_OF_SEVERAL_CHUNKS * LEVELS
    if step in ("solve", "aggregate"):
        assert (report.planned, report.already_known) == (0, whole.planned)
    else:
        assert report.planned == whole.planned
    if step == "solving":
        assert report.resumed
        assert report.chunks_found >= 1
        # Their number differs from the other lake's: measured costs decide how jobs are divided.
        done = read_done(Lake.open(settings.workers.lake), report.run_id)
        assert report.chunks_found + report.chunks_worked == done["chunks"] > 1


@pytest.mark.usefixtures("quick_lease")
def test_a_killed_night_is_finished_before_new_puzzles(source, night, warm_python):
    settings = night(source(DAYS_OF_SEVERAL_CHUNKS))
    in_a_process(warm_python, settings, "--kill", "solving")

    report = run_one(night(source(DAYS_OF_SEVERAL_CHUNKS + 1)))

    assert report.resumed
    assert report.chunks_found >= 1
    assert report.planned == report.solved == (DAYS_OF_SEVERAL_CHUNKS + 1) * LEVELS


def test_a_night_that_is_asked_to_stop_says_so_and_the_next_continues(source, night):
    settings = night(source(DAYS_OF_SEVERAL_CHUNKS))
    asked = []

    def ask_once(progress: Progress) -> None:
        if progress.chunks_done and not asked:
            asked.append(progress)
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(StoppedError, match="the next night continues"):
        run_one(settings, on_progress=ask_once)
    report = run_one(settings)

    assert report.resumed
    assert report.chunks_found >= 1
    assert report.solved == DAYS_OF_SEVERAL_CHUNKS * LEVELS


def test_a_source_without_readable_payloads_fails_the_night_every_time(source, night):
    settings = night(source(1))
    (payload,) = Path(settings.games[0].source).iterdir()
    payload.write_text("{")

    for _ in range(2):
        with pytest.raises(NightFailedError, match=r"pips failed.*in quarantine") as caught:
            run_one(settings)
        assert caught.value.report.of("pips").source_failed


def test_a_night_from_cron_needs_no_prefect(source, night):
    answer = said(in_a_process(sys.executable, night(source(2)), "--without-prefect"))

    assert answer["prefect"] is False
    assert answer["report"]["games"]["pips"]["solved"] == 2 * LEVELS


def test_the_report_is_kept_in_the_lake(source, night):
    settings = night(source(1))

    report = run_one(settings)

    kept = read_state(settings.lake, "pips", NIGHT_REPORT)
    assert kept is not None
    assert kept["ended_at"].endswith("+00:00")
    assert kept.pop("succeeded_at") == kept.pop("ended_at")
    assert kept == json.loads(json.dumps(report.to_json()))

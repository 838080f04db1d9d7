"""The keeper ends every job: with a row, or without an answer but with a reason."""

import datetime as dt
import os
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import toy_game as toy

from nightgrid.archive.lake.local_commit import STAGING
from nightgrid.archive.lake.stored_files import STAGING_KEPT_S
from nightgrid.archive.words.binding import bind_game
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.queues import NAMES
from nightgrid.workers.broker.redis_keys import BATCH, INTERACTIVE, key_prefix
from nightgrid.workers.driver.driver import AllRefuseError, Driver
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.ondemand import keeper as module
from nightgrid.workers.ondemand.results import find_row, result_row
from nightgrid.workers.ondemand.status import status
from nightgrid.workers.ondemand.submissions import open_jobs, read_wanted
from nightgrid.workers.ondemand.submitting import cancel_job, submit
from nightgrid.workers.runs.run_files import folder
from nightgrid.workers.runs.staged import frontiers
from nightgrid.workers.runs.status import is_cancelled
from tests.workers.cluster.test_survival import drive_celery, slow_boards
from tests.workers.conftest import COUNT, plan, quick_settings
from tests.workers.ondemand.keeping import inline_keeper, keep, submit_without_server

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")


def puzzle(number, behaviour=toy.PLAIN):
    return toy.ToyPuzzle(number=number, behaviour=behaviour)


@pytest.fixture
def ask(lake, settings):
    return submit_without_server(lake, settings)


@pytest.mark.parametrize(
    ("behaviour", "wanted", "expected"),
    [
        (toy.PLAIN, COUNT, "solved"),
        (toy.PLAIN, Ask(kind="all", limit=3), "solved"),
        (toy.UNSOLVABLE, COUNT, "unsolvable"),
        (toy.LARGE, COUNT, "solved"),
        (toy.LAYERED, COUNT, "solved"),
        (toy.RAISE, COUNT, "poison"),
    ],
)
def test_a_job_ends_in_one_row(lake, settings, ask, behaviour, wanted, expected):
    job = ask(puzzle(5, behaviour), wanted)
    keep(lake, settings)
    row = find_row(lake, job)
    assert row["status"] == expected
    assert not open_jobs(lake).wanted
    assert status(lake, job).state == "done"


def test_poison_is_requested_again_by_the_next_submission(lake, settings, ask, monkeypatch):
    job = ask(puzzle(6, toy.RAISE), COUNT)
    keep(lake, settings)
    assert find_row(lake, job)["status"] == "poison"
    monkeypatch.setattr(toy, "RAISE", -1)
    ask(puzzle(6, 4), COUNT)
    keep(lake, settings)
    assert find_row(lake, job)["status"] == "solved"


def test_a_job_over_budget_is_requested_again_only_under_a_larger_one(
    lake, settings, ask, tmp_path
):
    job = ask(puzzle(7, toy.LARGE), COUNT)
    keep(lake, quick_settings(tmp_path, split_depth_max=0))
    assert find_row(lake, job)["status"] == "over_budget"
    ask(puzzle(7, toy.LARGE), COUNT)
    assert not open_jobs(lake).wanted
    larger = replace(settings.budget, nodes=settings.budget.nodes * 2)
    ask(puzzle(7, toy.LARGE), COUNT, budget=larger)
    assert open_jobs(lake).wanted.keys() == {job}
    keep(lake, settings)
    assert find_row(lake, job)["status"] == "solved"


def test_a_raised_budget_starts_another_run(lake, settings, ask):
    small = Budget(nodes=10, table_bytes=10**6, seconds=5.0)
    job = ask(puzzle(8), COUNT, client="one", budget=small)
    keeper = inline_keeper(lake, settings)
    keeper.poll()
    first = read_wanted(lake, job).run_id
    ask(puzzle(8), COUNT, client="two")
    assert read_wanted(lake, job).run_id != first
    keeper.poll()
    assert is_cancelled(lake, first)
    keep(lake, settings)
    assert find_row(lake, job)["status"] == "solved"
    assert not open_jobs(lake).wanted


def test_a_keeper_that_is_killed_anywhere_is_followed_by_another(lake, settings, ask, monkeypatch):
    jobs = [ask(puzzle(number, toy.LARGE), COUNT) for number in (20, 21)]
    for step in ("begin_run", "extend_run", "Driver", "delete_submissions"):
        with monkeypatch.context() as patch:

            def die(*_args, **_more):
                raise KeyboardInterrupt

            patch.setattr(module, step, die)
            with pytest.raises(KeyboardInterrupt):
                keep(lake, settings)
    keep(lake, settings)
    assert {find_row(lake, job)["status"] for job in jobs} == {"solved"}


def test_a_late_job_expires_and_is_requested_again(lake, settings, ask):
    job = ask(puzzle(9), COUNT, deadline_at=time.time() - 1)
    keep(lake, settings)
    found = status(lake, job)
    assert (found.state, bool(found.reason)) == ("expired", True)
    ask(puzzle(9), COUNT)
    keep(lake, settings)
    assert status(lake, job).state == "done"


def test_a_staged_count_is_cancelled_and_leaves_no_states(lake, settings, ask):
    job = ask(puzzle(10, toy.LAYERED), COUNT)
    keeper = inline_keeper(lake, settings)
    run_id = read_wanted(lake, job).run_id
    while not frontiers(lake, run_id):
        keeper.turn(0.0)
    assert status(lake, job).state == "working"
    cancel_job(lake, job)
    assert frontiers(lake, run_id) == []
    keeper.turn(0.0)
    assert status(lake, job).state == "cancelled"
    ask(puzzle(10, toy.LAYERED), COUNT)
    keep(lake, settings)
    assert find_row(lake, job)["status"] == "solved"


def test_a_job_that_is_cancelled_and_requested_again_between_two_looks_continues(
    lake, settings, ask
):
    job = ask(puzzle(17, toy.LAYERED), COUNT)
    keeper = inline_keeper(lake, settings)
    keeper.turn(0.0)
    cancel_job(lake, job)
    ask(puzzle(17, toy.LAYERED), COUNT)
    for _ in range(200):
        keeper.turn(0.01)
        if not open_jobs(lake).wanted:
            break
    assert find_row(lake, job)["status"] == "solved"


def test_a_job_ends_with_its_total_and_continues_under_a_larger_one(lake, tmp_path):
    little = quick_settings(tmp_path, ondemand_total_seconds=1e-9)
    job = submit_without_server(lake, little)(puzzle(11, toy.LARGE), COUNT)
    run_id = read_wanted(lake, job).run_id
    keep(lake, little)
    row = find_row(lake, job)
    assert (row["status"], "total" in row["reason"]) == ("over_budget", True)
    enough = quick_settings(tmp_path)
    submit_without_server(lake, enough)(puzzle(11, toy.LARGE), COUNT)
    assert read_wanted(lake, job).run_id == run_id
    keep(lake, enough)
    assert find_row(lake, job)["status"] == "solved"


def test_a_job_that_all_workers_refuse_ends_as_refused(lake, tmp_path, ask, monkeypatch):
    job = ask(puzzle(12), COUNT)

    def refuse(_driver):
        time.sleep(0.01)
        raise AllRefuseError("no worker can work here: a full disk")

    monkeypatch.setattr(Driver, "step", refuse)
    keep(lake, quick_settings(tmp_path, broker_patience_seconds=0.05))
    found = status(lake, job)
    assert (found.state, "a full disk" in found.reason) == ("refused", True)


def test_a_job_of_another_solver_version_ends_as_refused(lake, settings, ask, monkeypatch):
    job = ask(puzzle(13), COUNT)
    monkeypatch.setattr(toy.ToyGame, "solver_version", "toy-2")
    keep(lake, settings)
    found = status(lake, job)
    assert (found.state, "toy-1" in found.reason) == ("refused", True)


def test_a_failing_job_affects_no_other(lake, settings, ask, monkeypatch):
    broken, sound = (ask(puzzle(number), COUNT) for number in (14, 15))
    plan_one = module.Keeper._plan

    def fail(keeper, wanted):
        if wanted.job_id == broken:
            raise RuntimeError("no such thing")
        return plan_one(keeper, wanted)

    monkeypatch.setattr(module.Keeper, "_plan", fail)
    keeper = inline_keeper(lake, settings)
    for _ in range(3):
        keeper.turn(0.0)
    assert status(lake, sound).state == "done"
    assert status(lake, broken).state == "queued"


def test_old_ends_and_leftovers_of_killed_writers_are_deleted(lake, settings, ask, monkeypatch):
    job = ask(puzzle(16, toy.LAYERED), COUNT)
    keeper = inline_keeper(lake, settings)
    run_id = read_wanted(lake, job).run_id
    keeper.turn(0.0)
    cancel_job(lake, job)
    staging = Path(settings.lake) / STAGING
    staging.mkdir(parents=True, exist_ok=True)
    for name, age_s in (("old", 2 * STAGING_KEPT_S), ("young", 0.0)):
        (staging / name).write_bytes(b"half")
        os.utime(staging / name, (time.time() - age_s,) * 2)
    keeper.tidy()
    assert not (staging / "old").exists()
    assert (staging / "young").exists()
    assert status(lake, job).state == "cancelled"
    monkeypatch.setattr(module, "days_ago", lambda _: dt.datetime.now(dt.UTC))
    keeper._sweep_at = 0.0
    keeper.tidy()
    assert status(lake, job).state == "unknown"
    assert lake.list(f"runs/run={run_id}") == []


@pytest.mark.cluster
def test_on_demand_solves_do_not_wait_behind_a_batch(cluster, cluster_lake):
    boards = slow_boards(300, 21_000)
    answers = []

    def ask(progress):
        if progress.chunks_done >= 2 and not answers:
            for number, behaviour in ((77_001, toy.PLAIN), (77_005, toy.LARGE)):
                job = submit(
                    cluster_lake, bind_game("pips"), puzzle(number, behaviour), COUNT, cluster
                )
                answers.append(result_row(cluster_lake, job, timeout_s=60.0))
            answers.append(len(cluster_lake.list(f"runs/run={progress.run_id}/parts")))

    summary = drive_celery(cluster, cluster_lake, plan(cluster_lake, boards), ask)
    small, large, done_when_answered = answers
    assert small["count"] == toy.count_of(77_001)
    assert large["status"] == "solved"
    assert done_when_answered < summary.chunks_total


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("number", "behaviour", "expected"),
    [(77_002, toy.LARGE, "solved"), (77_003, toy.KILL_CHILD, "poison")],
    ids=["large", "kills its process"],
)
def test_the_cluster_ends_every_job(cluster, cluster_lake, number, behaviour, expected):
    job = submit(cluster_lake, bind_game("pips"), puzzle(number, behaviour), COUNT, cluster)
    assert result_row(cluster_lake, job, timeout_s=60.0)["status"] == expected


@pytest.mark.cluster
def test_a_job_whose_messages_are_lost_is_solved(cluster, cluster_lake):
    jobs = [
        submit(cluster_lake, bind_game("pips"), puzzle(number, toy.SLOW), COUNT, cluster)
        for number in range(77_010, 77_016)
    ]
    with closing(connect(cluster)) as client:
        client.delete(*(f"{key_prefix(cluster)}{name}" for name in NAMES))
    for job in jobs:
        assert result_row(cluster_lake, job, timeout_s=60.0)["status"] == "solved"


def test_a_small_job_over_budget_continues_in_the_queue_batch(lake, settings, ask):
    """Given a small job that comes back divided, Then its parts have the full budget."""
    sent = []

    class Recording(InlineOutbox):
        def send(self, ref, queue):
            sent.append((ref.segment, queue))
            super().send(ref, queue)

    job = ask(puzzle(5, toy.LARGE), COUNT)
    keeper = module.Keeper(lake, settings, Recording(lake, settings))
    for _ in range(200):
        keeper.turn(0.0)
    assert find_row(lake, job)["status"] == "solved"
    assert {queue for segment, queue in sent if segment == 0} == {INTERACTIVE}
    assert {queue for segment, queue in sent if segment > 0} == {BATCH}


@pytest.mark.parametrize("lost", ["plan.json", "manifest/seg-00000.parquet"])
def test_a_job_whose_run_is_damaged_is_planned_again(lake, settings, ask, lost):
    job = ask(puzzle(5), COUNT)
    keeper = inline_keeper(lake, settings)
    keeper.poll()
    lake.write_bytes(f"{folder(read_wanted(lake, job).run_id)}/{lost}", b"{")
    keep(lake, settings)
    assert find_row(lake, job)["status"] == "solved"


def test_a_permanent_error_ends_a_job_after_another_try(lake, settings, ask, monkeypatch):
    """Given a run that cannot be finished, Then its job is refused with the reason."""
    job, tries = ask(puzzle(5), COUNT), []

    def fail(_driver):
        tries.append(1)
        raise PermanentError("its files say two things")

    keeper = inline_keeper(lake, settings)
    monkeypatch.setattr(Driver, "step", lambda _: False)
    keeper.poll()
    monkeypatch.setattr(Driver, "step", fail)
    keeper.poll()
    assert status(lake, job).state == "queued"
    keeper.poll()
    assert (status(lake, job).state, len(tries)) == ("refused", 2)
    assert "two things" in status(lake, job).reason

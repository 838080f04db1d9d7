"""On-demand solves, with a real interactive worker, and without any."""

import errno
import os
import shutil
import time
from contextlib import closing
from pathlib import Path

import pytest
import toy_game as toy

from nightgrid.archive.lake.identity import make_lake_id
from nightgrid.archive.lake.local_commit import STAGING
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.stored_files import STAGING_KEPT_S
from nightgrid.archive.results.parts import parts_of
from nightgrid.archive.words.binding import bind_game
from nightgrid.solvers.algebra import Ask, Budget, Outcome, Statistics, Status
from nightgrid.solvers.errors import RefusalError, TransientError
from nightgrid.solvers.question import question_of
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.broker.queues import BATCH, NAMES, Traffic, Watch, overview
from nightgrid.workers.broker.worker_keys import living_workers
from nightgrid.workers.driver.driver import drive
from nightgrid.workers.driver.outbox import CeleryOutbox, InlineOutbox
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.ondemand.jobs.results import result
from nightgrid.workers.ondemand.jobs.rows import find_row
from nightgrid.workers.ondemand.jobs.run_progress import open_again, progress_of
from nightgrid.workers.ondemand.jobs.status import status
from nightgrid.workers.ondemand.jobs.submitting import plan_job, submit
from nightgrid.workers.ondemand.keeper import Keeper
from nightgrid.workers.ondemand.record_files import open_records, record_path
from nightgrid.workers.ondemand.task import solving
from nightgrid.workers.ondemand.task.solving import solve_message
from nightgrid.workers.runs import manifest
from nightgrid.workers.runs.manifest import add_segment, open_run, read_segment
from nightgrid.workers.runs.run_files import ChunkRef, segment_path
from tests.workers.cluster.test_survival import drive_celery, slow_boards
from tests.workers.conftest import COUNT, plan, quick_settings
from tests.workers.ondemand.conftest import look_until
from tests.workers.pending import pending_chunks

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")

PLAIN = toy.ToyPuzzle(number=1, behaviour=toy.PLAIN)


def puzzle(number, behaviour=toy.PLAIN):
    return toy.ToyPuzzle(number=number, behaviour=behaviour)


def test_a_job_goes_from_queue_to_result_and_leaves_no_record(lake, settings, mailbox):
    job = submit(lake, PLAIN, Ask(kind="all", limit=3), settings=settings)
    assert status(lake, job).state == "queued"
    assert result(lake, job) is None
    (message,) = mailbox
    assert solve_message(lake, message, settings, "w")["state"] == "done"
    answer = result(lake, job)
    assert (answer["status"], answer["count"], answer["solutions"]) == (
        "solved",
        3,
        [[0], [1], [2]],
    )
    assert status(lake, job).state == "done"
    assert open_records(lake) == []


def test_a_message_delivered_twice_is_worked_once(lake, settings, mailbox):
    job = submit(lake, PLAIN, COUNT, settings=settings)
    first = solve_message(lake, mailbox[0], settings, "one")
    path = f"results/ondemand-{job}.parquet"
    written = lake.read_bytes(path)
    assert solve_message(lake, mailbox[0], settings, "two") == {"job_id": job, "state": "done"}
    assert first["status"] == "solved"
    assert lake.read_bytes(path) == written


def test_a_worker_of_a_copy_of_the_lake_leaves_a_job_to_another(
    lake, settings, mailbox, keeper, tmp_path
):
    make_lake_id(settings.lake)
    copy = Lake.open(str(shutil.copytree(settings.lake, tmp_path / "copy")))
    job = submit(lake, PLAIN, COUNT, settings=settings)
    (message,) = mailbox
    with pytest.raises(
        RefusalError, match=f"never asked in this lake: expected the lake of job {job}, "
    ):
        solve_message(copy, message, settings, "w")
    assert find_row(copy, job) is None
    assert open_records(copy) == []
    # The keeper sends it again, and a worker of this lake gets it.
    look_until(keeper, lambda: len(mailbox) > 1)
    assert solve_message(lake, mailbox[-1], settings, "v")["state"] == "done"
    assert result(lake, job)["status"] == "solved"


def test_a_job_too_large_for_a_task_becomes_a_run(lake, settings, mailbox):
    large = puzzle(9, toy.LARGE)
    job = submit(lake, large, COUNT, settings=settings)
    report = solve_message(lake, mailbox[0], settings, "w")
    assert report["state"] == "run"
    assert status(lake, job).run_id == report["run_id"]
    assert status(lake, job).state == "run"
    assert solve_message(lake, mailbox[0], settings, "w")["state"] == "run"
    drive(lake, report["run_id"], InlineOutbox(lake, settings), settings=settings)
    assert status(lake, job).state == "done"
    assert result(lake, job)["count"] == sum((9 + i) % 7 + 1 for i in range(64))


@pytest.mark.parametrize(
    ("expected_s", "split", "chunks"), [(0.0, "auto", 1), (3.0, "auto", 2), (3.0, "never", 1)]
)
def test_a_job_that_is_expected_to_take_long_is_divided_whatever_its_size(
    lake, settings, expected_s, split, chunks
):
    large, budget = puzzle(9, toy.LARGE), JobBudget.of(settings, Budget())
    game = bind_game("pips")
    run_id = plan_job(lake, game, large, COUNT, budget, expected_s=expected_s, split=split)
    run = open_run(lake, run_id)
    assert min(2, len(run.chunks())) == chunks
    before = progress_of(lake, run)
    assert (before.chunks_done, before.states) == (0, 0)
    assert before.left_s == before.expected_s
    assert before.left_s >= expected_s
    drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    after = progress_of(lake, open_run(lake, run_id))
    assert after.chunks_done == after.chunks_total
    assert after.left_s == 0
    row = find_row(lake, question_of(game, COUNT).job_id(game.puzzle_id(large)))
    told = parts_of(lake, row)
    assert after.states == row["states"] == sum(part.states for part in told) or not told
    if chunks > 1:
        assert len(told) == row["parts"] > 1
        assert all(part.what for part in told)
        assert all(part.worker for part in told)
    assert sum(part.count or 0 for part in told) == (row["count"] if told else 0)


def test_a_look_at_a_run_reads_only_segments_that_are_new(lake, settings, monkeypatch):
    large, budget = puzzle(9, toy.LARGE), JobBudget.of(settings, Budget())
    run_id = plan_job(lake, bind_game("pips"), large, COUNT, budget, split="never")
    read = []

    def noted(lake, run_id, number):
        read.append(number)
        return read_segment(lake, run_id, number)

    monkeypatch.setattr(manifest, "read_segment", noted)
    assert [open_again(lake, run_id).segments for _ in range(3)] == [
        open_run(lake, run_id).segments
    ] * 3
    assert read == [0, 0], "one look, and the one that it is compared with"
    rows = lake.read_row_group(segment_path(run_id, 0), 0)
    add_segment(lake, run_id, 1, "halved", [(0, 0)], [rows])
    assert len(open_again(lake, run_id).segments) == 2
    assert read == [0, 0, 1]


def test_a_task_says_what_its_job_has_taken(lake, settings, mailbox, monkeypatch):
    said = {}

    def plan(*_, **known):
        said.update(known)
        return "0" * 32

    over = Outcome(
        status=Status.OVER_BUDGET,
        reason_code=ReasonCode.SECONDS,
        statistics=Statistics(kernel_ns=3 * 10**9),
    )
    monkeypatch.setattr(solving, "solve_whole", lambda *_: over)
    monkeypatch.setattr(solving, "plan_job", plan)
    submit(lake, PLAIN, COUNT, settings=settings, split="never")
    solve_message(lake, mailbox[0], settings, "w")
    assert said == {"worker_count": settings.batch_processes, "expected_s": 3.0, "split": "never"}


def test_a_job_that_raises_over_and_over_becomes_poison(lake, settings, mailbox):
    job = submit(lake, puzzle(7, toy.RAISE), COUNT, settings=settings)
    for _ in range(settings.attempts_max):
        with pytest.raises(TransientError, match="too much for the toy"):
            solve_message(lake, mailbox[0], settings, "w")
    solve_message(lake, mailbox[0], settings, "w")
    answer = result(lake, job)
    assert answer["status"] == "poison"
    assert answer["reason"].endswith(f"({settings.attempts_max} attempts)")


def test_a_message_for_another_solver_is_refused_and_counts_no_attempt(lake, settings, mailbox):
    job = submit(lake, PLAIN, COUNT, settings=settings)
    with pytest.raises(RefusalError, match="same solver version"):
        solve_message(lake, {**mailbox[0], "job_id": "0" * 32}, settings, "w")
    with pytest.raises(RefusalError, match="expected a message with"):
        solve_message(lake, {"job_id": "0" * 32}, settings, "w")
    assert status(lake, job).attempts == 0


def test_what_fails_around_a_puzzle_counts_no_attempt(lake, settings, mailbox, monkeypatch):
    job = submit(lake, PLAIN, COUNT, settings=settings)
    with monkeypatch.context() as patch:
        patch.setattr(Lake, "create_table", _disk_is_full)
        for _ in range(settings.attempts_max + 1):
            with pytest.raises(TransientError, match="No space left"):
                solve_message(lake, mailbox[0], settings, "w")
    (record,) = open_records(lake)
    assert (record.attempts, record.worker) == (0, None)
    solve_message(lake, mailbox[0], settings, "w")
    assert result(lake, job)["status"] == "solved"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EMFILE, errno.EROFS])
def test_what_the_system_refuses_a_solver_counts_no_attempt(
    lake, settings, mailbox, monkeypatch, code
):
    def fail(*_, **__):
        raise OSError(code, os.strerror(code))

    job = submit(lake, PLAIN, COUNT, settings=settings)
    with monkeypatch.context() as patch:
        patch.setattr(toy.ToyGame, "solve", fail)
        for _ in range(settings.attempts_max + 1):
            with pytest.raises(RefusalError, match=os.strerror(code)):
                solve_message(lake, mailbox[0], settings, "w")
    assert status(lake, job).attempts == 0
    solve_message(lake, mailbox[0], settings, "w")
    assert result(lake, job)["status"] == "solved"


def _disk_is_full(*_, **__):
    raise TransientError("results: the lake failed: No space left on device")


def test_a_watch_gives_up_messages_that_are_nowhere_twice_or_held_by_a_dead_process():
    watch = Watch(patience_s=0.05)
    here = Traffic(waiting=frozenset({"a"}), acquired=frozenset({"b"}))
    assert watch.gone(["a", "b", "c"], here) == set()
    assert watch.gone(["a", "b", "c"], here) == {"c"}
    assert watch.gone(["a", "b", "c"], here) == set()
    time.sleep(0.06)
    assert watch.gone(["a", "b"], here) == {"b"}


def test_nothing_is_gone_from_a_queue_that_was_not_seen_to_its_end():
    watch = Watch(patience_s=60.0)
    part = Traffic(waiting=frozenset({"a"}), acquired=frozenset(), complete=False)
    assert watch.gone(["a", "b"], part) == set()
    assert watch.gone(["a", "b"], part) == set()


@pytest.mark.cluster
def test_on_demand_solves_do_not_wait_behind_a_batch(cluster, cluster_lake):
    boards = slow_boards(300, 21_000)
    answers = []

    def ask(progress):
        if progress.chunks_done >= 2 and not answers:
            job = submit(cluster_lake, puzzle(77_001), COUNT, settings=cluster)
            answers.append((result(cluster_lake, job, timeout_s=30.0), progress.chunks_total))
            done = len(cluster_lake.list(f"runs/run={progress.run_id}/parts"))
            answers.append(done)

    summary = drive_celery(cluster, cluster_lake, plan(cluster_lake, boards), ask)
    (answer, _), done_when_answered = answers
    assert answer["count"] == toy.count_of(77_001)
    assert done_when_answered < summary.chunks_total


@pytest.mark.cluster
def test_what_a_large_on_demand_solve_becomes_does_not_wait_behind_a_batch(
    cluster, cluster_lake, monkeypatch
):
    monkeypatch.setattr("nightgrid.workers.runs.plan.plan_pass.CHUNK_MAX_ROWS", 10)
    boards = toy.boards(400, dict.fromkeys(range(22_000, 22_400), toy.SLOW), start=22_000)
    run_id = plan(cluster_lake, boards)
    refs = pending_chunks(cluster_lake, open_run(cluster_lake, run_id))
    # All of it at once: no driver holds anything back.
    with closing(CeleryOutbox(cluster)) as outbox:
        for ref in refs:
            outbox.send(ref, BATCH)
    job = submit(cluster_lake, puzzle(77_005, toy.LARGE), COUNT, settings=cluster)
    assert result(cluster_lake, job, timeout_s=60.0)["status"] == "solved"
    left = len(refs) - len(cluster_lake.list(f"runs/run={run_id}/parts"))
    assert left > cluster.batch_processes, "whatever was sent before it had been taken by then"
    with closing(connect(cluster)) as client:
        client.delete(f"{key_prefix(cluster)}{BATCH}")


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("number", "behaviour", "expected"),
    [(77_002, toy.LARGE, "solved"), (77_003, toy.KILL_CHILD, "poison")],
    ids=["large", "kills its process"],
)
def test_the_cluster_brings_every_on_demand_job_to_an_end(
    cluster, cluster_lake, number, behaviour, expected
):
    job = submit(cluster_lake, puzzle(number, behaviour), COUNT, settings=cluster)
    assert result(cluster_lake, job, timeout_s=60.0)["status"] == expected


@pytest.mark.cluster
def test_a_lost_message_is_sent_again_by_the_keeper(cluster, cluster_lake, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("nightgrid.workers.ondemand.jobs.submitting.publish", lambda *_: None)
        job = submit(cluster_lake, puzzle(77_004), COUNT, settings=cluster)
    assert result(cluster_lake, job, timeout_s=30.0)["count"] == toy.count_of(77_004)
    with closing(connect(cluster)) as client:
        assert list(client.scan_iter("*celery-task-meta*")) == [], "answers lie in the lake alone"


@pytest.mark.cluster
def test_the_overview_tells_what_waits_and_how_old_the_oldest_is(cluster, tmp_path):
    # No worker serves this lake, so that its messages stay.
    alone = quick_settings(tmp_path, redis_url=cluster.server_url)
    with closing(CeleryOutbox(alone)) as executor:
        for _ in range(20):
            executor.submit(ChunkRef(run_id="0" * 32, segment=0, chunk=0))
    seen = overview(alone)["batch"]
    assert (seen.queued, seen.acquired) == (20, 0)
    assert 0 <= seen.oldest_s < 30
    assert set(overview(cluster)) == set(NAMES)
    with closing(connect(cluster)) as client:
        alive = living_workers(client, cluster).values()
    serving = {queue for about in alive for queue in about["queues"]}
    assert serving == set(NAMES)


def left_half_written(lake_folder):
    """Leave two files of killed writers: one two days old, one that may be a living writer's."""
    staging = lake_folder / STAGING
    staging.mkdir(parents=True, exist_ok=True)
    for name, age_s in (("old", 2 * STAGING_KEPT_S), ("young", 0.0)):
        (staging / name).write_bytes(b"half")
        written_at = time.time() - age_s
        os.utime(staging / name, (written_at, written_at))
    return staging


def test_a_keeper_deletes_what_killed_writers_left_half_written(lake, settings):
    staging = left_half_written(Path(settings.lake))
    keeper = Keeper(lake, settings)
    keeper.sweep()
    assert [path.name for path in staging.iterdir()] == ["young"]
    left_half_written(Path(settings.lake))
    keeper.sweep()
    assert len(list(staging.iterdir())) == 2, "once an hour is enough"


def test_a_run_deletes_what_killed_writers_left_half_written(lake, settings):
    staging = left_half_written(Path(settings.lake))
    run_id = plan(lake, toy.boards(3))
    drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert [path.name for path in staging.iterdir()] == ["young"]


def test_the_keeper_does_nothing_where_nothing_is_open(lake, settings):
    Keeper(lake, settings).poll()
    assert not lake.exists(record_path("0" * 32))


def test_a_budget_below_what_a_task_may_take_is_final(lake, settings, mailbox):
    small = Budget(nodes=10, table_bytes=1000, seconds=1.0)
    job = submit(lake, puzzle(9, toy.LARGE), COUNT, budget=small, settings=settings)
    solve_message(lake, mailbox[0], settings, "w")
    assert result(lake, job)["status"] == "over_budget"

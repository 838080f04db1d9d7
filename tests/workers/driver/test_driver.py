"""The driver with outboxes of every kind, without any server."""

import itertools
import json
import shutil
import socket
import time
from dataclasses import replace

import pytest
import toy_game as toy

from benchmarks.tuned import retuned
from nightgrid.archive.lake.schemas import PARTS, SOLUTIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import RefusalError, TransientError
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.broker.notices import Announcement
from nightgrid.workers.chunks.solve import solve_chunk
from nightgrid.workers.driver.drive import drive
from nightgrid.workers.driver.driver import HALVED_AFTER, AllRefuseError, Driver
from nightgrid.workers.driver.growth import GrowingRun
from nightgrid.workers.driver.outbox import InlineOutbox, Place, Worker
from nightgrid.workers.logs import logged_to
from nightgrid.workers.runs.attempt_notes import (
    Note,
    read_attempts,
    write_failure,
    write_note,
)
from nightgrid.workers.runs.manifest import open_run, read_done, read_segments
from nightgrid.workers.runs.run_files import ChunkRef
from tests.workers.conftest import (
    BUDGET,
    COUNT,
    divide_all,
    plan,
    quick_settings,
    result_rows,
    undisturbed_rows,
)
from tests.workers.pending import pending_chunks
from tests.workers.planning import plan_run

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")


class Killed(BaseException):
    """Simulates the end of the driver's process."""


DEAD_PROCESS = f"inline-{socket.gethostname()}-{2**22 + 1}-0"
"""Names a dead process of this host."""


class DyingOutbox(InlineOutbox):
    """Solves a number of chunks, then kills its process."""

    def __init__(self, lake, settings, chunks, *, begin=False):
        super().__init__(lake, settings)
        self.chunks = chunks
        self.begin = begin
        self.worked = []

    def wait(self, timeout_s):
        if len(self.worked) == self.chunks:
            if self.begin:
                note = Note(worker=DEAD_PROCESS)
                write_note(self._lake, self._waiting[0], note)
            raise Killed
        self.worked += [ref.key for ref in list(self._waiting)[:1]]
        return super().wait(timeout_s)


class DeafOutbox(InlineOutbox):
    """Loses the first messages, announces nothing, and solves the rest."""

    def __init__(self, lake, settings, lost):
        super().__init__(lake, settings)
        self.lost = lost
        self.sent = []

    def window(self, queue):
        return 4

    def send(self, ref, queue):
        self.sent.append(ref)
        if len(self.sent) > self.lost:
            super().send(ref, queue)

    def wait(self, timeout_s):
        while self._waiting:
            super().wait(0.0)
        time.sleep(timeout_s)
        return []


KILLED = Reason(code=ReasonCode.PROCESS_LOST, sentence="killed")


class FailingOutbox(InlineOutbox):
    """Announces of every chunk that its process died."""

    def wait(self, timeout_s):
        return [Announcement(event="failed", ref=self._waiting.popleft(), reason=KILLED)]


def sent_again(log):
    """Read from a log which chunks were sent again, and why."""
    lines = [json.loads(line) for line in log.read_text().splitlines() if line[:1] == "{"]
    return [line for line in lines if line["event"] == "chunk sent again"]


def run_inline(lake, settings, boards, ask=COUNT):
    run_id = plan(lake, boards, ask)
    return drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)


def test_every_job_ends_in_one_row_with_the_right_count(lake, settings):
    boards = toy.boards(200, {5: toy.UNSOLVABLE, 9: toy.RAISE, 11: toy.LARGE})
    summary = run_inline(lake, settings, boards)
    rows = {row["puzzle_id"]: row for row in result_rows(lake, summary.run_id)}
    assert len(rows) == summary.job_count == 200
    for number in range(200):
        behaviour = {5: toy.UNSOLVABLE, 9: toy.RAISE, 11: toy.LARGE}.get(number, toy.PLAIN)
        row = rows[toy.ToyPuzzle(number=number, behaviour=behaviour).puzzle_id]
        if behaviour == toy.UNSOLVABLE:
            assert (row["status"], row["count"]) == ("unsolvable", 0)
        elif behaviour == toy.RAISE:
            assert (row["status"], row["count"]) == ("poison", None)
            assert "board 9 is too much for the toy (4 attempts)" in row["reason"]
        elif behaviour == toy.LARGE:
            # 64 residues, at most 4 to a part: split into 4, and each of these into 4 again.
            assert (row["status"], row["parts"]) == ("solved", 16)
            assert row["count"] == sum((11 + i) % 7 + 1 for i in range(64))
        else:
            assert (row["status"], row["count"]) == ("solved", toy.count_of(number))
    assert summary.statuses == {"solved": 198, "unsolvable": 1, "poison": 1}


@pytest.mark.parametrize("depth", [0, 1], ids=["never", "once"])
def test_a_part_that_is_not_divided_again_leaves_its_job_over_budget(tmp_path, depth):
    settings = quick_settings(tmp_path, split_depth_max=depth)
    lake = Lake.open(settings.lake)
    summary = run_inline(lake, settings, toy.boards(40, {3: toy.LARGE}))
    assert summary.statuses == {"solved": 39, "over_budget": 1}
    (row,) = [r for r in result_rows(lake, summary.run_id) if r["status"] == "over_budget"]
    assert row["count"] is None
    assert "budget" in row["reason"]


def test_once_a_part_is_over_budget_for_good_its_siblings_are_not_solved(tmp_path, kept_files):
    settings = quick_settings(tmp_path, split_depth_max=1)
    lake = Lake.open(settings.lake)
    summary = run_inline(lake, settings, toy.boards(1, {0: toy.LARGE}))
    base = f"runs/run={summary.run_id}"
    codes = lake.read_table(f"{base}/parts", PARTS).column("reason_code").to_pylist()
    assert codes.count(ReasonCode.UNRECOVERABLE_JOB) == 3
    (row,) = result_rows(lake, summary.run_id)
    assert (row["reason_code"], row["reason"]) == ("nodes", "the budget of nodes ran out")


def test_first_and_all_leave_their_solutions_in_canonical_order(lake, settings):
    boards = toy.boards(50, {3: toy.LARGE})
    first = run_inline(lake, settings, boards, Ask(kind="first"))
    limited = run_inline(lake, settings, boards, Ask(kind="all", limit=3))
    for summary, wanted in ((first, 1), (limited, 3)):
        table = lake.read_table(f"solutions/{summary.run_id}.parquet", SOLUTIONS)
        assert {row["count"] for row in result_rows(lake, summary.run_id)} == {wanted}
        assert table.num_rows == 50 * wanted
        by_job = {}
        for row in table.to_pylist():
            by_job.setdefault(row["job_id"], []).append((row["rank"], json.loads(row["solution"])))
        large = toy.ToyPuzzle(number=3, behaviour=toy.LARGE).puzzle_id
        plain = [r["job_id"] for r in table.to_pylist() if r["puzzle_id"] != large]
        for job in plain:
            assert by_job[job] == [(i, [i]) for i in range(wanted)]


def test_the_best_are_kept_in_order_whether_a_job_was_divided_or_not(lake, settings):
    summary = run_inline(lake, settings, toy.boards(20, {3: toy.LARGE}), Ask(kind="best", limit=5))
    assert summary.statuses == {"solved": 20}
    table = lake.read_table(f"solutions/{summary.run_id}.parquet", SOLUTIONS).to_pylist()
    for number in range(20):
        behaviour = toy.LARGE if number == 3 else toy.PLAIN
        name = toy.ToyPuzzle(number=number, behaviour=behaviour).puzzle_id
        last = (toy.LARGE_TOTAL if number == 3 else toy.count_of(number)) - 1
        mine = [(r["rank"], json.loads(r["solution"])) for r in table if r["puzzle_id"] == name]
        assert mine == [(rank, [last - rank]) for rank in range(5)]


def test_a_new_driver_does_only_the_rest(lake, settings, tmp_path):
    boards = toy.boards(400)
    run_id = plan(lake, boards)
    dying = DyingOutbox(lake, settings, chunks=5)
    with pytest.raises(Killed):
        drive(lake, run_id, dying, settings=settings)
    rest = DyingOutbox(lake, settings, chunks=1000)
    summary = drive(lake, plan(lake, boards), rest, settings=settings)
    assert summary.run_id == run_id
    assert summary.chunks_resumed == 5
    assert not set(dying.worked) & set(rest.worked)
    assert len(dying.worked) + len(rest.worked) == summary.chunks_total
    assert result_rows(lake, run_id) == undisturbed_rows(tmp_path, boards)


def test_a_new_driver_continues_after_parts_came_back_split(lake, settings, tmp_path):
    boards = toy.boards(60, dict.fromkeys((3, 17, 40), toy.LARGE))
    expected = undisturbed_rows(tmp_path, boards)
    run_id = plan(lake, boards)
    for chunks in (1, 2, 3, 5, 8):
        with pytest.raises(Killed):
            drive(lake, run_id, DyingOutbox(lake, settings, chunks=chunks), settings=settings)
    drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert result_rows(lake, run_id) == expected


def test_a_driver_that_dies_while_it_grows_the_manifest_loses_nothing(
    lake, settings, tmp_path, monkeypatch
):
    boards = toy.boards(20, {3: toy.LARGE})
    run_id = plan(lake, boards)
    write = Lake.write_row_groups

    def die(self, path, tables, schema, *, new):
        raise Killed

    monkeypatch.setattr(Lake, "write_row_groups", die)
    with pytest.raises(Killed):
        drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    monkeypatch.setattr(Lake, "write_row_groups", write)
    drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert result_rows(lake, run_id) == undisturbed_rows(tmp_path, boards)


def test_chunks_solved_twice_count_once(lake, settings, tmp_path):
    boards = toy.boards(100, {3: toy.LARGE, 4: toy.UNSOLVABLE})
    run_id = plan(lake, boards)
    for ref in pending_chunks(lake, open_run(lake, run_id)):
        solve_chunk(lake, ref, settings, "one")
        once = lake.read_bytes(ref.result_path)
        assert solve_chunk(lake, ref, settings, "two") == "done"
        lake.delete(ref.result_path)
        assert solve_chunk(lake, ref, settings, "three") == "solved"
        assert lake.read_bytes(ref.result_path) == once
    drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert result_rows(lake, run_id) == undisturbed_rows(tmp_path, boards)


def test_lost_messages_are_sent_again_and_results_found_unannounced(lake, settings, tmp_path):
    boards = toy.boards(200)
    outbox = DeafOutbox(lake, settings, lost=3)
    run_id = plan(lake, boards)
    told = tmp_path / "driver.log"
    with logged_to(told):
        summary = drive(lake, run_id, outbox, settings=settings)
    assert (summary.finished, summary.resubmissions, summary.failures) == (True, 3, 0)
    again = {line["chunk"]: line["reason"] for line in sent_again(told)}
    assert again == {ref.name: "its message was lost" for ref in outbox.sent[:3]}
    assert len(outbox.sent) == summary.chunks_total + 3
    assert result_rows(lake, run_id) == undisturbed_rows(tmp_path, boards)


def test_a_chunk_of_many_rows_is_halved_to_isolate_the_fatal_row(lake, settings, kept_files):
    run_id = plan(lake, toy.boards(16, {5: toy.RAISE}))
    assert [ref.key for ref in open_run(lake, run_id).chunks()] == [(0, 0)]
    summary = drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert summary.statuses == {"solved": 15, "poison": 1}
    halved = [s.chunk_rows for s in read_segments(lake, run_id) if s.kind == "halved"]
    assert halved == [(8, 8), (4, 4), (2, 2), (1, 1)]
    assert summary.failures == HALVED_AFTER * 4 + settings.attempts_max


def test_a_chunk_whose_process_died_with_the_driver_continues_at_once(lake, settings, tmp_path):
    boards = toy.boards(200)
    run_id = plan(lake, boards)
    for _ in range(2):
        with pytest.raises(Killed):
            drive(lake, run_id, DyingOutbox(lake, settings, 0, begin=True), settings=settings)
    summary = drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert summary.failures == 1, "the second time it was halved at once"
    assert result_rows(lake, run_id) == undisturbed_rows(tmp_path, boards)


class StoppedWorkersOutbox(InlineOutbox):
    """Earlier workers were stopped or killed, and Redis still counts their messages as taken."""

    def worker(self, name):
        fates = {"stopped": Worker.LEFT, "killed": Worker.GONE}
        return fates.get(name) or super().worker(name)

    def place(self, ref, sent_at):
        return Place.QUEUED if ref in self._waiting else Place.TAKEN


@pytest.mark.parametrize("stops", [("stopped",), ("killed",), ("killed", "stopped")])
def test_a_run_that_was_stopped_twice_continues_within_a_few_looks(lake, settings, tmp_path, stops):
    """Given chunks in progress when a run was stopped, Then a resume waits for none."""
    boards = toy.boards(200)
    run_id = plan(lake, boards)
    begun = open_run(lake, run_id).chunks()[:3]
    for ref in begun:
        for attempt, worker in enumerate(stops, 1):
            note = Note(worker=worker)
            write_note(lake, replace(ref, attempt=attempt), note)
            if attempt < len(stops):
                write_failure(lake, ref, Reason(code=ReasonCode.WORKER_LOST))
    outbox = StoppedWorkersOutbox(lake, settings)
    driver = Driver(lake, run_id, outbox, settings)
    driver.step()
    sent = {ref.key for ref in outbox._waiting}
    assert sent <= {ref.key for ref in begun}, "what was begun is sent first, at the first look"
    assert sent
    assert driver.failures == (len(begun) if stops == ("killed",) else 0)
    summary = drive(lake, run_id, StoppedWorkersOutbox(lake, settings), settings=settings)
    assert summary.finished
    assert result_rows(lake, run_id) == undisturbed_rows(tmp_path, boards)


def test_a_row_whose_process_dies_over_and_over_is_poison(tmp_path):
    settings = quick_settings(tmp_path, attempts_max=2)
    lake = Lake.open(settings.lake)
    run_id = plan(lake, toy.boards(1))
    for _ in range(2):
        with pytest.raises(Killed):
            drive(lake, run_id, DyingOutbox(lake, settings, 0, begin=True), settings=settings)
    summary = drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert summary.statuses == {"poison": 1}
    (row,) = result_rows(lake, run_id)
    assert row["reason"] == "its worker died (2 attempts)"


@pytest.mark.parametrize("step", ["halve", "_poison"])
def test_consequences_of_a_failure_are_repeated_if_the_lake_fails(
    lake, settings, monkeypatch, step
):
    run_id = plan(lake, toy.boards(10, {2: toy.RAISE}))
    owner = GrowingRun if step == "halve" else Driver
    do, failed = getattr(owner, step), []

    def fail(*arguments):
        if len(failed) < 3:
            failed.append(1)
            raise TransientError("the disk is away")
        return do(*arguments)

    monkeypatch.setattr(owner, step, fail)
    summary = drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert len(failed) == 3
    assert summary.statuses == {"solved": 9, "poison": 1}


def test_messages_of_earlier_attempts_are_stale(lake, settings):
    run_id = plan(lake, toy.boards(10))
    old = ChunkRef(run_id=run_id, segment=0, chunk=0)

    class FailsThenDies(FailingOutbox):
        def send(self, ref, queue):
            if ref.attempt == 2:
                raise Killed
            super().send(ref, queue)

    with pytest.raises(Killed):
        drive(lake, run_id, FailsThenDies(lake, settings), settings=settings)
    assert solve_chunk(lake, old, settings, "late") == "stale"
    assert not lake.exists(old.result_path)


def test_messages_of_finished_runs_do_nothing(lake, settings):
    run_id = plan(lake, toy.boards(10))
    drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    ref = ChunkRef(run_id=run_id, segment=0, chunk=0)
    lake.delete(ref.result_path)
    assert solve_chunk(lake, ref, settings, "late") == "done"
    assert not lake.exists(ref.result_path)


def test_a_lake_that_fails_stops_the_run_and_poisons_nothing(tmp_path):
    settings = quick_settings(tmp_path, broker_patience_seconds=0.2)
    lake = Lake.open(settings.lake)
    run_id = plan(lake, toy.boards(5, {2: toy.NEVER}))
    with pytest.raises(TransientError, match="the disk is away"):
        drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert read_done(lake, run_id) is None
    assert lake.list(f"runs/run={run_id}/started") == []


def test_rows_for_which_a_chunk_has_no_time_continue_in_smaller_chunks(tmp_path):
    slow = dict.fromkeys(range(40), toy.SLOW)
    settings = quick_settings(tmp_path, batch_chunk_seconds=0.1, batch_slice_rows=2)
    lake = Lake.open(settings.lake)
    run_id = plan(lake, toy.boards(40, slow))
    planned = len(open_run(lake, run_id).chunks())
    summary = drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert summary.chunks_total > planned
    assert summary.statuses == {"solved": 40}
    assert {row["parts"] for row in result_rows(lake, run_id)} == {1}


@pytest.mark.parametrize("into", [1, 4])
def test_jobs_are_puzzles_however_they_are_divided(tmp_path, monkeypatch, into, kept_files):
    behaviours = {2: toy.LAYERED, 3: toy.LARGE, 4: toy.UNSOLVABLE, 5: toy.RAISE, 6: toy.SLOW}
    settings = quick_settings(tmp_path, attempts_max=2)
    lake = Lake.open(settings.lake)
    boards = toy.boards(30, behaviours)
    divide_all(monkeypatch, into)
    run_id = plan(lake, boards)
    seen = []

    def stop_in_the_middle(progress):
        seen.append(progress)
        if len(seen) == 12:
            raise Killed

    with pytest.raises(Killed):
        drive(lake, run_id, InlineOutbox(lake, settings), stop_in_the_middle, settings=settings)
    before = seen[-1].jobs_done
    drive(lake, run_id, InlineOutbox(lake, settings), seen.append, settings=settings)
    assert seen[12].jobs_done == before, "what was done is found done"
    done = [progress.jobs_done for progress in seen]
    assert done == sorted(done)
    assert 0 < before < 30
    assert {progress.jobs_total for progress in seen} == {30}
    assert done[-1] == 30
    assert sum(sum(segment.chunk_rows) for segment in read_segments(lake, run_id)) > 30


def test_two_drivers_do_not_drive_one_run_at_once(lake, settings):
    run_id = plan(lake, toy.boards(100))

    def drive_again(_):
        with pytest.raises(TransientError, match="another driver"):
            drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)

    drive(lake, run_id, InlineOutbox(lake, settings), drive_again, settings=settings)
    assert read_done(lake, run_id) is not None


def test_a_process_of_another_solver_version_solves_and_spoils_nothing(lake, settings, monkeypatch):
    run_id = plan_run(lake, toy.TOY, toy.boards(1), COUNT, BUDGET)
    with monkeypatch.context() as patch:
        patch.setattr(toy.TOY, "solver_version", "toy-2", raising=False)
        with pytest.raises(RefusalError, match="for pips solver toy-1, this worker has toy-2"):
            drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert read_done(lake, run_id) is None
    summary = drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert (summary.statuses, summary.failures) == ({"solved": 1}, 0)


class TeamOutbox(InlineOutbox):
    """Lets workers take chunks in turn; those in `refusing` cannot work here."""

    def __init__(self, lake, settings, workers, refusing):
        super().__init__(lake, settings)
        self.workers = workers
        self.refusing = refusing
        self.turns = itertools.cycle(workers)
        self.refused = 0

    def window(self, queue):
        return 4

    def refusal(self, queue):
        if set(self.workers) <= set(self.refusing()):
            return "; ".join(f"{worker} may not write" for worker in self.workers)
        return ""

    def wait(self, timeout_s):
        worker = next(self.turns)
        if not self._waiting or worker not in self.refusing():
            return super().wait(timeout_s)
        self.refused += 1
        return [Announcement(event="returned", ref=self._waiting.popleft())]


def test_what_one_worker_refuses_another_solves_without_an_attempt(lake, settings):
    run_id = plan(lake, toy.boards(200, {5: toy.RAISE}))
    outbox = TeamOutbox(lake, settings, ["good", "bad"], lambda: {"bad"})
    summary = drive(lake, run_id, outbox, settings=settings)
    assert outbox.refused > 5
    assert summary.statuses == {"solved": 199, "poison": 1}, "what fails by itself still counts"
    assert summary.failures == 5 * 2 + 4, "of one chunk, halved five times, and of its row"


def test_if_all_refuse_the_driver_ends_with_the_reason_and_the_run_stays_open(lake, settings):
    run_id = plan(lake, toy.boards(20))
    impatient = settings.model_copy(update={"broker_patience_seconds": 0.5})
    outbox = TeamOutbox(lake, settings, ["a", "b"], lambda: {"a", "b"})
    with pytest.raises(AllRefuseError, match="here: a may not write; b may not write"):
        drive(lake, run_id, outbox, settings=impatient)
    assert read_done(lake, run_id) is None
    assert not read_attempts(lake, run_id)
    summary = drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert (summary.statuses, summary.failures) == ({"solved": 20}, 0)


def test_workers_of_a_copied_lake_end_a_run_with_an_error_and_spoil_no_row(
    lake, settings, tmp_path
):
    boards = toy.boards(20)
    run_id = plan(lake, boards)
    copy = Lake.open(str(shutil.copytree(settings.lake, tmp_path / "copy")))
    impatient = retuned(settings, broker_patience_seconds=0.2, reconcile_seconds=0.02)
    with pytest.raises(TransientError, match=r"this lake has no result for them: .* another copy"):
        drive(lake, run_id, InlineOutbox(copy, settings), settings=impatient)
    assert not read_attempts(lake, run_id)
    assert drive(lake, run_id, InlineOutbox(lake, settings), settings=settings).finished
    assert result_rows(lake, run_id) == undisturbed_rows(tmp_path, boards)

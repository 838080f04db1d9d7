"""A lake that version 3 of the schema wrote is read, and the runs begun in it go on to their end.

fixtures/lake-v3 was written by the code of that version, over boards of the toy: a run whose driver
was killed after one chunk, with rows that the chunk had no time for; a run that was killed in the
middle of a staged count, with a job that is lost and with chunks that had failed; the results of a
finished run; and an on-demand job whose every attempt has failed.
"""

import shutil
from pathlib import Path

import pytest
import toy_game as toy
import toy_layers

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import PARTS, RESULTS, SCHEMA_VERSION
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.workers.driver.driver import drive
from nightgrid.workers.driver.executors import InlineExecutor
from nightgrid.workers.ondemand.jobs.rows import find_row
from nightgrid.workers.ondemand.record_files import open_records
from nightgrid.workers.ondemand.task.solving import solve_message
from nightgrid.workers.runs.attempts import read_all_attempts
from nightgrid.workers.runs.manifest import open_run, read_done
from tests.workers.conftest import plan, quick_settings, result_rows

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")

DEFERRING = "b2b69398302cb5ef3183053e5bf328f1"
STAGED = "27ac52d5c513ced21cc93ae0de2e047e"
FINISHED = "6f90726c080f77672724d5e473b4d51a"


@pytest.fixture
def old(tmp_path):
    shutil.copytree(Path(__file__).parent / "fixtures" / "lake-v3", tmp_path / "lake")
    settings = quick_settings(tmp_path, split_depth_max=1)
    return settings, Lake.open(settings.lake)


def finish(lake, settings, run_id):
    summary = drive(lake, run_id, InlineExecutor(lake, settings), settings=settings)
    assert summary.finished
    return {row["puzzle_id"]: row for row in result_rows(lake, run_id)}, summary


def versions(lake, folder):
    return {
        lake.schema(path).metadata[b"nightgrid.schema_version"]
        for path in lake.list(folder)
        if path.endswith(".parquet")
    }


def test_every_table_of_the_fixture_is_of_version_3(old):
    _, lake = old
    assert versions(lake, "") == {b"3"}


def test_results_have_the_codes_that_follow_from_their_sentences(old):
    _, lake = old
    rows = lake.read_table(f"results/{FINISHED}.parquet", RESULTS).to_pylist()
    found = {(row["status"], row["reason_code"]) for row in rows}
    expected = {("over_budget", "nodes"), ("poison", "exception"), ("solved", None)}
    assert found == expected | {("unsolvable", None)}


def test_rows_that_a_chunk_had_no_time_for_are_worked_together(tmp_path, old):
    settings, lake = old
    boards = toy.boards(14, {2: toy.LARGE, 9: toy.RAISE, 11: toy.UNSOLVABLE})
    rows, summary = finish(lake, settings.model_copy(update={"split_depth_max": 2}), DEFERRING)
    fresh = quick_settings(tmp_path / "fresh")
    anew = Lake.open(fresh.lake)
    expected, _ = finish(anew, fresh, plan(anew, boards))
    assert rows == expected
    assert summary.statuses == {"solved": 12, "unsolvable": 1, "poison": 1}
    # One alone for the row over its small budget, and chunks of several for the six deferred.
    shared = [run for run in open_run(lake, DEFERRING).segments[1].chunk_rows if run > 1]
    assert sum(shared) == 6
    assert versions(lake, f"runs/run={DEFERRING}/parts") == {b"3", str(SCHEMA_VERSION).encode()}


def test_a_staged_count_and_a_lost_job_go_on_from_where_they_were(old):
    settings, lake = old
    failures = read_all_attempts(lake, STAGED).values()
    assert {f.code for attempts in failures for f in attempts.failures} == {
        ReasonCode.WORKER_LOST,
        ReasonCode.PROCESS_LOST,
    }
    parts = lake.read_table(f"runs/run={STAGED}/parts", PARTS).column("reason_code").to_pylist()
    assert parts.count(ReasonCode.UNRECOVERABLE_JOB) == 3
    rows, _ = finish(lake, settings, STAGED)
    lost = rows[toy.ToyPuzzle(number=20, behaviour=toy.LARGE).puzzle_id]
    assert (lost["status"], lost["reason_code"]) == ("over_budget", "nodes")
    assert lost["reason"] == "the budget of nodes ran out"
    staged = rows[toy.ToyPuzzle(number=21, behaviour=toy.LAYERED).puzzle_id]
    assert (staged["status"], staged["count"]) == ("solved", toy_layers.walks(21))
    assert read_done(lake, STAGED)["result_count"] == 2


def test_an_on_demand_job_whose_attempts_have_failed_is_poison_with_its_code(old):
    settings, lake = old
    (record,) = open_records(lake)
    names = ("job_id", "game", "rules", "lexicon_id", "ask", "budget", "puzzle")
    said = solve_message(lake, {name: record.message[name] for name in names}, settings, "worker")
    assert said["status"] == "poison"
    row = find_row(lake, record.job_id)
    assert row["reason_code"] == ReasonCode.EXCEPTION
    assert row["reason"] == "RuntimeError: board 7 is too much for the toy (3 attempts)"

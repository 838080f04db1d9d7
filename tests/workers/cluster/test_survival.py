"""Real Celery workers over a real server, killed in the middle of runs."""

import os
import signal
import subprocess
import sys
import time
from contextlib import closing

import pytest
import toy_game as toy

from benchmarks.tuned import retuned
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.cluster.supervisor import child_environment, supervisor_state
from nightgrid.workers.driver.drive import drive
from nightgrid.workers.driver.outbox import CeleryOutbox, InlineOutbox
from tests.workers.conftest import (
    TOYS,
    children_of,
    is_alive,
    plan,
    quick_settings,
    result_rows,
    undisturbed_rows,
)

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("toy_in_place_of_pips")]

SLOW_EVERY = 10
AS_A_WORKER = pytest.mark.long(
    short="tests/workers/cluster/test_survival.py::test_whatever_is_killed_the_results_are_those_of_an_undisturbed_run"
)
AS_A_PROCESS = pytest.mark.long(
    short="tests/workers/cluster/test_survival.py::test_a_board_that_kills_its_worker_becomes_poison_and_harms_no_other"
)


def slow_boards(count, start, **kinds):
    """Boards whose run takes two or three seconds, so that it can be interrupted."""
    behaviours = dict.fromkeys(range(start, start + count, SLOW_EVERY), toy.SLOW)
    behaviours[start + 5] = toy.UNSOLVABLE
    behaviours[start + 6] = toy.LARGE
    return toy.boards(count, behaviours | kinds, start=start)


def pid_of(settings, role):
    return supervisor_state(settings)["processes"][role]["pid"]


def kill_child(settings):
    os.kill(children_of(pid_of(settings, "batch"))[0], signal.SIGKILL)


def kill_worker(settings):
    os.kill(pid_of(settings, "batch"), signal.SIGKILL)


def kill_server(settings):
    os.kill(pid_of(settings, "server"), signal.SIGKILL)


def wipe_server(settings):
    with closing(connect(settings)) as client:
        client.flushall()


def drive_celery(settings, lake, run_id, on_progress=None, **changes):
    settings = retuned(settings, **changes)
    outbox = CeleryOutbox(settings)
    try:
        return drive(lake, run_id, outbox, on_progress, settings=settings)
    finally:
        outbox.close()


@pytest.mark.parametrize(
    ("start", "disturb"),
    [
        pytest.param(1_000, None, marks=AS_A_WORKER),
        pytest.param(2_000, kill_child, marks=AS_A_WORKER),
        (3_000, kill_worker),
        pytest.param(4_000, kill_server, marks=AS_A_WORKER),
        pytest.param(5_000, wipe_server, marks=AS_A_WORKER),
    ],
    ids=["nothing", "worker child", "whole worker", "server", "all keys wiped"],
)
def test_whatever_is_killed_the_results_are_those_of_an_undisturbed_run(
    cluster, cluster_lake, tmp_path, start, disturb
):
    boards = slow_boards(300, start)
    run_id = plan(cluster_lake, boards)
    disturbed = []

    def disturb_once(progress):
        if disturb is not None and progress.chunks_done >= 3 and not disturbed:
            disturbed.append(progress.chunks_done)
            disturb(cluster)

    summary = drive_celery(cluster, cluster_lake, run_id, disturb_once)
    assert summary.finished
    assert bool(disturbed) == (disturb is not None)
    assert result_rows(cluster_lake, run_id) == undisturbed_rows(tmp_path, boards)


@pytest.mark.parametrize(
    ("start", "behaviour", "boards"),
    [
        (11_000, toy.KILL_CHILD, 16),
        pytest.param(12_000, toy.KILL_WORKER, 4, marks=AS_A_PROCESS),
    ],
    ids=["its process", "its whole worker"],
)
def test_a_board_that_kills_its_worker_becomes_poison_and_harms_no_other(
    cluster, cluster_lake, start, behaviour, boards
):
    run_id = plan(cluster_lake, toy.boards(boards, {start + 1: behaviour}, start=start))
    summary = drive_celery(cluster, cluster_lake, run_id, attempts_max=2)
    assert summary.statuses == {"solved": boards - 1, "poison": 1}
    (row,) = [r for r in result_rows(cluster_lake, run_id) if r["status"] == "poison"]
    number = toy.ToyPuzzle(number=start + 1, behaviour=behaviour)
    assert row["puzzle_id"] == number.puzzle_id
    assert row["reason_code"] in (ReasonCode.WORKER_LOST, ReasonCode.PROCESS_LOST)
    assert "died" in row["reason"]


@pytest.mark.long(reason="it starts two clusters, whose ends and whose work it waits for")
def test_a_killed_driver_leaves_no_process_behind_and_others_continue(tmp_path):
    settings = quick_settings(tmp_path)
    lake = Lake.open(settings.lake)
    boards = slow_boards(300, 0)
    run_id = plan(lake, boards)
    driver = start_driver(settings, run_id)
    while int(driver.stdout.readline()) < 3:
        pass
    state = supervisor_state(settings)
    pids = [state["supervisor_pid"], *(p["pid"] for p in state["processes"].values())]
    pids += children_of(state["processes"]["batch"]["pid"])
    driver.kill()
    driver.wait()
    driver.stdout.close()
    wait_for(lambda: not any(is_alive(pid) for pid in pids))
    assert not lake.exists(f"results/{run_id}.parquet")

    driver = start_driver(settings, run_id)
    first_seen = int(driver.stdout.readline())
    driver.send_signal(signal.SIGTERM)
    driver.communicate(timeout=30)
    assert driver.returncode == 0
    assert first_seen >= 3
    assert supervisor_state(settings) is None
    assert not lake.exists(f"results/{run_id}.parquet")

    assert drive(lake, run_id, InlineOutbox(lake, settings), settings=settings).finished
    assert result_rows(lake, run_id) == undisturbed_rows(tmp_path, boards)


def start_driver(settings, run_id):
    return subprocess.Popen(
        [sys.executable, str(TOYS / "toy_driver.py"), run_id],
        env=child_environment(settings),
        stdout=subprocess.PIPE,
        text=True,
    )


def wait_for(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)

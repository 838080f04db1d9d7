import os
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import nightgrid.solvers.registry

TOYS = Path(__file__).parent / "toys"
sys.path.insert(0, str(TOYS))

import toy_game as toy  # noqa: E402

from benchmarks.tuned import tuned_settings  # noqa: E402
from nightgrid.archive.lake.schemas import RESULTS  # noqa: E402
from nightgrid.archive.lake.storage import Lake  # noqa: E402
from nightgrid.solvers.algebra import Ask, Budget  # noqa: E402
from nightgrid.workers.driver.drive import drive  # noqa: E402
from nightgrid.workers.driver.outbox import InlineOutbox  # noqa: E402
from nightgrid.workers.ondemand.keeper import Keeper  # noqa: E402
from nightgrid.workers.runs.plan import planner  # noqa: E402
from tests.local_cluster import local_cluster  # noqa: E402
from tests.shares import share_of  # noqa: E402
from tests.workers.planning import plan_run  # noqa: E402

COUNT = Ask(kind="count")
BUDGET = Budget()


def toy_environment(patch):
    patch.setenv("PYTHONPATH", str(TOYS))
    patch.setenv("TOY_SLOW_SECONDS", "0.05")


@pytest.fixture(scope="module")
def toy_in_place_of_pips():
    """Replace Pips by the toy for one file: the next file may solve real boards."""
    with pytest.MonkeyPatch.context() as patch:
        toy.install(patch.setattr)
        toy_environment(patch)
        # Runs of a few boards should have enough chunks to disturb.
        patch.setattr("nightgrid.workers.runs.plan.plan_pass.CHUNK_MIN_S", 0.01)
        yield
    toy.forget()


@pytest.fixture
def kept_files(monkeypatch):
    """Keep the files of a run that has ended, for a test that reads them."""
    monkeypatch.setattr(Lake, "empty_folder", lambda *_, **__: None)


@pytest.fixture
def real_games(toy_in_place_of_pips, monkeypatch):
    """Bind the real games, even though the toy replaces Pips."""
    monkeypatch.setattr(
        "nightgrid.archive.words.binding.game_named", nightgrid.solvers.registry.game
    )
    monkeypatch.setattr("nightgrid.archive.words.binding._open", {})


def quick_settings(folder, **changes):
    """Settings under which lost work is noticed within a second or two."""
    return tuned_settings(
        **{
            "lake": str(folder / "lake"),
            "celery_app": "toy_app",
            "games": "pips",
            "batch_processes": 2,
            "window_chunks": 6,
            "poll_seconds": 0.1,
            "reconcile_seconds": 0.3,
            "liveness_interval_seconds": 0.3,
            "liveness_ttl_seconds": 3.0,
            "worker_lost_wait_seconds": 0.2,
            "broker_patience_seconds": 30.0,
            "soft_shutdown_seconds": 5.0,
            "split_into": 4,
            # Many stages of many parts, of the toy's few states.
            "stage_carry_rows": 20,
            "stage_rows": 60,
            "stage_parts_min": 3,
            **changes,
        }
    )


@pytest.fixture
def settings(tmp_path):
    return quick_settings(tmp_path)


@pytest.fixture
def lake(settings):
    return Lake.open(settings.lake)


@contextmanager
def running_cluster(folder):
    """Run an embedded server and real Celery workers of one lake."""
    settings = quick_settings(folder)
    stop = threading.Event()
    # The keeper runs here, because a process of its own would not know the toy.
    keeper = threading.Thread(target=Keeper(Lake.open(settings.lake), settings).run, args=(stop,))
    with ExitStack() as running:
        with pytest.MonkeyPatch.context() as patch:
            toy_environment(patch)
            running.enter_context(local_cluster(settings, roles=("server", "batch", "interactive")))
        keeper.start()
        try:
            yield settings
        finally:
            stop.set()
            keeper.join()


class SharedCluster:
    """The cluster of all tests that a process runs one after the other."""

    def __init__(self):
        self.settings = None
        self._running = ExitStack()

    def start(self, folder):
        self.settings = self._running.enter_context(running_cluster(folder))

    def stop(self):
        self.settings = None
        self._running.close()


SHARED = SharedCluster()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """One lake with an embedded server and real Celery workers, for all tests."""
    if SHARED.settings is None:
        SHARED.start(tmp_path_factory.mktemp("cluster"))
    return SHARED.settings


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """Stop it after its last test, or it would run until the end of the suite."""
    try:
        return (yield)
    finally:
        if nextitem is None or share_of(nextitem.nodeid) != share_of(item.nodeid):
            SHARED.stop()


def pytest_sessionfinish():
    SHARED.stop()


@pytest.fixture
def cluster_lake(cluster):
    return Lake.open(cluster.lake)


def divide_all(patch, into):
    """Divide every divisible job into so many parts when it is planned."""
    if into > 1:
        patch.setattr("nightgrid.workers.runs.plan.plan_pass.DIVIDE_S", 0.0)
        patch.setattr("nightgrid.workers.runs.plan.plan_pass.DIVIDED_S", 1e-9)
        patch.setattr("nightgrid.workers.runs.plan.plan_pass.DIVIDED_PARTS_MAX", into)


def plan(lake, boards, ask=COUNT, budget=BUDGET):
    return plan_run(lake, toy.TOY, boards, ask, budget)


def result_rows(lake, run_id):
    """Columns that must not depend on who solved a run, or when."""
    table = lake.read_table(f"results/{run_id}.parquet", RESULTS)
    return table.drop_columns(["kernel_ns", "run_id"]).to_pylist()


def undisturbed_rows(folder, boards, ask=COUNT):
    """The result rows of the same boards, solved in one process."""
    settings = quick_settings(folder / "undisturbed")
    lake = Lake.open(settings.lake)
    run_id = plan(lake, boards, ask)
    summary = drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert summary.finished
    return result_rows(lake, run_id)


def is_alive(pid):
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rsplit(")", 1)[1].split()[0] != "Z"


def children_of(pid):
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                stat = Path(entry.path, "stat").read_text()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(stat.rsplit(")", 1)[1].split()[1]) == pid:
                found.append(int(entry.name))
    return sorted(found)


class KilledError(BaseException):
    """An exception that no program catches, like a kill."""


@contextmanager
def planner_killed(monkeypatch: pytest.MonkeyPatch, when: int | str) -> Iterator[None]:
    """Kill the planner in the body: after so many segments, or "before the plan"."""
    written = []
    add_plan = planner.add_plan

    def stream(*arguments):
        if len(written) == when:
            raise KilledError
        written.append(1)
        return add_plan(*arguments)

    def die(*_):
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(planner, "add_plan", stream)
        if when == "before the plan":
            patch.setattr(planner, "_write_plan", die)
        with pytest.raises(KilledError):
            yield

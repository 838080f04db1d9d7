"""What is not wanted any more is stopped while it is worked, and leaves nothing behind."""

import threading
import time
from contextlib import closing

import pytest
import toy_game as toy

from nightgrid.solvers.algebra import Ask
from nightgrid.workers import stopping
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.notices import is_stop_requested, request_stop
from nightgrid.workers.chunks.solve import solve_chunk
from nightgrid.workers.runs.attempts import read_note
from nightgrid.workers.runs.run_files import ChunkRef
from nightgrid.workers.runs.status import cancel_run
from tests.workers.conftest import BUDGET
from tests.workers.planning import plan_run

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")

ENDLESS = toy.ToyPuzzle(number=3, behaviour=toy.ENDLESS)


@pytest.fixture
def requests(monkeypatch):
    """Names of the jobs and runs that are to stop, as Redis has them."""
    monkeypatch.setattr(stopping, "KEY_POLL_SECONDS", 0.005)
    return set()


def when(true, act):
    """Do something in another thread as soon as something is true."""

    def wait():
        while not true():
            time.sleep(0.001)
        act()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def test_a_request_is_seen_and_a_dead_server_fails_none(settings, cluster):
    request_stop(settings, "0" * 32)
    with closing(connect(settings)) as away, closing(connect(cluster)) as client:
        assert not is_stop_requested(away, settings, "0" * 32)
        request_stop(cluster, "0" * 32)
        assert is_stop_requested(client, cluster, "0" * 32)
        assert not is_stop_requested(client, cluster, "1" * 32)


def test_a_chunk_of_a_cancelled_run_stops_and_counts_no_attempt(lake, settings, requests):
    game = toy.ToyGame()
    run_id = plan_run(lake, game, toy.puzzles_table([ENDLESS]), Ask(kind="first"), BUDGET)
    ref = ChunkRef(run_id=run_id, segment=0, chunk=0)

    def cancel():
        cancel_run(lake, run_id)
        requests.add(run_id)

    when(lambda: read_note(lake, ref) is not None, cancel)
    assert solve_chunk(lake, ref, settings, "w", requests.__contains__) == "stale"
    assert not lake.exists(ref.result_path)
    assert read_note(lake, ref) is None, "a note without a worker at work would be a death"

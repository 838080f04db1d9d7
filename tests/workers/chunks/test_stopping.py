"""Work that is no longer wanted is stopped, and leaves nothing behind."""

import threading
import time

import pytest
import toy_game as toy

from nightgrid.solvers.algebra import Ask
from nightgrid.workers.chunks import solve
from nightgrid.workers.chunks.solve import solve_chunk
from nightgrid.workers.runs.attempt_notes import read_note
from nightgrid.workers.runs.run_files import ChunkRef
from nightgrid.workers.runs.status import cancel_run
from tests.workers.conftest import BUDGET
from tests.workers.planning import plan_run

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")

ENDLESS = toy.ToyPuzzle(number=3, behaviour=toy.ENDLESS)


def when(true, act):
    """Do something in another thread as soon as something is true."""

    def wait():
        while not true():
            time.sleep(0.001)
        act()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def test_a_chunk_of_a_cancelled_run_stops_and_counts_no_attempt(lake, settings, monkeypatch):
    monkeypatch.setattr(solve, "STOP_POLL_SECONDS", 0.005)
    game = toy.ToyGame()
    run_id = plan_run(lake, game, toy.puzzles_table([ENDLESS]), Ask(kind="first"), BUDGET)
    ref = ChunkRef(run_id=run_id, segment=0, chunk=0)

    when(lambda: read_note(lake, ref) is not None, lambda: cancel_run(lake, run_id))
    assert solve_chunk(lake, ref, settings, "w") == "stale"
    assert not lake.exists(ref.result_path)
    assert read_note(lake, ref) is None, "a note without a worker at work would be a death"

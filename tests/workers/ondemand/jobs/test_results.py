"""A job's result is read as soon as it is there, and a job that never was is told apart."""

from types import SimpleNamespace

import pytest
import toy_game as toy

from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.ondemand.jobs import results
from nightgrid.workers.ondemand.jobs.results import result
from nightgrid.workers.ondemand.jobs.status import status
from nightgrid.workers.ondemand.jobs.submitting import submit
from nightgrid.workers.ondemand.task.solving import solve_message
from tests.workers.conftest import COUNT

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")

PLAIN = toy.ToyPuzzle(number=1, behaviour=toy.PLAIN)


def test_an_answer_is_found_without_a_look_at_those_to_other_jobs(lake, settings, mailbox):
    job = submit(lake, PLAIN, COUNT, settings=settings)
    # Whoever opened it would fail.
    lake.write_bytes("results/ondemand-other.parquet", b"damaged")
    lake.write_bytes("solutions/ondemand-other.parquet", b"damaged")
    assert result(lake, job) is None
    solve_message(lake, mailbox[0], settings, "w")
    assert result(lake, job)["count"] == toy.count_of(1)


@pytest.mark.parametrize("answered_s", [0.0, 0.05, 0.4, 3.0, 60.0, 700.0])
def test_an_answer_is_seen_soon_after_it_is_there(lake, monkeypatch, answered_s):
    """Given looks that take a millisecond each, Then an answer waits a quarter of its own time."""
    now, looks = [1000.0], []

    def wait(seconds):
        now[0] += seconds

    def look(*_):
        now[0] += 0.001
        looks.append(now[0])
        return ({"status": "solved"}, False) if now[0] - 1000.0 >= answered_s else (None, True)

    monkeypatch.setattr(results, "_find_answer", look)
    monkeypatch.setattr(results, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=wait))

    assert results.result_row(lake, "0" * 32, timeout_s=900.0) == {"status": "solved"}
    late_s = now[0] - 1000.0 - answered_s
    assert late_s <= max(0.012, min(0.25 * answered_s, results.MOST_PAUSE_S)) + 0.002
    assert len(looks) <= 20 + 2 * answered_s


def test_no_answer_is_waited_for_longer_than_is_wanted(lake, monkeypatch):
    now = [0.0]

    def sleep(seconds):
        now[0] += seconds

    monkeypatch.setattr(results, "_find_answer", lambda *_: (None, True))
    monkeypatch.setattr(results, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    assert results.result_row(lake, "0" * 32, timeout_s=1.7) is None
    assert now[0] == pytest.approx(1.7)


@pytest.mark.parametrize("job", ["../../etc/passwd", "", "A" * 32, "0" * 31])
def test_a_malformed_job_id_is_refused(lake, job):
    with pytest.raises(PermanentError, match="expected 32 hexadecimal digits"):
        status(lake, job)


def test_an_unknown_job_is_told_apart_from_one_that_waits(lake):
    assert status(lake, "0" * 32).state == "unknown"
    with pytest.raises(PermanentError, match="never submitted"):
        result(lake, "0" * 32)

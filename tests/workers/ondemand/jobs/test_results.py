"""A job's result is read as soon as it is there, and a job that never was is told apart."""

import pytest
import toy_game as toy

from nightgrid.solvers.errors import PermanentError
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


@pytest.mark.parametrize("job", ["../../etc/passwd", "", "A" * 32, "0" * 31])
def test_a_malformed_job_id_is_refused(lake, job):
    with pytest.raises(PermanentError, match="expected 32 hexadecimal digits"):
        status(lake, job)


def test_an_unknown_job_is_told_apart_from_one_that_waits(lake):
    assert status(lake, "0" * 32).state == "unknown"
    with pytest.raises(PermanentError, match="never submitted"):
        result(lake, "0" * 32)

"""Faults in the middle of a run do not change a byte of its results.

The short form of `make chaos`, with the toy game and with limits of a few seconds. The clocks of
the first two hosts are an hour slow and an hour fast.
"""

import pytest
import toy_game as toy

from benchmarks.chaos import faults, runs
from benchmarks.chaos.processes.cluster import cluster
from benchmarks.chaos.results import digest, undisturbed

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.usefixtures("toy_in_place_of_pips"),
    pytest.mark.long(
        short="tests/workers/cluster/test_survival.py::test_whatever_is_killed_the_results_are_those_of_an_undisturbed_run"
    ),
]

HOUR_S = 3600
BOARDS = 480
BLOWS = 4
ATTEMPTS = 2
# Requests to a store take part of a chunk's time, and much of it on a loaded machine. With limits
# of a second or two, a healthy chunk or worker would pass for a dead one.
CRASHING, ENDLESS = (toy.ToyPuzzle(number=n, behaviour=toy.PLAIN) for n in (3_011, 3_017))
ENVIRONMENT = {
    "NIGHTGRID_CHAOS_DOUBLE": "toy_game",
    "NIGHTGRID_CHAOS_PAUSE_S": "0.15",
    "NIGHTGRID_CHAOS_SEGFAULT": CRASHING.puzzle_id,
    "NIGHTGRID_CHAOS_FOREVER": ENDLESS.puzzle_id,
}


@pytest.fixture(scope="module")
def chaos(toy_in_place_of_pips, tmp_path_factory):
    folder = tmp_path_factory.mktemp("chaos")
    quick = {"environment": ENVIRONMENT, "split_into": 4, "attempts_max": ATTEMPTS}
    with cluster(folder, hosts=0, **quick) as made:
        for skew_s in (-HOUR_S, HOUR_S):
            made.join(wait=False, NIGHTGRID_CHAOS_SKEW_S=str(skew_s))
        made.wait_for_workers(2)
        yield made


def boards(start, count=BOARDS):
    """Boards of which one is divided, so that the run grows while it is solved."""
    return toy.boards(count, {start + 7: toy.UNSOLVABLE, start + 8: toy.LARGE}, start=start)


def check(aftermath, expected):
    assert (aftermath.lost, aftermath.doubled, aftermath.differing) == (0, 0, ())
    assert aftermath.digest == digest(expected)


@pytest.mark.parametrize(
    ("start", "kinds"),
    [
        (0, {"second driver": faults.drive_twice, "worker stopped": faults.stop_worker}),
        (
            1_000,
            {
                "crash before rename": faults.crash_before_rename,
                "disk full": faults.fill_disk,
                "host left, another joined": faults.leave_and_join,
            },
        ),
    ],
    ids=["two drivers, a worker stopped", "crash, disk full, a host leaves"],
)
def test_faults_change_no_byte_of_the_results(chaos, start, kinds):
    expected = undisturbed(chaos.settings, boards(start))
    fault = faults.one_after_the_other(*kinds.values())
    aftermath = runs.run(chaos, boards(start), fault, expected=expected)
    assert {blow.kind for blow in aftermath.blows} == set(kinds)
    check(aftermath, expected)


def test_a_storm_of_faults_drawn_at_random_changes_no_byte_of_the_results(chaos, seed):
    expected = undisturbed(chaos.settings, boards(2_000))
    aftermath = runs.run(
        chaos,
        boards(2_000),
        faults.storm(BLOWS),
        expected=expected,
        seed=seed,
        at_once=True,
        attempts_max=BLOWS + 1,
    )
    assert aftermath.blows
    check(aftermath, expected)

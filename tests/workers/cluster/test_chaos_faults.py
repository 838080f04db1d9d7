"""Whatever goes wrong in the middle of a run, its results are byte for byte the undisturbed ones.

The short form of `make chaos`, with the toy game and with limits of a few seconds. The clocks of
the first two hosts are an hour slow and an hour fast all the while.
"""

import os
from contextlib import ExitStack, closing

import pytest
import toy_game as toy

from benchmarks.chaos import faults, runs
from benchmarks.chaos.processes.cluster import cluster
from benchmarks.chaos.processes.places import NotPermittedError, host_of_its_own, server_on
from benchmarks.chaos.results import digest, undisturbed, with_poison
from benchmarks.chaos.surroundings import until_refused
from benchmarks.instruments.processes import wait_for
from benchmarks.instruments.s3_server import s3_process
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.worker_keys import living_workers, refusals

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
CUT_S = 4.0
ATTEMPTS = 2
# Requests to a store take part of a chunk's time, and much of it on a machine with other work. With
# limits of a second or two an innocent chunk or worker would be taken for a dead one.
PATIENT = {
    "hard_limit_margin_seconds": 19.0,
    "visibility_factor": 1.25,
    "liveness_ttl_seconds": 6.0,
}
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
    """Boards of which one is divided, so that the run grows while it is worked."""
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


@pytest.mark.long(
    short="tests/workers/cluster/test_survival.py::test_a_board_that_kills_whoever_works_it_becomes_poison_and_harms_no_other"
)
def test_boards_that_crash_their_process_or_never_end_are_poison_and_nothing_else_changes(chaos):
    table = boards(3_000, 24)
    expected = undisturbed(chaos.settings, table)
    for puzzle, code, reason in (
        (
            CRASHING,
            ReasonCode.PROCESS_LOST,
            f"its process died: signal 11 (SIGSEGV) ({ATTEMPTS} attempts)",
        ),
        (ENDLESS, ReasonCode.HARD_LIMIT, f"exceeded the hard limit of 2 s ({ATTEMPTS} attempts)"),
    ):
        why = Reason(code=code, sentence=reason)
        expected = with_poison(expected, [puzzle.puzzle_id], why)
    check(runs.run(chaos, table, faults.nothing, expected=expected), expected)


@pytest.mark.long(
    short="tests/workers/driver/test_driver.py::test_what_one_worker_refuses_another_works_and_nothing_is_counted"
)
def test_workers_that_cannot_work_change_no_byte_and_count_against_no_chunk(chaos, tmp_path):
    """One has another solver version, one may not write, one has no room, one has another lake."""
    expected = undisturbed(chaos.settings, boards(4_000, 240))
    other = chaos.settings.model_copy(
        update={"lake": str(tmp_path / "other"), "redis_url": chaos.settings.server_url}
    )
    odd = [
        chaos.join(wait=False, NIGHTGRID_LAKE=other.lake),
        chaos.join(wait=False, TOY_VERSION="toy-2"),
        chaos.join(wait=False, NIGHTGRID_CHAOS_READ_ONLY="1"),
        chaos.join(wait=False, NIGHTGRID_CHAOS_NO_ROOM="1"),
    ]
    with ExitStack() as leaving, closing(connect(chaos.settings)) as client:
        for host in odd:
            leaving.callback(host.close)
            chaos.hosts.remove(host)
        wait_for(lambda: living_workers(client, other), "the worker of the other lake")
        chaos.wait_for_workers(5)
        told: dict[str, str] = {}

        def refused(scene: runs.Scene) -> None:
            until_refused(3)(scene)
            # Refusals are forgotten after a while, and what is left of the run may take longer.
            told.update(refusals(client, chaos.settings))

        aftermath = runs.run(chaos, boards(4_000, 240), refused, expected=expected)
        assert refusals(client, other) == {}, "it has met no work of the first lake"
    assert aftermath.failures == 0
    reasons = " ".join(told.values())
    assert "this worker has toy-2" in reasons
    assert "Read-only file system" in reasons
    assert "is full, or its quota is used up" in reasons
    check(aftermath, expected)


@pytest.mark.long(
    short="tests/workers/runs/test_object_store_runs.py::test_two_drivers_work_a_run_while_it_is_planned"
)
def test_workers_and_two_drivers_of_a_lake_on_an_object_store_change_no_byte(tmp_path):
    """Given a main process that forks workers, Then it has sent no request to the store before."""
    with (
        s3_process() as endpoint,
        cluster(
            tmp_path,
            hosts=1,
            lake=f"s3://bucket/lake?endpoint_override={endpoint}",
            environment=ENVIRONMENT,
            **PATIENT,
        ) as made,
    ):
        expected = undisturbed(made.settings, boards(5_000, 24))
        aftermath = runs.run(
            made, boards(5_000, 24), faults.drive_apart, expected=expected, at_once=True
        )
    assert aftermath.failures == 0
    check(aftermath, expected)


def test_a_host_that_is_cut_off_and_healed_changes_no_byte_and_works_again(tmp_path):
    try:
        with host_of_its_own() as network:
            run_cut_off(network, tmp_path)
    except NotPermittedError as error:
        if os.environ.get("CI") == "true" and os.geteuid() == 0:
            pytest.fail(str(error))
        pytest.skip(f"no network namespaces on this machine: {error}")


def run_cut_off(network, folder):
    with (
        server_on(("127.0.0.1", network.near_address), folder) as port,
        cluster(
            folder, hosts=1, redis_url=f"redis://127.0.0.1:{port}/0", environment=ENVIRONMENT
        ) as made,
    ):
        url = f"redis://{network.near_address}:{port}/0"
        made.join(wait=False, inside=network.inside, url=url)
        made.wait_for_workers(2)
        expected = undisturbed(made.settings, boards(6_000, 1_200))
        fault = faults.cut_off(network, CUT_S)
        aftermath = runs.run(made, boards(6_000, 1_200), fault, expected=expected)
    assert [blow.kind for blow in aftermath.blows] == ["cut off", "healed, others left"]
    check(aftermath, expected)

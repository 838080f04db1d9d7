"""Trials of the suite: a fault in the middle of a run, on a shared cluster or on one of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from benchmarks.chaos import faults, runs
from benchmarks.chaos.bad_store import BAD_ANSWERS
from benchmarks.chaos.harm import HARMS
from benchmarks.chaos.processes.cluster import QUICK, Cluster, cluster
from benchmarks.chaos.processes.places import host_of_its_own, server_on, small_disk
from benchmarks.chaos.results import undisturbed, with_poison
from benchmarks.chaos.runs import Aftermath, Scene
from benchmarks.chaos.surroundings import SURROUNDINGS
from benchmarks.instruments.s3_server import s3_process
from benchmarks.tuned import tuned_settings
from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.solvers.registry import game

BOARDS_SEED = 7
BLOWS = 10
HOUR_S = 3600
CUT_S = 6.0
PAUSE = {"NIGHTGRID_CHAOS_PAUSE_S": "0.15"}
DISK_BYTES = 24 * 1024**2
"""Holds the lake and the server's data, and little else."""
LOOSE = replace(PRESETS["loose"], dominoes=((12, 1.0),))
LOOSE_SEEDS = (1_000_030, 1_000_127, 1_000_150)
"""Boards of 12 dominoes with some ten megabytes of states each."""
STAGED = {"budget_table_bytes": 4 * 1024**2, "stage_rows": 60_000, "stage_carry_rows": 20_000}
"""Less than each of those boards takes: they are counted in many small stages."""

DIVIDED = ("states", "nodes", "parts", "table_bytes")
"""What depends on how a count by stages is divided. A process that is stopped for longer than its
budget of seconds has its work divided once more when it goes on."""


PLAIN: dict[str, tuple[str, Callable[[Scene], None]]] = {
    "nothing": ("", faults.nothing),
    "child": ("kill -9 of a worker's child", faults.kill_child),
    "worker": ("kill -9 of a worker's main process", faults.kill_worker),
    "host": ("kill -9 of a worker with its supervisor; another joins", faults.kill_host),
    "driver": ("kill -9 of the driver; another starts", faults.kill_driver),
    "server": ("kill -9 of the server", faults.kill_server),
    "data": ("kill -9 of the server, its data lost", faults.lose_server),
    "wiped": ("FLUSHALL", faults.wipe_server),
    "stopped": (
        "SIGSTOP of a worker and its child for visibility timeout + 1 s",
        faults.stop_worker,
    ),
    "drivers": ("a second driver of the run, on another host", faults.drive_twice),
    "rename": ("crash between write and rename", faults.crash_before_rename),
    "elastic": ("a host leaves, another joins", faults.leave_and_join),
    **{
        kind: (f"chunk results, notes and sample: {kind}; another driver", faults.harmed(kind))
        for kind in HARMS
    },
}
"""Faults on the cluster that they share, by name."""


def storm(made: Cluster, boards: pa.Table, expected: pa.Table, seed: int) -> Aftermath:
    """Strike again and again, from the first chunk on."""
    return runs.run(
        made,
        boards,
        faults.storm(BLOWS, (*faults.STORM, faults.kill_host, faults.stop_worker)),
        seed=seed,
        expected=expected,
        at_once=True,
        attempts_max=BLOWS + 1,
    )


def _guilty(folder: Path, boards: pa.Table, expected: pa.Table, seed: int) -> Aftermath:
    """Put a board that crashes its process and one that never ends among the others."""
    names = expected.column("puzzle_id").to_pylist()
    crashing, endless = names[0], names[-1]
    attempts = 2
    limit = f"{tuned_settings(**QUICK).hard_limit_seconds:g} s"
    for puzzle, code, reason in (
        (
            crashing,
            ReasonCode.PROCESS_LOST,
            f"its process died: signal 11 (SIGSEGV) ({attempts} attempts)",
        ),
        (
            endless,
            ReasonCode.HARD_LIMIT,
            f"exceeded the hard limit of {limit} ({attempts} attempts)",
        ),
    ):
        why = Reason(code=code, sentence=reason)
        expected = with_poison(expected, [puzzle], why)
    environment = {
        **PAUSE,
        "NIGHTGRID_CHAOS_SEGFAULT": crashing,
        "NIGHTGRID_CHAOS_FOREVER": endless,
    }
    with cluster(folder, environment=environment, attempts_max=attempts) as made:
        return runs.run(made, boards, faults.nothing, seed=seed, expected=expected)


def _skewed(folder: Path, boards: pa.Table, expected: pa.Table, seed: int) -> Aftermath:
    """Let one host's clock be an hour slow and the other's an hour fast."""
    with cluster(folder, hosts=0, environment=PAUSE) as made:
        for skew_s in (-HOUR_S, HOUR_S):
            made.join(wait=False, NIGHTGRID_CHAOS_SKEW_S=str(skew_s))
        made.wait_for_workers(2)
        return runs.run(made, boards, faults.kill_worker, seed=seed, expected=expected)


def _full(folder: Path, boards: pa.Table, expected: pa.Table, seed: int) -> Aftermath:
    """Fill the disk on which the lake, the server's data and all logs lie."""
    notes = folder / "notes"
    notes.mkdir()
    with (
        small_disk(folder / "disk", DISK_BYTES) as disk,
        cluster(disk.folder, environment={**PAUSE, "NIGHTGRID_CHAOS_DIR": str(notes)}) as made,
    ):
        return runs.run(made, boards, faults.full(disk), seed=seed, expected=expected)


def _without_room(folder: Path, boards: pa.Table, expected: pa.Table, seed: int) -> Aftermath:
    """Let a driver begin on a host whose own disk is full."""
    with (
        small_disk(folder / "disk", DISK_BYTES) as disk,
        cluster(folder / "cluster", environment=PAUSE) as made,
    ):
        return runs.run(made, boards, faults.without_room(disk), seed=seed, expected=expected)


def _cut_off(folder: Path, boards: pa.Table, expected: pa.Table, seed: int) -> Aftermath:
    """Cut the wire to a host in a network of its own, and heal it while the run goes on."""
    with (
        host_of_its_own() as network,
        server_on(("127.0.0.1", network.near_address), folder) as port,
        cluster(
            folder, hosts=1, redis_url=f"redis://127.0.0.1:{port}/0", environment=PAUSE
        ) as made,
    ):
        url = f"redis://{network.near_address}:{port}/0"
        made.join(wait=False, inside=network.inside, url=url)
        made.wait_for_workers(2)
        return runs.run(made, boards, faults.cut_off(network, CUT_S), seed=seed, expected=expected)


def _redelivered(folder: Path, boards: pa.Table, expected: pa.Table, seed: int) -> Aftermath:
    """Kill a host while the driver sends nothing again: Redis hands its messages out again."""
    mute = {"NIGHTGRID_CHAOS_MUTE": "1"}
    with cluster(folder, environment={**PAUSE, **mute}) as made:
        return runs.run(made, boards, faults.kill_host, seed=seed, expected=expected)


def _staged(folder: Path, _boards: pa.Table, _expected: pa.Table, seed: int) -> Aftermath:
    """Let a storm go over counts by stages, whose states lie in the lake between them."""
    loose = [generate(LOOSE, number)[0] for number in LOOSE_SEEDS]
    boards = puzzles_table(game("pips"), loose)
    with cluster(folder, environment=PAUSE, **STAGED) as made:
        expected = undisturbed(made.settings, boards).drop_columns(list(DIVIDED))
        return storm(made, boards, expected, seed)


def _driven_apart(folder: Path, seed: int, lake: str) -> Aftermath:
    """Let two drivers with different splits work counts by stages in one lake."""
    loose = [generate(LOOSE, number)[0] for number in LOOSE_SEEDS]
    boards = puzzles_table(game("pips"), loose)
    with cluster(folder, environment=PAUSE, lake=lake, **STAGED) as made:
        expected = undisturbed(made.settings, boards).drop_columns(list(DIVIDED))
        return runs.run(
            made, boards, faults.drive_apart, seed=seed, expected=expected, at_once=True
        )


def _apart_on_a_folder(
    folder: Path, _boards: pa.Table, _expected: pa.Table, seed: int
) -> Aftermath:
    return _driven_apart(folder, seed, str(folder / "lake"))


def _apart_on_s3(folder: Path, _boards: pa.Table, _expected: pa.Table, seed: int) -> Aftermath:
    with s3_process() as endpoint:
        return _driven_apart(folder, seed, f"s3://bucket/lake?endpoint_override={endpoint}")


APART: dict[str, tuple[str, Callable[[Path, pa.Table, pa.Table, int], Aftermath]]] = {
    "redelivered": ("kill -9 of a host, and the driver sends nothing again", _redelivered),
    "guilty": ("a board that segfaults and one that never ends", _guilty),
    "clocks": ("clocks an hour slow and an hour fast, and kill -9 of a worker", _skewed),
    "driver-disk": ("disk full, of the driver alone", _without_room),
    "disk": ("disk full, of lake, server and logs", _full),
    "network": (f"a host cut off for {CUT_S:g} s, then healed", _cut_off),
    "apart": ("a second driver with other splits, on a folder", _apart_on_a_folder),
    "apart-s3": ("a second driver with other splits, on S3", _apart_on_s3),
    "stages": (f"{BLOWS} of the above at random, in counts by stages", _staged),
    **SURROUNDINGS,
    **BAD_ANSWERS,
}
"""Trials on a cluster of their own, by name."""

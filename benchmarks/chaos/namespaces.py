"""Count boards with hosts in networks of their own, on object storage, and strike in the middle.

`python -m benchmarks.chaos.namespaces [--boards 100000] [--distinct N] [--write]`, as root on
Linux with `ip`. Two hosts of workers and the driver have a network namespace each, with one wire
to this host, where the Redis-protocol server and an S3 server are. In the middle of the run a host
is killed (another joins in its place), the wire of the other is cut and healed, the driver is
killed (another starts), and the driver's wire is cut and healed. The result table has to be that
of an undisturbed run in one process, byte for byte but for `kernel_ns`; otherwise the program
exits with 1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest import mock

import pyarrow as pa

from benchmarks.chaos import results, runs
from benchmarks.chaos.processes.cluster import Cluster, cluster
from benchmarks.chaos.processes.places import (
    Network,
    NotPermittedError,
    hosts_of_their_own,
    server_on,
)
from benchmarks.chaos.results import digest, undisturbed
from benchmarks.chaos.runs import Aftermath, Scene
from benchmarks.instruments.boards import published_mix
from benchmarks.instruments.processes import wait_for
from benchmarks.instruments.report import Section, add_write, finish
from benchmarks.instruments.s3_server import s3_process
from benchmarks.tuned import tuned_settings
from nightgrid.solvers.registry import game

BOARDS = 100_000
SEED = 7
CHUNK_S = 0.1
"""Shortest chunk: hundreds of chunks, each some requests of an object store."""
CUT_S = 8.0
PAUSE_S = 1.0
"""Each chunk takes so much longer, or a fast machine ends the run while the first host is cut off
and no other blow hits work."""
RUN_S = 900.0
BUSY_S = 10.0
SHARES = (0.15, 0.35, 0.55, 0.75)
"""Shares of the chunks that are done when each blow falls."""
LIMITS = {
    "batch_chunk_seconds": 5.0,
    "hard_limit_margin_seconds": 14.0,
    "visibility_factor": 1.5,
    "liveness_ttl_seconds": 2.0,
}
"""Longer than in other faults: an object store answers more slowly than a folder."""


def boards_of(count: int, distinct: int) -> pa.Table:
    """Generate boards; `distinct` of them again and again, under other names."""
    table = published_mix(min(count, distinct), SEED)
    rows = [number % table.num_rows for number in range(count)]
    names = [f"{number:032x}" for number in range(count)]
    place = table.schema.get_field_index("puzzle_id")
    found = table.take(rows).combine_chunks()
    if distinct >= count:
        return found
    return found.set_column(place, table.schema.field(place), pa.array(names))


def strike(
    networks: Sequence[Network], shares: Sequence[float] = SHARES
) -> Callable[[Scene], None]:
    """Make the fault: two kills and two cuts, one after the other."""
    worked, cut, driven = networks

    def until(scene: Scene, share: float) -> None:
        wait_for(
            lambda: scene.over() or scene.done() >= share * scene.chunks,
            f"{share:.0%} of the run",
            RUN_S,
        )
        # A blow that hits no work proves nothing.
        scene.begun(BUSY_S)

    def fault(scene: Scene) -> None:
        first = scene.cluster.hosts[0]
        until(scene, shares[0])
        with scene.strike("a host killed; another joins"):
            first.kill()
        scene.cluster.hosts.remove(first)
        scene.cluster.join(wait=False, inside=worked.inside)
        until(scene, shares[1])
        with scene.strike(f"a host cut off for {CUT_S:g} s"):
            cut.cut()
        time.sleep(CUT_S)
        cut.heal()
        until(scene, shares[2])
        with scene.strike("the driver killed; another starts"):
            scene.drivers[-1].kill()
        scene.drive()
        until(scene, shares[3])
        with scene.strike(f"the driver cut off for {CUT_S:g} s"):
            driven.cut()
        time.sleep(CUT_S)
        driven.heal()

    return fault


def _undisturbed(boards: pa.Table) -> tuple[pa.Table, float]:
    """Work the boards in this process and a folder; give the results and the seconds."""
    with tempfile.TemporaryDirectory(prefix="nightgrid-namespaces-") as folder:
        from benchmarks.chaos.processes.cluster import QUICK

        settings = tuned_settings(**{"lake": f"{folder}/lake", **QUICK, **LIMITS})
        begun = time.monotonic()
        return undisturbed(settings, boards), time.monotonic() - begun


def struck(
    boards: pa.Table,
    expected: pa.Table,
    shares: Sequence[float] = SHARES,
    *,
    pause_s: float = 0.0,
) -> tuple[Aftermath, Cluster]:
    """Work the boards on object storage with everything that goes wrong.

    Each chunk is held for `pause_s` more. Raises NotPermittedError where this machine gives no
    network namespaces.
    """
    with (
        tempfile.TemporaryDirectory(prefix="nightgrid-namespaces-") as name,
        hosts_of_their_own(3) as (address, networks),
        s3_process(address) as endpoint,
        server_on(("127.0.0.1", address), Path(name)) as port,
        cluster(
            Path(name),
            hosts=0,
            environment={"NIGHTGRID_CHAOS_PAUSE_S": f"{pause_s:g}"},
            lake=f"s3://bucket/lake?endpoint_override={endpoint}",
            redis_url=f"redis://{address}:{port}/0",
            **LIMITS,
        ) as made,
    ):
        for network in networks[:2]:
            made.join(wait=False, inside=network.inside)
        made.driver_inside = networks[2].inside
        made.wait_for_workers(2)
        after = runs.run(
            made,
            boards,
            strike(networks, shares),
            seed=SEED,
            expected=expected,
            at_once=True,
            attempts_max=10,
            run_s=RUN_S,
        )
        return after, made


def main() -> int:
    """Run it, and print what became of the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos.namespaces")
    parser.add_argument("--boards", type=int, default=BOARDS)
    parser.add_argument("--distinct", type=int, default=20_000, help="boards that are generated")
    add_write(parser)
    options = parser.parse_args()
    game("pips").warm()
    boards = boards_of(options.boards, options.distinct)
    print(f"{boards.num_rows:,} boards", flush=True)
    with mock.patch.object(results, "CHUNK_S", CHUNK_S):
        expected, alone_s = _undisturbed(boards)
        print(f"undisturbed after {alone_s:.1f} s", flush=True)
        try:
            found, _ = struck(boards, expected, pause_s=PAUSE_S)
        except NotPermittedError as error:
            print(f"not permitted on this machine: {error}", file=sys.stderr)
            return 2
    same = digest(expected)
    told = f"{found.lost}, {found.doubled}, {len(found.differing)}"
    repeated = f" ({options.distinct:,} of them, again and again under other names)"
    section = Section(
        name="namespaces",
        title=f"{options.boards:,} boards on object storage, hosts in networks of their own",
        command="python -m benchmarks.chaos.namespaces"
        + (f" --boards {options.boards}" if options.boards != BOARDS else "")
        + (f" --distinct {options.distinct}" if options.distinct != 20_000 else ""),
    )
    section.table(
        ("blow", "chunks done", "chunks in hand"),
        [(blow.kind, blow.done, len(blow.held)) for blow in found.blows],
    )
    section.table(
        ("", "undisturbed, in one process", "struck"),
        [
            ("rows", f"{expected.num_rows:,}", f"{expected.num_rows - found.lost:,}"),
            ("SHA-256 of the result table", same[:16], found.digest[:16]),
            ("rows lost, doubled, differing", "-", told),
            ("chunks, executions", "-", f"{found.chunks}, {found.executions}"),
            ("seconds", f"{alone_s:.1f}", f"{found.seconds:.1f}"),
        ],
    )
    section.say(
        f"Pips boards of the published mix{repeated if options.distinct < options.boards else ''}, "
        "counted by two hosts of one worker process each. The hosts and the driver have a network "
        "namespace each; the S3 server is moto's, in one process. Each chunk of the struck run is "
        f"held for {PAUSE_S:g} s more, so that blows hit work. The digest is of every column but "
        "`kernel_ns`."
    )
    finish(section, to_results=options.write)
    wrong = found.lost or found.doubled or found.differing or found.digest != same
    missed = [blow.kind for blow in found.blows if not blow.held]
    if missed:
        print(f"FAILED, nothing in hand: {'; '.join(missed)}")
    return 1 if wrong or missed else 0


if __name__ == "__main__":
    sys.exit(main())

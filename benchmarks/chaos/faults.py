"""Faults, each struck once in the middle of a run."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import closing

import redis

from benchmarks.chaos.harm import harm
from benchmarks.chaos.processes.files import DIE_BEFORE_RENAME, DISK_FULL
from benchmarks.chaos.processes.places import Disk, Network
from benchmarks.chaos.runs import Scene
from benchmarks.instruments.processes import wait_for
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.cluster import server

STORM_PAUSES_S = (0.1, 0.7)
DISK_FULL_S = 2.0
HARMED_RESULTS = 5
"""Chunk results that come to harm at once."""


def nothing(_: Scene) -> None:
    """Let the run be."""


def kill_child(scene: Scene) -> None:
    """Kill a child of a worker."""
    pid = scene.host().child()
    with scene.strike("child killed"):
        _signal(pid, signal.SIGKILL)


def kill_worker(scene: Scene) -> None:
    """Kill a worker's main process; its supervisor sees it."""
    pid = scene.host().pid()
    with scene.strike("worker killed"):
        _signal(pid, signal.SIGKILL)


def kill_host(scene: Scene) -> None:
    """Kill a worker with its supervisor: no message says so. Another host joins later."""
    host = scene.host()
    with scene.strike("host killed"):
        host.kill()
    scene.cluster.hosts.remove(host)
    scene.cluster.join()


def kill_driver(scene: Scene) -> None:
    """Kill the driver, and start another."""
    with scene.strike("driver killed"):
        scene.drivers[-1].kill()
    scene.drive()


def kill_server(scene: Scene) -> None:
    """Kill the server; it comes back with what it had written down."""
    pid = scene.control().pid("server")
    with scene.strike("server killed"):
        _signal(pid, signal.SIGKILL)


def lose_server(scene: Scene) -> None:
    """Kill the server with its data; it comes back empty."""
    pid = scene.control().pid("server")
    with scene.strike("server killed, data lost"):
        shutil.rmtree(server.data_dir(scene.cluster.settings), ignore_errors=True)
        _signal(pid, signal.SIGKILL)


def wipe_server(scene: Scene) -> None:
    """Wipe every key."""
    with (
        scene.strike("keys wiped"),
        closing(connect(scene.cluster.settings)) as client,
        # In a storm the server may be down just now.
        contextlib.suppress(redis.RedisError),
    ):
        client.flushall()


def stop_worker(scene: Scene) -> None:
    """Stop a worker for longer than the visibility timeout, then let it go on."""
    pids = scene.host().group()
    with scene.strike("worker stopped"):
        for pid in pids:
            _signal(pid, signal.SIGSTOP)
    time.sleep(scene.cluster.settings.visibility_timeout_seconds + 1)
    for pid in reversed(pids):
        _signal(pid, signal.SIGCONT)


def drive_twice(scene: Scene) -> None:
    """Start a second driver of the run on another host."""
    with scene.strike("second driver"):
        scene.drive(place="second-driver")


def drive_apart(scene: Scene) -> None:
    """Start a second driver that looks at other times, so that it lets other rows go on."""
    with scene.strike("second driver"):
        scene.drive(place="second-driver", poll_seconds=0.23, reconcile_seconds=0.7)


def crash_before_rename(scene: Scene) -> None:
    """Let a child die between writing a part and giving it its name."""
    with scene.strike("crash before rename"):
        path = scene.cluster.notes / DIE_BEFORE_RENAME
        path.touch()
        wait_for(lambda: scene.over() or not path.exists(), "the crash")


def fill_disk(scene: Scene) -> None:
    """Let no write into the lake succeed for a while."""
    path = scene.cluster.notes / DISK_FULL
    with scene.strike("disk full", scene.held()):
        path.touch()
        time.sleep(DISK_FULL_S)
        path.unlink()


def harmed(kind: str) -> Callable[[Scene], None]:
    """Make a fault of files of the run that come to harm while its driver is killed.

    Another driver reads all of them again.
    """

    def strike(scene: Scene) -> None:
        with scene.strike(f"files harmed: {kind}", scene.held()):
            scene.drivers[-1].kill()
            base = f"runs/run={scene.run_id}"
            results = scene.lake.list(f"{base}/parts")[:HARMED_RESULTS]
            for path in (*results, *scene.lake.list(f"{base}/started")):
                harm(scene.lake, path, kind)
        scene.drive()

    return strike


def full(disk: Disk) -> Callable[[Scene], None]:
    """Make a fault of a disk that fills up and is freed again."""

    def strike(scene: Scene) -> None:
        with scene.strike("disk full", scene.held()):
            disk.fill()
            time.sleep(DISK_FULL_S)
            disk.free()

    return strike


def without_room(disk: Disk) -> Callable[[Scene], None]:
    """Make a fault of a driver that begins where its own disk, not the lake's, is full."""

    def strike(scene: Scene) -> None:
        with scene.strike("driver without room"):
            scene.drivers[-1].kill()
            disk.fill()
            scene.drive(var_dir=disk.folder / "var")
        time.sleep(DISK_FULL_S)
        scene.drivers[-1].kill()
        disk.free()
        scene.drive(var_dir=disk.folder / "var")

    return strike


def cut_off(network: Network, seconds: float) -> Callable[[Scene], None]:
    """Make a fault of a wire that is cut for a while, and of all other hosts leaving then.

    What is left of the run only the healed host can work.
    """

    def strike(scene: Scene) -> None:
        with scene.strike("cut off"):
            network.cut()
        time.sleep(seconds)
        network.heal()
        with scene.strike("healed, others left"):
            for host in scene.cluster.hosts[:-1]:
                host.leave()

    return strike


def leave_and_join(scene: Scene) -> None:
    """Ask one host to leave while another joins."""
    host = scene.host()
    with scene.strike("host left, another joined"):
        host.leave()
    scene.cluster.hosts.remove(host)
    scene.cluster.join(wait=False)
    host.process.wait()
    host.close()


STORM: tuple[Callable[[Scene], None], ...] = (
    kill_child,
    kill_child,
    kill_worker,
    kill_server,
    lose_server,
    wipe_server,
    kill_driver,
    crash_before_rename,
)


def storm(blows: int, kinds: Sequence[Callable[[Scene], None]] = STORM) -> Callable[[Scene], None]:
    """Make a fault of many, drawn at random: the first as soon as a worker is at work."""

    def strike(scene: Scene) -> None:
        for number in range(blows):
            if number > 0:
                time.sleep(scene.random.uniform(*STORM_PAUSES_S))
            if scene.over():
                return
            scene.random.choice(kinds)(scene)

    return strike


def one_after_the_other(*kinds: Callable[[Scene], None]) -> Callable[[Scene], None]:
    """Make a fault of several."""

    def strike(scene: Scene) -> None:
        for kind in kinds:
            kind(scene)

    return strike


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return

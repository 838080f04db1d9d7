"""Faults of what surrounds workers: another lake, another version, a lake or words out of reach.

No board is at fault there: workers that cannot work refuse, and the results are those of the
undisturbed run.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

from benchmarks.chaos import runs
from benchmarks.chaos.processes.cluster import Cluster, cluster
from benchmarks.chaos.processes.places import NotPermittedError
from benchmarks.chaos.results import differing, fresh_lake, plan, undisturbed
from benchmarks.chaos.runs import Aftermath, Scene
from benchmarks.instruments.processes import wait_for
from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.schemas import RESULTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.words.binding import open_game
from nightgrid.archive.words.dictionaries import add_dictionaries, words_of
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.worker_keys import refusals

PAUSE = {"NIGHTGRID_CHAOS_PAUSE_S": "0.15"}
OTHER_VERSION = {"NIGHTGRID_CHAOS_OLDER": "pips-0"}
NO_ROOM = {"NIGHTGRID_CHAOS_NO_ROOM": "1"}
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" "$0" && exec "$@"'
"""Runs a command, `"$@"`, that sees the folder `$0` read-only, in mounts of its own."""
WORDY_BOARDS, WORDS = 600, 200
SIDES, SIDE_LETTERS = 4, 3
REFUSED_S = 60.0

Trial: TypeAlias = Callable[[Path, pa.Table, pa.Table, int], Aftermath]


def until_refused(workers: int = 1) -> Callable[[Scene], None]:
    """Make a fault that is there already: wait until so many workers have refused to work."""

    def strike(scene: Scene) -> None:
        with scene.strike("refused"), closing(connect(scene.cluster.settings)) as client:

            def refused() -> bool:
                told = refusals(client, scene.cluster.settings)
                return len(told) >= workers or scene.over()

            wait_for(refused, "a worker that refuses", REFUSED_S)
            if workers < len(scene.cluster.hosts):
                scene.begun()

    return strike


def take_words_away(scene: Scene) -> None:
    """Move the words away and kill every worker, so that all miss them; then put them back."""
    there = Path(scene.cluster.settings.lake) / "dictionaries"
    away = scene.cluster.folder / "dictionaries-away"
    pids = [pid for host in scene.cluster.hosts for pid in host.group()]
    with scene.strike("words away"):
        there.rename(away)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
    until_refused(len(scene.cluster.hosts))(scene)
    away.rename(there)


def work_beside(other: Cluster, boards: pa.Table, expected: pa.Table) -> Callable[[Scene], None]:
    """Make a fault of a run of the same boards in another lake on the same server."""

    def strike(scene: Scene) -> None:
        lake = fresh_lake(other.settings)
        run_id = plan(lake, boards, other.settings, "pips")
        with scene.strike("another lake's run"):
            driver = other.drive(run_id)
        try:
            driver.wait(runs.RUN_S)
        except subprocess.TimeoutExpired as error:
            raise SystemExit(f"the other lake's run did not end: {error}") from error
        finally:
            driver.kill()
            driver.communicate()
        found = lake.read_table(f"results/{run_id}.parquet", RESULTS)
        if differing(expected, found):
            raise SystemExit("the other lake's results differ")
        for one in (scene.cluster, other):
            with closing(connect(one.settings)) as client:
                if told := refusals(client, one.settings):
                    raise SystemExit(f"a worker has met work of another lake: {told}")

    return strike


def two_lakes(folder: Path, boards: pa.Table, expected: pa.Table, seed: int) -> Aftermath:
    """Let two lakes with a worker each share one server, with one key prefix."""
    for name in ("one", "other"):
        (folder / name).mkdir()
    with cluster(folder / "one", hosts=1, environment=PAUSE) as made:
        url = made.settings.server_url
        with cluster(folder / "other", hosts=1, environment=PAUSE, redis_url=url) as other:
            fault = work_beside(other, boards, expected)
            return runs.run(made, boards, fault, seed=seed, expected=expected)


def beside_one(environment: Mapping[str, str]) -> Trial:
    """Make a trial of a worker with its own environment that serves the queues of a good one."""

    def trial(folder: Path, boards: pa.Table, expected: pa.Table, seed: int) -> Aftermath:
        with cluster(folder, hosts=1, environment=PAUSE) as made:
            made.join(**environment)
            return runs.run(made, boards, until_refused(), seed=seed, expected=expected)

    return trial


def read_only(folder: Path, boards: pa.Table, expected: pa.Table, seed: int) -> Aftermath:
    """Let a worker see the lake mounted read-only."""
    lake = str(folder / "lake")
    Path(lake).mkdir()
    inside = ("unshare", "-m", "sh", "-c", READ_ONLY, lake)
    tried = subprocess.run([*inside, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        raise NotPermittedError(f"mounts of its own: {tried.stderr.strip()}")
    with cluster(folder, hosts=1, environment=PAUSE) as made:
        made.join(inside=inside)
        return runs.run(made, boards, until_refused(), seed=seed, expected=expected)


def words_away(folder: Path, _boards: pa.Table, _expected: pa.Table, seed: int) -> Aftermath:
    """Let the words of boards be gone for a while in the middle of a run."""
    puzzles = wordy_boards(WORDY_BOARDS, seed)
    with cluster(folder, environment=PAUSE, games="letterboxed") as made:
        lake = Lake.open(made.settings.lake)
        add_dictionaries(lake, words_of(puzzles))
        boards = puzzles_table(open_game(lake, "letterboxed", "", ""), puzzles)
        expected = undisturbed(made.settings, boards, "letterboxed")
        return runs.run(
            made, boards, take_words_away, seed=seed, expected=expected, game="letterboxed"
        )


def wordy_boards(count: int, seed: int) -> list[Puzzle]:
    """Make boards of Letter Boxed with words of their own, which are not in any language."""
    draw = random.Random(seed)
    boards = []
    for _ in range(count):
        letters = draw.sample("ABCDEFGHIJKLMNOPQRSTUVWXYZ", SIDES * SIDE_LETTERS)
        sides = ["".join(letters[i::SIDES]) for i in range(SIDES)]
        words = set()
        while len(words) < WORDS:
            side, word = draw.randrange(SIDES), ""
            for _ in range(draw.randint(3, 8)):
                word += draw.choice(sides[side])
                side = (side + draw.randint(1, SIDES - 1)) % SIDES
            words.add(word)
        boards.append(Puzzle(sides=tuple(sides), dictionary=tuple(sorted(words))))
    return boards


SURROUNDINGS: dict[str, tuple[str, Trial]] = {
    "lakes": ("two lakes on one server, each with a worker and a run", two_lakes),
    "version": ("a worker of another solver version beside a good one", beside_one(OTHER_VERSION)),
    "read-only": ("a worker that sees the lake read-only beside a good one", read_only),
    "no-room": ("a worker whose quota is used up beside a good one", beside_one(NO_ROOM)),
    "words": ("dictionaries/ away for a while, and kill -9 of all workers", words_away),
}
INNOCENT = frozenset(what for name, (what, _) in SURROUNDINGS.items() if name != "words")
"""Rows in which nothing is killed: no failure may be counted against a chunk."""

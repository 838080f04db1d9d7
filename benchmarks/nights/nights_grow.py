"""A lake that grows night by night: what the thousandth night costs beside the fiftieth.

`python -m benchmarks.nights.nights_grow [--nights N] [--every N] [--s3 [SERVER]]
[--payloads FOLDER] [--write]`: each night finds one new day of Pips, Strands and Letter Boxed and
works it in this process. Told are its seconds, of the processor and in all, the files that it
opened, and its requests. With `--every N`, nights in between find their days at once: the lake is
as old and as large, in less time. Nights of lakes with 50 days before, which one night has brought,
are worked in turn with those of the old lake, on the same days: what the old lake's cost more is
its age. Then 100 on-demand jobs are asked and answered, on that lake and on a new one.
"""

from __future__ import annotations

import argparse
import gc
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa

from benchmarks.instruments.counted_lake import Counts, counted
from benchmarks.instruments.report import add_write, finish
from benchmarks.instruments.s3_servers import MOTO, SERVERS, serve
from benchmarks.nights.nights_grow_figures import (
    AT,
    JOBS,
    Night,
    Pair,
    Point,
    draw,
    middle_of,
    point_of,
    row_of_point,
    section_of,
)
from nightgrid.archive.lake.tables import RESULTS
from nightgrid.archive.results.files import (
    ONDEMAND_PREFIX,
    merge_answers,
    put_rows,
    result_path,
)
from nightgrid.archive.results.results import read_results
from nightgrid.flows.night.night import work_night
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.solvers.question import question_of
from nightgrid.solvers.registry import game as game_named
from nightgrid.workers.ondemand.jobs import submitting
from nightgrid.workers.ondemand.jobs.results import result
from nightgrid.workers.ondemand.jobs.submitting import MESSAGE_KEYS, submit
from nightgrid.workers.ondemand.task.solving import solve_message
from nightgrid.workers.settings import Settings

GAMES = ("pips", "strands", "letterboxed")
ASKS = {"strands": (Ask(kind="first"),)}
"""The ten best of a random board of Strands take 0.5 s, which would hide all else."""
FIRST = "2020-01-01"
YOUNG = 50
"""Nights of the lake that the old one is compared with, before they are worked in turn."""
IN_TURN = 40
"""Nights of each lake that are worked in turn. With ten, the ratio of the medians differs by a
tenth from one run to the next."""
RUNS_KEPT_S = 20.0
EARLIER_JOBS = 5_000
KEEPER_MERGES = 500
"""Answers between two merges: the keeper merges every 30 s."""
COUNT = Ask(kind="count")


def main() -> int:
    """Work the nights and print what they took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nights.nights_grow")
    parser.add_argument("--nights", type=int, default=1000)
    parser.add_argument("--every", type=int, default=1, help="nights from one that is told on")
    parser.add_argument(
        "--s3",
        nargs="?",
        const=MOTO,
        choices=(MOTO, *SERVERS),
        help="on an object store on loopback, moto's unless another server is named",
    )
    parser.add_argument("--payloads", type=Path, help="folder of payloads, made before")
    add_write(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nightgrid-grow-") as place:
        folder = Path(place)
        payloads = options.payloads or folder / "payloads"
        make_payloads(payloads, options.nights)
        with serve(options.s3) if options.s3 else nullcontext("") as server, counted() as counts:
            field = Field(payloads, folder / "old", lake_url(folder, "old", server), counts)
            *until, last = _points(options.nights, options.every)
            turns = min(IN_TURN, last // 2)
            until = [number for number in until if number <= last - turns]
            points = []
            jump = options.every > 1
            for number in until:
                if number <= YOUNG + AT:
                    points.append(Point(of_lake=middle_of(field.grow(number, jump=jump))))
                else:
                    field.reach(number - AT, jump=jump)
                    young = field.young(f"young-{number}", server)
                    points.append(point_of(in_turn(field, young, AT)))
                print(row_of_point(points[-1]), flush=True)
            field.reach(last - turns, jump=jump)
            pairs = in_turn(field, field.young("young", server), turns)
            points.append(point_of(pairs[-AT:]))
            new = Field(payloads, folder / "new", lake_url(folder, "new", server), counts)
            new.grow(1)
            jobs = [("a new lake", new.ask()), (f"one of {last:,} nights", field.ask())]
            field.answer_many(EARLIER_JOBS)
            jobs.append((f"the same with {EARLIER_JOBS:,} answers on demand", field.ask(JOBS)))
            idle = field.idle()
    finish(section_of(options, points, jobs, idle, pairs), to_results=options.write)
    if options.write:
        draw("nights-s3" if options.s3 else "nights", points)
    return 0


def _points(nights: int, every: int) -> list[int]:
    """Choose the nights that are told: some young ones, then evenly."""
    young = [night for night in (10, 20, 50) if night <= nights]
    step = max(every, 50)
    return [*young, *(night for night in range(step, nights + 1, step) if night >= YOUNG + AT)]


def lake_url(folder: Path, name: str, server: str) -> str:
    """Name a lake: a folder, or one in a bucket on a server."""
    if not server:
        return str(folder / name / "lake")
    return f"s3://bucket/{name}?endpoint_override={server}"


def make_payloads(folder: Path, days: int) -> None:
    """Make payloads of random boards, a file a day and game, as far as they are missing."""
    for game in GAMES:
        if len(list((folder / game).glob("*.json"))) >= days:
            continue
        command = [str(Path(sys.executable).with_name("nightgrid")), "generate", "--game", game]
        command += ["--out", str(folder / game), "--days", str(days), "--start", FIRST]
        subprocess.run([*command, "--seed", "1"], check=True, stdout=subprocess.DEVNULL)


class Field:
    """A lake, and the nights and jobs on it."""

    def __init__(
        self, payloads: Path, folder: Path, url: str, counts: Counts, first: int = 0
    ) -> None:
        """Make none yet; the first night finds the day of that number."""
        self._payloads, self._folder = payloads, folder
        self._source = folder / "source"
        self._days = {game: sorted((payloads / game).glob("*.json"))[first:] for game in GAMES}
        self._counts = counts
        self._number = 0
        kept_days = RUNS_KEPT_S / 86_400
        self._workers = Settings(
            lake=url, var_dir=folder / "var", batch_processes=1, runs_kept_days=kept_days
        )
        games = tuple(
            NightGame(game=game, source=str(self._source / game), asks=ASKS.get(game, ()))
            for game in GAMES
        )
        self._night = NightSettings(games=games, workers=self._workers, executor="inline")
        self._jobs = 0

    def grow(self, until: int, *, jump: bool = False) -> list[Night]:
        """Work nights of a day each until that one, and give the last; with `jump` as `reach`."""
        self.reach(until - AT, jump=jump)
        return [self.next() for _ in range(until - self._number)]

    def reach(self, until: int, *, jump: bool) -> None:
        """Work all nights until that one, with `jump` as one."""
        if jump:
            self.leap(until)
        while self._number < until:
            self.next()

    def young(self, name: str, server: str) -> Field:
        """Make a lake with the last days of this one, at most YOUNG, which one night brings."""
        days, folder = min(YOUNG, self._number), self._folder.parent
        url, first = lake_url(folder, name, server), self._number - days
        made = Field(self._payloads, folder / name, url, self._counts, first=first)
        made.leap(days)
        return made

    def leap(self, until: int) -> None:
        """Work all nights until that one as one."""
        if until > self._number:
            self._bring(until)
            self._work()

    def next(self) -> Night:
        """Work the next night."""
        self._bring(self._number + 1)
        return self._work()

    def idle(self) -> Night:
        """Work nights with nothing new."""
        return middle_of([self._work() for _ in range(5)])

    def _bring(self, until: int) -> None:
        for game in GAMES:
            (self._source / game).mkdir(parents=True, exist_ok=True)
            for day in self._days[game][self._number : until]:
                shutil.copy(day, self._source / game)
        self._number = until

    def _work(self) -> Night:
        return self._measured(lambda: work_night(self._night))

    def _measured(self, work: Callable[[], object]) -> Night:
        gc.collect()
        before, cpu, begun = self._counts.copy(), time.process_time(), time.perf_counter()
        work()
        return Night(
            number=self._number,
            cpu_s=(cpu_s := time.process_time() - cpu),
            least_s=cpu_s,
            wall_s=time.perf_counter() - begun,
            counts=self._counts.since(before),
        )

    def ask(self, first: int = 0) -> Night:
        """Submit jobs that the lake does not know, work them, and read their results."""
        lake = self._night.lake
        boards = [generate(PRESETS["easy"], 10**6 + first + i)[0] for i in range(JOBS)]

        def work() -> None:
            sent: list[Any] = []
            with mock.patch.object(submitting, "send", lambda message, _: sent.append(message)):
                ids = [submit(lake, b, COUNT, settings=self._workers) for b in boards]
            for message in sent:
                body = {name: message[name] for name in MESSAGE_KEYS}
                solve_message(lake, body, self._workers, "benchmark")
            for job in ids:
                row = result(lake, job)
                assert row is not None
                assert row["status"] == "solved"

        return self._measured(work)

    def answer_many(self, count: int) -> None:
        """File answers to as many jobs, as workers do, and merge them, as the keeper does."""
        lake, game = self._night.lake, game_named("pips")
        question = question_of(game, COUNT)
        some = read_results(lake).slice(0, 1).to_pylist()[0]
        for number in range(count):
            job = question.job_id(f"{number:032x}")
            run_id = ONDEMAND_PREFIX + job
            row = {**some, **question.to_json(), "job_id": job, "run_id": run_id}
            row["puzzle_id"] = f"{number:032x}"
            put_rows(lake, result_path(run_id), pa.Table.from_pylist([row], RESULTS))
            if number % KEEPER_MERGES == KEEPER_MERGES - 1:
                merge_answers(lake)


def in_turn(old: Field, young: Field, turns: int) -> list[Pair]:
    """Work nights of two lakes in turn, so that other work on the machine disturbs both alike.

    The lake that comes first changes with each turn.
    """
    pairs = []
    for turn in range(turns):
        of_young = young.next() if turn % 2 else None
        of_old = old.next()
        pairs.append((of_old, of_young or young.next()))
    return pairs


if __name__ == "__main__":
    sys.exit(main())

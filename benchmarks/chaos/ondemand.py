"""Faults around jobs on demand: none costs another job, or becomes an answer about a board.

`python -m benchmarks.chaos.ondemand [--only NAME ...]` submits generated Pips boards to real
workers and a keeper, strikes, and submits what has no answer once more. It prints a table, and
exits with 1 if an answer differs from the one of this process, if a job of another board has none,
or if states of a cancelled count stay in the lake.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from benchmarks.chaos.processes.cluster import Cluster, cluster
from benchmarks.chaos.trials import LOOSE, LOOSE_SEEDS, PAUSE, STAGED
from benchmarks.instruments.boards import published_mix
from benchmarks.instruments.processes import wait_for
from benchmarks.instruments.report import Section, add_write, command_line, finish
from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.errors import TransientError
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.registry import game
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.ondemand.results import result_row
from nightgrid.workers.ondemand.status import status
from nightgrid.workers.ondemand.submissions import open_jobs, read_wanted
from nightgrid.workers.ondemand.submitting import cancel_job, submit
from nightgrid.workers.runs.staged import frontier_folder

COUNT = Ask(kind="count")
ALL_ROLES = "batch,interactive,keeper"
JOBS, BOARDS_SEED = 40, 11
PATIENCE_S = 5.0
SMALL = Budget(nodes=1, table_bytes=1_000, seconds=1.0)
NO_SERVER = "redis://127.0.0.1:1/0"
WAIT_S = 120.0
SETTLE_S = 5.0
"""After a cancel every worker has ended what it had in hand by then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of the jobs of a trial."""

    jobs: int
    answered: int
    """With a row while the fault was there."""
    ended: Counter[str]
    """The others, by their states."""
    states_left: int
    """Bytes of states in the lake."""
    differing: int
    """Jobs whose answer, after the fault, is not the one of this process."""
    seconds: float


def truncated(folder: Path) -> Outcome:
    """Truncate the submission of one job of many, while only the keeper can find them."""
    boards = _boards(JOBS)
    begun = time.monotonic()
    with cluster(folder, hosts=0) as made:
        lake = Lake.open(made.settings.lake)
        jobs = [submit(lake, game("pips"), board, COUNT, made.settings) for board in boards]
        _lose_messages(made)
        path = read_wanted(lake, jobs[0]).last.path  # type: ignore[union-attr]
        lake.write_bytes(path, lake.read_bytes(path)[:100])
        made.join(roles=ALL_ROLES, wait=False)
        wait_for(lambda: all(result_row(lake, job) for job in jobs[1:]), "the other jobs", WAIT_S)
        return _asked_again(made, lake, boards, jobs, begun)


def older(folder: Path) -> Outcome:
    """Let only workers of an earlier version take the jobs, and then one of this version."""
    boards = _boards(4)
    begun = time.monotonic()
    with cluster(folder, hosts=0, broker_patience_seconds=PATIENCE_S) as made:
        host = made.join(roles=ALL_ROLES, wait=False, NIGHTGRID_CHAOS_OLDER="pips-0")
        made.wait_for_workers(2)
        lake = Lake.open(made.settings.lake)
        jobs = [submit(lake, game("pips"), board, COUNT, made.settings) for board in boards]

        def over() -> bool:
            return all(status(lake, job).state == "refused" for job in jobs)

        wait_for(over, "jobs that are refused", WAIT_S)
        host.close()
        made.hosts.remove(host)
        made.join(roles=ALL_ROLES, wait=False)
        return _asked_again(made, lake, boards, jobs, begun)


def cancelled(folder: Path) -> Outcome:
    """Cancel one of several staged counts in its middle."""
    boards = [generate(LOOSE, number)[0] for number in LOOSE_SEEDS]
    begun = time.monotonic()
    with cluster(folder, hosts=0, environment=PAUSE, **STAGED, ondemand_seconds=0.5) as made:
        made.join(roles=ALL_ROLES, wait=False)
        lake = Lake.open(made.settings.lake)
        jobs = [submit(lake, game("pips"), board, COUNT, made.settings) for board in boards]

        def at_work() -> bool:
            run_id = status(lake, jobs[0]).run_id
            return run_id is not None and len(lake.list(frontier_folder(run_id))) > 1

        wait_for(at_work, "states of the first count", WAIT_S)
        cancel_job(lake, jobs[0])
        wait_for(lambda: all(result_row(lake, job) for job in jobs[1:]), "the other jobs", WAIT_S)
        time.sleep(SETTLE_S)
        return _asked_again(made, lake, boards, jobs, begun)


def larger_budget(folder: Path) -> Outcome:
    """Submit boards under a budget that is too small, and then under the usual one."""
    boards = _boards(4)
    begun = time.monotonic()
    with cluster(folder, hosts=0) as made:
        made.join(roles=ALL_ROLES, wait=False)
        lake = Lake.open(made.settings.lake)
        jobs = [
            submit(lake, game("pips"), board, COUNT, made.settings, budget=SMALL)
            for board in boards
        ]
        wait_for(lambda: all(result_row(lake, job) for job in jobs), "answers over budget", WAIT_S)
        over = sum((result_row(lake, job) or {})["status"] == "over_budget" for job in jobs)
        found = _asked_again(made, lake, boards, jobs, begun)
        return replace(found, ended=Counter({"over budget": over}))


def without_server(folder: Path) -> Outcome:
    """Submit boards while the server is away: submitters fail, and the keeper sends later."""
    boards = _boards(4)
    begun = time.monotonic()
    with cluster(folder, hosts=0) as made:
        lake = Lake.open(made.settings.lake)
        nowhere = made.settings.model_copy(update={"redis_url": SecretStr(NO_SERVER)})
        for board in boards:
            with suppress(TransientError):
                submit(lake, game("pips"), board, COUNT, nowhere)
        jobs = sorted(open_jobs(lake).wanted)
        made.join(roles=ALL_ROLES, wait=False)
        wait_for(lambda: all(result_row(lake, job) for job in jobs), "all jobs", WAIT_S)
        names = [submit(lake, game("pips"), board, COUNT, made.settings) for board in boards]
        return replace(_asked_again(made, lake, boards, names, begun), jobs=len(jobs))


def _asked_again(
    made: Cluster, lake: Lake, boards: Sequence[Puzzle], jobs: Sequence[str], begun: float
) -> Outcome:
    """Look what became of jobs, submit those without an answer once more, and compare all."""
    rows = [_row(lake, job) for job in jobs]
    ended = Counter(
        str(status(lake, job).state) for job, row in zip(jobs, rows, strict=True) if row is None
    )
    runs = {run_id for job in jobs if (run_id := status(lake, job).run_id) is not None}
    left = sum(sum(lake.sizes(frontier_folder(run_id)).values()) for run_id in runs)
    for board in boards:
        submit(lake, game("pips"), board, COUNT, made.settings)
    wait_for(lambda: all(result_row(lake, job) for job in jobs), "all jobs", WAIT_S)
    counts = [(result_row(lake, job) or {})["count"] for job in jobs]
    expected = [game("pips").solve(board, COUNT).count for board in boards]
    return Outcome(
        jobs=len(jobs),
        answered=sum(row is not None for row in rows),
        ended=ended,
        states_left=left,
        differing=sum(a != b for a, b in zip(counts, expected, strict=True)),
        seconds=time.monotonic() - begun,
    )


def _row(lake: Lake, job: str) -> dict[str, Any] | None:
    """Read the result of a job, if the lake knows the job."""
    return None if status(lake, job).state == "unknown" else result_row(lake, job)


def _boards(count: int) -> list[Puzzle]:
    arrays = arrays_of(published_mix(count, BOARDS_SEED))
    return [game("pips").from_arrays(arrays, row) for row in range(count)]


def _lose_messages(made: Cluster) -> None:
    with closing(connect(made.settings)) as client:
        client.flushall()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A fault around jobs."""

    what: str
    strike: Callable[[Path], Outcome]
    ends: Counter[str]
    """How the jobs are to end that have no answer at first."""


TRIALS: dict[str, Trial] = {
    "truncated": Trial(
        what="a truncated submission, and every message lost",
        strike=truncated,
        ends=Counter({"unknown": 1}),
    ),
    "older": Trial(
        what="workers of an earlier version only",
        strike=older,
        ends=Counter({"refused": 4}),
    ),
    "cancelled": Trial(
        what="a staged count cancelled in its middle",
        strike=cancelled,
        ends=Counter({"cancelled": 1}),
    ),
    "budget": Trial(
        what="over a small budget, then asked under the usual one",
        strike=larger_budget,
        ends=Counter({"over budget": 4}),
    ),
    "submitter": Trial(
        what="submitters that find no server",
        strike=without_server,
        ends=Counter(),
    ),
}


def main() -> int:
    """Run every trial and print what became of its jobs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos.ondemand")
    parser.add_argument("--only", nargs="+", choices=TRIALS, metavar="NAME", default=list(TRIALS))
    add_write(parser)
    options = parser.parse_args()
    game("pips").warm()
    found: list[tuple[Trial, Outcome, bool]] = []
    for name in options.only:
        trial = TRIALS[name]
        with tempfile.TemporaryDirectory(prefix="nightgrid-chaos-") as folder:
            outcome = trial.strike(Path(folder))
        good = (outcome.ended, outcome.states_left, outcome.differing) == (trial.ends, 0, 0)
        print(f"{trial.what}: {outcome}", flush=True)
        found.append((trial, outcome, good and outcome.jobs > 0))
    section = Section(
        name="chaos-ondemand",
        title="Faults around jobs on demand",
        command=command_line("chaos.ondemand"),
    )
    section.table(
        (
            *("fault", "jobs", "answered", "ended without an answer"),
            *("states left", "differing", "s"),
        ),
        [
            (
                trial.what,
                o.jobs,
                o.answered,
                ", ".join(f"{n} {state}" for state, n in sorted(o.ended.items())),
                o.states_left,
                o.differing,
                f"{o.seconds:.1f}",
            )
            for trial, o, _ in found
        ],
    )
    section.say(
        "Answered, and ended without an answer: while "
        "the fault was there; over budget: answers so far. States left: bytes in "
        "the lake then. Differing: jobs whose count, after those without an answer were submitted "
        "once more, is not the one that this process finds."
    )
    finish(section, to_results=options.write)
    bad = [trial.what for trial, _, good in found if not good]
    if bad:
        print(f"FAILED: {'; '.join(bad)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

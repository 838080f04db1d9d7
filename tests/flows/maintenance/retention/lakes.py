"""Lakes with answers of several versions, runs and corpora, of which some are to go."""

from __future__ import annotations

import datetime as dt
import functools
import itertools
import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.chaos.lakes.nights import night_of
from benchmarks.nights.month_night import dying_at, raise_killed
from nightgrid.archive.lake.json_files import write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RESULTS
from nightgrid.archive.results.results import read_results
from nightgrid.archive.views.catalogue import view_named
from nightgrid.flows.count import count as counting
from nightgrid.flows.count.count import work_count
from nightgrid.flows.count.report import CountReport
from nightgrid.flows.count.settings import CountSettings
from nightgrid.flows.maintenance.prune import prune_lake
from nightgrid.flows.maintenance.retention.pruned import Kept, Pruned
from nightgrid.flows.night.night import work_night
from nightgrid.flows.night.report import GameReport
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.pips.game import PipsGame
from nightgrid.workers.runs.retry import Retry
from nightgrid.workers.runs.run_files import done_path
from nightgrid.workers.upkeep import KEPT_PATH

CORPUS = "pips:n=4,seed=7"
NEXT = "pips-next"
LATE = dt.datetime.now(dt.UTC) + dt.timedelta(days=400)
LISTED = 3
"""Boards of the night that counted and listed."""


def night(folder: Path) -> GameReport:
    return work_night(night_of(folder / "lake", folder / "source")).games[0]


def listing_night(folder: Path, retry: Retry | None = None) -> list[GameReport]:
    """Work a night that counts and lists; each listing has files of its own."""
    night = night_of(folder / "lake", folder / "source")
    (game,) = night.games
    files = {"listing_row_bytes": 1, "listing_chunk_bytes": 1, "listing_rows": 4}
    night = replace(
        night,
        retry=retry,
        games=(replace(game, asks=(Ask(kind="count"), Ask(kind="all"))),),
        workers=night.workers.model_copy(update=files),
    )
    return list(work_night(night).games)


def count(folder: Path, corpus: str = CORPUS, ask: str = "count", **more: int) -> CountReport:
    """Count a corpus, or list it; `more` are settings of workers."""
    workers = night_of(folder / "lake", folder / "source").workers.model_copy(update=more)
    settings = CountSettings(corpus=corpus, ask=Ask.parse(ask), executor="inline", workers=workers)
    return work_count(settings)


def pruned(lake: Lake, what: Kept, days: float = 30, **more: Any) -> Pruned:
    """Drop what is old of Pips, 400 days from now unless `more` says when."""
    (done,) = prune_lake(lake, {what: days}, ["pips"], now=more.pop("now", LATE), **more)
    return done


@contextmanager
def new_version() -> Iterator[None]:
    with mock.patch.object(PipsGame, "solver_version", NEXT):
        yield


def keys(lake: Lake) -> list[tuple[str, str, str]]:
    rows = read_results(lake).select(["job_id", "run_id", "status"]).to_pylist()
    return sorted(tuple(row.values()) for row in rows)


def counts_by_date(lake: Lake) -> list[dict[str, Any]]:
    names = ["date", "level", "puzzle_id", "status", "count"]
    return view_named("counts").read(lake, names).sort_by("puzzle_id").to_pylist()


def asks(lake: Lake) -> dict[str, int]:
    told = pc.value_counts(read_results(lake).column("ask")).to_pylist()
    return {row["values"]: row["counts"] for row in told}


def listed_jobs(lake: Lake) -> list[str]:
    rows = read_results(lake)
    jobs = rows.filter(pc.equal(rows.column("ask"), "all")).column("job_id")
    return sorted(jobs.to_pylist())


def versions(lake: Lake) -> dict[str, int]:
    told = pc.value_counts(read_results(lake).column("solver_version")).to_pylist()
    return {row["values"]: row["counts"] for row in told}


def add_loser(lake: Lake, run_id: str = "c" * 32) -> None:
    """Let the first job have ended over budget in an earlier run, whose folder is gone."""
    table = read_results(lake).slice(0, 1)
    for name, value in (("status", "over_budget"), ("count", None), ("run_id", run_id)):
        at = table.column_names.index(name)
        field = table.schema.field(at)
        table = table.set_column(at, field, pa.array([value], field.type))
    lake.write_table(f"results/{run_id}.parquet", table)


def ranking(ranking_id: str, puzzle_id: str, ranker: str) -> dict[str, Any]:
    """Make a row of a ranking without covers."""
    told = {"ranking_id": ranking_id, "puzzle_id": puzzle_id, "game": "strands", "ranker": ranker}
    figures = {"cover_count": 0, "tier": 0, "seconds": 0.0, "processor_s": 0.0, "covers": []}
    return {**told, **figures, "with_model": False, "status": "unsolvable", "reason": ""}


def age_run(lake: Lake, run_id: str | None, days: float) -> None:
    """Let a run have ended so many days ago."""
    assert run_id is not None
    done = json.loads(lake.read_bytes(done_path(run_id)))
    when = dt.datetime.now(dt.UTC) - dt.timedelta(days=days)
    write_json(lake, done_path(run_id), {**done, "finished_at": when.isoformat()})
    lake.delete(KEPT_PATH)


def called_at_work(call: Callable[[], object]) -> AbstractContextManager[object]:
    """Call something once while a count is worked: it is planned, and no chunk is begun."""
    return _called_before("work_run", call)


def called_at_report(call: Callable[[], object]) -> AbstractContextManager[object]:
    """Call something once between the end of a count's work and its report."""
    return _called_before("report_count", call)


def _called_before(name: str, call: Callable[[], object]) -> AbstractContextManager[object]:
    calls, step = [call], getattr(counting, name)

    @functools.wraps(step)
    def stepping(*given: Any, **named: Any) -> Any:
        if calls:
            calls.pop()()
        return step(*given, **named)

    return mock.patch.object(counting, name, stepping)


def age_files(lake: Lake, *folders: str) -> None:
    """Let files be from 1970."""
    for folder in folders:
        for path in lake.list(folder):
            os.utime(Path(lake.url) / path, (0, 0))


def change_count(lake: Lake, job_id: str) -> None:
    """Let a row say one solution more."""
    for path in lake.list("results"):
        table = lake.read_table(path, RESULTS)
        changed = pc.equal(table.column("job_id"), job_id).to_pylist()
        told = zip(table.column("count").to_pylist(), changed, strict=True)
        at = table.column_names.index("count")
        counts = pa.array([number + more for number, more in told], table.field(at).type)
        lake.write_table(path, table.set_column(at, table.field(at), counts))


def dying_at_delete(number: int) -> Any:
    """Die before a file is deleted."""
    delete, numbers = Lake.delete, itertools.count(1)

    def deleting(self: Lake, *args: Any, **more: Any) -> Any:
        if next(numbers) == number:
            raise_killed()
        return delete(self, *args, **more)

    return mock.patch.object(Lake, "delete", deleting)


def times_killed(killed_in: Callable[[str, Any], bool]) -> tuple[int, int]:
    """Kill calls at their first write, at the second and so on, and so at deletes.

    Returns at how many of each a call was killed. `killed_in` names a trial, makes it, and tells
    whether its call came so far that it was killed.
    """
    writes = itertools.takewhile(
        lambda at: killed_in(f"write-{at}", dying_at(at, raise_killed)), itertools.count(1)
    )
    deletes = itertools.takewhile(
        lambda at: killed_in(f"delete-{at}", dying_at_delete(at)), itertools.count(1)
    )
    return len(list(writes)), len(list(deletes))

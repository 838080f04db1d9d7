"""Upkeep of a lake: merge small files of answers, and delete runs that ended long ago."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.files import merge_answers
from nightgrid.solvers.errors import NightgridError
from nightgrid.workers.logs import get_logger
from nightgrid.workers.runs.run_files import done_path, folder
from nightgrid.workers.runs.status import cancelled_path, delete_discarded, drops_states

log = get_logger("nightgrid.upkeep")

RUNS = "runs"
_RUN = f"{RUNS}/run="


def tidy(lake: Lake, runs_kept_days: float) -> None:
    """Merge answers, and delete runs that ended more than `runs_kept_days` ago.

    Failures are logged and left to the next call.
    """
    try:
        damaged = merge_answers(lake)
        if damaged:
            log.warning("files left out of merging", damaged=list(damaged))
        prune_runs(lake, old_runs(lake, days_ago(runs_kept_days)))
    except NightgridError as error:
        log.warning("upkeep waits", error=str(error))


def days_ago(days: float) -> dt.datetime:
    """Return the time that many days ago."""
    return dt.datetime.now(dt.UTC) - dt.timedelta(days=days)


def ends_of_runs(lake: Lake) -> dict[str, int | None]:
    """Return when each run of a lake ended, Unix time in ns; None if it has not ended.

    A run ends with its results, or when it is cancelled and its states are deleted.
    """
    stamps = lake.stamps(RUNS, deep=True)
    runs = {path.split("/")[1].removeprefix("run=") for path in stamps if path.startswith(_RUN)}
    ends: dict[str, int | None] = dict.fromkeys(sorted(runs))
    for run_id in ends:
        if done_path(run_id) in stamps:
            ends[run_id] = stamps[done_path(run_id)][1]
        elif cancelled_path(run_id) in stamps and drops_states(lake, run_id):
            ends[run_id] = stamps[cancelled_path(run_id)][1]
    return ends


def old_runs(lake: Lake, before: dt.datetime) -> list[str]:
    """List the runs that ended before a time."""
    limit_ns = int(before.timestamp() * 1e9)
    return [run for run, end in ends_of_runs(lake).items() if end is not None and end < limit_ns]


def prune_runs(lake: Lake, run_ids: Collection[str]) -> None:
    """Delete the folders of runs that have ended; their results stay.

    Killed at any point, it leaves at least the end record of a run, by which the next call finds
    it. A cancelled run that has been requested again stays.
    """
    for run_id in run_ids:
        if lake.exists(done_path(run_id)):
            lake.delete_folder(folder(run_id), last=done_path(run_id))
        elif drops_states(lake, run_id):
            delete_discarded(lake, run_id)

"""Upkeep of a lake: small files of answers are merged, and runs that ended long ago are deleted.

A run ends with its results, or without them when its job is over its total, expired or cancelled.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.json_files import parse_time, read_hint, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.files import merge_answers
from nightgrid.archive.results.solution_files import files_folder
from nightgrid.solvers.errors import NightgridError
from nightgrid.workers.logs import get_logger
from nightgrid.workers.runs.manifest import read_about, read_done
from nightgrid.workers.runs.run_files import asked_path, done_path, plan_path
from nightgrid.workers.runs.status import delete_discarded, discarded_at

log = get_logger("nightgrid.upkeep")

RUNS = "runs"
KEPT_PATH = "runs/kept.json"
"""When the runs that are kept have ended, as far as was looked: it spares a look at each."""
_RUN = f"{RUNS}/run="
_RECORDS = f"{RUNS}/ondemand"
"""Where records of jobs lie that are wanted; each says which run it has become."""


def tidy(lake: Lake, runs_kept_days: float) -> None:
    """Merge answers, and delete runs that ended more than `runs_kept_days` ago.

    What fails is left to the next call, and logged.
    """
    try:
        damaged = merge_answers(lake).damaged
        if damaged:
            log.warning("files left out of merging", damaged=list(damaged))
        prune_runs(lake, old_runs(lake, days_ago(runs_kept_days)))
    except NightgridError as error:
        log.warning("upkeep waits", error=str(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class OldRuns:
    """Runs whose files go, as one look at a lake has found them."""

    before: dt.datetime
    """They ended, or were given up, before that."""
    ended: tuple[str, ...]
    discarded: tuple[str, ...]
    """Those that were given up."""
    kept: dict[str, str]
    """When the runs have ended that stay."""
    noted: dict[str, str]
    """What the lake has noted of that."""

    @property
    def count(self) -> int:
        """Number of runs that go."""
        return len(self.ended) + len(self.discarded)

    @property
    def folders(self) -> tuple[str, ...]:
        """Name the folders that go."""
        runs = (f"{_RUN}{run_id}" for run_id in (*self.ended, *self.discarded))
        return (*runs, *map(files_folder, self.discarded))


def old_runs(lake: Lake, before: dt.datetime, games: Collection[str] = ()) -> OldRuns:
    """Find the runs that ended, or were given up, before a time; nothing is written.

    With `games`, only runs that ask about one of them. A run that was given up does not go while
    its job is wanted again, and any other run stays.
    """
    noted = read_hint(lake, KEPT_PATH, parse_ends) or {}
    there, ended = _runs_there(lake, noted)
    old = _of_games(lake, _old(ended, before), games)
    discarded = _of_games(lake, _discarded(lake, there.difference(ended), before), games)
    gone = set(old)
    kept = {run_id: when for run_id, when in ended.items() if run_id not in gone}
    return OldRuns(
        before=before, ended=tuple(old), discarded=tuple(discarded), kept=kept, noted=noted
    )


def prune_runs(lake: Lake, old: OldRuns) -> OldRuns:
    """Delete the files of old runs; return those that were deleted.

    A run that was given up stays if it is worked or wanted again since the look.

    Their results stay: a run that has ended is needed to make results anew that are lost, and by
    `count` to say that it was finished before. So do runs of jobs on demand that ended without
    results, with the solutions that they have listed, unless their job is wanted again. Killed
    anywhere, it leaves a run that has ended or nothing of it.
    """
    for run_id in old.ended:
        delete_ended(lake, run_id)
    if old.kept != old.noted:
        write_json(lake, KEPT_PATH, old.kept, durable=False)
    deleted = []
    for run_id in old.discarded:
        # The deletions before took their time: a job may have taken the run up meanwhile.
        if _discarded(lake, [run_id], old.before):
            delete_discarded(lake, run_id)
            deleted.append(run_id)
    return replace(old, discarded=tuple(deleted))


def days_ago(days: float) -> dt.datetime:
    """Name the time so many days ago."""
    return dt.datetime.now(dt.UTC) - dt.timedelta(days=days)


def ends_of_runs(lake: Lake) -> tuple[set[str], dict[str, str]]:
    """List the runs of a lake, and when those of them ended that have; nothing is written."""
    return _runs_there(lake, read_hint(lake, KEPT_PATH, parse_ends) or {})


def delete_ended(lake: Lake, run_id: str) -> None:
    """Delete the folder of a run that has ended; its results stay."""
    # Until nothing else is left of it, the run is one that has ended.
    lake.delete_folder(f"{_RUN}{run_id}", last=done_path(run_id))


def _of_games(lake: Lake, run_ids: list[str], games: Collection[str]) -> list[str]:
    """Keep the runs that ask about one of these games; without games, all.

    A run of which a killed deletion has left only its end is of any game.
    """
    if not games:
        return run_ids
    found = []
    for run_id in run_ids:
        with suppress(DamagedFileError):
            about = read_about(lake, plan_path(run_id)) or read_about(lake, asked_path(run_id))
            if about is None or about["game"] in games:
                found.append(run_id)
    return found


def _runs_there(lake: Lake, told: dict[str, str]) -> tuple[set[str], dict[str, str]]:
    """List the runs of a lake, and when those of them ended that have; `told` spares looks."""
    there = {path.removeprefix(_RUN) for path in lake.folders(RUNS) if path.startswith(_RUN)}
    ended = {run_id: when for run_id, when in told.items() if run_id in there}
    for run_id in sorted(there.difference(ended)):
        done = read_done(lake, run_id)
        if done is not None:
            ended[run_id] = _end(done["finished_at"])
    return there, ended


def _old(ended: dict[str, str], before: dt.datetime) -> list[str]:
    return sorted(run for run, when in ended.items() if dt.datetime.fromisoformat(when) < before)


def _discarded(lake: Lake, run_ids: Collection[str], before: dt.datetime) -> list[str]:
    """Name the runs that were given up before a time and are not wanted again."""
    old = []
    for run_id in sorted(run_ids):
        when = discarded_at(lake, run_id)
        if when is not None and parse_time(when) < before:
            old.append(run_id)
    if not old:
        return []
    wanted = {read_hint(lake, path, _run_of) for path in lake.list(_RECORDS)}
    return [run_id for run_id in old if run_id not in wanted]


def _run_of(record: dict[str, Any]) -> str:
    return str(record["run_id"])


def _end(finished_at: str) -> str:
    return parse_time(finished_at).isoformat(timespec="seconds")


def parse_ends(told: dict[str, Any]) -> dict[str, str]:
    """Read when runs have ended, by id. Raises ValueError or TypeError."""
    return {run_id: _end(when) for run_id, when in told.items()}

"""Mend what a check has found: move damaged files away, and make again what other files tell.

Every step leaves the lake as a lake: a repair that is killed anywhere is ended by the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from nightgrid.archive.ingest.lost_words import (
    games_with_words,
    lost_dictionaries,
    restore_dictionaries,
)
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.ingest.puzzles import puzzles_folder
from nightgrid.archive.ingest.sightings import raw_folder
from nightgrid.archive.lake.faults import LakeRefusesError, NewerSchemaError, set_aside
from nightgrid.archive.lake.storage import Lake
from nightgrid.flows.maintenance.asked_again import commands_of, shown
from nightgrid.flows.maintenance.check import Finding, OnFile, check_lake_files, lost_results
from nightgrid.flows.maintenance.files import Mend, kind_of
from nightgrid.solvers.registry import GAMES
from nightgrid.workers.lease import holding
from nightgrid.workers.ondemand.record_files import SET_ASIDE
from nightgrid.workers.ondemand.record_files import set_aside as set_record_aside
from nightgrid.workers.runs.damaged_runs import set_run_aside
from nightgrid.workers.runs.finishing.ended import ASKED_AGAIN, ended_runs, write_again
from nightgrid.workers.runs.run_files import folder

LEASE = "night"
"""A repair writes what nights write: only one of both is at work."""
_OF_JOBS = re.compile(r"^(results|solutions)/(merged|ondemand)-")
"""Files that may hold answers to submitted jobs, of which there are no chunk results."""
ROUNDS_MAX = 3
"""Checks of one repair: what was made again may show what else is lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """What a repair did about one file."""

    path: str
    mended: bool
    """Whether nothing is wrong with it any more."""
    what: str
    """One sentence: what was done, or why nothing could be."""

    def to_json(self) -> dict[str, Any]:
        """Write it for programs."""
        return {"path": self.path, "mended": self.mended, "what": self.what}


def repair_lake(lake: Lake, on_file: OnFile = lambda _done, _total: None) -> Iterator[Mended]:
    """Mend what can be mended; yield what was done, and what is left to a person.

    A second repair finds nothing more to do. Raises NewerSchemaError, before anything is changed,
    for a lake that a later version has written, LakeRefusesError for one with a file that this
    process may not read, TransientError while a night is at work on it.
    """
    refusal = f"a night or a repair is at work on the lake {lake.url}"
    with holding(lake, LEASE, refusal):
        told: set[str] = set()
        for _ in range(ROUNDS_MAX):
            findings = list(check_lake_files(lake, on_file))
            newer = next((found for found in findings if found.fault == "newer"), None)
            if newer is not None:
                raise NewerSchemaError(newer.what)
            hidden = next((found for found in findings if found.fault == "unreadable"), None)
            if hidden is not None:
                raise LakeRefusesError(f"{hidden.what}; a repair has to read every file")
            left = [found for found in findings if found.path not in told]
            for found in left:
                told.add(found.path)
                if not found.can_mend:
                    yield Mended(
                        path=found.path, mended=False, what=f"{found.what}; {found.advice}"
                    )
            todo = [found for found in findings if found.can_mend]
            if not todo:
                return
            yield from _mend(lake, todo)
        for found in check_lake_files(lake, on_file):
            if found.path not in told or found.can_mend:
                what = f"{found.what}; it still is, after {ROUNDS_MAX} rounds"
                yield Mended(path=found.path, mended=False, what=what)


def _mend(lake: Lake, findings: Iterable[Finding]) -> Iterator[Mended]:
    again: set[str] = set()
    rewritten: set[str] = set()
    for found in findings:
        known = kind_of(found.path)
        match = None if known is None else known[1]
        names = {} if match is None else match.groupdict()
        if found.mend is Mend.RAW:
            again |= {names["game"]} if "game" in names else set(GAMES)
        if found.mend is Mend.RESULTS:
            rewritten.add(found.path)
        if found.mend is Mend.DICTIONARIES:
            yield from _read_words_again(lake)
        if found.fault == "lost":
            continue
        # Before the file is moved, from which they are read.
        commands = shown(commands_of(lake, found.path)) if found.mend is Mend.RESULTS else ""
        moved = _moved(lake, found.path, found.mend, names)
        more = ASKED_AGAIN if found.mend is Mend.RESULTS and _OF_JOBS.search(found.path) else ""
        more = f"{more}; {commands}" if commands else more
        yield Mended(path=found.path, mended=True, what=f"{found.what}; moved to {moved}{more}")
    for game in sorted(again):
        if lake.exists(raw_folder(game)):
            report = normalise(lake, game=game, rebuild=True)
            what = f"made again from the raw payloads of {game}: {report.edition_count:,} editions"
            yield Mended(path=raw_folder(game), mended=True, what=what)
    if rewritten:
        yield from _write_results(lake, rewritten)


def _read_words_again(lake: Lake) -> Iterator[Mended]:
    for game in games_with_words():
        lost = lost_dictionaries(lake, game)
        if len(lost):
            found = restore_dictionaries(lake, game, lost)
            more = "" if found == len(lost) else f"; the others: {Mend.PERSON.value}"
            what = (
                f"{found:,} of the {len(lost):,} dictionaries of {game} boards that were gone were "
                f"read again from the raw payloads{more}"
            )
            yield Mended(path=puzzles_folder(game), mended=found == len(lost), what=what)


def _moved(lake: Lake, path: str, mend: Mend | None, names: dict[str, str]) -> str:
    """Move a damaged file away, and with it what says that it is whole."""
    if mend is Mend.RUN:
        return set_run_aside(lake, names["run"])
    if mend is Mend.CORPUS:
        base = f"corpora/{names['id']}"
        lake.delete(f"{base}/corpus.json")
        if "part" in names:
            lake.delete(f"{base}/rows/{names['part']}.parquet")
    if mend is Mend.JOB:
        # Where `status` and `doctor` look for it; None: the keeper was faster.
        return set_record_aside(lake, path) or SET_ASIDE
    return set_aside(lake, path) if lake.exists(path) else f"damaged/{path}"


def _write_results(lake: Lake, damaged: set[str]) -> Iterator[Mended]:
    """Write the results again of runs that have lost some, and of those whose files were named."""
    paths = lake.list("")
    lost = {found.path for found in lost_results(lake, paths)} | damaged
    stems = {name for path in damaged for name in path.removesuffix(".parquet").split("/")}
    for run_id in ended_runs(lake, paths):
        if folder(run_id) not in lost and run_id not in stems:
            continue
        done = write_again(lake, run_id)
        if done is None:
            what = "chunk results are gone; the next night or the same count works what is missing"
        else:
            what = f"{done['result_count']:,} result rows written again from its chunk results"
        yield Mended(path=folder(run_id), mended=True, what=what)

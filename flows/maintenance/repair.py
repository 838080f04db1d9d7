"""Repair the faults that a check has found, or rebuild all tables of a lake from the payloads.

Every step leaves the lake readable, and the next repair finishes one that was killed. Answers are
kept: an answer belongs to a board, and the same board has the same id.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

import pyarrow as pa

from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.ingest.raw import raw_folder
from nightgrid.archive.lake.faults import LakeRefusesError, NewerSchemaError, set_aside
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.merge import drop_rows
from nightgrid.archive.results.files import RESULT_FILES
from nightgrid.flows.maintenance.check import (
    JOB,
    Finding,
    Mend,
    OnFile,
    check_lake_files,
    dates_without_rows,
    kind_of,
    rows_without_solutions,
)
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import GAMES
from nightgrid.workers.lease import Lease, check_held, holding
from nightgrid.workers.runs.finishing.ended import set_run_aside

LEASE = "night"
"""A repair writes the same files as nights, so they exclude each other."""
ROUNDS_MAX = 3
"""Checks of one repair: rebuilt files may reveal further losses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """The outcome of a repair for one file."""

    path: str
    mended: bool
    """Whether it has no fault any more."""
    what: str
    """One sentence: what was done, or why nothing could be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """The rebuilt tables of one game."""

    game: str
    editions: int
    quarantined: int


def maintaining(lake: Lake) -> AbstractContextManager[Lease]:
    """Hold the lease of nights while the body runs. Raises TransientError while another has it."""
    return holding(lake, LEASE, f"a night or a repair is running on the lake {lake.url}")


def rebuild_lake(lake: Lake, games: Collection[str] = ()) -> Iterator[Rebuilt]:
    """Rebuild the tables of some games, or of all games if none are named; yield each game.

    Killed anywhere, the same call finishes it. Raises PermanentError for a game without payloads,
    TransientError while a night is running on the lake.
    """
    found = [game for game in sorted(GAMES) if lake.exists(raw_folder(game))]
    missing = sorted(set(games) - set(found))
    if missing or not found:
        what = f"payloads of {', '.join(missing) or 'any game'}"
        raise PermanentError(f"the lake {lake.url} has no {what}; expected some under raw/")
    with maintaining(lake):
        for game in (game for game in found if not games or game in games):
            done = normalise(lake, game=game, rebuild=True, check=lambda: check_held(lake, LEASE))
            yield Rebuilt(game=game, editions=done.edition_count, quarantined=done.quarantine_count)


def repair_lake(lake: Lake, on_file: OnFile = lambda _done, _total: None) -> Iterator[Mended]:
    """Repair every fault that can be fixed; yield what was done, and what is left to a person.

    A second repair finds nothing more to do. Raises NewerSchemaError, before changing anything, for
    a lake that a later version has written, LakeRefusesError for one with a file that this process
    may not read, TransientError while a night is running on it.
    """
    with maintaining(lake):
        findings = _readable(lake, on_file)
        for _ in range(ROUNDS_MAX):
            if not (todo := [found for found in findings if found.can_mend]):
                break
            yield from _mend(lake, todo)
            findings = _readable(lake, on_file)
        for found in findings:
            left = f"it still is, after {ROUNDS_MAX} rounds" if found.can_mend else found.advice
            yield Mended(path=found.path, mended=False, what=f"{found.what}; {left}")


def _readable(lake: Lake, on_file: OnFile) -> list[Finding]:
    """Check a lake. Raises the errors that prevent a repair."""
    findings = list(check_lake_files(lake, on_file))
    for found in findings:
        if found.fault == "newer":
            raise NewerSchemaError(found.what)
        if found.fault == "unreadable":
            raise LakeRefusesError(f"{found.what}; a repair has to read every file")
    return findings


def _mend(lake: Lake, findings: Collection[Finding]) -> Iterator[Mended]:
    rebuild: dict[str, bool] = {}
    for found in findings:
        _, names = kind_of(found.path) or (None, {})
        if found.mend is Mend.RAW:
            # Lost dates are rebuilt alone: other dates may have lost their payloads.
            alone = found.fault == "lost" or found.path.startswith(("puzzles/", "dictionaries/"))
            for game in [names["game"]] if "game" in names else GAMES:
                rebuild[game] = rebuild.get(game, False) or not alone
        if found.fault != "lost" or found.mend is Mend.RUN:
            moved = _moved(lake, found, names)
            yield Mended(path=found.path, mended=True, what=f"{found.what}; moved to {moved}")
    if any(found.mend is Mend.ANSWERS for found in findings):
        drop_rows(lake, RESULT_FILES, JOB, pa.array(rows_without_solutions(lake), pa.string()))
        yield Mended(path=RESULT_FILES.path, mended=True, what=Mend.ANSWERS)
    for game in sorted(rebuild):
        if lake.exists(raw_folder(game)):
            again = () if rebuild[game] else dates_without_rows(lake, game)
            report = normalise(lake, game=game, rebuild=rebuild[game], again=again)
            what = f"rebuilt from the raw payloads of {game}: {report.edition_count:,} editions"
            yield Mended(path=raw_folder(game), mended=True, what=what)


def _moved(lake: Lake, found: Finding, names: dict[str, str]) -> str:
    """Move a damaged file away, or the run that it belongs to; return the place."""
    if found.mend is Mend.RUN:
        return set_run_aside(lake, names["run"])
    return set_aside(lake, found.path) if lake.exists(found.path) else f"damaged/{found.path}"

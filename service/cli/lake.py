"""`nightgrid lake`: check, repair, rebuild and prune a lake."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from nightgrid.service.options.shared_options import Games, Json, LakeOption, one_of, read_settings
from nightgrid.service.terminal.console import emit, say, say_table
from nightgrid.service.terminal.exit_codes import Exit
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.sentences import plural

if TYPE_CHECKING:
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.flows.maintenance.check import OnFile


class Action(StrEnum):
    """What to do with the lake."""

    CHECK = "check"
    REPAIR = "repair"
    REBUILD = "rebuild"
    PRUNE = "prune"


def maintain_lake(
    action: Annotated[
        Action,
        typer.Argument(
            metavar="check|repair|rebuild|prune",
            help="check reads every file; repair fixes what other files allow; rebuild recreates "
            "tables from the payloads, and keeps answers; prune deletes old items, never "
            "payloads, boards or current answers about them.",
        ),
    ],
    lake: LakeOption = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TABLE=DAYS",
            help="prune: delete results, corpora, runs or damaged after this many days; may be "
            "repeated.",
        ),
    ] = None,
    game: Games = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="prune: list what would be deleted, without deleting it."),
    ] = False,
    json: Json = False,
) -> int:
    """Check, repair or rebuild a lake, or delete what is old.

    Each may be killed anywhere and run again; all but check refuse while a night is running. Exit
    code: 0 nothing is wrong (any more), 5 something is, 1 the lake is of a later version or a night
    is at work on it, 3 bad input.
    """
    from nightgrid.archive.lake.location import is_missing
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.service.terminal.progress import BAR_PATIENCE_S, MovingLine

    if (keep or dry_run) and action is not Action.PRUNE:
        raise PermanentError(f"--keep and --dry-run are for lake prune, not for lake {action}")
    if game and action is not Action.REBUILD:
        raise PermanentError(f"--game is for lake rebuild, not for lake {action}")
    kept = _read_keep(keep or []) if action is Action.PRUNE else {}
    url = read_settings(lake=lake, writes=not (action is Action.CHECK or dry_run)).lake
    opened = Lake.open(url)
    # A misspelt prefix in a bucket can only be told from a lake by finding nothing there.
    if is_missing(url) or not (opened.folders("") or opened.sizes("", deep=False)):
        raise PermanentError(f"there is no lake at {url}; expected one to {action}")
    with closing(MovingLine(BAR_PATIENCE_S, transient=True)) as line:

        def on_file(done: int, total: int) -> None:
            if total:
                line.show(done, total, f"{done:,} of {total:,} files")

        if action is Action.CHECK:
            return _check(opened, on_file, json=json)
        if action is Action.REPAIR:
            return _repair(opened, on_file, json=json)
        if action is Action.REBUILD:
            return _rebuild(opened, game or [], json=json)
        return _prune(opened, kept, dry_run=dry_run, json=json)


def _read_keep(texts: Sequence[str]) -> dict[str, float]:
    from nightgrid.flows.maintenance.prune import TABLES

    names = one_of(list(TABLES))
    if not texts:
        raise PermanentError(
            f"lake prune needs to know what to delete; expected --keep TABLE=DAYS with {names}"
        )
    found = {}
    for text in texts:
        name, _, days = text.partition("=")
        if name not in TABLES or not days.isdecimal() or len(days) > 6:
            raise PermanentError(
                f"--keep {text!r:.40} cannot be read; expected TABLE=DAYS, {names} and whole days, "
                "like runs=90"
            )
        found[name] = float(days)
    return found


def _check(lake: Lake, on_file: OnFile, *, json: bool) -> int:
    from nightgrid.flows.maintenance.check import check_lake_files

    findings = list(check_lake_files(lake, on_file))
    if json:
        for found in findings:
            emit(found.to_json())
    elif findings:
        rows = [
            (one.fault, one.path, f"{one.what.removeprefix(f'{one.path} ')}: {one.advice}")
            for one in findings
        ]
        say_table(("fault", "file", "what is wrong, and what is done about it"), rows, whole=1)
        fixes = "fixes what it can" if any(one.can_mend for one in findings) else "can fix none"
        say(f"{plural(len(findings), 'fault')}; nightgrid lake repair {fixes}.")
    else:
        say(f"Nothing is wrong with {lake.url}.")
    return Exit.LOOK if findings else Exit.OK


def _repair(lake: Lake, on_file: OnFile, *, json: bool) -> int:
    from nightgrid.flows.maintenance.repair import repair_lake

    told = list(repair_lake(lake, on_file))
    if json:
        for mended in told:
            emit(asdict(mended))
    elif told:
        rows = [
            ("repaired" if one.mended else "left", one.path, one.what.removeprefix(f"{one.path} "))
            for one in told
        ]
        say_table(("outcome", "file", "what was done"), rows, whole=1)
    else:
        say(f"Nothing is wrong with {lake.url}.")
    return Exit.OK if all(one.mended for one in told) else Exit.LOOK


def _rebuild(lake: Lake, games: Sequence[str], *, json: bool) -> int:
    from nightgrid.flows.maintenance.repair import rebuild_lake

    for done in rebuild_lake(lake, games):
        if json:
            emit(asdict(done))
            continue
        say(
            f"{done.game}: {done.editions:,} editions and {done.quarantined:,} rows of "
            "quarantine rebuilt from the payloads"
        )
    return Exit.OK


def _prune(lake: Lake, kept: dict[str, float], *, dry_run: bool, json: bool) -> int:
    from nightgrid.flows.maintenance.prune import prune_lake

    told = set()
    for old in prune_lake(lake, kept, dry_run=dry_run):
        told.add(old.table)
        if json:
            emit(old.to_json())
            continue
        if dry_run:
            for path in old.paths:
                say(path)
        would = "would be deleted" if dry_run else "deleted"
        freed = f", {old.freed_bytes:,} bytes" if old.freed_bytes else ""
        say(f"{old.table}: {old.count:,} {old.noun} {would}{freed}")
    for table in kept:
        if table not in told and not json:
            say(f"{table}: nothing is that old")
    return Exit.OK

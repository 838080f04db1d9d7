"""Retention: drop old files from which nothing else in the lake is made.

What may go, each by its age in days:

- `revisions`: boards that a date showed before its current ones, with their payloads and their
  rows of the quarantine. The current edition, and all payloads since it began, stay.
- `results`: rows that lose against another of their job, that a new version of the solver repeats,
  or whose board no night has brought, with their corpora (`retention.results`).
- `solutions`: answers to `all` whose solutions lie in files of their own and whose count a row of
  `count` has, too (`retention.solutions`).
- `rankings`: those of rankers that the present one has superseded (`retention.rankings`).
- `contradicted`: answers of earlier versions of the solver that the present one contradicts.
- `runs`: folders of runs that have ended, as nights do it; their results stay.
- `damaged`: what a repair has moved away.

No other present answers about boards that nights have brought are dropped, nor current editions,
boards, their dictionaries and word lists: what nights ask, and every count by date, rests on them.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from nightgrid.archive.games import ranking_game, reader
from nightgrid.archive.ingest.editions import editions_path, quarantine_path
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.ingest.raw import RawArchive
from nightgrid.archive.ingest.sightings import Sighting, raw_folder
from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import EDITIONS, QUARANTINE
from nightgrid.archive.payloads.published import Published
from nightgrid.flows.maintenance.dry_run import lake_to_try
from nightgrid.flows.maintenance.repair import LEASE
from nightgrid.flows.maintenance.retention.ages import unix_ns
from nightgrid.flows.maintenance.retention.pruned import Kept, Pruned
from nightgrid.flows.maintenance.retention.rankings import prune_rankings
from nightgrid.flows.maintenance.retention.results import prune_of_no_game, prune_results
from nightgrid.flows.maintenance.retention.solutions import prune_solutions
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import GAMES
from nightgrid.workers.lease import check_held, holding
from nightgrid.workers.upkeep import old_runs, prune_runs


def prune_lake(
    lake: Lake,
    keep_days: Mapping[Kept, float],
    games: Collection[str] = (),
    *,
    dry_run: bool = False,
    now: dt.datetime | None = None,
) -> Iterator[Pruned]:
    """Drop what is older than it is to be kept; yield what was dropped, by table and game.

    A kind of which nothing is dropped gets one row of zeros. `games` are those of which something
    is dropped; empty: all. With `dry_run` the same is done on files that no other process sees, and
    nothing is changed.
    Killed anywhere, the same call ends it. Raises PermanentError for revisions of a game without
    payloads and for damaged files of one game, TransientError while a night is at work on the lake.
    """
    now = now or dt.datetime.now(dt.UTC)
    there = [game for game in sorted(GAMES) if lake.exists(raw_folder(game))]
    missing = sorted(set(games) - set(there))
    if games and Kept.DAMAGED in keep_days:
        raise PermanentError("damaged files are of no game; expected --keep damaged without --game")
    if missing and Kept.REVISIONS in keep_days:
        raise PermanentError(
            f"the lake {lake.url} has no payloads of {', '.join(missing)}; expected some under raw/"
        )

    with _opened(lake, dry_run=dry_run) as (at, check):
        told = set[Kept]()
        for done in _prune(at, keep_days, games, there, now, check):
            told.add(done.what)
            yield done
        yield from (Pruned.nothing(what) for what in keep_days if what not in told)


@contextmanager
def _opened(lake: Lake, *, dry_run: bool) -> Iterator[tuple[Lake, Callable[[], None]]]:
    """Open what is changed, and what is called before a change that cannot be taken back."""
    if dry_run:
        with lake_to_try(lake) as at:
            yield at, lambda: None
        return
    with holding(lake, LEASE, f"a night or a repair is at work on the lake {lake.url}"):
        yield lake, lambda: check_held(lake, LEASE)


def _prune(
    lake: Lake,
    keep_days: Mapping[Kept, float],
    games: Collection[str],
    there: Collection[str],
    now: dt.datetime,
    check: Callable[[], None],
) -> Iterator[Pruned]:
    """Drop each kind that is named; `there` are the games with payloads."""
    before = {what: now - dt.timedelta(days=days) for what, days in keep_days.items()}
    if Kept.REVISIONS in before:
        for game in (game for game in there if not games or game in games):
            yield _prune_revisions(lake, game, before[Kept.REVISIONS].date(), check)
    for what in (Kept.RESULTS, Kept.CONTRADICTED):
        for game in sorted(games or GAMES) if what in before else ():
            done = prune_results(lake, what, game, before[what], now, check)
            if games or done.count or done.freed_bytes:
                yield done
    if Kept.RESULTS in before and not games:
        # Once the rows of all games are gone: a division without a row, and words, are of no game.
        done = prune_of_no_game(lake, before[Kept.RESULTS], now, check)
        if done.freed_bytes:
            yield done
    for game in sorted(games or GAMES) if Kept.SOLUTIONS in before else ():
        done = prune_solutions(lake, game, before[Kept.SOLUTIONS], now.date(), check)
        if games or done.count or done.stays:
            yield done
    if Kept.RANKINGS in before:
        for game in sorted(games or filter(None, [ranking_game()])):
            yield prune_rankings(lake, game, before[Kept.RANKINGS], check)
    if Kept.RUNS in before:
        yield _prune_runs(lake, before[Kept.RUNS], games)
    if Kept.DAMAGED in before:
        yield _prune_damaged(lake, before[Kept.DAMAGED])


def _prune_revisions(lake: Lake, game: str, before: dt.date, check: Callable[[], None]) -> Pruned:
    """Drop the payloads of a game that current editions are not made of.

    The index forgets them first, then their files go, and the rows of their dates are made anew
    last: until then the tables have more than the payloads tell, which the next call notices.
    """
    raw, reads = RawArchive(lake, game, whole=True), reader(game)
    dropped = {
        date: old for date in raw.dates() if date < before and (old := superseded(raw, reads, date))
    }
    again = {*dropped, *_untold_dates(lake, raw)}
    paths = [path for date, old in dropped.items() for path in _files_of(lake, raw, date, old)]
    sizes = lake.sizes(raw_folder(game))
    freed = sum(sizes.get(path, 0) for path in paths)
    if again:
        check()
        raw.forget([sighting for old in dropped.values() for sighting in old])
        for path in paths:
            lake.delete(path, durable=False)
        normalise(lake, game=game, again=again, check=check)
    count = sum(map(len, dropped.values()))
    return Pruned(what=Kept.REVISIONS, game=game, count=count, freed_bytes=freed)


def superseded(raw: RawArchive, reads: Any, date: dt.date) -> list[Sighting]:
    """Name the sightings of a date before those that its current editions are made of.

    From the first sighting that shows the current board of any level, all stay: any of them may
    say something about a board. For a date without a sound board the last sighting stays.
    """
    seen = raw.of(date)
    begins: dict[str, tuple[str, int]] = {}
    for number, sighting in enumerate(seen):
        try:
            items = [] if sighting.fault_rule else reads.read_payload(raw.body(sighting), date)
        except PermanentError:
            # Nothing is dropped beside a payload that came to harm.
            return []
        for item in items:
            if isinstance(item, Published):
                level, board = item.level or "", item.puzzle.puzzle_id
                if begins.get(level, ("", 0))[0] != board:
                    begins[level] = (board, number)
    first = min((number for _, number in begins.values()), default=len(seen) - 1)
    return list(seen[:first])


def _files_of(
    lake: Lake, raw: RawArchive, date: dt.date, dropped: Collection[Sighting]
) -> list[str]:
    """List the files of sightings of a date: what tells of them, then bodies nothing else needs."""
    gone = {sighting.sequence for sighting in dropped}
    kept = {s.sha256 for s in raw.of(date) if s.sequence not in gone}
    told, bodies = [], []
    for path in lake.list(f"{raw_folder(raw.game)}/date={date}"):
        name = path.rsplit("/", 1)[-1]
        if name.endswith(".body") and name.removesuffix(".body") not in kept:
            bodies.append(path)
        elif name.endswith(".json") and name != "absent.json":
            try:
                value = json.loads(lake.read_bytes(path))
            except (MissingFileError, ValueError):
                continue
            if value.get("sequence") in gone:
                told.append(path)
    return told + bodies


def _untold_dates(lake: Lake, raw: RawArchive) -> set[dt.date]:
    """Name the dates with rows of payloads that are gone: a call that was killed left them."""
    known = {(date, sighting.sha256) for date in raw.dates() for sighting in raw.of(date)}
    tables = (
        lake.read_table(editions_path(raw.game), EDITIONS, ["date", "raw_sha256"]),
        lake.read_table(quarantine_path(raw.game), QUARANTINE, ["date", "raw_sha256"]),
    )
    rows = {(row["date"], row["raw_sha256"]) for table in tables for row in table.to_pylist()}
    return {date for date, _ in rows - known if raw.of(date)}


def _prune_runs(lake: Lake, before: dt.datetime, games: Collection[str]) -> Pruned:
    old = old_runs(lake, before, games)
    sizes = {folder: sum(lake.sizes(folder).values()) for folder in old.folders}
    deleted = prune_runs(lake, old)
    freed = sum(sizes[folder] for folder in deleted.folders)
    return Pruned(what=Kept.RUNS, game=_only(games), count=deleted.count, freed_bytes=freed)


def _only(games: Collection[str]) -> str | None:
    """Name the game where one was named."""
    return next(iter(games)) if len(games) == 1 else None


def _prune_damaged(lake: Lake, before: dt.datetime) -> Pruned:
    count = freed = 0
    limit_ns = unix_ns(before)
    for path, (size, changed_ns) in lake.stamps("damaged", deep=True).items():
        if changed_ns < limit_ns:
            count, freed = count + 1, freed + size
            lake.delete(path, durable=False)
    return Pruned(what=Kept.DAMAGED, game=None, count=count, freed_bytes=freed)

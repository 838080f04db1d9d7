"""Check a lake: read every file, compare what they say of one another, change nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from nightgrid.archive.ingest.editions import editions_path, quarantine_path
from nightgrid.archive.ingest.lost_words import (
    games_with_words,
    lost_dictionaries,
    readable_dictionaries,
)
from nightgrid.archive.ingest.normalise import lost_dates
from nightgrid.archive.ingest.puzzles import puzzles_folder
from nightgrid.archive.ingest.raw import RawArchive
from nightgrid.archive.ingest.sightings import raw_folder
from nightgrid.archive.lake.faults import (
    LakeRefusesError,
    MissingFileError,
    NewerSchemaError,
)
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import EDITIONS, QUARANTINE
from nightgrid.flows.maintenance.asked_again import commands_of, shown
from nightgrid.flows.maintenance.files import UNCHECKED, Mend, kind_of
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import GAMES
from nightgrid.workers.runs.finishing.ended import ended_runs, is_foreign, rows_by_run
from nightgrid.workers.runs.run_files import folder

Fault = Literal["damaged", "foreign", "newer", "lost", "unreadable"]
FOREIGN = "no process of this program reads it; delete it, or move it out of the lake"
IN_THE_WAY = "move it out of the lake: no process can read or write a file of this name"
UNREADABLE = "whether it is sound is not known, and repair changes nothing until it can be read"
RESULTS_PREFIX = "results/"
NEWER = "use the nightgrid that wrote it, or a later one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is wrong with one file."""

    path: str
    fault: Fault
    """`damaged`: it does not hold what was written. `foreign`: it is none of the lake's files.
    `newer`: a later version wrote it. `lost`: other files say that there should be more.
    `unreadable`: this process may not read it, or it is a folder."""
    what: str
    """One sentence."""
    mend: Mend | None = None
    """What `repair` does about it; None: nothing."""
    advice: str = ""

    @property
    def can_mend(self) -> bool:
        """Tell whether `repair` does something about it."""
        return self.mend not in (None, Mend.PERSON)

    @property
    def stops_repair(self) -> bool:
        """Tell whether `repair` refuses as long as it is there."""
        return self.fault in ("newer", "unreadable")

    def to_json(self) -> dict[str, Any]:
        """Write it for programs."""
        mend = None if self.mend is None else self.mend.name.lower()
        advice = {"what": self.what, "advice": self.advice}
        return {"path": self.path, "fault": self.fault, **advice, "mend": mend}


OnFile = Callable[[int, int], None]
"""Told how many files were read, of how many."""


def check_lake_files(lake: Lake, on_file: OnFile = lambda _done, _total: None) -> Iterator[Finding]:
    """Read every file of a lake; yield what is wrong with it, file by file, then across files.

    Nothing is written. A lake that is worked meanwhile may lack files that were listed; those are
    passed over.
    """
    paths = lake.list("")
    faults: set[Fault] = set()
    folders = lake.folders("", deep=True)
    in_the_way = set(paths).intersection(folders)
    for number, path in enumerate(paths):
        on_file(number, len(paths))
        found = None if path in in_the_way else check_file(lake, path)
        if found is not None:
            faults.add(found.fault)
            yield found
    on_file(len(paths), len(paths))
    for path in folders:
        if lake.is_circle(path):
            what = f"{path} is a link back into the lake, which no process follows"
            yield Finding(path=path, fault="foreign", what=what, advice=FOREIGN)
        if kind_of(path) is not None:
            faults.add("unreadable")
            what = f"{path} is a folder; expected a file"
            yield Finding(path=path, fault="unreadable", what=what, advice=IN_THE_WAY)
    # What is lost is not told apart from what cannot be read.
    if not faults & {"damaged", "newer", "unreadable"}:
        yield from lost_rows(lake)
        yield from lost_words(lake)
        yield from lost_bodies(lake, paths)
    if not faults & {"newer", "unreadable"}:
        yield from lost_results(lake, paths)


def check_file(lake: Lake, path: str) -> Finding | None:
    """Read one file; None: nothing is wrong with it, or it is gone."""
    known = kind_of(path)
    if known is None:
        if UNCHECKED.match(path):
            return None
        what = f"{path} is none of the lake's files"
        return Finding(path=path, fault="foreign", what=what, advice=FOREIGN)
    kind, match = known
    try:
        kind.check(lake, path, match)
    except NewerSchemaError as error:
        return Finding(path=path, fault="newer", what=str(error), advice=NEWER)
    except MissingFileError:
        return None
    except LakeRefusesError as error:
        return Finding(path=path, fault="unreadable", what=str(error), advice=UNREADABLE)
    except PermanentError as error:
        if kind.mend is Mend.RESULTS and is_foreign(lake, path):
            what = f"{path} was written by another program"
            return Finding(path=path, fault="foreign", what=what, advice=FOREIGN)
        again = shown(commands_of(lake, path)) if path.startswith(RESULTS_PREFIX) else ""
        advice = f"{kind.mend.value}; {again}" if again else kind.mend.value
        return Finding(path=path, fault="damaged", what=str(error), mend=kind.mend, advice=advice)
    return None


def lost_rows(lake: Lake) -> Iterator[Finding]:
    """Compare editions, puzzles and quarantine with what was received."""
    for game in GAMES:
        if not lake.exists(raw_folder(game)):
            continue
        editions = lake.read_table(editions_path(game), EDITIONS)
        quarantine = lake.read_table(quarantine_path(game), QUARANTINE)
        dates = sorted(lost_dates(lake, RawArchive(lake, game, whole=True), editions, quarantine))
        if dates:
            more = f" and {len(dates) - 1} more" if len(dates) > 1 else ""
            yield Finding(
                path=editions_path(game),
                fault="lost",
                what=f"{game} of {dates[0]}{more}: tables lack what its payload holds",
                mend=Mend.RAW,
                advice="the rows of these dates are made again from the raw payloads",
            )


def lost_words(lake: Lake) -> Iterator[Finding]:
    """Compare the dictionaries that published boards name with those that are there."""
    for game in games_with_words():
        lost = lost_dictionaries(lake, game)
        if len(lost):
            mend = Mend.DICTIONARIES if readable_dictionaries(lake, game, lost) else Mend.PERSON
            yield Finding(
                path=puzzles_folder(game),
                fault="lost",
                what=f"dictionaries of {game} boards are gone: {len(lost):,}",
                mend=mend,
                advice=mend.value,
            )


def lost_bodies(lake: Lake, paths: Collection[str]) -> Iterator[Finding]:
    """Compare the payloads that were seen with the files that are there; one finding a game."""
    there = set(paths)
    for game in GAMES:
        missing = RawArchive(lake, game).body_paths() - there
        if missing:
            # Some may have been received since the files were listed.
            missing -= set(lake.list(raw_folder(game)))
        # A link to a disk that is away, in the place of a folder, tells nothing of its files.
        gone = sorted(path for path in missing if path.rsplit("/", 1)[0] not in there)
        if gone:
            more = f" and {len(gone) - 1:,} more" if len(gone) > 1 else ""
            yield Finding(
                path=gone[0],
                fault="lost",
                what=f"payloads of {game} that were received are gone: {gone[0]}{more}",
                mend=Mend.PERSON,
                advice=Mend.PERSON.value,
            )


def lost_results(lake: Lake, paths: list[str]) -> Iterator[Finding]:
    """Compare the results with what the runs that have ended say that they wrote."""
    there = rows_by_run(lake, paths)
    for run_id, wanted in ended_runs(lake, paths).items():
        rows = there.get(run_id, 0)
        if rows < wanted:
            yield Finding(
                path=folder(run_id),
                fault="lost",
                what=f"results hold {rows:,} of the {wanted:,} rows of run {run_id}",
                mend=Mend.RESULTS,
                advice="they are made again from the chunk results of the run",
            )

"""Check a lake: read every file and compare them with each other, without writing."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

import pyarrow.compute as pc

from nightgrid.archive.ingest.editions import editions_path, quarantine_path
from nightgrid.archive.ingest.normalise import lost_dates
from nightgrid.archive.ingest.raw import RawArchive, raw_folder
from nightgrid.archive.lake.faults import (
    DamagedFileError,
    LakeRefusesError,
    MissingFileError,
    NewerSchemaError,
)
from nightgrid.archive.lake.json_files import read_json
from nightgrid.archive.lake.schemas import EDITIONS, QUARANTINE
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.merge import keys_in
from nightgrid.archive.results.files import RESULT_FILES, SOLUTION_FILES, rows_where
from nightgrid.archive.results.solution_files import LISTINGS_FOLDER, in_a_row, list_files
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import GAMES
from nightgrid.workers.runs.finishing.ended import ended_runs, rows_by_run
from nightgrid.workers.runs.run_files import done_path

JOB = ("job_id", "run_id")
"""Columns that tell result rows apart."""
Fault = Literal["damaged", "newer", "lost", "unreadable"]
OnFile = Callable[[int, int], None]
"""Called with the number of files read, and their total."""


class Mend(StrEnum):
    """How `repair` fixes a file; each is a sentence for people."""

    ASIDE = "it is moved away; the next night, count or request that needs it writes it again"
    RAW = "it is rebuilt from the raw payloads"
    RUN = "its run is moved away: the next night or the same count solves the unanswered jobs"
    ANSWERS = "such rows go: the next night, count or request solves their jobs again"
    CORPUS = "it is moved away: the same count generates its slice of the corpus again"
    PERSON = "restore it from a backup; nothing else in the lake has its contents"


REMADE = ("gold", "keys", "leases", "listings", "reports", "results", "solutions", "state")
"""Folders of files that are rebuilt on demand."""
_GAME = r"(?P<game>\w+)"
KINDS: tuple[tuple[re.Pattern[str], Mend], ...] = tuple(
    (re.compile(pattern + "$"), mend)
    for pattern, mend in (
        (r"lake\.json", Mend.PERSON),
        (r"raw/game=\w+/date=[0-9-]+/((?P<sha>[0-9a-f]{64})\.body|[\w.]+\.json)", Mend.PERSON),
        (rf"(raw|editions|quarantine)/{_GAME}\.parquet", Mend.RAW),
        (rf"puzzles/{_GAME}/[^/]+\.parquet", Mend.RAW),
        (r"dictionaries/[\w-]+\.parquet", Mend.RAW),
        (r"lexicons/(?P<lexicon>\w+)\.txt", Mend.ASIDE),
        (r"corpora/.+\.parquet", Mend.CORPUS),
        (r"runs/run=(?P<run>\w+)/((asked|plan|DONE)\.json|manifest/[^/]+)", Mend.RUN),
        # States of a count by layers are gigabytes, and are checked when they are read.
        (r"runs/(?!run=\w+/frontier/).+\.(json|parquet)", Mend.ASIDE),
        (rf"({'|'.join(REMADE)})/.+\.(json|parquet)", Mend.ASIDE),
    )
)
"""Every kind of file that is read; the first matching pattern wins. Other files are ignored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A fault of one file."""

    path: str
    fault: Fault
    """`damaged`: its content is not what was written. `newer`: a later version wrote it. `lost`:
    other files show that there should be more. `unreadable`: this process may not read it."""
    what: str
    """One sentence."""
    mend: Mend | None = None
    """How `repair` fixes it; None: it refuses to run while the file is there."""

    @property
    def can_mend(self) -> bool:
        """Whether `repair` can fix it."""
        return self.mend not in (None, Mend.PERSON)

    @property
    def advice(self) -> str:
        """Return what is done about it, or what to do."""
        return self.mend or "repair changes nothing while it is there"

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        mend = None if self.mend is None else self.mend.name.lower()
        told = {"path": self.path, "fault": self.fault, "what": self.what}
        return {**told, "advice": self.advice, "mend": mend}


def kind_of(path: str) -> tuple[Mend, dict[str, str]] | None:
    """Return how to fix a file, and the names in its path; None for a foreign file."""
    for pattern, mend in KINDS:
        if match := pattern.match(path):
            return mend, match.groupdict()
    return None


def check_lake_files(lake: Lake, on_file: OnFile = lambda _done, _total: None) -> Iterator[Finding]:
    """Read every file of a lake; yield faults file by file, then faults across files.

    Writes nothing. Skips files that disappear before they are read.
    """
    paths = lake.list("")
    faults: set[Fault] = set()
    blind: set[str] = set()
    for number, path in enumerate(paths):
        on_file(number, len(paths))
        found = check_file(lake, path)
        if found is not None:
            faults.add(found.fault)
            # Damaged bodies hide nothing: bodies are compared by name.
            if found.fault != "damaged" or not path.endswith(".body"):
                blind.add(path.split("/")[0])
            yield found
    on_file(len(paths), len(paths))
    # Losses cannot be detected while the tables that show them are unreadable.
    if not blind & {"raw", "editions", "quarantine", "puzzles", "dictionaries"}:
        yield from _lost_rows(lake)
    if "raw" not in blind:
        yield from _lost_bodies(lake, paths)
    if not blind & {"results", "solutions", "listings"} and (rows := rows_without_solutions(lake)):
        what = f"result rows lack their solutions: {_first_of(rows)}"
        yield Finding(path=SOLUTION_FILES.path, fault="lost", what=what, mend=Mend.ANSWERS)
    if not faults & {"newer", "unreadable"}:
        yield from lost_results(lake, paths)


def check_file(lake: Lake, path: str) -> Finding | None:
    """Read one file; return None if it has no fault, or is gone."""
    known = kind_of(path)
    if known is None:
        return None
    mend, names = known
    try:
        _read(lake, path, names)
    except MissingFileError:
        return None
    except NewerSchemaError as error:
        return Finding(path=path, fault="newer", what=str(error))
    except LakeRefusesError as error:
        return Finding(path=path, fault="unreadable", what=str(error))
    except PermanentError as error:
        return Finding(path=path, fault="damaged", what=str(error), mend=mend)
    return None


def _read(lake: Lake, path: str, names: dict[str, str]) -> None:
    """Read a whole file. Raises PermanentError if its content is not what was written."""
    if path.endswith(".parquet"):
        with lake.open_parquet(path) as file:
            for number in range(file.num_row_groups):
                file.group(number, file.schema_arrow)
    elif path.endswith(".json"):
        if read_json(lake, path) is None:
            raise MissingFileError(path)
    elif sha := names.get("sha"):
        if hashlib.sha256(lake.read_bytes(path)).hexdigest() != sha:
            raise DamagedFileError(f"{path} is damaged: it has changed since it was received")
    elif lexicon := names.get("lexicon"):
        # Imported here because reading words takes longer than everything else.
        from nightgrid.solvers.lexicon.compile import digest_of

        if digest_of(lake.read_bytes(path)) != lexicon:
            raise DamagedFileError(f"{path} is damaged: its text has another id")


def _lost_rows(lake: Lake) -> Iterator[Finding]:
    """Compare editions, puzzles and quarantine with the received payloads."""
    for game in GAMES:
        if not lake.exists(raw_folder(game)):
            continue
        if dates := dates_without_rows(lake, game):
            what = f"tables lack what {game} payloads hold: {_first_of(dates)}"
            yield Finding(path=editions_path(game), fault="lost", what=what, mend=Mend.RAW)


def dates_without_rows(lake: Lake, game: str) -> list[dt.date]:
    """Return the dates of a game whose payloads are not in its tables as they should be."""
    editions = lake.read_table(editions_path(game), EDITIONS)
    quarantine = lake.read_table(quarantine_path(game), QUARANTINE)
    return sorted(lost_dates(lake, RawArchive(lake, game, whole=True), editions, quarantine))


def _lost_bodies(lake: Lake, paths: Collection[str]) -> Iterator[Finding]:
    """Compare the payloads that were seen with the existing files; yield one finding a game."""
    for game in GAMES:
        gone = sorted(RawArchive(lake, game).body_paths().difference(paths))
        if gone:
            # Some may have been received since the files were listed.
            gone = sorted(set(gone).difference(lake.list(raw_folder(game))))
        if gone:
            what = f"payloads of {game} that were received are gone: {_first_of(gone)}"
            yield Finding(path=gone[0], fault="lost", what=what, mend=Mend.PERSON)


def lost_results(lake: Lake, paths: list[str]) -> Iterator[Finding]:
    """Compare the results with the row counts that finished runs recorded."""
    there = rows_by_run(lake, paths)
    for run_id, wanted in ended_runs(lake, paths).items():
        rows = there.get(run_id, 0)
        if rows < wanted:
            what = f"results hold {rows:,} of the {wanted:,} rows of run {run_id}"
            yield Finding(path=done_path(run_id), fault="lost", what=what, mend=Mend.RUN)


def rows_without_solutions(lake: Lake) -> list[str]:
    """Name the result rows whose solutions are gone: JOB/RUN, sorted."""
    wanted = pc.field("ask") != str(Ask(kind="count"))
    # Results first: solutions are written before the rows that promise them.
    counts: dict[str, int] = {}
    for table in rows_where(lake, RESULT_FILES, wanted, (*JOB, "count"), ("ask",)):
        told = zip(keys_in(table, JOB).to_pylist(), table.column("count").to_pylist(), strict=True)
        counts |= {key: int(count) for key, count in told if count}
    for table in rows_where(lake, SOLUTION_FILES, pc.field("rank") == 0, JOB, ("rank",)):
        for key in keys_in(table, JOB).to_pylist():
            counts.pop(key, None)
    files = defaultdict(list)
    for file in list_files(lake, LISTINGS_FOLDER) if counts else ():
        files[f"{file.job_id}/{file.path.split('/')[1]}"].append(file)
    return sorted(key for key, count in counts.items() if in_a_row(files[key], count) is None)


def _first_of(names: list[Any]) -> str:
    return f"{names[0]}{f' and {len(names) - 1:,} more' if len(names) > 1 else ''}"

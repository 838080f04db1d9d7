"""The kinds of files of a lake: how each is checked, and what is done when it is damaged."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

import pyarrow as pa

from nightgrid.archive.corpus.plans import corpus_plan_path, read_corpus_plan
from nightgrid.archive.games import archive_plug, has_plug
from nightgrid.archive.lake import tables
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.json_files import read_as, read_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.ondemand.record_files import (
    read_end_file,
    read_raised_file,
    read_record_file,
)
from nightgrid.workers.ranking.ondemand import read_request_file
from nightgrid.workers.runs.finishing.ended import check_table
from nightgrid.workers.runs.interests import read_interest_file
from nightgrid.workers.runs.manifest import read_about, read_done_file, read_segment
from nightgrid.workers.runs.status import read_cancelled_file
from nightgrid.workers.upkeep import parse_ends


class Mend(StrEnum):
    """What is done about a damaged file; each is a sentence for people."""

    FORGET = "it counts as absent and is moved away: it costs time only"
    WORK = "it is moved away, and its chunk is worked again when its run is"
    RAW = "it is moved away and made again from the raw payloads"
    RUN = "its run is moved away: the next night or the same count plans and works it anew"
    RESULTS = "it is moved away and made again from the chunk results of its runs"
    CORPUS = "it is moved away: the same count makes its slice of the corpus again"
    NIGHT = "it is moved away: the next night makes it again"
    RANKING = "it is moved away: the next nightgrid rank ranks its board again"
    DICTIONARIES = "the words of these boards are read again from the raw payloads that are there"
    WORDS = "it is moved away: the next run that uses these words writes them again"
    KEY = "it is moved away and opened nothing: nightgrid keys add makes another"
    JOB = "it is moved to runs/set-aside: its job is wanted again when it is submitted again"
    PERSON = "restore it from a backup; nothing else in the lake tells what it held"


Check = Callable[[Lake, str, "re.Match[str]"], None]
SchemaOf = Callable[[Lake, "re.Match[str]"], pa.Schema | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of file."""

    pattern: re.Pattern[str]
    check: Check
    mend: Mend
    schema: SchemaOf | None = None
    """Gives the present schema of such a file, or None where its game or corpus is gone; None: it
    is no table with a schema of its own."""


def _puzzles(_: Lake, match: re.Match[str]) -> pa.Schema:
    if not has_plug(match["game"]):
        raise PermanentError(f"{match.string}: {match['game']!r:.40} is no game")
    return archive_plug(match["game"]).puzzles()


def _corpus_puzzles(lake: Lake, match: re.Match[str]) -> pa.Schema | None:
    try:
        plan = read_corpus_plan(lake, corpus_plan_path(match["id"]))
    except DamagedFileError:
        # The plan has a finding of its own; the boards are checked as they were written.
        return None
    return archive_plug(plan.game).puzzles() if plan is not None and has_plug(plan.game) else None


def _rows(lake: Lake, path: str, _: re.Match[str]) -> None:
    """Read every row group as it was written, and compare the sums that it has."""
    with lake.open_parquet(path) as file:
        for number in range(file.num_row_groups):
            file.group(number, file.schema_arrow)


def _manifest(lake: Lake, path: str, match: re.Match[str]) -> None:
    _rows(lake, path, match)
    read_segment(lake, match["run"], int(match["number"]))


def _json(lake: Lake, path: str, _: re.Match[str]) -> None:
    if read_json(lake, path) is None:
        raise DamagedFileError(f"{path} is gone")


def _page(lake: Lake, path: str, _: re.Match[str]) -> None:
    if not lake.read_bytes(path).rstrip().endswith(b"</html>"):
        raise DamagedFileError(f"{path} is cut off")


def _body(lake: Lake, path: str, match: re.Match[str]) -> None:
    if hashlib.sha256(lake.read_bytes(path)).hexdigest() != match["sha"]:
        raise DamagedFileError(f"{path} is damaged: it has changed since it was received")


def _lexicon(lake: Lake, path: str, match: re.Match[str]) -> None:
    # Imported here: reading words takes longer than all else.
    from nightgrid.solvers.lexicon.compile import digest_of

    found = digest_of(lake.read_bytes(path))
    if found != match["id"]:
        raise DamagedFileError(f"{path} is damaged: its text has the id {found}")


def _read_by(read: Callable[[Lake, str], object]) -> Check:
    """Make a check of what reads such a file where it is used."""

    def check(lake: Lake, path: str, _: re.Match[str]) -> None:
        read(lake, path)

    return check


def _kind(pattern: str, check: Check, mend: Mend) -> Kind:
    return Kind(pattern=re.compile(pattern + "$"), check=check, mend=mend)


def _table(pattern: str, schema: pa.Schema | SchemaOf, mend: Mend) -> Kind:
    """Make a kind of tables: every one is read whole, and its checksums are compared."""

    def schema_of(lake: Lake, match: re.Match[str]) -> pa.Schema | None:
        return schema if isinstance(schema, pa.Schema) else schema(lake, match)

    def check(lake: Lake, path: str, match: re.Match[str]) -> None:
        wanted = schema_of(lake, match)
        if wanted is not None:
            check_table(lake, path, wanted)
        else:
            _rows(lake, path, match)

    return Kind(pattern=re.compile(pattern + "$"), check=check, mend=mend, schema=schema_of)


_RUN = r"runs/run=(?P<run>[0-9a-f]{32})"
_CORPUS = r"corpora/(?P<id>[0-9a-f]+)"
KINDS: tuple[Kind, ...] = (
    _kind(r"lake\.json", _json, Mend.PERSON),
    _kind(r"raw/game=\w+/date=[0-9-]+/(?P<sha>[0-9a-f]{64})\.body", _body, Mend.PERSON),
    _kind(r"raw/game=\w+/date=[0-9-]+/[\w.]+\.json", _json, Mend.PERSON),
    _kind(r"pending/game=\w+/date=[0-9-]+~[\w.]+\.json", lambda *_: None, Mend.FORGET),
    _table(r"rankings/[0-9a-f]{32}\.parquet", tables.RANKINGS, Mend.RANKING),
    _table(r"seen/\w+\.parquet", tables.SEEN_FILES, Mend.NIGHT),
    _table(r"raw/(?P<game>\w+)\.parquet", tables.RAW, Mend.RAW),
    _table(r"puzzles/game=(?P<game>\w+)/[^/]+\.parquet", _puzzles, Mend.RAW),
    _table(r"editions/(?P<game>\w+)\.parquet", tables.EDITIONS, Mend.RAW),
    _table(r"quarantine/(?P<game>\w+)\.parquet", tables.QUARANTINE, Mend.RAW),
    _table(r"observations/(?P<game>\w+)\.parquet", tables.OBSERVATIONS, Mend.RAW),
    _table(r"dictionaries/archive(/[\w-]+)?\.parquet", tables.DICTIONARIES, Mend.RAW),
    _table(r"dictionaries/single/\w+\.parquet", tables.DICTIONARIES, Mend.WORDS),
    _kind(r"lexicons/(?P<id>\w+)\.txt", _lexicon, Mend.WORDS),
    _kind(_CORPUS + r"/plan\.json", _read_by(read_corpus_plan), Mend.CORPUS),
    _kind(_CORPUS + r"/corpus\.json", _json, Mend.CORPUS),
    _table(_CORPUS + r"/inputs\.parquet", tables.CORPUS_INPUTS, Mend.CORPUS),
    _table(_CORPUS + r"/puzzles/(?P<part>[^/]+)\.parquet", _corpus_puzzles, Mend.CORPUS),
    _table(_CORPUS + r"/rows/(?P<part>[^/]+)\.parquet", tables.CORPUS_ROWS, Mend.CORPUS),
    _table(
        _CORPUS + r"/quarantine/(?P<part>[^/]+)\.parquet",
        tables.CORPUS_QUARANTINE,
        Mend.CORPUS,
    ),
    _kind(_RUN + r"/(asked|plan)\.json", _read_by(read_about), Mend.RUN),
    _kind(_RUN + r"/manifest/seg-(?P<number>\d{5})\.parquet", _manifest, Mend.RUN),
    _kind(_RUN + r"/manifest/seg-\d{5}\.json", _json, Mend.RUN),
    _kind(_RUN + r"/DONE\.json", _read_by(read_done_file), Mend.WORK),
    _kind(_RUN + r"/CANCELLED\.json", _read_by(read_cancelled_file), Mend.PERSON),
    _kind(_RUN + r"/(sample|attempts/[\w-]+|started/[\w-]+)\.json", _json, Mend.FORGET),
    _table(_RUN + r"/parts/seg-\d{5}-chunk-\d{5}\.parquet", tables.PARTS, Mend.WORK),
    _kind(_RUN + r"/frontier/[\w-]+\.parquet", lambda *_: None, Mend.FORGET),
    _kind(r"runs/kept\.json", _read_by(partial(read_as, read=parse_ends)), Mend.FORGET),
    _kind(r"runs/nightly/[^/]+\.json", _json, Mend.FORGET),
    _kind(r"runs/ondemand/[^/]+\.budget\.json", _read_by(read_raised_file), Mend.FORGET),
    _kind(r"runs/ondemand/[^/]+\.json", _read_by(read_record_file), Mend.JOB),
    _kind(r"runs/ended/[^/]+\.json", _read_by(read_end_file), Mend.FORGET),
    _kind(r"runs/wishes/[^/]+/[^/]+\.json", _read_by(read_interest_file), Mend.FORGET),
    _kind(r"runs/rankings/wanted/[^/]+\.json", _read_by(read_request_file), Mend.RANKING),
    _kind(r"runs/rankings/attempts/[^/]+\.json", _json, Mend.FORGET),
    _table(r"results/[^/]+\.parquet", tables.RESULTS, Mend.RESULTS),
    _table(r"dropped/(?P<game>\w+)\.parquet", tables.DROPPED, Mend.PERSON),
    _table(r"divisions/[^/]+\.parquet", tables.DIVISIONS, Mend.FORGET),
    _table(r"solutions/[^/]+\.parquet", tables.SOLUTIONS, Mend.RESULTS),
    _table(
        r"listings/(?P<run>[0-9a-f]{32})/[0-9a-f]{32}/\d+-\d+\.parquet",
        tables.SOLUTIONS,
        Mend.RESULTS,
    ),
    _kind(r"costs/[^/]+\.json", _json, Mend.FORGET),
    _table(r"checked/[^/]+\.parquet", tables.CHECKED, Mend.NIGHT),
    _kind(
        r"checked/[\w-]+-(gold|normalised|observed|planned|compared|pruned)\.json",
        _json,
        Mend.NIGHT,
    ),
    _kind(r"checked/rows-dropped\.json", _json, Mend.FORGET),
    _kind(r"gold/[^/]+\.parquet", _rows, Mend.NIGHT),
    _kind(r"gold/[^/]+\.json", _json, Mend.NIGHT),
    _kind(r"reports/nights\.json", _json, Mend.FORGET),
    _kind(r"reports/report\.html", _page, Mend.NIGHT),
    _kind(r"leases/\w+/\d{8}\.(json|beat)", _json, Mend.FORGET),
    _table(r"asked/[^/]+\.parquet", tables.ASKED, Mend.FORGET),
    _kind(r"keys/[a-z0-9-]+\.json", _json, Mend.KEY),
)
"""Every kind of file, but those of `UNCHECKED`."""
UNCHECKED = re.compile(r"(damaged|doctor|runs/(opened|set-aside))/|runs/run=\w+/")
"""Files that are no part of this: set aside, notes of clients, others of runs."""


def kind_of(path: str) -> tuple[Kind, re.Match[str]] | None:
    """Tell what a file is by its path; None: it is none of the lake's."""
    for kind in KINDS:
        match = kind.pattern.match(path)
        if match is not None:
            return kind, match
    return None

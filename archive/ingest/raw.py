"""Raw payloads: every body as received, with its dates and times."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.games.plug import PayloadReader
from nightgrid.archive.lake.faults import LakeRefusesError, MissingFileError
from nightgrid.archive.lake.schemas import RAW
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.payloads.published import Fault, Published, input_fault
from nightgrid.archive.state import read_state, write_state
from nightgrid.solvers.errors import PermanentError

_EPOCH = dt.date(1970, 1, 1)
_ABSENT = b"nightgrid.absent"
"""Metadata key of the index: the dates without a puzzle, separated by spaces."""
_UNINDEXED = "unindexed"
"""Step of a game's state that lists dates which may have files missing from the index."""
_UNINDEXED_MAX = 100
"""Most dates in that list; if there are more, all dates are listed."""
RAW_DAMAGED = "raw-damaged"
"""Rule broken by a payload that is missing from the lake, or is not what was received."""
ORDER = ("date", "sequence", "fetched_at", "sha256")
"""Columns by which sightings are sorted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A body received for a date that differs from the previous one.

    Or the same body again, if it was a draft before: seen on its date, it is final.
    """

    game: str
    date: dt.date
    sequence: int = 0
    """1 for the first body of the date, one more for every sighting."""
    sha256: str = ""
    url: str
    fetched_at: dt.datetime
    http_status: int | None = None
    """None if the body is a file."""
    etag: str | None = None
    last_modified: str | None = None
    body_bytes: int = 0
    fault_rule: str | None = None
    """Why the body is not a payload, or None: "http-status", "body-too-large", …"""
    fault_message: str | None = None
    final_url: str | None = None
    """Final URL after redirects; None: there were none."""

    @property
    def is_draft(self) -> bool:
        """Return whether it was seen before its date (UTC), so that it may not be final."""
        return self.fetched_at.astimezone(dt.UTC).date() < self.date

    @property
    def body_path(self) -> str:
        """Path of the body in the lake."""
        return body_path(self.game, self.date, self.sha256)


class RawArchive:
    """The raw payloads of one game: reads what was seen for every date, and stores what is new.

    A body lies at `raw/game=G/date=D/SHA256.body` and is written once; each sighting of it is a
    file of metadata next to it, `SHA256.json` for the first and `SHA256.N.json` when the same body
    comes back as sighting N after another one. No file is ever changed.

    `raw/G.parquet` is the index of normalised sightings, with the dates without a puzzle in its
    metadata. Before a file outside of the index is written, its date is noted in `state/G.json`,
    until the index has it. So only these two are read, however many payloads there are; if the note
    is missing, all payloads are listed.
    """

    def __init__(self, lake: Lake, game: str, *, whole: bool = False) -> None:
        """Read the index and the files missing from it; with `whole`, list all files."""
        self._lake = lake
        self.game = game
        index, absent = _read_index(lake, game)
        self.index: pa.Table = index
        """Sightings that are normalised, by date and sequence."""
        noted = None if whole or absent is None else unindexed_dates(lake, game)
        self._unindexed: set[dt.date] | None = noted
        """Dates whose files may be missing from the index; None: any date."""
        self._days = days_of(index)
        self._by_date: dict[dt.date, list[Sighting]] = {}
        self.absent: set[dt.date] = set(absent or ())
        """Dates for which a source said that there is no puzzle."""
        self.new: list[Sighting] = []
        """Sightings that are not in the index, by date and sequence."""
        folder = raw_folder(game)
        folders = [folder] if noted is None else [f"{folder}/date={d}" for d in sorted(noted)]
        dates = pc.unique(index.column("date")).to_pylist() if noted is None else noted
        known = {self._path_of(sighting) for date in dates for sighting in self._seen(date)}
        found = []
        for path in (path for one in folders for path in lake.list(one)):
            folder, name = path.rsplit("/", 1)
            if name == "absent.json":
                self.absent.add(dt.date.fromisoformat(folder[-10:]))
            elif name.endswith(".json") and path not in known:
                sighting = read_sighting(lake, path)
                if sighting is not None:
                    found.append(sighting)
        for sighting in sorted(found, key=order_of):
            self._seen(sighting.date).append(sighting)
            self.new.append(sighting)

    def of(self, date: dt.date) -> tuple[Sighting, ...]:
        """Return what was seen for a date, oldest first."""
        return tuple(self._seen(date))

    def _seen(self, date: dt.date) -> list[Sighting]:
        if date not in self._by_date:
            day = day_of(date)
            first, stop = np.searchsorted(self._days, [day, day + 1])
            rows = self.index.slice(first, stop - first).to_pylist() if stop > first else ()
            self._by_date[date] = sorted((Sighting(**row) for row in rows), key=order_of)
        return self._by_date[date]

    def dates(self) -> list[dt.date]:
        """List the dates for which a body was seen."""
        return sorted({*pc.unique(self.index.column("date")).to_pylist(), *self._new_dates()})

    def _new_dates(self) -> set[dt.date]:
        return {sighting.date for sighting in self.new}

    def latest(self) -> pa.Table:
        """Return the last sighting of each date: rows of the index, and those not in it yet."""
        table = self.index
        if self.new:
            added = pa.Table.from_pylist(list(map(asdict, self.new)), schema=RAW)
            table = pa.concat_tables([table, added]).sort_by([(n, "ascending") for n in ORDER])
        days = days_of(table)
        return table.filter(pa.array(np.append(days[1:] != days[:-1], True)[: len(days)]))

    def body_paths(self) -> set[str]:
        """Return the paths of all bodies that were seen."""
        named = zip(*(self.index.column(n).to_pylist() for n in ("date", "sha256")), strict=True)
        known = {body_path(self.game, date, sha256) for date, sha256 in named}
        return known | {sighting.body_path for sighting in self.new}

    def body(self, sighting: Sighting) -> bytes:
        """Read a body.

        Raises PermanentError if it is missing or not what was received.
        """
        try:
            data = self._lake.read_bytes(sighting.body_path)
        except MissingFileError as error:
            raise PermanentError(f"{sighting.body_path} is missing from the lake") from error
        if hashlib.sha256(data).hexdigest() != sighting.sha256:
            raise PermanentError(f"{sighting.body_path} has changed since it was received")
        return data

    def has_body(self, sighting: Sighting) -> bool:
        """Return whether the lake has a body as received."""
        try:
            self.body(sighting)
        except LakeRefusesError:
            raise
        except PermanentError:
            return False
        return True

    def store(self, body: bytes, sighting: Sighting) -> Sighting | None:
        """Store a body and its sighting; return None if it equals the last body.

        Fills in `sequence`, `sha256` and `body_bytes` of the sighting. A body that the lake has
        lost, or that was damaged there, is written again.
        """
        sha256 = hashlib.sha256(body).hexdigest()
        seen = self.of(sighting.date)
        sequence = seen[-1].sequence + 1 if seen else 1
        sighting = replace(sighting, sequence=sequence, sha256=sha256, body_bytes=len(body))
        # Body first: metadata without a body would promise a missing file, while a body without
        # metadata is just rewritten by the next attempt.
        if not (any(other.sha256 == sha256 for other in seen) and self.has_body(sighting)):
            self._lake.write_bytes(sighting.body_path, body)
        last = seen[-1] if seen else None
        same = last and (last.sha256, last.fault_rule) == (sha256, sighting.fault_rule)
        if last and same and (sighting.is_draft or not last.is_draft):
            return None
        text = json.dumps(to_json(sighting), ensure_ascii=True, indent=1, sort_keys=True)
        self._write(sighting.date, self._path_of(sighting), text)
        self._seen(sighting.date).append(sighting)
        self.new.append(sighting)
        return None if same else sighting

    def store_absent(
        self, date: dt.date, url: str, fetched_at: dt.datetime, http_status: int | None = 404
    ) -> None:
        """Record that a source has no puzzle for a date."""
        if date in self.absent:
            return
        value = {"game": self.game, "date": str(date), "url": url, "http_status": http_status}
        text = json.dumps(value | {"fetched_at": fetched_at.isoformat()}, sort_keys=True)
        self._write(date, f"{raw_folder(self.game)}/date={date}/absent.json", text)
        self.absent.add(date)

    def _write(self, date: dt.date, path: str, text: str) -> None:
        """Write a metadata file, after noting its date."""
        if self._unindexed is not None and date not in self._unindexed:
            self._note({*self._unindexed, date})
        self._lake.write_bytes(path, f"{text}\n".encode("ascii"))

    def _note(self, dates: set[dt.date]) -> None:
        self._unindexed = dates if len(dates) <= _UNINDEXED_MAX else None
        noted = None if self._unindexed is None else sorted(map(str, self._unindexed))
        write_state(self._lake, self.game, _UNINDEXED, {"dates": noted}, durable=True)

    @property
    def is_settled(self) -> bool:
        """Whether the index has every file, and the state says so."""
        return not self.new and self._unindexed == set()

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was ever seen."""
        return not (len(self.index) or self.new or self.absent)

    def commit_index(self, sightings: list[Sighting]) -> None:
        """Add sightings to the index, which marks them as normalised, with the dates without a
        puzzle.

        Then clears the note of their dates. If the process is killed before that, the note keeps
        indexed dates, which are listed until a later call.
        """
        added = pa.Table.from_pylist(list(map(asdict, sightings)), schema=RAW)
        table = pa.concat_tables([self.index, added]).sort_by([(n, "ascending") for n in ORDER])
        done = {(sighting.date, sighting.sequence) for sighting in sightings}
        self.new = [s for s in self.new if (s.date, s.sequence) not in done]
        absent = " ".join(map(str, sorted(self.absent))).encode("ascii")
        metadata = {**RAW.metadata, _ABSENT: absent}
        self._lake.write_table(index_path(self.game), table.replace_schema_metadata(metadata))
        self.index, self._days = table, days_of(table)
        if self._unindexed is not None or not self.new:
            self._note(self._new_dates())

    def _path_of(self, sighting: Sighting) -> str:
        """Return the metadata file of a sighting, numbered if its body was seen before."""
        stem = sighting.body_path.removesuffix(".body")
        same = (s for s in self._seen(sighting.date) if s.sha256 == sighting.sha256)
        again = any(s.sequence < sighting.sequence for s in same)
        return f"{stem}.{sighting.sequence}.json" if again else f"{stem}.json"


def unindexed_dates(lake: Lake, game: str) -> set[dt.date] | None:
    """Read the dates that may have files missing from the index; None: any date."""
    noted = read_state(lake, game, _UNINDEXED)
    if noted is None or noted["dates"] is None:
        return None
    return set(map(dt.date.fromisoformat, noted["dates"]))


def index_path(game: str) -> str:
    """Return the table of a game's normalised sightings."""
    return f"raw/{game}.parquet"


def _read_index(lake: Lake, game: str) -> tuple[pa.Table, list[dt.date] | None]:
    """Read the index, and the dates without a puzzle; None if there is no index."""
    path = index_path(game)
    try:
        with lake.open_parquet(path) as file:
            table, metadata = file.whole(RAW), file.metadata.metadata
    except MissingFileError:
        return RAW.empty_table(), None
    absent = metadata.get(_ABSENT, b"").decode().split()
    return table, list(map(dt.date.fromisoformat, absent))


Found = tuple[Sighting, Published | Fault]
"""A sighting, and a board of its payload or a fault."""


def read_date(raw: RawArchive, reads: PayloadReader, date: dt.date) -> list[Found]:
    """Read every payload seen for a date, oldest first."""
    found: list[Found] = []
    for sighting in raw.of(date):
        items: list[Published | Fault]
        if sighting.fault_rule is not None:
            items = [input_fault(sighting.fault_rule, sighting.fault_message or "")]
        else:
            try:
                items = reads.read_payload(raw.body(sighting), date)
            except LakeRefusesError:
                # It may be valid, and its boards would move from the editions into quarantine.
                raise
            except PermanentError as error:
                items = [input_fault(RAW_DAMAGED, str(error))]
        found += [(sighting, item) for item in items]
    return found


def days_of(table: pa.Table) -> npt.NDArray[np.int32]:
    """Return the dates of a table as days since 1970."""
    days: npt.NDArray[np.int32] = pc.cast(table.column("date"), pa.int32()).to_numpy()
    return days


def day_of(date: dt.date) -> int:
    """Return a date as days since 1970."""
    return (date - _EPOCH).days


def raw_folder(game: str) -> str:
    """Return the folder of a game's raw payloads."""
    return f"raw/game={game}"


def body_path(game: str, date: dt.date, sha256: str) -> str:
    """Return the file of a body."""
    return f"{raw_folder(game)}/date={date}/{sha256}.body"


def order_of(sighting: Sighting) -> tuple[dt.date, int, dt.datetime, str]:
    """Return the values of ORDER, the sort key of sightings."""
    return (sighting.date, sighting.sequence, sighting.fetched_at, sighting.sha256)


def to_json(sighting: Sighting) -> dict[str, Any]:
    """Return a sighting as the JSON of its metadata file."""
    told = {"date": str(sighting.date), "fetched_at": sighting.fetched_at.isoformat()}
    return asdict(sighting) | told


def read_sighting(lake: Lake, path: str) -> Sighting | None:
    """Read a metadata file; None if there is none."""
    try:
        value = json.loads(lake.read_bytes(path))
        value["date"] = dt.date.fromisoformat(value["date"])
        value["fetched_at"] = dt.datetime.fromisoformat(value["fetched_at"])
        return Sighting(**value)
    except MissingFileError:
        return None
    except (ValueError, TypeError, KeyError) as error:
        raise PermanentError(f"{path} is not the metadata of a payload: {error}") from error

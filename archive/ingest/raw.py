"""Raw payloads: every body as it was received, and when each was seen for which date."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
from collections.abc import Collection
from dataclasses import asdict, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.ingest.sightings import (
    ORDER,
    Sighting,
    body_path,
    day_of,
    days_of,
    order_of,
    raw_folder,
    read_sighting,
    to_json,
)
from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RAW
from nightgrid.solvers.errors import PermanentError

_ABSENT = b"nightgrid.absent"
"""Metadata of the index: the dates without a puzzle, with blanks between them."""
_MARK = re.compile(r"date=\d{4}-\d{2}-\d{2}~\w+(\.\d+)?\.json")


class RawArchive:
    """The raw payloads of one game: what was seen for every date, and storing of what is new.

    A body lies at `raw/game=G/date=D/SHA256.body` and is written once; each sighting of it is a
    file of metadata beside it, `SHA256.json` for the first and `SHA256.N.json` when the same body
    comes back as sighting N after another one. No file is ever changed.

    `raw/G.parquet` lists the sightings that are normalised, and in its metadata the dates without
    a puzzle. Before a file that it does not know is written, a mark of it is made in
    `pending/game=G/`, which goes when the index knows the file. So both are all that is read,
    however many payloads there are. Where the index lacks these dates, because it is not there or
    an earlier version wrote it, the folder of payloads is listed.
    """

    def __init__(self, lake: Lake, game: str, *, whole: bool = False) -> None:
        """Read the index and what is not in it yet; with `whole`, look at every file's name."""
        self._lake = lake
        self.game = game
        index, absent = _read_index(lake, game)
        self.index: pa.Table = index
        """Sightings that are normalised, by date and sequence."""
        self.is_marked = absent is not None and not whole
        """Whether marks name all files that the index does not know."""
        self._days = days_of(index)
        self._by_date: dict[dt.date, list[Sighting]] = {}
        self.absent: set[dt.date] = set(absent or ())
        """Dates for which a source said that there is no puzzle."""
        self._absent_known = frozenset(self.absent)
        self.new: list[Sighting] = []
        """Sightings that are not in the index, by date and sequence."""
        names = self._marked_paths() if self.is_marked else lake.list(raw_folder(game))
        found = []
        known = frozenset() if self.is_marked else self._known_paths()
        for path in names:
            folder, name = path.rsplit("/", 1)
            if name == "absent.json":
                self.absent.add(dt.date.fromisoformat(folder[-10:]))
            elif name.endswith(".json") and path not in known:
                sighting = read_sighting(lake, path)
                if sighting is not None and not self._has(sighting):
                    found.append(sighting)
        for sighting in sorted(found, key=order_of):
            self._keep(sighting)
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

    def _has(self, sighting: Sighting) -> bool:
        name = (sighting.sequence, sighting.sha256)
        return any((s.sequence, s.sha256) == name for s in self._seen(sighting.date))

    def dates(self) -> list[dt.date]:
        """List the dates for which a body was seen."""
        return sorted({*pc.unique(self.index.column("date")).to_pylist(), *self._new_dates()})

    def _new_dates(self) -> set[dt.date]:
        return {sighting.date for sighting in self.new}

    def latest(self) -> pa.Table:
        """Tell what was seen last for each date: rows of the index, and what is not in it yet."""
        table = self.index
        if self.new:
            added = pa.Table.from_pylist(list(map(asdict, self.new)), schema=RAW)
            table = pa.concat_tables([table, added]).sort_by([(n, "ascending") for n in ORDER])
        days = days_of(table)
        return table.filter(pa.array(np.append(days[1:] != days[:-1], True)[: len(days)]))

    def body_paths(self) -> set[str]:
        """Name the files of all bodies that were seen."""
        named = zip(*(self.index.column(n).to_pylist() for n in ("date", "sha256")), strict=True)
        known = {body_path(self.game, date, sha256) for date, sha256 in named}
        return known | {sighting.body_path for sighting in self.new}

    def body(self, sighting: Sighting) -> bytes:
        """Read a body back.

        Raises PermanentError when it is missing or not what was received.
        """
        try:
            data = self._lake.read_bytes(sighting.body_path)
        except MissingFileError as error:
            raise PermanentError(f"{sighting.body_path} is missing from the lake") from error
        if hashlib.sha256(data).hexdigest() != sighting.sha256:
            raise PermanentError(f"{sighting.body_path} has changed since it was received")
        return data

    def store(self, body: bytes, sighting: Sighting) -> Sighting | None:
        """Keep a body and its sighting; None when it is the body that was seen last.

        `sequence`, `sha256` and `body_bytes` of the sighting given are filled in here.
        """
        sha256 = hashlib.sha256(body).hexdigest()
        seen = self.of(sighting.date)
        if seen and seen[-1].sha256 == sha256 and seen[-1].fault_rule == sighting.fault_rule:
            self.settle(sighting.date, sighting.fetched_at)
            return None
        sighting = replace(sighting, sha256=sha256, body_bytes=len(body))
        # The body goes first: metadata without a body would promise what is not there, a body
        # without metadata is only a file that the next attempt writes again.
        if not any(other.sha256 == sha256 for other in seen):
            self._lake.write_bytes(sighting.body_path, body)
        return self._add(sighting)

    def settle(self, date: dt.date, at: dt.datetime) -> Sighting | None:
        """Note that the body seen last still stands, if that makes a draft of it final."""
        seen = self.of(date)
        if not seen or not seen[-1].is_draft:
            return None
        sighting = replace(seen[-1], fetched_at=at)
        return None if sighting.is_draft else self._add(sighting)

    def still_stands(self, date: dt.date, at: dt.datetime) -> Sighting | None:
        """Note that the source has the last payload still, where that tells something new.

        It does where that was a draft, and where what was received after it was no payload: an
        error page that came in between would else stay the last that is known of the date.
        """
        seen = self.of(date)
        good = next((sighting for sighting in reversed(seen) if not sighting.fault_rule), None)
        if good is None or good is seen[-1]:
            return self.settle(date, at)
        return self._add(replace(good, fetched_at=at))

    def _add(self, sighting: Sighting) -> Sighting:
        seen = self.of(sighting.date)
        sighting = replace(sighting, sequence=seen[-1].sequence + 1 if seen else 1)
        text = json.dumps(to_json(sighting), ensure_ascii=True, indent=1, sort_keys=True)
        self._write(self._metadata_path(sighting), text)
        self._keep(sighting)
        self.new.append(sighting)
        return sighting

    def store_absent(
        self, date: dt.date, url: str, fetched_at: dt.datetime, http_status: int | None = 404
    ) -> None:
        """Remember that a source has no puzzle for a date."""
        if date in self.absent:
            return
        value = {"game": self.game, "date": str(date), "url": url, "http_status": http_status}
        text = json.dumps(value | {"fetched_at": fetched_at.isoformat()}, sort_keys=True)
        self._write(f"{raw_folder(self.game)}/date={date}/absent.json", text)
        self.absent.add(date)

    def _write(self, path: str, text: str) -> None:
        """Write a file of metadata, and before it the mark that there is one."""
        if self.is_marked:
            self._lake.write_bytes(_mark_of(path), b"")
        self._lake.write_bytes(path, f"{text}\n".encode("ascii"))

    @property
    def has_news(self) -> bool:
        """Tell whether there is something that the index does not know."""
        return bool(self.new) or self.absent != self._absent_known

    @property
    def is_empty(self) -> bool:
        """Tell whether nothing was ever seen."""
        return not (len(self.index) or self.new or self.absent)

    def commit_index(self, sightings: list[Sighting]) -> None:
        """Add sightings to the index, which says that they are normalised, and the dates without.

        Then their marks are deleted. One that is killed before that leaves marks of what the index
        knows: they cost a look, until they are deleted by a later call.
        """
        added = pa.Table.from_pylist(list(map(asdict, sightings)), schema=RAW)
        table = _in_order(pa.concat_tables([self.index, added]))
        done = {(sighting.date, sighting.sequence) for sighting in sightings}
        left = [s for s in self.new if (s.date, s.sequence) not in done]
        metadata = dict(RAW.metadata)
        if self.is_marked or not left:
            # Else files are left that have no mark: only their listing tells of them.
            metadata[_ABSENT] = " ".join(map(str, sorted(self.absent))).encode("ascii")
        self._lake.write_table(index_path(self.game), table.replace_schema_metadata(metadata))
        self.index, self.new = table, left
        self._days = days_of(table)
        self._absent_known = frozenset(self.absent)
        self.is_marked = self.is_marked or not left
        waiting = {self._path_of(sighting) for sighting in left}
        for path in self._marked_paths():
            if path not in waiting and self._is_known(path):
                self._lake.delete(_mark_of(path), durable=False)

    def forget(self, sightings: Collection[Sighting]) -> None:
        """Take sightings out of the index; their files are deleted by the caller, after this.

        Sightings that the index does not have yet are left to the next one that reads them.
        """
        gone = {(sighting.date, sighting.sequence) for sighting in sightings}
        rows = zip(*(self.index.column(name).to_pylist() for name in ORDER[:2]), strict=True)
        self.index = self.index.filter(pa.array([row not in gone for row in rows], pa.bool_()))
        self._days = days_of(self.index)
        for date, _ in gone:
            self._by_date.pop(date, None)
        self.commit_index([])

    def _is_known(self, path: str) -> bool:
        """Tell whether the index knows a file that has a mark: another process may have made it."""
        folder, name = path.rsplit("/", 1)
        date = dt.date.fromisoformat(folder[-10:])
        if name == "absent.json":
            return date in self._absent_known
        return any(self._path_of(sighting) == path for sighting in self._seen(date))

    def _marked_paths(self) -> list[str]:
        """Name the files that have marks, which are perhaps not written yet."""
        head = f"{pending_folder(self.game)}/"
        names = (path.removeprefix(head) for path in self._lake.list(pending_folder(self.game)))
        marks = filter(_is_mark, names)
        return [f"{raw_folder(self.game)}/{name.replace('~', '/')}" for name in marks]

    def _known_paths(self) -> frozenset[str]:
        dates = pc.unique(self.index.column("date")).to_pylist()
        return frozenset(self._path_of(s) for date in dates for s in self._seen(date))

    def _keep(self, sighting: Sighting) -> None:
        self._seen(sighting.date).append(sighting)

    def _path_of(self, sighting: Sighting) -> str:
        """Name the metadata file of a sighting that is kept."""
        same = [s for s in self._seen(sighting.date) if s.sha256 == sighting.sha256]
        return self._path(sighting, again=same[0].sequence != sighting.sequence)

    def _metadata_path(self, sighting: Sighting) -> str:
        """Name the metadata file of a sighting that is not kept yet."""
        seen = self._seen(sighting.date)
        return self._path(sighting, again=any(s.sha256 == sighting.sha256 for s in seen))

    def _path(self, sighting: Sighting, *, again: bool) -> str:
        stem = sighting.body_path.removesuffix(".body")
        return f"{stem}.{sighting.sequence}.json" if again else f"{stem}.json"


def pending_folder(game: str) -> str:
    """Name the folder of marks: files of metadata that the index does not know yet."""
    return f"pending/game={game}"


def _is_mark(name: str) -> bool:
    if not _MARK.fullmatch(name):
        return False
    try:
        dt.date.fromisoformat(name[5:15])
    except ValueError:
        return False
    return True


def _mark_of(path: str) -> str:
    _, game, date, name = path.split("/")
    return f"pending/{game}/{date}~{name}"


def index_path(game: str) -> str:
    """Name the table of a game's normalised sightings."""
    return f"raw/{game}.parquet"


def _read_index(lake: Lake, game: str) -> tuple[pa.Table, list[dt.date] | None]:
    """Read the index, sorted, and the dates without a puzzle; None where it does not have them."""
    path = index_path(game)
    try:
        table, metadata = lake.read_with_metadata(path, RAW)
    except MissingFileError:
        return RAW.empty_table(), None
    text = metadata.get(_ABSENT)
    absent = None if text is None else [dt.date.fromisoformat(t) for t in text.decode().split()]
    return _in_order(table), absent


def _in_order(table: pa.Table) -> pa.Table:
    """Sort rows by date and sequence, unless they are."""
    days, numbers = days_of(table), table.column("sequence").to_numpy()
    later = days[1:] > days[:-1]
    if (later | ((days[1:] == days[:-1]) & (numbers[1:] > numbers[:-1]))).all():
        return table
    return table.sort_by([(name, "ascending") for name in ORDER[:2]])

"""Raw payloads: every body as it was received, and when each was seen for which date."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import Any

import pyarrow as pa

from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RAW
from nightgrid.solvers.errors import PermanentError


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A body that was received for a date and differs from the one received before it.

    Or the same body once more, when it was a draft before: seen on its date, it is final.
    """

    game: str
    date: dt.date
    sequence: int = 0
    """1 for the first body of the date, then one more for every sighting."""
    sha256: str = ""
    url: str
    fetched_at: dt.datetime
    http_status: int | None = None
    """None when the body is a file."""
    etag: str | None = None
    last_modified: str | None = None
    body_bytes: int = 0
    fault_rule: str | None = None
    """Why the body is no payload, or None: "http-status", "body-too-large", …"""
    fault_message: str | None = None
    final_url: str | None = None
    """What redirects of `url` led to; None: there was none."""

    @property
    def is_draft(self) -> bool:
        """Tell whether it was seen before its date (UTC), and may not be what is published."""
        return self.fetched_at.astimezone(dt.UTC).date() < self.date

    @property
    def body_path(self) -> str:
        """Where the body lies in the lake."""
        return f"{raw_folder(self.game)}/date={self.date}/{self.sha256}.body"


class RawArchive:
    """The raw payloads of one game: what was seen for every date, and storing of what is new.

    A body lies at `raw/game=G/date=D/SHA256.body` and is written once; each sighting of it is a
    file of metadata beside it, `SHA256.json` for the first and `SHA256.N.json` when the same body
    comes back as sighting N after another one. No file is ever changed. `raw/G.parquet` lists the
    sightings that are normalised, so that a lake of many dates is read as one file.
    """

    def __init__(self, lake: Lake, game: str) -> None:
        """Read the index and what is not in it yet."""
        self._lake = lake
        self.game = game
        self.index: pa.Table = lake.read_table(index_path(game), RAW)
        self._by_date: dict[dt.date, list[Sighting]] = {}
        self._names: set[str] = set()
        self.absent: set[dt.date] = set()
        """Dates for which a source said that there is no puzzle."""
        self.new: list[Sighting] = []
        """Sightings that are not in the index, by date and sequence."""
        columns = (self.index.column(name).to_pylist() for name in RAW.names)
        for values in zip(*columns, strict=True):
            self._keep(Sighting(**dict(zip(RAW.names, values, strict=True))))
        indexed = frozenset(self._names)
        for path in lake.list(raw_folder(game)):
            folder, name = path.rsplit("/", 1)
            if name == "absent.json":
                self.absent.add(dt.date.fromisoformat(folder[-10:]))
            elif name.endswith(".json") and path not in indexed:
                self.new.append(_read_sighting(lake, path))
        self.new.sort(key=_order)
        for sighting in self.new:
            self._keep(sighting)

    def of(self, date: dt.date) -> tuple[Sighting, ...]:
        """Return what was seen for a date, oldest first."""
        seen = self._by_date.get(date, ())
        return tuple(sorted(seen, key=_order) if len(seen) > 1 else seen)

    def dates(self) -> list[dt.date]:
        """List the dates for which a body was seen."""
        return sorted(self._by_date)

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

    def _add(self, sighting: Sighting) -> Sighting:
        seen = self.of(sighting.date)
        sighting = replace(sighting, sequence=seen[-1].sequence + 1 if seen else 1)
        path = self._metadata_path(sighting)
        text = json.dumps(_to_json(sighting), ensure_ascii=True, indent=1, sort_keys=True)
        self._lake.write_bytes(path, f"{text}\n".encode("ascii"))
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
        path = f"{raw_folder(self.game)}/date={date}/absent.json"
        self._lake.write_bytes(path, f"{text}\n".encode("ascii"))
        self.absent.add(date)

    def commit_index(self, sightings: list[Sighting]) -> None:
        """Add sightings to the index, which says that they are normalised."""
        added = pa.Table.from_pylist(list(map(asdict, sightings)), schema=RAW)
        table = pa.concat_tables([self.index, added])
        table = table.sort_by([("date", "ascending"), ("sequence", "ascending")])
        self._lake.write_table(index_path(self.game), table)
        self.index = table
        done = {(sighting.date, sighting.sequence) for sighting in sightings}
        self.new = [s for s in self.new if (s.date, s.sequence) not in done]

    def _keep(self, sighting: Sighting) -> None:
        self._names.add(self._metadata_path(sighting))
        self._by_date.setdefault(sighting.date, []).append(sighting)

    def _metadata_path(self, sighting: Sighting) -> str:
        """Name the metadata file of a sighting that is not kept yet."""
        again = any(s.sha256 == sighting.sha256 for s in self._by_date.get(sighting.date, ()))
        stem = sighting.body_path.removesuffix(".body")
        return f"{stem}.{sighting.sequence}.json" if again else f"{stem}.json"


def raw_folder(game: str) -> str:
    """Name the folder of a game's raw payloads."""
    return f"raw/game={game}"


def index_path(game: str) -> str:
    """Name the table of a game's normalised sightings."""
    return f"raw/{game}.parquet"


def _order(sighting: Sighting) -> tuple[dt.date, int, dt.datetime, str]:
    return (sighting.date, sighting.sequence, sighting.fetched_at, sighting.sha256)


def _to_json(sighting: Sighting) -> dict[str, Any]:
    told = {"date": str(sighting.date), "fetched_at": sighting.fetched_at.isoformat()}
    # Programs of before schema version 5 read what no redirect led to.
    without = () if sighting.final_url else ("final_url",)
    return {n: v for n, v in (asdict(sighting) | told).items() if n not in without}


def _read_sighting(lake: Lake, path: str) -> Sighting:
    try:
        value = json.loads(lake.read_bytes(path))
        value["date"] = dt.date.fromisoformat(value["date"])
        value["fetched_at"] = dt.datetime.fromisoformat(value["fetched_at"])
        return Sighting(**value)
    except (ValueError, TypeError, KeyError) as error:
        raise PermanentError(f"{path} is not the metadata of a payload: {error}") from error

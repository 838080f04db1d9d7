"""When a body was received for a date, and the file of metadata that says so."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import PermanentError

_EPOCH = dt.date(1970, 1, 1)
ORDER = ("date", "sequence", "fetched_at", "sha256")
"""Columns by which sightings are sorted."""


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
        return body_path(self.game, self.date, self.sha256)


def days_of(table: pa.Table) -> npt.NDArray[np.int32]:
    """Give the dates of a table as days since 1970."""
    days: npt.NDArray[np.int32] = pc.cast(table.column("date"), pa.int32()).to_numpy()
    return days


def day_of(date: dt.date) -> int:
    """Give a date as days since 1970."""
    return (date - _EPOCH).days


def raw_folder(game: str) -> str:
    """Name the folder of a game's raw payloads."""
    return f"raw/game={game}"


def body_path(game: str, date: dt.date, sha256: str) -> str:
    """Name the file of a body."""
    return f"{raw_folder(game)}/date={date}/{sha256}.body"


def order_of(sighting: Sighting) -> tuple[dt.date, int, dt.datetime, str]:
    """Give the values of ORDER, to sort sightings by."""
    return (sighting.date, sighting.sequence, sighting.fetched_at, sighting.sha256)


def to_json(sighting: Sighting) -> dict[str, Any]:
    """Write a sighting as the JSON of its file of metadata."""
    told = {"date": str(sighting.date), "fetched_at": sighting.fetched_at.isoformat()}
    # Programs of before schema version 5 read what no redirect led to.
    without = () if sighting.final_url else ("final_url",)
    return {n: v for n, v in (asdict(sighting) | told).items() if n not in without}


def read_sighting(lake: Lake, path: str) -> Sighting | None:
    """Read a file of metadata; None where there is only its mark."""
    try:
        value = json.loads(lake.read_bytes(path))
        value["date"] = dt.date.fromisoformat(value["date"])
        value["fetched_at"] = dt.datetime.fromisoformat(value["fetched_at"])
        return Sighting(**value)
    except MissingFileError:
        return None
    except (ValueError, TypeError, KeyError) as error:
        raise PermanentError(f"{path} is not the metadata of a payload: {error}") from error

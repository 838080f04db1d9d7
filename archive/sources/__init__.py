"""Where payloads come from: requests to a source, its answers, and how one is opened."""

from __future__ import annotations

import datetime as dt
import enum
import re
from dataclasses import dataclass
from typing import Protocol

from nightgrid.archive.games import archive_plug
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import DEFAULT_GAME


@dataclass(frozen=True, slots=True, kw_only=True)
class Validators:
    """Validators of the last payload, with which a source can answer that it has not changed."""

    etag: str | None = None
    last_modified: str | None = None
    body_bytes: int = -1
    fetched_at: dt.datetime | None = None
    """When the body was received, by this machine's clock."""


MAX_BODY_BYTES = 4 * 1024**2
"""Nothing is read beyond this limit; published payloads have at most some 20 KB."""


class AnswerKind(enum.StrEnum):
    """How a source answered for a date."""

    BODY = "body"
    """With a payload."""
    UNCHANGED = "unchanged"
    """The payload has not changed since `validators`."""
    ABSENT = "absent"
    """There is no puzzle for that date."""
    FAILED = "failed"
    """Without a payload; `rule` and `message` say why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer of a source for one date."""

    kind: AnswerKind
    url: str
    """The requested URL."""
    final_url: str | None = None
    """Final URL after redirects; None: there were none."""
    body: bytes | None = None
    """The payload; for a failure, the part of a body that was received, up to the limit."""
    http_status: int | None = None
    etag: str | None = None
    last_modified: str | None = None
    rule: str = ""
    message: str = ""
    transient: bool = False
    """For a failure: whether another run may succeed."""
    source_down: bool = False
    """For a failure: whether to skip the source for the rest of this run."""


def failed(url: str, rule: str, message: str, http_status: int | None = None) -> Answer:
    """Return an answer without a payload."""
    return Answer(
        kind=AnswerKind.FAILED, url=url, http_status=http_status, rule=rule, message=message
    )


class Source(Protocol):
    """Payloads by date."""

    name: str
    """Its name in reports."""
    local: bool
    """True if requests cost nothing, so that every run requests every date again."""

    def skipped(self) -> list[str]:
        """List the names that are not dated payloads, sorted; skip hidden ones."""

    def dates(self, first: dt.date | None, last: dt.date | None) -> list[dt.date]:
        """List the dates that can be requested, sorted, between two dates inclusive."""

    def url(self, date: dt.date) -> str:
        """Return the URL that `fetch` requests."""

    def fetch(self, date: dt.date, validators: Validators | None) -> Answer:
        """Request one date; any failure is an answer, never an exception."""

    def close(self) -> None:
        """Release the resources of the source."""


_HOST_ALONE = re.compile(r"https?://[^/?#]+/?")


def open_source(address: str, *, game: str = DEFAULT_GAME) -> Source:
    """Open a base URL (http or https), or a folder or file with an archive of payloads.

    `address`/DATE.json is a payload; if `address` is just a host, the game's path there is added.

    Raises PermanentError if it is neither, and for a URL of a game that is not published.
    """
    if "://" in address:
        # A folder needs no HTTP library, nor does a process that fetches nothing.
        from nightgrid.archive.sources.web import HttpSource, Politeness

        plug = archive_plug(game)
        if plug.endpoint is None:
            # Without the address, which may contain a password.
            raise PermanentError(
                f"{game} is not published day by day; expected a folder, not a URL"
            )
        if _HOST_ALONE.fullmatch(address):
            address = address.rstrip("/") + plug.endpoint
        return HttpSource(address, Politeness())
    from nightgrid.archive.sources.folder import FolderSource

    return FolderSource(address, game)

"""Where payloads come from: what a source is asked and answers, and how one is opened."""

from __future__ import annotations

import datetime as dt
import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from nightgrid.archive.games import archive_plug
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import DEFAULT_GAME

if TYPE_CHECKING:
    from nightgrid.archive.sources.web import Politeness


@dataclass(frozen=True, slots=True, kw_only=True)
class Validators:
    """What is known of the payload seen last, by which a source answers that it has not changed."""

    etag: str | None = None
    last_modified: str | None = None
    body_bytes: int = -1
    fetched_at: dt.datetime | None = None
    """When the body was received, by this machine's clock."""


MAX_BODY_BYTES = 4 * 1024**2
"""Nothing is read beyond this; published payloads have at most some 20 KB."""


class AnswerKind(enum.StrEnum):
    """How a source answered for a date."""

    BODY = "body"
    """With a payload."""
    UNCHANGED = "unchanged"
    """That the payload is the one that `validators` stand for."""
    ABSENT = "absent"
    """That there is no puzzle for that date."""
    FAILED = "failed"
    """Not with a payload; `rule` and `message` say why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a source answered for one date."""

    kind: AnswerKind
    url: str
    """What was asked for."""
    final_url: str | None = None
    """What redirects led to; None: there was none."""
    body: bytes | None = None
    """The payload; for a failure, what was received of a body, at most the bound."""
    http_status: int | None = None
    etag: str | None = None
    last_modified: str | None = None
    rule: str = ""
    message: str = ""
    transient: bool = False
    """For a failure: whether another run may fare better."""
    source_down: bool = False
    """For a failure: whether the source is better left alone for the rest of this run."""


def failed(url: str, rule: str, message: str, http_status: int | None = None) -> Answer:
    """Return why a source did not answer with a payload."""
    return Answer(
        kind=AnswerKind.FAILED, url=url, http_status=http_status, rule=rule, message=message
    )


class Source(Protocol):
    """Payloads by date."""

    name: str
    """What reports call it."""
    local: bool
    """True when asking costs nothing, so that every date is asked for again in every run."""
    dates_left: int
    """How many dates would be asked for, the next one included, if none of them were answered."""

    def skipped(self) -> list[str]:
        """List the names beside the payloads that no date is read from, sorted; hidden ones not."""

    def dates(self, first: dt.date | None, last: dt.date | None) -> list[dt.date]:
        """List the dates that can be asked for, sorted, between two dates inclusive."""

    def url(self, date: dt.date) -> str:
        """Name what `fetch` asks for."""

    def fetch(self, date: dt.date, validators: Validators | None) -> Answer:
        """Ask for one date; whatever goes wrong is an answer, never an exception."""

    def close(self) -> None:
        """Release what the source holds."""


_HOST_ALONE = re.compile(r"https?://[^/?#]+/?")


def open_source(
    address: str,
    politeness: Politeness | None = None,
    *,
    game: str = DEFAULT_GAME,
    redirect_hosts: Sequence[str] = (),
) -> Source:
    """Open a base URL (http or https) or a folder of payloads.

    `address`/DATE.json is a payload; where `address` names a host alone, the game's place there
    is added to it. An address that ends like the game's page is that page, with one payload.
    Redirects are followed to the host of the URL and to `redirect_hosts`, each HOST or HOST:PORT.

    Raises PermanentError when it is neither, for a URL of a game that is not published, and for a
    redirect host that is none.
    """
    if "://" in address:
        # A folder needs no HTTP library, and neither does a process that fetches nothing.
        from nightgrid.archive.sources.page import PageSource
        from nightgrid.archive.sources.web import HttpSource, Politeness

        plug = archive_plug(game)
        if plug.endpoint is None:
            # The address is left out: it may hold a password.
            raise PermanentError(
                f"{game} is not published day by day; expected a folder, not a URL"
            )
        if _HOST_ALONE.fullmatch(address):
            address = address.rstrip("/") + plug.endpoint
        if plug.page is not None and address.rstrip("/").endswith(plug.page):
            return PageSource(address, politeness or Politeness(), redirect_hosts=redirect_hosts)
        return HttpSource(address, politeness or Politeness(), redirect_hosts=redirect_hosts)
    from nightgrid.archive.sources.folder import FolderSource

    if redirect_hosts:
        # A folder never redirects, but a mistyped host is still the person's mistake.
        from nightgrid.archive.sources.redirects import named_host

        for host in redirect_hosts:
            named_host(host)
    return FolderSource(address)

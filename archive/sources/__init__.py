"""Where payloads come from: a folder or an HTTP endpoint, behind one protocol."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from nightgrid.archive.games import archive_plug
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.archive.sources.responses import Answer, AnswerKind, Source
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import DEFAULT_GAME

if TYPE_CHECKING:
    from nightgrid.archive.sources.page import PageSource
    from nightgrid.archive.sources.web import HttpSource, Politeness

__all__ = [
    "Answer",
    "AnswerKind",
    "FolderSource",
    "HttpSource",
    "PageSource",
    "Politeness",
    "Source",
    "open_source",
]


def __getattr__(name: str) -> Any:
    # Imported on first use: a folder needs no HTTP library, nor does whoever fetches nothing.
    if name in ("HttpSource", "PageSource", "Politeness"):
        from nightgrid.archive.sources import page, web

        return getattr(page if name == "PageSource" else web, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_HOST_ALONE = re.compile(r"https?://[^/?#]+/?")


def open_source(
    address: str, politeness: Politeness | None = None, *, game: str = DEFAULT_GAME
) -> Source:
    """Open a base URL (http or https) or a folder of payloads.

    `address`/DATE.json is a payload; where `address` names a host alone, the game's place there
    is added to it. An address that ends like the game's page is that page, with one payload.

    Raises PermanentError when it is neither, and for a URL of a game that nobody publishes.
    """
    if "://" in address:
        from nightgrid.archive.sources.page import PageSource
        from nightgrid.archive.sources.web import HttpSource, Politeness

        plug = archive_plug(game)
        if plug.endpoint is None:
            # The address is left out: it may hold a password.
            raise PermanentError(
                f"nobody publishes {game} day by day; expected a folder, not a URL"
            )
        if _HOST_ALONE.fullmatch(address):
            address = address.rstrip("/") + plug.endpoint
        if plug.page is not None and address.rstrip("/").endswith(plug.page):
            return PageSource(address, politeness or Politeness())
        return HttpSource(address, politeness or Politeness())
    return FolderSource(address)

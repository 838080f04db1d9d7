"""Where payloads come from: a folder or an HTTP endpoint, behind one protocol."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nightgrid.archive.games import archive_plug
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.archive.sources.responses import Answer, AnswerKind, Source
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import DEFAULT_GAME

if TYPE_CHECKING:
    from nightgrid.archive.sources.web import Politeness

__all__ = ["Answer", "AnswerKind", "FolderSource", "Source", "open_source"]

_HOST_ALONE = re.compile(r"https?://[^/?#]+/?")


def open_source(
    address: str, politeness: Politeness | None = None, *, game: str = DEFAULT_GAME
) -> Source:
    """Open a base URL (http or https) or a folder of payloads.

    `address`/DATE.json is a payload; where `address` names a host alone, the game's place there
    is added to it. An address that ends like the game's page is that page, with one payload.

    Raises PermanentError when it is neither, and for a URL of a game that is not published.
    """
    if "://" in address:
        # A folder needs no HTTP library, and neither does a process that fetches nothing.
        from nightgrid.archive.sources.web import HttpSource, PageSource, Politeness

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

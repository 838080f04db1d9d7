"""Where payloads come from: a folder or an HTTP endpoint, behind one protocol."""

from __future__ import annotations

from archive.sources.answers import Answer, AnswerKind, Source
from archive.sources.folder import FolderSource
from archive.sources.web import HttpSource, Politeness

__all__ = [
    "Answer",
    "AnswerKind",
    "FolderSource",
    "HttpSource",
    "Politeness",
    "Source",
    "open_source",
]


def open_source(address: str, politeness: Politeness | None = None) -> Source:
    """Open a base URL (http or https) or a folder of payloads.

    Raises PermanentError when it is neither.
    """
    if "://" in address:
        return HttpSource(address, politeness or Politeness())
    return FolderSource(address)

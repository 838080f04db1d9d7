"""Where a redirect may lead: to the source's own host, or to one that is named.

A source that redirects chooses what this machine requests next: it must not have other hosts'
contents stored as its payloads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import httpx

from nightgrid.solvers.errors import PermanentError

_SCHEMES = ("http", "https")
_NOT_IN_HOSTS = re.compile(r"[^\w.:\[\]-]")


class RedirectError(Exception):
    """A redirect that is not followed; its text says why."""


def named_host(text: str) -> str:
    """Read `HOST` or `HOST:PORT` as `place_of` writes it.

    Raises PermanentError for anything else.
    """
    host = text.lower().removesuffix(":80").removesuffix(":443")
    try:
        place = place_of(httpx.URL(f"https://{host}"))
    except (httpx.InvalidURL, ValueError):
        place = ""
    if not place or place != host or _NOT_IN_HOSTS.search(host):
        raise PermanentError(f"redirect host {text!r:.80} is no host; expected HOST or HOST:PORT")
    return place


def place_of(url: httpx.URL) -> str:
    """Write host and port of a URL; httpx leaves out the port that its scheme has anyway."""
    host = f"[{url.host}]" if ":" in url.host else url.host
    return host + (f":{url.port}" if url.port else "")


def check_redirect(source: httpx.URL, target: httpx.URL, named: Sequence[str]) -> None:
    """Raise RedirectError unless a redirect of `source` may lead to `target`.

    Host and port stay what they are, or are one of `named` (see `named_host`). A host that leaves
    http for https leaves its port for that of https. https is never left.
    """
    if target.scheme not in _SCHEMES:
        raise RedirectError(f"a redirect leads to {target.scheme}:; expected http or https")
    if source.scheme == "https" != target.scheme:
        raise RedirectError("a redirect leaves https")
    if target.userinfo:
        raise RedirectError("a redirect carries credentials, which the lake would keep")
    place = place_of(target)
    if target.host == "" or (place != place_of(source) and place not in named):
        raise RedirectError(
            f"a redirect leads to {place!r:.80}; expected {place_of(source)}, or a host that "
            "--redirect-host names"
        )

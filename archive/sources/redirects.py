"""Where a redirect may lead: to the source's own host, or to a named one.

A redirecting source chooses what this machine requests next: it must not have contents of other
hosts stored as its payloads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import httpx

from nightgrid.solvers.errors import PermanentError

_SCHEMES = ("http", "https")
_NOT_IN_HOSTS = re.compile(r"[^\w.:\[\]-]")


class RedirectError(Exception):
    """A redirect that is not followed; the message says why."""


def named_host(text: str) -> str:
    """Normalise `HOST` or `HOST:PORT` like `place_of`.

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
    """Return host and port of a URL; httpx leaves out the default port of the scheme."""
    host = f"[{url.host}]" if ":" in url.host else url.host
    return host + (f":{url.port}" if url.port else "")


def check_redirect(source: httpx.URL, target: httpx.URL, named: Sequence[str]) -> None:
    """Raise RedirectError unless a redirect of `source` may lead to `target`.

    Host and port must stay the same, or be among `named` (see `named_host`). A host that redirects
    http to https may change the port accordingly. https is never left.
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

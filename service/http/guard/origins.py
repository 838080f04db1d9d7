"""Origins of requests: only under the service's own names, and not from pages of other sites.

A page of another site can send requests to a service on loopback, and by DNS rebinding (a name of
its own that points to 127.0.0.1) it could read the answers. So on loopback only loopback names are
accepted.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers

from nightgrid.service.http.problems import FieldError, Problem

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""
FOREIGN_SITES = frozenset({"cross-site", "same-site"})
"""Header value of a request from a page of another origin."""


def check_host(headers: Headers, hosts: frozenset[str] | None) -> None:
    """Raise Problem for a request under a name that is not in `hosts`."""
    if hosts is None:
        return
    try:
        name = urlsplit(f"//{headers.get('host', '')}").hostname or ""
    except ValueError:  # brackets that hold no address
        name = ""
    if name not in hosts:
        raise Problem(
            "unknown-host",
            f"the request is for host {name!r:.60}; expected {', '.join(sorted(hosts))}",
            errors=[FieldError(pointer="Host", detail="no name of this service")],
        )


def check_origin(method: str, headers: Headers) -> None:
    """Raise Problem for a request that changes something and comes from a page of another site."""
    if method in SAFE_METHODS:
        return
    origin = headers.get("origin")
    is_foreign = headers.get("sec-fetch-site") in FOREIGN_SITES
    if origin is not None:
        is_foreign |= origin.partition("://")[2].lower() != headers.get("host", "").lower()
    if is_foreign:
        raise Problem(
            "foreign-origin",
            "a page of another site may not change anything here",
            errors=[FieldError(pointer="Origin", detail="expected the service's own")],
        )

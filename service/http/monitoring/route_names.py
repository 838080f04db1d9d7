"""Names of methods and routes of requests: declared ones alone, nothing that a client made up."""

from __future__ import annotations

from starlette.types import Scope

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER = "other"
API = "/v1"


def method_of(scope: Scope) -> str:
    """Name the method of a request; "other" for one that HTTP does not have."""
    return scope["method"] if scope["method"] in METHODS else OTHER


def route_of(scope: Scope) -> str:
    """Name the route that a request went to, as it is declared; "other" for none."""
    route = scope.get("route")
    path = getattr(route, "path_format", None) or getattr(route, "path", None)
    if path is None:
        return "/static" if scope["path"].startswith("/static/") else OTHER
    # A router that is included with a prefix does not say it.
    return f"{API}{path}" if scope["path"].startswith(f"{API}/") else str(path)

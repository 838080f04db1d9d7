"""The proxy of a URL according to the environment, and a clause for error messages."""

from __future__ import annotations

import urllib.request
from urllib.parse import urlsplit


def proxy_of(url: str) -> str:
    """Return the address of the proxy for a URL, without a password; "" if there is none."""
    parts = urlsplit(url)
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all") or ""
    if not proxy or not parts.hostname or urllib.request.proxy_bypass(parts.hostname):
        return ""
    return proxy.rpartition("@")[2].rpartition("://")[2].rstrip("/")


def named_proxy(url: str, *, status: int | None = None) -> str:
    """Return a clause that names the proxy of a request; "" if it cannot be to blame.

    `status` is that of an answer: with https it comes from the server itself.
    """
    proxy = proxy_of(url)
    if not proxy or (status is not None and url.startswith("https:")):
        return ""
    return f" (by the proxy {proxy}; NO_PROXY names hosts that are reached without it)"

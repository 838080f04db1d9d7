"""Where a redirect may lead: to the source's own host, or to one that is named, never inwards.

A source that redirects chooses what this machine asks next. It must not have other hosts' contents
stored as its payloads, and must not reach what only this machine or its network can.
"""

from __future__ import annotations

import enum
import ipaddress
import re
import socket
import urllib.request
from collections.abc import Sequence

import httpx

from nightgrid.solvers.errors import PermanentError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_SCHEMES = ("http", "https")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_SHARED = ipaddress.ip_network("100.64.0.0/10")
"""Addresses between a provider and its customers, of which clouds have their own services."""


class Reach(enum.IntEnum):
    """From where an address can be reached; a redirect never leads to a higher one."""

    PUBLIC = 0
    """From everywhere."""
    PRIVATE = 1
    """From this network."""
    MACHINE = 2
    """From this machine or its link: loopback, link-local (cloud metadata), no address."""


class RedirectError(Exception):
    """A redirect that is not followed; its text says why."""


def reach_of(address: Address) -> Reach:
    """Return from where an address can be reached; that inside of an IPv6 address decides."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        if address.teredo is not None:
            inner = address.teredo[1]
        if inner is not None:
            return reach_of(inner)
    if address.is_loopback or address.is_link_local or address.is_unspecified:
        return Reach.MACHINE
    outside = address.is_global and not (address.is_multicast or address.is_reserved)
    return Reach.PUBLIC if outside and address not in _SHARED else Reach.PRIVATE


_NOT_IN_HOSTS = re.compile(r"[^\w.:\[\]-]")


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
    return _bracketed(url.host) + (f":{url.port}" if url.port else "")


def check_redirect(source: httpx.URL, target: httpx.URL, named: Sequence[str]) -> None:
    """Raise RedirectError unless a redirect of `source` may lead to `target`, as far as names say.

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


def addresses_of(url: httpx.URL) -> list[Address]:
    """Look up the addresses of a URL's host. Raises OSError where it has none.

    Where a proxy asks for us, names are its business: then there are those that the URL spells out.
    """
    if _is_proxied(url.host):
        return _spelled_out(url.host)
    found = socket.getaddrinfo(url.host, url.port, type=socket.SOCK_STREAM)
    return [ipaddress.ip_address(entry[4][0]) for entry in found]


def _is_proxied(host: str) -> bool:
    # NO_PROXY alone, which names hosts without one, is among the proxies as "no".
    return bool(urllib.request.getproxies().keys() - {"no"}) and not urllib.request.proxy_bypass(
        host
    )


def check_addresses(url: httpx.URL, addresses: Sequence[Address], source: Reach) -> None:
    """Raise RedirectError if one of a host's addresses is further inside than the source's is."""
    for address in addresses:
        if reach_of(address) > source:
            raise RedirectError(
                f"a redirect leads to {place_of(url)!r:.80} at {address}, an address inside of "
                "this network; expected a public one"
            )


def reach_of_peer(response: httpx.Response) -> Reach:
    """Return from where a response's host can be reached; behind a proxy, everywhere."""
    stream = response.extensions.get("network_stream")
    peer = stream.get_extra_info("server_addr") if stream is not None else None
    if not peer or _is_proxied(peer[0]):
        return Reach.PUBLIC
    return reach_of(ipaddress.ip_address(peer[0]))


def pinned(request: httpx.Request, addresses: Sequence[Address]) -> httpx.Request:
    """Send a request to an address that was checked, whatever its name resolves to by then."""
    if not addresses:
        return request
    # The host stays in the request and in the certificate that is asked for.
    request.extensions = {**request.extensions, "sni_hostname": request.url.host}
    request.headers["Host"] = request.url.netloc.decode("ascii")
    request.url = request.url.copy_with(host=str(addresses[0]))
    return request


def _spelled_out(host: str) -> list[Address]:
    if host == "localhost" or host.endswith(".localhost"):
        return [ipaddress.IPv4Address("127.0.0.1")]
    try:
        return [ipaddress.ip_address(host)]
    except ValueError:
        pass
    try:
        # "2130706433" and "0x7f.1" are addresses as well.
        return [ipaddress.IPv4Address(socket.inet_aton(host))]
    except OSError:
        return []


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host

"""A redirect leads to the source's own host, or to one that is named, and never further inside."""

from __future__ import annotations

import datetime as dt
import ipaddress
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.ingest.raw import RawArchive
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RAW
from nightgrid.archive.sources import AnswerKind
from nightgrid.archive.sources import redirects as under_test
from nightgrid.archive.sources.redirects import (
    Reach,
    RedirectError,
    addresses_of,
    check_addresses,
    check_redirect,
    pinned,
    place_of,
    reach_of,
    reach_of_peer,
)
from nightgrid.archive.sources.web import HttpSource, Politeness
from tests.archive.sources.test_sources import BODY, DATE, Reply, Server


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def other() -> Iterator[Server]:
    with Server() as server:
        server.replies = [Reply(body=b'{"secret": 1}')]
        yield server


def _place(server: Server) -> str:
    return place_of(httpx.URL(server.url))


def _source(server: Server, *hosts: str) -> HttpSource:
    polite = Politeness(interval_s=0.0, attempts=2)
    return HttpSource(server.url, polite, redirect_hosts=hosts, sleep=lambda _: None)


def _moved(to: str) -> Reply:
    return Reply(status=302, headers={"Location": to})


def test_what_another_host_has_is_not_stored(server: Server, other: Server, lake: Lake) -> None:
    server.replies = [_moved(f"{other.url}/x.json")]
    report = fetch(lake, _source(server), first=DATE, last=DATE)
    assert other.requests == []
    says = f"a redirect leads to {_place(other)!r}; expected {_place(server)}, or a host that "
    (failure,) = report.failed
    assert (failure.rule, failure.message) == ("redirects", says + "--redirect-host names")
    assert RawArchive(lake, "pips").dates() == []


def test_a_host_that_is_named_is_followed_and_the_final_url_kept(
    server: Server, other: Server, lake: Lake
) -> None:
    server.replies = [_moved(f"{other.url}/x.json"), Reply(body=BODY)]
    source = _source(server, _place(other))
    fetch(lake, source, first=DATE, last=DATE + dt.timedelta(days=1))
    first, second = (RawArchive(lake, "pips").of(DATE + dt.timedelta(days=i))[0] for i in (0, 1))
    assert (first.url, first.final_url) == (source.url(DATE), f"{other.url}/x.json")
    assert (second.url, second.final_url) == (source.url(DATE + dt.timedelta(days=1)), None)
    assert other.requests[0][1]["Host"] == _place(other)
    normalise(lake)
    rows = lake.read_table("raw/pips.parquet", RAW).to_pylist()
    assert [row["final_url"] for row in rows] == [f"{other.url}/x.json", None]


def test_a_named_host_may_redirect_back_and_not_further(server: Server, other: Server) -> None:
    server.replies = [_moved(f"{other.url}/x.json"), Reply(body=BODY)]
    other.replies = [_moved(f"{server.url}/back.json")]
    assert _source(server, _place(other)).fetch(DATE, None).body == BODY
    assert server.requests[1][0].endswith("/back.json")
    server.replies = [_moved(f"{other.url}/x.json")]
    other.replies = [_moved("http://third.example/x")]
    answer = _source(server, _place(other)).fetch(DATE, None)
    assert (answer.kind, answer.rule) == (AnswerKind.FAILED, "redirects")
    assert answer.message.startswith("a redirect leads to 'third.example'; expected 127.0.0.1:")


def test_the_body_of_a_redirect_is_not_read(server: Server) -> None:
    sent: list[int] = []

    def flood(handler: Any) -> None:
        handler.send_response(302)
        handler.send_header("Location", "/elsewhere")
        handler.end_headers()
        while len(sent) < 20_000:
            handler.wfile.write(b"x" * 10_000)
            sent.append(1)

    server.replies = [Reply(act=flood), Reply(body=BODY)]
    assert _source(server).fetch(DATE, None).body == BODY
    assert len(sent) < 20_000


@pytest.mark.parametrize(
    ("address", "reach"),
    [
        ("93.184.216.34", Reach.PUBLIC),
        ("2606:2800:220:1::1", Reach.PUBLIC),
        ("10.1.2.3", Reach.PRIVATE),
        ("172.16.0.1", Reach.PRIVATE),
        ("192.168.1.1", Reach.PRIVATE),
        ("100.64.0.1", Reach.PRIVATE),
        ("100.100.100.200", Reach.PRIVATE),
        ("224.0.0.1", Reach.PRIVATE),
        ("240.0.0.1", Reach.PRIVATE),
        ("255.255.255.255", Reach.PRIVATE),
        ("fc00::1", Reach.PRIVATE),
        ("ff02::1", Reach.PRIVATE),
        ("::127.0.0.1", Reach.PRIVATE),
        ("127.0.0.1", Reach.MACHINE),
        ("127.8.8.8", Reach.MACHINE),
        ("0.0.0.0", Reach.MACHINE),
        ("169.254.169.254", Reach.MACHINE),
        ("::1", Reach.MACHINE),
        ("::", Reach.MACHINE),
        ("fe80::1%eth0", Reach.MACHINE),
        ("::ffff:127.0.0.1", Reach.MACHINE),
        ("::ffff:10.0.0.1", Reach.PRIVATE),
        ("::ffff:93.184.216.34", Reach.PUBLIC),
        ("2002:7f00:1::", Reach.MACHINE),
        ("2002:5db8:d822::", Reach.PUBLIC),
        ("64:ff9b::7f00:1", Reach.MACHINE),
        ("64:ff9b::5db8:d822", Reach.PUBLIC),
        ("64:ff9b::", Reach.MACHINE),
        ("64:ff9b::1", Reach.PRIVATE),
        ("2001:0:0:0:0:0:80ff:fffe", Reach.MACHINE),
        # A public relay, 65.54.227.120, in front of 192.168.1.1.
        ("2001:0:4136:e378:0:0:3f57:fefe", Reach.PRIVATE),
    ],
)
def test_an_address_is_known_by_what_it_reaches(address: str, reach: Reach) -> None:
    assert reach_of(ipaddress.ip_address(address)) is reach


@pytest.mark.parametrize(
    ("source", "target", "named", "says"),
    [
        ("http://a.org/x", "http://a.org/y", (), ""),
        ("http://a.org/x", "http://A.org:80/y", (), ""),
        ("http://a.org/x", "https://a.org/y", (), ""),
        ("http://a.org:81/x", "https://a.org/y", (), "leads to 'a.org'; expected a.org:81, or"),
        ("http://a.org/x", "http://a.org:6379/y", (), "leads to 'a.org:6379'; expected a.org, or"),
        ("http://a.org/x", "http://a.org:6379/y", ("a.org:6379",), ""),
        ("http://a.org/x", "https://a.org:80/y", (), "leads to 'a.org:80'; expected a.org"),
        ("https://a.org/x", "https://b.org/y", (), "leads to 'b.org'; expected a.org, or a host"),
        ("https://a.org/x", "https://b.org/y", ("b.org",), ""),
        ("https://a.org/x", "https://b.org:8443/y", ("b.org",), "leads to 'b.org:8443'"),
        ("https://a.org/x", "https://c.b.org/y", ("b.org",), "leads to 'c.b.org'"),
        ("https://a.org/x", "http://b.org/y", ("b.org",), "leaves https"),
        ("https://a.org/x", "http://a.org/y", (), "leaves https"),
        ("http://a.org/x", "http://[::1]/y", ("[::1]",), ""),
        ("http://a.org/x", "http://me:pass@a.org/y", (), "carries credentials"),
        ("http://a.org/x", "ftp://a.org/y", (), "leads to ftp:; expected http or https"),
        ("http://a.org/x", "file:///etc/passwd", (), "leads to file:; expected http or https"),
    ],
)
def test_names_say_where_a_redirect_may_lead(
    source: str, target: str, named: tuple[str, ...], says: str
) -> None:
    if not says:
        check_redirect(httpx.URL(source), httpx.URL(target), named)
        return
    with pytest.raises(RedirectError) as refusal:
        check_redirect(httpx.URL(source), httpx.URL(target), named)
    assert says in str(refusal.value)


def _resolves_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    def resolve(_host: str, port: int, **_: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (text, port)) for text in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


@pytest.mark.parametrize(
    ("addresses", "source", "refused"),
    [
        (("93.184.216.34",), Reach.PUBLIC, None),
        (("127.0.0.1",), Reach.PUBLIC, "127.0.0.1"),
        (("93.184.216.34", "169.254.169.254"), Reach.PUBLIC, "169.254.169.254"),
        (("10.0.0.1",), Reach.PUBLIC, "10.0.0.1"),
        (("10.0.0.1",), Reach.PRIVATE, None),
        (("127.0.0.1",), Reach.PRIVATE, "127.0.0.1"),
        (("127.0.0.1",), Reach.MACHINE, None),
    ],
)
def test_no_name_leads_further_inside_than_the_source(
    monkeypatch: pytest.MonkeyPatch, addresses: tuple[str, ...], source: Reach, refused: str | None
) -> None:
    _resolves_to(monkeypatch, *addresses)
    url = httpx.URL("https://b.org/x")
    if refused is None:
        check_addresses(url, addresses_of(url), source)
        return
    with pytest.raises(RedirectError) as refusal:
        check_addresses(url, addresses_of(url), source)
    assert str(refusal.value) == (
        f"a redirect leads to 'b.org' at {refused}, an address inside of this network; "
        "expected a public one"
    )


def test_a_public_server_cannot_name_a_host_that_resolves_to_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        if request.url.host == "a.org":
            return httpx.Response(302, headers={"Location": "https://b.org/x.json"})
        return httpx.Response(200, stream=httpx.ByteStream(BODY))

    real = httpx.Client
    monkeypatch.setattr(
        httpx, "Client", lambda **given: real(transport=httpx.MockTransport(answer), **given)
    )
    _resolves_to(monkeypatch, "127.0.0.1")
    polite = Politeness(interval_s=0.0)
    source = HttpSource("https://a.org/p", polite, redirect_hosts=("b.org",))
    found = source.fetch(DATE, None)
    assert (found.kind, found.rule) == (AnswerKind.FAILED, "redirects")
    assert "127.0.0.1" in found.message
    assert asked == ["https://a.org/p/2026-01-02.json"]
    # The address that was looked at is the one that is asked.
    _resolves_to(monkeypatch, "93.184.216.34")
    found = source.fetch(DATE, None)
    assert (found.body, found.final_url) == (BODY, "https://b.org/x.json")
    assert asked[2:] == ["https://93.184.216.34/x.json"]


def test_a_pinned_request_names_its_host_where_servers_and_certificates_look() -> None:
    request = httpx.Client().build_request("GET", "https://b.org:8443/x?y=1")
    addresses = ("2606:2800:220:1::1", "93.184.216.34")
    request = pinned(request, [ipaddress.ip_address(address) for address in addresses])
    assert str(request.url) == "https://[2606:2800:220:1::1]:8443/x?y=1"
    assert request.headers["Host"] == "b.org:8443"
    assert request.extensions["sni_hostname"] == "b.org"
    assert pinned(request, []) is request


@pytest.mark.parametrize(
    ("url", "addresses"),
    [
        ("http://b.org/", []),
        ("http://localhost/", ["127.0.0.1"]),
        ("http://x.localhost/", ["127.0.0.1"]),
        ("http://169.254.169.254/", ["169.254.169.254"]),
        ("http://[::1]/", ["::1"]),
        ("http://2130706433/", ["127.0.0.1"]),
        ("http://0x7f.1/", ["127.0.0.1"]),
    ],
)
def test_behind_a_proxy_addresses_are_those_that_are_spelled_out(
    monkeypatch: pytest.MonkeyPatch, url: str, addresses: list[str]
) -> None:
    monkeypatch.setattr(under_test.urllib.request, "getproxies", lambda: {"http": "http://proxy"})
    monkeypatch.setattr(under_test.urllib.request, "proxy_bypass", lambda _host: False)
    assert list(map(str, addresses_of(httpx.URL(url)))) == addresses


class _Peer:
    def get_extra_info(self, _name: str) -> tuple[str, int]:
        return ("10.0.0.1", 80)


@pytest.mark.parametrize(
    ("stream", "proxies", "bypassed", "reach"),
    [
        (None, {}, False, Reach.PUBLIC),
        (_Peer(), {}, False, Reach.PRIVATE),
        (_Peer(), {"no": "127.0.0.1"}, False, Reach.PRIVATE),
        (_Peer(), {"http": "http://proxy"}, False, Reach.PUBLIC),
        (_Peer(), {"http": "http://proxy"}, True, Reach.PRIVATE),
    ],
)
def test_the_peer_tells_where_a_redirect_came_from_unless_it_is_a_proxy(
    monkeypatch: pytest.MonkeyPatch,
    stream: object,
    proxies: dict[str, str],
    bypassed: bool,
    reach: Reach,
) -> None:
    monkeypatch.setattr(under_test.urllib.request, "getproxies", lambda: proxies)
    monkeypatch.setattr(
        under_test.urllib.request, "proxy_bypass", lambda host: bypassed and host == "10.0.0.1"
    )
    response = httpx.Response(200, extensions={"network_stream": stream})
    assert reach_of_peer(response) is reach

"""The guard: headers on every response, and requests refused before they reach a route."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.guard import access as access_module
from nightgrid.service.http.guard.access import Access, check_exposure
from nightgrid.service.http.guard.keys import add_key, revoke_key
from nightgrid.service.http.guard.layer import HEADERS, Guard
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.settings import Settings

JSON = {"content-type": "application/json"}


async def _echo(request: Request) -> Response:
    body = await request.body()
    key = request.state.key
    return JSONResponse({"client": key.name if key else "", "body": body.decode()})


async def _none(*_: object) -> None:
    """Leave every body to its route."""


async def _own(_: Request) -> Response:
    return Response("own", headers={"Cache-Control": "no-cache", "Referrer-Policy": "origin"})


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.open(str(tmp_path / "lake"))


@pytest.fixture
def make(lake: Lake) -> Iterator[Callable[..., TestClient]]:
    """Make a client of an application behind a guard."""
    made: list[TestClient] = []

    def client(*, required: bool = False, hosts: str = "", host: str = "127.0.0.1") -> TestClient:
        routes = [
            Route("/v1/echo", _echo, methods=["GET", "POST", "DELETE"]),
            Route("/", _echo),
            Route("/metrics", _echo),
            Route("/own", _own),
        ]
        guard = Guard(
            Starlette(routes=routes),
            access=Access(lambda: lake, required=required),
            hosts=ServiceSettings(workers=Settings(http_hosts=hosts), host=host).hosts,
            body_bytes=1024,
            early_reply=_none,
        )
        made.append(TestClient(guard, base_url="http://localhost:8765"))
        return made[-1]

    yield client
    for each in made:
        each.close()


def told(answer: httpx.Response) -> tuple[int, str]:
    """Read a problem: its status and its kind."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    value = answer.json()
    assert value["status"] == answer.status_code
    assert set(value) <= {"type", "title", "status", "detail", "errors"}
    return answer.status_code, value["type"].removeprefix("/problems/")


def post(client: TestClient, body: Any = None, **headers: str) -> httpx.Response:
    content = body if isinstance(body, (bytes, str)) else json.dumps(body or {})
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.post("/v1/echo", content=content, headers=JSON | given)


def test_every_answer_has_the_headers(make: Callable[..., TestClient]):
    client = make()
    for answer in (client.get("/"), client.get("/nowhere"), post(client, "[")):
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
        assert len(answer.headers.get_list("content-security-policy")) == 1
    policy = HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "*" not in policy
    assert HEADERS["Cache-Control"] == "no-store"


def test_a_route_may_say_otherwise(make: Callable[..., TestClient]):
    headers = make().get("/own").headers
    assert (headers["cache-control"], headers["referrer-policy"]) == ("no-cache", "origin")


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost:1", "http://["]
)
def test_no_cors_and_no_change_from_another_site(make: Callable[..., TestClient], origin: str):
    client = make()
    read = client.get("/v1/echo", headers={"origin": origin})
    assert read.status_code == 200
    assert not [name for name in read.headers if name.startswith("access-control")]
    assert told(post(client, origin=origin)) == (403, "foreign-origin")
    answer = client.request("DELETE", "/v1/echo", headers={"origin": origin})
    assert told(answer) == (403, "foreign-origin")
    preflight = {"origin": origin, "access-control-request-method": "POST"}
    asked = client.options("/v1/echo", headers=preflight)
    assert asked.status_code == 405
    assert not [name for name in asked.headers if name.startswith("access-control")]


def test_the_page_itself_may_change_things(make: Callable[..., TestClient]):
    client = make()
    own = {"origin": "http://localhost:8765", "sec_fetch_site": "same-origin"}
    assert post(client, **own).status_code == 200
    assert told(post(client, sec_fetch_site="cross-site")) == (403, "foreign-origin")


@pytest.mark.parametrize(
    "name", ["localhost", "LOCALHOST:1", "127.0.0.1:8765", "[::1]", "[::1]:80"]
)
def test_on_loopback_names_of_loopback_count(make: Callable[..., TestClient], name: str):
    assert make().get("/", headers={"host": name}).status_code == 200


@pytest.mark.parametrize(
    "name", ["evil.example", "localhost.evil.example", "127.0.0.2", "[::2]:80"]
)
def test_on_loopback_no_other_name_counts(make: Callable[..., TestClient], name: str):
    """Given a name of another site that points to 127.0.0.1, Then its page reads nothing."""
    assert told(make().get("/", headers={"host": name})) == (421, "unknown-host")


@pytest.mark.parametrize("name", ["", "a b", "a/b", "u@h", "[::", "::1"])
def test_a_host_that_is_invalid(make: Callable[..., TestClient], name: str):
    assert told(make().get("/", headers={"host": name})) == (421, "unknown-host")


def test_elsewhere_any_name_counts_unless_names_are_set(make: Callable[..., TestClient]):
    assert make(host="0.0.0.0").get("/", headers={"host": "grid.example"}).status_code == 200
    client = make(host="0.0.0.0", hosts="grid.example, other")
    assert client.get("/", headers={"host": "grid.example:80"}).status_code == 200
    assert told(client.get("/")) == (421, "unknown-host")


def test_a_route_reads_the_body_as_it_was_sent(make: Callable[..., TestClient]):
    body = '{"a": ["é", {"b": 1.50}]}'
    assert post(make(), body.encode()).json()["body"] == body


def test_brackets_in_texts_are_not_nesting(make: Callable[..., TestClient]):
    assert post(make(), {"a": '[[[[[[[[[[\\"[[[[['}).status_code == 200


def test_a_body_of_unknown_length_is_read_up_to_the_limit(
    make: Callable[..., TestClient],
):
    taken = []

    def endless() -> Iterator[bytes]:
        for _ in range(1000):
            taken.append(1)
            yield b" " * 512

    answer = make().post("/v1/echo", content=endless(), headers=JSON)
    assert told(answer) == (413, "too-large")


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def test_the_api_requires_a_key_if_one_is_required(make: Callable[..., TestClient], lake: Lake):
    key = add_key(lake, "alice")
    client = make(required=True)
    assert client.get("/").json()["client"] == ""
    for path in ("/v1/echo", "/metrics"):
        answer = client.get(path)
        assert told(answer) == (401, "no-key")
        assert answer.headers["www-authenticate"] == 'Bearer realm="nightgrid"'
        assert client.get(path, headers=bearer(key)).json()["client"] == "alice"


@pytest.mark.parametrize(
    "given",
    ["Bearer", "Bearer ", "Basic YWxpY2U6", "Bearer ng_alice_", "Bearer ng_bob_x", "ng_alice_x"],
)
def test_a_wrong_key_is_refused_even_if_none_is_wanted(
    make: Callable[..., TestClient], lake: Lake, given: str
):
    add_key(lake, "alice")
    answer = make().get("/v1/echo", headers={"authorization": given})
    assert told(answer) == (401, "no-key")
    assert "alice" not in answer.text


def test_keys_count_seconds_after_they_change(
    make: Callable[..., TestClient], lake: Lake, monkeypatch: pytest.MonkeyPatch
):
    key = add_key(lake, "alice")
    client = make(required=True)
    assert client.get("/v1/echo", headers=bearer(key)).status_code == 200
    revoke_key(lake, "alice")
    assert client.get("/v1/echo", headers=bearer(key)).status_code == 200
    monkeypatch.setattr(access_module, "REFRESH_S", 0.0)
    client = make(required=True)
    assert told(client.get("/v1/echo", headers=bearer(key))) == (401, "no-key")
    key = add_key(lake, "alice")
    assert client.get("/v1/echo", headers=bearer(key)).status_code == 200


def test_the_requests_of_a_key_are_limited_by_the_minute(
    make: Callable[..., TestClient], lake: Lake
):
    alice, bob = add_key(lake, "alice", per_minute=3), add_key(lake, "bob", per_minute=3)
    client = make(required=True)
    codes = [client.get("/v1/echo", headers=bearer(alice)).status_code for _ in range(3)]
    assert codes == [200, 200, 200]
    answer = client.get("/v1/echo", headers=bearer(alice))
    assert told(answer) == (429, "too-many-requests")
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    assert client.get("/v1/echo", headers=bearer(bob)).status_code == 200


def test_beyond_loopback_a_service_requires_a_key_to_start(lake: Lake):
    with pytest.raises(PermanentError, match=r"--host 0\.0\.0\.0 can be reached .* keys add NAME"):
        check_exposure(lake, "0.0.0.0")
    add_key(lake, "alice")
    check_exposure(lake, "0.0.0.0")

"""The app answers while it runs, and reveals nothing about its server."""

from __future__ import annotations

from pathlib import Path

from starlette.testclient import TestClient

from nightgrid.service.http.app import create_app
from nightgrid.service.http.guard.layer import HEADERS
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.workers.settings import Settings


def test_a_service_answers_without_a_server(tmp_path: Path) -> None:
    settings = Settings(lake=str(tmp_path / "lake"), redis_url="redis://127.0.0.1:9/0")  # type: ignore[arg-type]
    with TestClient(
        create_app(ServiceSettings(workers=settings)), base_url="http://localhost"
    ) as client:
        assert client.get("/healthz").json() == {"status": "ok"}
        assert client.get("/docs").status_code == 404, "a page that loads foreign scripts"
        page = client.get("/")
        assert "/static/app.js" in page.text
        assert page.headers.get_list("Content-Security-Policy") == [
            HEADERS["Content-Security-Policy"]
        ]


def test_loopback_is_distinguished_from_other_addresses() -> None:
    here = {
        host: ServiceSettings(host=host).is_loopback
        for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "::", "10.0.0.1", "example.org")
    }
    assert [host for host, is_loopback in here.items() if is_loopback] == [
        "127.0.0.1",
        "::1",
        "localhost",
    ]

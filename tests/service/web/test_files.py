"""The page's files: their types, their ETags, and that nothing else is served."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from nightgrid.service.web.files import FOLDER, routes

NAMES = [path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()]
OWN = [name for name in NAMES if "swagger-ui" not in name]
"""Swagger UI has addresses in its texts; a test in Chromium shows that it loads none."""
TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".woff2": "font/woff2",
}


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(Starlette(routes=routes()))


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_served_with_its_type_and_known_by_its_etag(name: str, client: TestClient):
    first = client.get(f"/static/{name}")
    assert first.status_code == 200
    assert first.headers["Content-Type"].startswith(TYPES[Path(name).suffix])
    assert first.headers["Cache-Control"] == "no-cache"
    assert first.content == (FOLDER / name).read_bytes()
    assert first.headers.get("Content-Encoding") == (
        "gzip" if len(first.content) > 500 and not name.endswith(".woff2") else None
    )
    again = client.get(f"/static/{name}", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.head(f"/static/{name}").headers["Content-Length"] == str(len(first.content))


def test_the_page_and_its_icon_are_at_the_root(client: TestClient):
    assert client.get("/").text.startswith("<!doctype html>")
    assert client.get("/").headers["Content-Type"] == "text/html; charset=utf-8"
    assert client.get("/favicon.ico").headers["Content-Type"] == "image/svg+xml"


@pytest.mark.parametrize(
    "path",
    [
        "/static/",
        "/static/none.js",
        "/static/../files.py",
        "/static/%2e%2e/files.py",
        "/static/..%2ffiles.py",
        "/static//etc/passwd",
        "/static/%00",
        "/static/" + "a" * 5000,
    ],
)
def test_nothing_else_is_served(path: str, client: TestClient):
    answer = client.get(path)
    assert answer.status_code == 404
    assert len(answer.content) < 200


def test_nothing_is_written_to(client: TestClient):
    assert client.post("/", json={}).status_code == 405
    assert client.put("/static/app.js", content=b"x").status_code == 405


INLINE = re.compile(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:", re.IGNORECASE)
ELSEWHERE = re.compile(r"""(?:src|href|url|import|from|fetch)\s*[=(]?\s*["'(]?(?:https?:)?//""")


@pytest.mark.parametrize("name", [n for n in OWN if n.endswith((".html", ".css", ".js"))])
def test_a_file_holds_nothing_inline_and_loads_nothing_from_elsewhere(name: str):
    text = (FOLDER / name).read_text(encoding="utf-8")
    if name.endswith(".html"):
        assert INLINE.search(text) is None
    assert ELSEWHERE.search(text) is None
    assert "@import" not in text

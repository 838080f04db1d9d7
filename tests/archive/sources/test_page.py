"""The page of Letter Boxed as a source: one payload, for the day that it names itself."""

from __future__ import annotations

import datetime as dt
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from nightgrid.archive.ingest.editions import current_editions
from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.sources import AnswerKind, open_source
from nightgrid.archive.sources.web import PageSource, Politeness
from tests.archive.games.letterboxed.letter_days import FIRST, letter_day

ASKED_AT = dt.datetime(2026, 1, 2, 6, tzinfo=dt.UTC)
"""In UTC the next day has begun, on the page it has not."""


class Site:
    def __init__(self) -> None:
        self.page: bytes | None = None
        self.paths: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.paths.append(self.path)
                body = outer.page or b"gone"
                self.send_response(200 if outer.page else 403)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/puzzles/letter-boxed"


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, args=(0.02,))
    thread.start()
    yield site
    site.server.shutdown()
    site.server.server_close()
    thread.join()


def opened(site: Site) -> PageSource:
    source = open_source(site.url, Politeness(interval_s=0.0), game="letterboxed")
    assert isinstance(source, PageSource)
    return source


def test_the_page_is_asked_for_once_and_stands_for_the_day_in_it(site: Site, lake: Lake) -> None:
    site.page = f"<script>window.gameData = {json.dumps(letter_day())}</script>".encode()
    report = fetch(lake, opened(site), game="letterboxed", now=lambda: ASKED_AT)
    assert (report.asked, report.new, report.failed) == ([FIRST], [FIRST], [])
    assert site.paths == ["/puzzles/letter-boxed"]
    assert normalise(lake, game="letterboxed").editions_added == 1
    (row,) = current_editions(lake, "letterboxed").to_pylist()
    assert (row["date"], row["draft"]) == (FIRST, False)
    outside = opened(site).dates(FIRST + dt.timedelta(days=1), None)
    assert outside == []


def test_a_page_that_fails_or_has_changed_its_form_is_told(site: Site, lake: Lake) -> None:
    report = fetch(lake, opened(site), game="letterboxed")
    assert report.source_failed
    site.page = b"<html>come back tomorrow</html>"
    source = opened(site)
    (today,) = source.dates(None, None)
    assert source.fetch(today, None).kind is AnswerKind.BODY
    fetch(lake, source, game="letterboxed")
    assert normalise(lake, game="letterboxed").quarantined == {"http-status": 1, "no-game-data": 1}

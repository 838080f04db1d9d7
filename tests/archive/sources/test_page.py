"""The page of Letter Boxed as a source: one payload, for the day that it names itself."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from nightgrid.archive.ingest.editions import current_editions
from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.sources import AnswerKind, open_source
from nightgrid.archive.sources.page import PageSource
from nightgrid.archive.sources.web import Politeness
from tests.archive.games.letterboxed.letter_days import FIRST, letter_day
from tests.loopback import LoopbackServer

ASKED_AT = dt.datetime(2026, 1, 2, 6, tzinfo=dt.UTC)
"""In UTC the next day has begun, on the page it has not."""


class Site(LoopbackServer):
    path = "/puzzles/letter-boxed"

    def __init__(self) -> None:
        self.page: bytes | None = None
        self.paths: list[str] = []
        super().__init__()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        self.paths.append(request.path)
        body = self.page or b"gone"
        request.send_response(200 if self.page else 403)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


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

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nightgrid.archive.ingest.fetch import (
    GIVE_UP_AFTER_FAILURES,
    NOT_ASKED,
    FetchFailure,
    FetchReport,
    fetch,
)
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.ingest.raw import RawArchive
from nightgrid.archive.lake.schemas import QUARANTINE
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.sources import Answer, AnswerKind, Validators
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.solvers.errors import TransientError

Now = Callable[[], dt.datetime]


def day(number: int) -> dt.date:
    return dt.date(2026, 1, number)


class Endpoint:
    """A source like an HTTP endpoint, whose answers the test sets."""

    local = False
    name = "endpoint"

    def __init__(self) -> None:
        self.answers: dict[dt.date, Answer] = {}
        self.asked: list[tuple[dt.date, Validators | None]] = []

    def url(self, date: dt.date) -> str:
        return f"https://endpoint/{date}.json"

    def dates(self, first: dt.date | None, last: dt.date | None) -> list[dt.date]:
        assert first is not None
        assert last is not None
        return [first + dt.timedelta(days=i) for i in range((last - first).days + 1)]

    def fetch(self, date: dt.date, validators: Validators | None) -> Answer:
        self.asked.append((date, validators))
        answer = self.answers.get(date, Answer(kind=AnswerKind.ABSENT, url="", http_status=404))
        return replace(answer, url=self.url(date))

    def close(self) -> None:
        pass

    def gives(self, date: dt.date, body: bytes, etag: str | None = None) -> None:
        self.answers[date] = Answer(
            kind=AnswerKind.BODY, url="", body=body, http_status=200, etag=etag
        )

    def fails(self, date: dt.date, *, body: bytes | None = None, transient: bool = True) -> None:
        self.answers[date] = Answer(
            kind=AnswerKind.FAILED,
            url="",
            body=body,
            http_status=500,
            rule="http-status",
            message="the server answered 500",
            transient=transient,
        )


@pytest.fixture
def endpoint() -> Endpoint:
    return Endpoint()


def good(make_payload: Callable[..., dict[str, Any]], date: dt.date, seed: int = 0) -> bytes:
    return json.dumps(make_payload(date, seed)).encode("utf-8")


def test_bodies_are_stored_as_received_with_their_origin(
    lake: Lake, endpoint: Endpoint, now: Now
) -> None:
    body = b"\xff not even text \x00"
    endpoint.gives(day(10), body, etag='"a"')
    report = fetch(lake, endpoint, first=day(10), last=day(10), now=now)
    assert report.new == [day(10)]
    (sighting,) = RawArchive(lake, "pips").of(day(10))
    assert lake.read_bytes(sighting.body_path) == body
    assert lake.list("raw") == [
        f"raw/game=pips/date=2026-01-10/{sighting.sha256}.body",
        f"raw/game=pips/date=2026-01-10/{sighting.sha256}.json",
    ]
    metadata = json.loads(lake.read_bytes(lake.list("raw")[1]))
    assert metadata == {
        "game": "pips",
        "date": "2026-01-10",
        "sequence": 1,
        "sha256": sighting.sha256,
        "url": "https://endpoint/2026-01-10.json",
        "fetched_at": "2026-01-15T04:30:00+00:00",
        "http_status": 200,
        "etag": '"a"',
        "last_modified": None,
        "body_bytes": len(body),
        "fault_rule": None,
        "fault_message": None,
        "final_url": None,
    }


def test_the_same_body_is_not_stored_twice_and_an_older_one_is_seen_again(
    lake: Lake, endpoint: Endpoint, now: Now
) -> None:
    for body, changed in ((b"A", 1), (b"A", 0), (b"B", 1), (b"A", 1), (b"A", 0)):
        endpoint.gives(day(14), body)
        report = fetch(lake, endpoint, first=day(14), last=day(14), now=now)
        assert (len(report.new), len(report.unchanged)) == (changed, 1 - changed)
    seen = RawArchive(lake, "pips").of(day(14))
    assert [(s.sequence, lake.read_bytes(s.body_path)) for s in seen] == [
        (1, b"A"),
        (2, b"B"),
        (3, b"A"),
    ]
    assert sum(path.endswith(".body") for path in lake.list("raw")) == 2


def test_known_dates_are_skipped_except_the_recent_and_the_quarantined(
    lake: Lake, endpoint: Endpoint, now: Now, make_payload: Callable[..., dict[str, Any]]
) -> None:
    for number in (1, 2, 3, 13, 20):
        endpoint.gives(day(number), good(make_payload, day(number)))
    endpoint.gives(day(2), b"<html>")
    first = fetch(lake, endpoint, first=day(1), last=day(20), refresh_days=3, now=now)
    assert len(first.asked) == 20
    assert first.absent == [day(n) for n in range(1, 21) if n not in (1, 2, 3, 13, 20)]
    normalise(lake)
    second = fetch(lake, endpoint, first=day(1), last=day(20), refresh_days=3, now=now)
    # The last three days are 13, 14 and today; later ones are drafts, which may change too.
    assert second.asked == [day(2), *(day(n) for n in range(13, 21))]
    assert second.known == 11


def test_an_absent_day_is_recorded_and_requested_again_only_while_it_is_recent(
    lake: Lake, endpoint: Endpoint, now: Now
) -> None:
    report = fetch(lake, endpoint, first=day(1), last=day(2), now=now, refresh_days=5)
    assert (report.absent, report.failed) == ([day(1), day(2)], [])
    assert json.loads(lake.read_bytes("raw/game=pips/date=2026-01-01/absent.json")) == {
        "game": "pips",
        "date": "2026-01-01",
        "url": "https://endpoint/2026-01-01.json",
        "http_status": 404,
        "fetched_at": "2026-01-15T04:30:00+00:00",
    }
    assert fetch(lake, endpoint, first=day(1), last=day(2), now=now, refresh_days=5).asked == []
    endpoint.gives(day(1), b"late")
    assert fetch(lake, endpoint, first=day(1), last=day(2), now=now, refresh_days=15).new == [
        day(1)
    ]


def test_a_draft_is_requested_again_until_it_was_seen_on_its_date(
    lake: Lake, endpoint: Endpoint
) -> None:
    def at(number: int) -> FetchReport:
        moment = dt.datetime(2026, 1, number, 4, 30, tzinfo=dt.UTC)
        return fetch(lake, endpoint, first=day(3), last=day(4), now=lambda: moment, refresh_days=0)

    endpoint.gives(day(3), b"A", etag='"a"')
    endpoint.gives(day(4), b"B", etag='"b"')
    assert at(1).new == [day(3), day(4)]
    assert at(2).unchanged == at(10).unchanged == [day(3), day(4)]
    assert {validators for _, validators in endpoint.asked} == {None}, "bodies are asked for"
    raw = RawArchive(lake, "pips")
    for date in (day(3), day(4)):
        draft, final = raw.of(date)
        assert (draft.is_draft, final.is_draft) == (True, False)
        assert (final.sequence, final.sha256) == (2, draft.sha256)
    assert at(11).asked == []


def test_a_body_that_returns_after_an_error_page_makes_its_draft_final(
    lake: Lake, endpoint: Endpoint
) -> None:
    def at(number: int) -> Validators | None:
        moment = dt.datetime(2026, 1, number, 4, 30, tzinfo=dt.UTC)
        fetch(lake, endpoint, first=day(4), last=day(4), now=lambda: moment, refresh_days=99)
        return endpoint.asked[-1][1]

    endpoint.gives(day(4), b"A", etag='"a"')
    at(1)
    endpoint.fails(day(4), body=b"broken")
    at(2)
    endpoint.gives(day(4), b"A", etag='"a"')
    assert at(10) is None, "after an error page no validators are sent"
    seen = RawArchive(lake, "pips").of(day(4))
    assert [(one.is_draft, one.fault_rule) for one in seen] == [
        (True, None),
        (True, "http-status"),
        (False, None),
    ]
    assert seen[2].sha256 == seen[0].sha256


def test_validators_are_those_of_the_last_body_of_the_same_source(
    lake: Lake, endpoint: Endpoint, now: Now, tmp_path: Path
) -> None:
    def ask() -> Validators | None:
        fetch(lake, endpoint, first=day(14), last=day(14), now=now)
        return endpoint.asked[-1][1]

    endpoint.gives(day(14), b"A", etag='"a"')
    assert ask() is None
    told = ask()
    assert told is not None
    assert told.etag == '"a"'
    (tmp_path / "2026-01-14.json").write_bytes(b"B")
    fetch(lake, FolderSource(tmp_path), now=now)
    assert ask() is None


def test_one_failing_date_does_not_stop_the_others(
    lake: Lake, endpoint: Endpoint, now: Now
) -> None:
    for number in range(1, 6):
        endpoint.gives(day(number), b"x")
    endpoint.fails(day(2))
    endpoint.fails(day(3), body=b"<h1>500</h1>")
    endpoint.fails(day(4), transient=False)
    report = fetch(lake, endpoint, first=day(1), last=day(5), now=now)
    assert report.new == [day(1), day(5)]
    assert [(f.date, f.transient) for f in report.failed] == [
        (day(2), True),
        (day(3), True),
        (day(4), False),
    ]
    # A failure that came with a body is in quarantine, with the body kept.
    normalise(lake)
    rows = lake.read_table("quarantine", QUARANTINE).to_pylist()
    assert [row["date"] for row in rows if row["rule"] == "http-status"] == [day(3)]
    (sighting,) = RawArchive(lake, "pips").of(day(3))
    assert lake.read_bytes(sighting.body_path) == b"<h1>500</h1>"


def test_a_source_that_keeps_failing_is_not_asked_again_and_every_date_reported(
    lake: Lake, endpoint: Endpoint, now: Now
) -> None:
    for number in range(1, 15):
        endpoint.fails(day(number))
    report = fetch(lake, endpoint, first=day(1), last=day(14), now=now)
    assert len(endpoint.asked) == GIVE_UP_AFTER_FAILURES
    assert [f.date for f in report.failed] == [day(n) for n in range(1, 15)]
    assert {f.rule for f in report.failed[GIVE_UP_AFTER_FAILURES:]} == {"not-asked"}
    assert all(failure.transient for failure in report.failed)


@pytest.mark.parametrize("kind", [AnswerKind.BODY, AnswerKind.ABSENT, AnswerKind.FAILED])
def test_consecutive_failures_are_counted(
    lake: Lake, endpoint: Endpoint, now: Now, kind: AnswerKind
) -> None:
    between = GIVE_UP_AFTER_FAILURES
    for number in range(1, 2 * between + 2):
        endpoint.fails(day(number))
    # Any answer ends the row; so does a final refusal, which concerns only its date.
    if kind is AnswerKind.BODY:
        endpoint.gives(day(between), b"{}")
    elif kind is AnswerKind.ABSENT:
        del endpoint.answers[day(between)]
    else:
        endpoint.fails(day(between), transient=False)
    report = fetch(lake, endpoint, first=day(1), last=day(2 * between + 1), now=now)
    assert len(endpoint.asked) == 2 * between, "the row begins again behind that answer"
    assert [f.date for f in report.failed if f.rule == NOT_ASKED] == [day(2 * between + 1)]


def test_a_source_that_requests_a_long_pause_is_skipped(
    lake: Lake, endpoint: Endpoint, now: Now
) -> None:
    endpoint.fails(day(1))
    endpoint.answers[day(1)] = replace(endpoint.answers[day(1)], source_down=True)
    report = fetch(lake, endpoint, first=day(1), last=day(3), now=now)
    assert len(endpoint.asked) == 1
    assert len(report.failed) == 3


def test_a_failing_lake_stops_the_fetch(
    lake: Lake, endpoint: Endpoint, now: Now, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise TransientError("disk full")

    endpoint.gives(day(1), b"x")
    monkeypatch.setattr(Lake, "write_bytes", full)
    with pytest.raises(TransientError, match="disk full"):
        fetch(lake, endpoint, first=day(1), last=day(1), now=now)


@pytest.mark.parametrize(
    ("asked", "rules", "failed"),
    [
        (0, [], False),
        (2, ["timeout"], False),
        (2, ["timeout", "timeout"], True),
        (2, ["timeout", "timeout", NOT_ASKED], True),
        (2, ["timeout", NOT_ASKED], False),
    ],
)
def test_a_source_fails_if_every_date_does(asked: int, rules: list[str], failed: bool) -> None:
    report = FetchReport(source="x", asked=[day(number + 1) for number in range(asked)])
    report.failed = [
        FetchFailure(date=day(number), url="", rule=rule, message="", transient=True)
        for number, rule in enumerate(rules, start=1)
    ]
    assert report.source_failed is failed

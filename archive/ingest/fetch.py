"""Fetch payloads into the lake's raw archive: new ones are stored, everything is reported."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.games import reader
from nightgrid.archive.ingest.editions import quarantine_path
from nightgrid.archive.ingest.raw import RawArchive, Sighting
from nightgrid.archive.lake.schemas import QUARANTINE
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.sources import Answer, AnswerKind, Source, Validators
from nightgrid.solvers.registry import DEFAULT_GAME

REFRESH_DAYS = 14
"""Days for which known payloads are requested again, because endpoints are mutable."""
GIVE_UP_AFTER_FAILURES = 5
"""Consecutive transient failures after which the source is skipped for the rest of the run."""
NOT_ASKED = "not-asked"
"""Rule of dates skipped because the source had been given up."""


class FetchFailure(NamedTuple):
    """A date that could not be fetched."""

    date: dt.date
    url: str
    rule: str
    message: str
    transient: bool


@dataclass(slots=True, kw_only=True)
class FetchReport:
    """The outcome of one fetch, date by date."""

    source: str
    asked: list[dt.date] = field(default_factory=list)
    """Dates that were requested."""
    known: int = 0
    """Dates of the range that were skipped, because they are known and settled."""
    new: list[dt.date] = field(default_factory=list)
    """Dates whose payload differs from the last one."""
    unchanged: list[dt.date] = field(default_factory=list)
    absent: list[dt.date] = field(default_factory=list)
    failed: list[FetchFailure] = field(default_factory=list)

    @property
    def source_failed(self) -> bool:
        """Return whether dates were requested and all of them failed."""
        refused = sum(failure.rule != NOT_ASKED for failure in self.failed)
        return bool(self.asked) and refused == len(self.asked)


def fetch(
    lake: Lake,
    source: Source,
    *,
    game: str = DEFAULT_GAME,
    first: dt.date | None = None,
    last: dt.date | None = None,
    refresh_days: int = REFRESH_DAYS,
    now: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
) -> FetchReport:
    """Request the dates of a range from a source and store every payload that is new for its date.

    By default the range starts with the first published puzzle and ends today; a folder has its own
    dates. Known dates are requested again if the source is local, if they lie within the last
    `refresh_days` or in the future, or if their last payload is in quarantine or was a draft: a
    payload seen before its date may differ from what was published.

    Raises only the lake's TransientError and PermanentError; failures of the source are reported.
    """
    lake.sweep_staging()
    raw = RawArchive(lake, game)
    report = FetchReport(source=source.name)
    today = now().date()
    if not source.local:
        first, last = first or reader(game).FIRST_DATE, last or today
    latest = raw.latest()
    unsettled = _in_quarantine(lake, game, latest) | _drafts(latest)
    # A local source is read again for known and settled dates too.
    settled = set() if source.local else {*latest.column("date").to_pylist(), *raw.absent}
    received = _received(latest)
    failures_in_a_row = 0
    for date in source.dates(first, last):
        seen = date in settled
        recent = date > today - dt.timedelta(days=refresh_days)
        if seen and not (recent or date in unsettled):
            report.known += 1
            continue
        if failures_in_a_row >= GIVE_UP_AFTER_FAILURES:
            message = "not asked for: the source failed too often before"
            report.failed.append(FetchFailure(date, "", NOT_ASKED, message, transient=True))
            continue
        report.asked.append(date)
        url, validators = received.get(date, ("", None))
        # "Unchanged" from one source says nothing about payloads from another one.
        if url != source.url(date) or date in unsettled:
            validators = None
        # Taken before the read, so that any later change of the file is younger.
        at = now()
        answer = source.fetch(date, validators)
        _store(raw, date, answer, at, report)
        if answer.source_down:
            failures_in_a_row = GIVE_UP_AFTER_FAILURES
        elif answer.kind == AnswerKind.FAILED and answer.transient:
            failures_in_a_row += 1
        else:
            failures_in_a_row = 0
    return report


def _store(
    raw: RawArchive, date: dt.date, answer: Answer, at: dt.datetime, report: FetchReport
) -> None:
    failed = answer.kind == AnswerKind.FAILED
    if failed:
        why = (answer.url, answer.rule, answer.message, answer.transient)
        report.failed.append(FetchFailure(date, *why))
    if answer.kind == AnswerKind.ABSENT:
        report.absent.append(date)
        if not raw.of(date):
            raw.store_absent(date, answer.url, at, answer.http_status)
    if answer.kind == AnswerKind.UNCHANGED:
        report.unchanged.append(date)
    if answer.body is None:
        return
    stored = raw.store(
        answer.body,
        Sighting(
            game=raw.game,
            date=date,
            url=answer.url,
            fetched_at=at,
            http_status=answer.http_status,
            etag=answer.etag,
            last_modified=answer.last_modified,
            fault_rule=answer.rule if failed else None,
            fault_message=answer.message if failed else None,
            final_url=answer.final_url,
        ),
    )
    if not failed:
        (report.unchanged if stored is None else report.new).append(date)


def _received(latest: pa.Table) -> dict[dt.date, tuple[str, Validators]]:
    """Return the URL and the validators of each date's last payload."""
    sound = latest.filter(pc.is_null(latest.column("fault_rule")))
    names = ("etag", "last_modified", "body_bytes", "fetched_at")
    rows = sound.select(["date", "url", *names]).to_pylist()
    return {
        row["date"]: (row["url"], Validators(**{name: row[name] for name in names})) for row in rows
    }


def _in_quarantine(lake: Lake, game: str, latest: pa.Table) -> set[dt.date]:
    """Return the dates whose last body is not a payload or broke a rule."""
    table = lake.read_table(quarantine_path(game), QUARANTINE, ["date", "raw_sha256"])
    broken = set(zip(*(table.column(name).to_pylist() for name in table.column_names), strict=True))
    faulty = pc.is_in(latest.column("sha256"), value_set=table.column("raw_sha256"))
    found = latest.filter(pc.or_(faulty, pc.is_valid(latest.column("fault_rule"))))
    names = ("date", "sha256", "fault_rule")
    rows = zip(*(found.column(name).to_pylist() for name in names), strict=True)
    return {date for date, sha256, rule in rows if rule is not None or (date, sha256) in broken}


def _drafts(latest: pa.Table) -> set[dt.date]:
    """Return the dates whose last body was seen before the date, in UTC."""
    dates = latest.column("date")
    return set(dates.filter(pc.less(_day_of(latest.column("fetched_at")), dates)).to_pylist())


def _day_of(times: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.cast(pc.cast(times, pa.timestamp("us")), pa.date32())

"""One page over HTTP with a payload: the page is requested once and names its date."""

from __future__ import annotations

import datetime as dt

from nightgrid.archive.payloads.envelopes import date_told
from nightgrid.archive.sources import Answer, Validators
from nightgrid.archive.sources.web import HttpSource


class PageSource(HttpSource):
    """One page, requested once; its payload names its date.

    The date changes hours after midnight in UTC, and not at the same hour all year.
    """

    _answer: Answer | None = None

    def dates(self, first: dt.date | None, last: dt.date | None) -> list[dt.date]:
        """Request the page and return its date; today in UTC if it names none."""
        today = dt.datetime.now(dt.UTC).date()
        self._answer = super().fetch(today, None)
        date = date_told(self._answer.body or b"") or today
        inside = (first is None or first <= date) and (last is None or date <= last)
        return [date] if inside else []

    def url(self, date: dt.date) -> str:  # noqa: ARG002 - the page is the same every day
        """Return the URL of the page."""
        return self._base

    def fetch(self, date: dt.date, validators: Validators | None) -> Answer:
        """Return the page that `dates` has requested, or request it now."""
        return self._answer or super().fetch(date, validators)

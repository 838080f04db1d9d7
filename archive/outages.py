"""Outages: report a source or a server that does not answer, while it is being retried.

The waiting code need not know its listener: a command shows outages (`notifying`), a worker does
not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """A source or server that does not answer."""

    what: str
    """Its name for people, without a password."""
    why: str
    until_s: float | None
    """Deadline for giving up, in seconds of the monotonic clock; None: it is not known."""


class Listener(Protocol):
    """Shows outages. Called from several threads."""

    def begin(self, outage: Outage) -> None:
        """Show a new or continuing outage."""

    def end(self, what: str, *, answers: bool) -> None:
        """Remove an outage, if shown: its source answers, or is given up."""


_listeners: tuple[Listener, ...] = ()


@contextmanager
def notifying(listener: Listener) -> Iterator[None]:
    """Notify a listener of outages while the body runs."""
    global _listeners
    before, _listeners = _listeners, (*_listeners, listener)
    try:
        yield
    finally:
        _listeners = before


def report_outage(what: str, why: object, left_s: float | None) -> None:
    """Report that something does not answer and is retried for `left_s`, if known."""
    until_s = None if left_s is None else time.monotonic() + left_s
    # Some libraries end messages with a full stop; here they are part of a sentence.
    text = " ".join(str(why).split()).rstrip(".")
    for listener in _listeners:
        listener.begin(Outage(what=what, why=text, until_s=until_s))


def end_outage(what: str, *, answers: bool = True) -> None:
    """Report that something answers, or that it is given up."""
    for listener in _listeners:
        listener.end(what, answers=answers)


@contextmanager
def closing_outage(what: str) -> Iterator[None]:
    """Report an outage as given up when the body ends, unless it has ended."""
    try:
        yield
    finally:
        end_outage(what, answers=False)

"""Tell of a source or a server that does not answer, while it is tried again.

The code that waits need not know which listener there is: a command shows outages (`told_to`), a
worker does not.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

NOTICE_S = 4.0
"""A request that has no answer for this long is told of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """What does not answer."""

    what: str
    """What a person calls it, without a password."""
    why: str
    until_s: float | None
    """When it is given up, in monotonic seconds; None: never."""


class Listener(Protocol):
    """Shows outages. Called from several threads."""

    def begin(self, outage: Outage) -> None:
        """Show an outage, or one that goes on."""

    def end(self, what: str, *, answers: bool) -> None:
        """Take an outage away, if it was shown: what was waited for answers, or is given up."""


_listeners: tuple[Listener, ...] = ()


@contextmanager
def told_to(listener: Listener) -> Iterator[None]:
    """Let a listener know of outages while the body runs."""
    global _listeners
    before, _listeners = _listeners, (*_listeners, listener)
    try:
        yield
    finally:
        _listeners = before


def tell(what: str, why: object, left_s: float | None) -> None:
    """Say that something does not answer, and how long it is tried again; None: for ever."""
    until_s = None if left_s is None else time.monotonic() + left_s
    text = " ".join(str(why).split())
    for listener in _listeners:
        listener.begin(Outage(what=what, why=text, until_s=until_s))


def over(what: str, *, answers: bool = True) -> None:
    """Say that something answers, or that it is given up."""
    for listener in _listeners:
        listener.end(what, answers=answers)


@contextmanager
def closing_outage(what: str) -> Iterator[None]:
    """Say that an outage is given up when the body ends, unless it was over."""
    try:
        yield
    finally:
        over(what, answers=False)


@contextmanager
def told_when_slow(what: str, left_s: float) -> Iterator[None]:
    """Tell of a request that is not answered within NOTICE_S; `left_s` as the body begins."""
    if not _listeners:
        yield
        return
    timer = threading.Timer(
        NOTICE_S, tell, (what, f"no answer for {NOTICE_S:g} s", left_s - NOTICE_S)
    )
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()

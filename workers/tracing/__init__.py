"""Traces: how long each part of a piece of work took, across processes. Off unless it is begun.

One trace goes from the HTTP request through the message to the kernel's call and the filing of the
row. Without NIGHTGRID_TRACE_URL nothing of OpenTelemetry is loaded, and a span is one comparison.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from nightgrid.solvers.errors import PermanentError


class Tracing(Protocol):
    """What begins spans and carries a trace over to other processes."""

    provider: Any
    """The provider of spans, as OpenTelemetry's libraries take it."""

    def span(self, name: str, attributes: Mapping[str, Any]) -> AbstractContextManager[Any]:
        """Begin a part of the trace that is under way, or a trace."""

    def continued(
        self, header: object, name: str, attributes: Mapping[str, Any]
    ) -> AbstractContextManager[Any]:
        """Begin a part of the trace that a header names."""

    def name(self, name: str, attributes: Mapping[str, Any]) -> None:
        """Name the part that is under way anew, and say more of it."""

    def header(self) -> dict[str, str]:
        """Name the trace that is under way; empty without one."""

    def flush(self) -> None:
        """Send what is not sent yet."""


_OFF: AbstractContextManager[None] = nullcontext()
_tracing: Tracing | None = None


def span(name: str, **attributes: str | float | None) -> AbstractContextManager[Any]:
    """Measure a `with` block as part of the trace that is under way; without traces do nothing.

    Attributes that are None are left out.
    """
    if _tracing is None:
        return _OFF
    return _tracing.span(name, _given(attributes))


def continued(
    header: object, name: str, **attributes: str | float | None
) -> AbstractContextManager[Any]:
    """Measure a `with` block as part of the trace that a header from `trace_header` names."""
    if _tracing is None:
        return _OFF
    return _tracing.continued(header, name, _given(attributes))


def name_span(name: str, attributes: Mapping[str, str]) -> None:
    """Name the part of a trace that is under way anew, and say more of it; without traces nothing.

    For a part that another library began, before it was known what it is.
    """
    if _tracing is not None:
        _tracing.name(name, attributes)


def trace_header() -> dict[str, str]:
    """Name the trace that is under way, for another process; empty without one."""
    return {} if _tracing is None else _tracing.header()


def flush_traces() -> None:
    """Send what is not sent yet, before this process ends without cleaning up."""
    if _tracing is not None:
        _tracing.flush()


def current_tracing() -> Tracing | None:
    """Tell what traces in this process."""
    return _tracing


def begin_tracing(url: str | None, role: str) -> None:
    """Begin to trace in this process, if a collector is named; `role` names the process there.

    `url` is that of an OTLP collector over HTTP, such as http://127.0.0.1:4318. To be called in
    each process after it was forked. Raises PermanentError where the extra `trace` is not
    installed.
    """
    if not url:
        return
    try:
        # By its name: type checkers need not have what it imports.
        exporting = importlib.import_module("nightgrid.workers.tracing.exporting")
    except ImportError as error:
        raise PermanentError(
            f"NIGHTGRID_TRACE_URL is set and {error.name} is not installed; expected "
            "nightgrid[trace], or no NIGHTGRID_TRACE_URL"
        ) from error
    use_tracing(exporting.exporting_to(url, role))


def use_tracing(tracing: Tracing | None) -> None:
    """Trace in this process; None ends that."""
    global _tracing
    _tracing = tracing


def _given(attributes: Mapping[str, str | float | None]) -> dict[str, str | float]:
    return {name: value for name, value in attributes.items() if value is not None}

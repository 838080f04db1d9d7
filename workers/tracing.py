"""Traces by OpenTelemetry: how long each step of a job took, across processes.

One trace follows a job from the HTTP request through the message to the kernel and the stored row.
Spans of requests are FastAPI's own; those of tasks and Redis commands come from OpenTelemetry's
instrumentations. Without NIGHTGRID_TRACE_URL OpenTelemetry is never imported.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib.metadata import version
from typing import Any

from nightgrid.solvers.errors import PermanentError

SERVICE = "nightgrid"
SEND_EVERY_MS = 1000
SEND_S = 5.0
"""Timeout of an export; spans that miss it are lost."""
FLUSH_MS = 2000
_OFF: AbstractContextManager[None] = nullcontext()
_tracer: Any = None


def begin_tracing(url: str | None, role: str) -> None:
    """Start tracing in this process if a collector is named; `role` names the process there.

    `url` is that of an OTLP collector over HTTP, such as http://127.0.0.1:4318. Call it
    after a fork: a thread sends the spans. Raises PermanentError without the extra `trace`.
    """
    if not url:
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        about = {
            "service.name": SERVICE,
            "service.version": version(SERVICE),
            "service.instance.id": f"{role}-{os.getpid()}",
            "nightgrid.role": role,
        }
        provider = TracerProvider(resource=Resource.create(about), sampler=_sampler())
        exporter = OTLPSpanExporter(endpoint=f"{url.rstrip('/')}/v1/traces", timeout=SEND_S)
        provider.add_span_processor(
            BatchSpanProcessor(exporter, schedule_delay_millis=SEND_EVERY_MS)
        )
        use_provider(provider, tasks=role == "worker")
    except ImportError as error:
        raise PermanentError(
            f"NIGHTGRID_TRACE_URL is set and {error.name} is not installed; expected "
            "nightgrid[trace], or no NIGHTGRID_TRACE_URL"
        ) from error


def _sampler() -> Any:
    """Return a sampler that skips Redis commands outside of any request or task."""
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, ParentBased, Sampler
    from opentelemetry.trace import SpanKind

    class Roots(Sampler):
        def should_sample(
            self,
            parent_context: Any,
            trace_id: int,
            name: str,
            kind: Any = None,
            *rest: Any,
            **named: Any,
        ) -> Any:
            chosen = ALWAYS_OFF if kind is SpanKind.CLIENT else ALWAYS_ON
            return chosen.should_sample(parent_context, trace_id, name, kind, *rest, **named)

        def get_description(self) -> str:
            return "all but commands by themselves"

    return ParentBased(Roots())


def use_provider(provider: Any, *, tasks: bool = False) -> None:
    """Use this provider for the process; `tasks` traces Celery's tasks too."""
    global _tracer
    from opentelemetry import trace
    from opentelemetry.instrumentation.celery import CeleryInstrumentor
    from opentelemetry.instrumentation.redis import RedisInstrumentor

    trace.set_tracer_provider(provider)
    _tracer = trace.get_tracer(SERVICE, version(SERVICE))
    RedisInstrumentor().instrument()
    if tasks:
        # Only in workers: the instrumentation never ends the span of a message sent by name.
        CeleryInstrumentor().instrument()  # type: ignore[no-untyped-call]


def is_tracing() -> bool:
    """Return whether this process traces."""
    return _tracer is not None


def span(name: str, **attributes: str | float | None) -> AbstractContextManager[Any]:
    """Record a `with` block as a span of the current trace; do nothing if tracing is off.

    Attributes that are None are left out.
    """
    if _tracer is None:
        return _OFF
    told = {key: value for key, value in attributes.items() if value is not None}
    context: AbstractContextManager[Any] = _tracer.start_as_current_span(name, attributes=told)
    return context


def describe_span(name: str | None = None, **attributes: str | None) -> None:
    """Rename the current span, which a library started, and add attributes that are not None."""
    if _tracer is not None:
        from opentelemetry.trace import get_current_span

        current = get_current_span()
        if name:
            current.update_name(name)
        current.set_attributes({key: value for key, value in attributes.items() if value})


def trace_header() -> dict[str, str]:
    """Return the headers that carry the current trace to another process; empty without one."""
    header: dict[str, str] = {}
    if _tracer is not None:
        from opentelemetry.propagate import inject

        inject(header)
    return header


def continued(
    header: Mapping[str, str], name: str, **attributes: str | float | None
) -> AbstractContextManager[Any]:
    """Record a `with` block as a span of the trace in a header from `trace_header`."""
    if _tracer is None:
        return _OFF
    from opentelemetry.propagate import extract

    context: AbstractContextManager[Any] = _tracer.start_as_current_span(
        name, context=extract(header), attributes=attributes
    )
    return context


def flush_traces() -> None:
    """Send pending spans; call it before this process exits without cleanup."""
    if _tracer is not None:
        from opentelemetry import trace

        provider: Any = trace.get_tracer_provider()
        provider.force_flush(FLUSH_MS)

"""Send traces to a collector by OpenTelemetry, over OTLP and HTTP; needs the extra `trace`.

The provider is not registered for the whole process: libraries that trace send nothing here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from importlib.metadata import version
from typing import Any

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

SERVICE = "nightgrid"
SEND_EVERY_MS = 1000
SEND_S = 5.0
"""A collector that does not answer for so long costs the spans that were meant for it."""
FLUSH_MS = 2000
_CARRIER = TraceContextTextMapPropagator()


class OpenTelemetry:
    """Traces by a provider of OpenTelemetry."""

    def __init__(self, provider: TracerProvider) -> None:
        self.provider = provider
        self._tracer = provider.get_tracer(SERVICE, version(SERVICE))

    def span(self, name: str, attributes: Mapping[str, Any]) -> AbstractContextManager[Any]:
        """Begin a part of the trace that is under way, or a trace."""
        return self._tracer.start_as_current_span(name, attributes=dict(attributes))

    def continued(
        self, header: object, name: str, attributes: Mapping[str, Any]
    ) -> AbstractContextManager[Any]:
        """Begin a part of the trace that a header names, or a new trace without one."""
        told = header if isinstance(header, Mapping) else {}
        carrier = {str(key): value for key, value in told.items() if isinstance(value, str)}
        return self._tracer.start_as_current_span(
            name,
            context=_CARRIER.extract(carrier),
            kind=SpanKind.CONSUMER,
            attributes=dict(attributes),
        )

    def name(self, name: str, attributes: Mapping[str, Any]) -> None:
        """Name the part that is under way anew, and say more of it."""
        span = get_current_span()
        span.update_name(name)
        span.set_attributes(dict(attributes))

    def header(self) -> dict[str, str]:
        """Name the trace that is under way; empty without one."""
        carrier: dict[str, str] = {}
        _CARRIER.inject(carrier)
        return carrier

    def flush(self) -> None:
        """Send what is not sent yet, in a few seconds or not at all."""
        self.provider.force_flush(FLUSH_MS)


def exporting_to(url: str, role: str) -> OpenTelemetry:
    """Trace in this process for the collector at a URL."""
    about = {
        "service.name": SERVICE,
        "service.version": version(SERVICE),
        "service.instance.id": f"{role}-{os.getpid()}",
        "nightgrid.role": role,
    }
    provider = TracerProvider(resource=Resource.create(about))
    exporter = OTLPSpanExporter(endpoint=f"{url.rstrip('/')}/v1/traces", timeout=SEND_S)
    provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=SEND_EVERY_MS))
    return OpenTelemetry(provider)

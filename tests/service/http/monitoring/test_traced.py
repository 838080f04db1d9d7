"""One trace goes from the HTTP request through the message to the kernel and the stored row."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from opentelemetry.instrumentation.redis import RedisInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind
from starlette.testclient import TestClient

from nightgrid.solvers.errors import PermanentError
from nightgrid.workers import tracing

EXPORTER = InMemorySpanExporter()
PROVIDER = TracerProvider(sampler=tracing._sampler())
"""OpenTelemetry takes one provider a process."""
PROVIDER.add_span_processor(SimpleSpanProcessor(EXPORTER))


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Trace in this process, into memory."""
    monkeypatch.setattr(tracing, "_tracer", None)
    trace._set_tracer_provider(PROVIDER, log=False)
    tracing.use_provider(PROVIDER)
    EXPORTER.clear()
    yield EXPORTER
    CeleryInstrumentor().uninstrument()
    RedisInstrumentor().uninstrument()


def test_a_question_is_traced_by_its_route_however_it_is_answered(
    sample_lake: Path, open_client: Callable[..., TestClient], spans: InMemorySpanExporter
):
    client = open_client(sample_lake)
    body = {"id": "pips/2026-01-01/easy", "ask": "count"}
    assert [client.post("/v1/solves", json=body).status_code for _ in range(2)] == [200, 200]
    asked = [span for span in spans.get_finished_spans() if span.kind is SpanKind.SERVER]
    assert [span.name for span in asked] == ["POST /v1/solves"] * 2
    assert [(span.attributes or {})["http.route"] for span in asked] == ["/v1/solves"] * 2


def test_the_page_and_probes_are_not_traced(
    sample_lake: Path, open_client: Callable[..., TestClient], spans: InMemorySpanExporter
):
    client = open_client(sample_lake)
    for path in ("/", "/healthz", "/metrics"):
        client.get(path)
    assert spans.get_finished_spans() == ()
    client.get("/v1/games")
    assert [span.name for span in spans.get_finished_spans()] == ["GET /v1/games"]


def test_without_a_collector_nothing_is_traced_or_loaded():
    assert tracing.span("x") is tracing.span("y")
    assert tracing.trace_header() == {}
    code = (
        "import sys; from nightgrid.workers import tracing; tracing.begin_tracing(None, 'x')\n"
        "with tracing.span('x', rows=1), tracing.continued({}, 'y'): tracing.describe_span('z')\n"
        "assert not [m for m in sys.modules if m.startswith('opentelemetry')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    with pytest.raises(PermanentError, match=r"expected nightgrid\[trace\]"):
        tracing.begin_tracing("http://127.0.0.1:4318", "x")

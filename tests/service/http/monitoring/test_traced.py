"""One trace goes from the HTTP request through the message to the kernel and the filed row."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from celery.app.trace import trace_task
from opentelemetry import trace
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from opentelemetry.instrumentation.redis import RedisInstrumentor
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind
from starlette.testclient import TestClient

from nightgrid.solvers.errors import PermanentError
from nightgrid.workers import tracing
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.broker.queues import INTERACTIVE
from nightgrid.workers.celery_worker import tasks, this_worker
from nightgrid.workers.settings import Settings
from tests.service.http.monitoring.otlp_collector import collector
from tests.service.scenes import PAIR

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


def chain(found: dict[str, ReadableSpan], name: str) -> list[str]:
    """Name a span and those that it is a part of."""
    by_id = {span.context.span_id: span for span in found.values() if span.context}
    names, span = [], found.get(name)
    while span is not None:
        names.append(span.name)
        span = by_id.get(span.parent.span_id) if span.parent else None
    return names


def test_one_trace_goes_from_the_request_to_the_filed_row(
    tmp_path: Path,
    open_client: Callable[..., TestClient],
    redis_url: str,
    spans: InMemorySpanExporter,
    monkeypatch: pytest.MonkeyPatch,
):
    (tmp_path / "lake").mkdir()
    client = open_client(tmp_path / "lake", redis_url=redis_url)
    given = "0af7651916cd43dd8448eb211c80319c"
    headers = {"traceparent": f"00-{given}-b7ad6b7169203331-01"}
    body = {"puzzle": PAIR, "game": "pips", "ask": "count"}
    assert client.post("/v1/solves", json=body, headers=headers).status_code == 202
    settings = Settings(lake=str(tmp_path / "lake"), redis_url=redis_url)  # type: ignore[arg-type]
    with connect(settings) as server:
        (text,) = server.lrange(f"{key_prefix(settings)}{INTERACTIVE}", 0, -1)
    message = json.loads(text)
    told = message["headers"]
    for module in (this_worker, tasks):
        monkeypatch.setattr(module, "SETTINGS", settings)
    monkeypatch.setattr(this_worker, "_open", {})
    # What a worker does with the message, in a process of its own as here.
    CeleryInstrumentor().instrument()
    task = tasks.app.tasks[told["task"]]
    ((argument,), _, _) = json.loads(_body(message))
    done = trace_task(task, told["id"], [argument], {}, request=told, app=tasks.app)
    assert done.retval["state"] == "done", done

    found = {span.name: span for span in spans.get_finished_spans()}
    assert {f"{span.context.trace_id:032x}" for span in found.values() if span.context} == {given}
    request = ["POST /v1/solves"]
    assert chain(found, "publish") == ["publish", *request]
    for name in ("kernel", "file"):
        assert chain(found, name) == [name, "run/nightgrid.solve_ondemand", "publish", *request]
    about = found["run/nightgrid.solve_ondemand"].attributes or {}
    assert about["job"] == argument["job_id"]
    assert (found["file"].attributes or {})["status"] == "solved"
    # The same again, by the route, and then as it was replied to, which no route sees.
    spans.clear()
    assert [client.post("/v1/solves", json=body).status_code for _ in range(2)] == [200, 200]
    asked = [span for span in spans.get_finished_spans() if span.kind is SpanKind.SERVER]
    assert [span.name for span in asked] == request * 2
    assert [(span.attributes or {})["http.route"] for span in asked] == ["/v1/solves"] * 2


def _body(message: dict[str, Any]) -> bytes:
    return base64.b64decode(message["body"])


def test_the_page_and_probes_are_no_traces(
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


def test_a_collector_gets_the_spans_and_who_sent_them():
    """Given a collector over HTTP, Then it has the spans as soon as they are flushed."""
    code = (
        "import sys; from nightgrid.workers.tracing import begin_tracing, flush_traces, span\n"
        "begin_tracing(sys.argv[1], 'worker')\n"
        "with span('kernel', game='pips', rows=3, nothing=None): pass\n"
        "flush_traces()"
    )
    with collector() as where:
        subprocess.run([sys.executable, "-c", code, where.url], check=True, timeout=60)
    ((sent,),) = (request.resource_spans for request in where.received)
    about = {each.key: each.value.string_value for each in sent.resource.attributes}
    assert (about["service.name"], about["nightgrid.role"]) == ("nightgrid", "worker")
    ((span,),) = (scope.spans for scope in sent.scope_spans)
    assert span.name == "kernel"
    assert {each.key for each in span.attributes} == {"game", "rows"}


def test_without_the_extra_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    with pytest.raises(PermanentError, match=r"expected nightgrid\[trace\]"):
        tracing.begin_tracing("http://127.0.0.1:4318", "x")

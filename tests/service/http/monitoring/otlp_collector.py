"""A collector of traces that keeps what it receives by OTLP over HTTP."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A span that a process has sent."""

    name: str
    trace: str
    id: str
    parent: str
    role: str
    process: str
    attributes: dict[str, str]


@dataclass(slots=True, kw_only=True)
class Collector:
    """Its address, and what it has received."""

    url: str
    received: list[ExportTraceServiceRequest] = field(default_factory=list)

    def spans(self) -> list[Span]:
        """List all spans, with the sender of each."""
        found = []
        for sent in (each for request in self.received[:] for each in request.resource_spans):
            about = {each.key: each.value.string_value for each in sent.resource.attributes}
            found += [
                Span(
                    name=span.name,
                    trace=span.trace_id.hex(),
                    id=span.span_id.hex(),
                    parent=span.parent_span_id.hex(),
                    role=about["nightgrid.role"],
                    process=about["service.instance.id"],
                    attributes={each.key: each.value.string_value for each in span.attributes},
                )
                for scope in sent.scope_spans
                for span in scope.spans
            ]
        return found


@contextmanager
def collector() -> Iterator[Collector]:
    """Listen on a port of this machine until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                data = gzip.decompress(data)
            assert self.path == "/v1/traces"
            made.received.append(ExportTraceServiceRequest.FromString(data))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made = Collector(url=f"http://127.0.0.1:{server.server_port}/")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield made
        finally:
            server.shutdown()

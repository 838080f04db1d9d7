"""An object store on loopback that speaks as S3, Google Cloud Storage or Azure do.

It keeps objects in memory and answers conditional uploads as the services document it: 412 on S3
and Google Cloud Storage, 409 on Azure. It checks no signature.
"""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from tests.loopback import LoopbackServer

META = {"s3": "x-amz-meta-", "gs": "x-goog-meta-", "az": "x-ms-meta-"}


@dataclass
class Seen:
    """A received request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class ObjectServer(LoopbackServer):
    """`service` is s3, gs or az; the bucket is called bucket."""

    service: str
    objects: dict[str, tuple[bytes, dict[str, str]]] = field(default_factory=dict)
    requests: list[Seen] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    """The outcomes of the next writes: an HTTP status instead of an answer, "lost" for one that is
    carried out but not answered, or "lost N" for one that is answered by N."""
    heeds: bool = True
    """Whether an existing file stays when it is created again."""
    page: bytes | None = None
    """A proxy's answer to every request, instead of the store's."""

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        super().__init__()

    def lake(self, options: str = "") -> str:
        account = "&account=account" if self.service == "az" else ""
        place = f"{self.url}/account" if self.service == "az" else self.url
        return f"{self.service}://bucket/lake?endpoint_override={place}{account}{options}"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        headers = {name.lower(): value for name, value in request.headers.items()}
        body = request.rfile.read(int(headers.get("content-length", 0)))
        parts = urlsplit(request.path)
        names = unquote(parts.path).removeprefix("/account").lstrip("/").split("/", 1)
        key = names[1] if len(names) > 1 else ""
        trouble = ""
        with self._lock:
            self.requests.append(Seen(request.command, request.path, headers, body))
            if request.command == "PUT" and self.troubles:
                trouble = self.troubles.pop(0)
            if self.page is not None:
                status, sent, told = 200, self.page, {"Content-Type": "text/html"}
            elif trouble.isdigit():
                status, sent, told = int(trouble), b"", {}
            elif names[0] != "bucket":
                code = "ContainerNotFound" if self.service == "az" else "NoSuchBucket"
                status, sent, told = 404, _error(code, "There is no such bucket."), {}
            elif request.command == "PUT":
                status, sent, told = self._put(key, headers, body)
            elif request.command == "DELETE":
                status, sent, told = self._delete(key), b"", {}
            elif request.command == "POST":
                status, (sent, told) = 202, self._batch(body)
            elif not key:
                query = parse_qs(parts.query)
                status, sent, told = 200, self._listing(query.get("prefix", [""])[0]), {}
            else:
                status, sent, told = self._get(key, headers)
        if trouble == "lost":
            request.connection.close()
            return
        if trouble.startswith("lost "):
            status, sent, told = int(trouble[5:]), b"", {}
        request.send_response(status)
        length = told.pop("Content-Length", str(len(sent)))
        for name, value in {**told, "Content-Length": length}.items():
            request.send_header(name, value)
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(sent)

    def _delete(self, key: str) -> int:
        found = self.objects.pop(key, None)
        return 404 if found is None and self.service != "s3" else 204

    def _batch(self, body: bytes) -> tuple[bytes, dict[str, str]]:
        """Answer a Blob Batch of Azure, of one deletion."""
        (path,) = re.findall(r"^DELETE /account/bucket/(\S+) HTTP", body.decode(), re.MULTILINE)
        status = {204: "202 Accepted", 404: "404 Not Found"}[self._delete(unquote(path))]
        missing = "x-ms-error-code: BlobNotFound\r\n" if status[:3] == "404" else ""
        text = (
            "--batch_1\r\nContent-Type: application/http\r\nContent-ID: 0\r\n\r\n"
            f"HTTP/1.1 {status}\r\n{missing}x-ms-request-id: 1\r\n\r\n\r\n--batch_1--"
        )
        return text.encode(), {"Content-Type": "multipart/mixed; boundary=batch_1"}

    def _put(
        self, key: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, bytes, dict[str, str]]:
        condition = ("x-goog-if-generation-match", "0") if self.service == "gs" else None
        name, value = condition or ("if-none-match", "*")
        if headers.get(name) == value and key in self.objects and self.heeds:
            if self.service == "az":
                return 409, _error("BlobAlreadyExists", "The specified blob already exists."), {}
            return 412, _error("PreconditionFailed", "A pre-condition did not hold."), {}
        meta = {n: v for n, v in headers.items() if n.startswith(META[self.service])}
        self.objects[key] = (body, meta)
        return 201 if self.service == "az" else 200, b"", self._about(body)

    def _get(self, key: str, headers: dict[str, str]) -> tuple[int, bytes, dict[str, str]]:
        if key not in self.objects:
            return 404, _error("NoSuchKey", "There is no such key."), {}
        body, meta = self.objects[key]
        told = {**self._about(body), **meta, "Content-Length": str(len(body))}
        span = headers.get("range") or headers.get("x-ms-range")
        if span is None:
            return 200, body, told
        first, last = span.removeprefix("bytes=").split("-")
        if not body or int(first) >= len(body):
            return 416, _error("InvalidRange", "The range is not satisfiable."), {}
        begin, end = int(first), min(int(last) + 1 if last else len(body), len(body))
        told["Content-Range"] = f"bytes {begin}-{end - 1}/{len(body)}"
        told["Content-Length"] = str(end - begin)
        return 206, body[begin:end], told

    def _about(self, body: bytes) -> dict[str, str]:
        told = {"ETag": f'"{hash(body):x}"', "Last-Modified": formatdate(time.time(), usegmt=True)}
        return told | ({"x-goog-generation": "1"} if self.service == "gs" else {})

    def _listing(self, prefix: str) -> bytes:
        found = sorted(name for name in self.objects if name.startswith(prefix))
        sizes = {name: len(self.objects[name][0]) for name in found}
        if self.service == "az":
            rows = "".join(
                f"<Blob><Name>{escape(name)}</Name><Properties><Last-Modified>"
                f"{formatdate(0, usegmt=True)}</Last-Modified><Content-Length>{size}"
                "</Content-Length><Content-Type>x</Content-Type><Etag>1</Etag></Properties></Blob>"
                for name, size in sizes.items()
            )
            text = f"<EnumerationResults><Blobs>{rows}</Blobs><NextMarker/></EnumerationResults>"
        else:
            rows = "".join(
                f"<Contents><Key>{escape(name)}</Key><Size>{size}</Size><ETag>1</ETag>"
                "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
                for name, size in sizes.items()
            )
            text = f"<ListBucketResult><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>"
        return f'<?xml version="1.0" encoding="utf-8"?>{text}'.encode()


def _error(code: str, message: str) -> bytes:
    return f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()

"""An object store that answers badly: a proxy before an S3 server, and faults of the chaos suite.

slow        every answer waits up to half a second
throttled   every third request is answered with 503 SlowDown, and not done
cut         of every sixth request the answer ends in its middle; what was asked for is done
late        listings are up to two seconds old
"""

from __future__ import annotations

import contextlib
import http.client
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa

from benchmarks.chaos import faults, runs
from benchmarks.chaos.processes.cluster import QUICK, cluster
from benchmarks.chaos.results import undisturbed
from benchmarks.chaos.runs import Aftermath, Scene
from benchmarks.instruments.processes import wait_for
from benchmarks.instruments.s3_server import s3_process
from benchmarks.tuned import tuned_settings
from nightgrid.archive.lake.storage import Lake

KINDS = ("slow", "throttled", "cut", "late")
SLOW_S = 0.5
THROTTLED_SHARE, CUT_SHARE = 1 / 3, 1 / 6
LATE_S = 2.0
BAD_S = 12.0
"""How long the store answers badly; a worker and the driver are killed meanwhile."""
BOARDS = 1_000
PAUSE = {"NIGHTGRID_CHAOS_PAUSE_S": "0.4"}
SLOW_DOWN = b"<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>"
HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length"})
"""Headers of one connection, which the proxy says again."""


class Proxy(ThreadingHTTPServer):
    """Passes requests on to an S3 server, and answers badly while it is told to."""

    daemon_threads = True

    def __init__(self, upstream: str, seed: int = 1) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        parts = urlsplit(upstream)
        self.upstream = parts.hostname or "", parts.port or 80
        self.kind: str | None = None
        self.struck: Counter[str] = Counter()
        """Answers that were bad, by kind."""
        self._random = random.Random(seed)
        self._listed: dict[str, tuple[float, tuple[int, list[tuple[str, str]], bytes]]] = {}
        self._lock = threading.Lock()

    def handle_error(self, *_: object) -> None:
        """Ignore clients that are killed."""

    @property
    def url(self) -> str:
        """Write where it is."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def draw(self, kind: str, share: float) -> bool:
        """Return whether an answer is to be bad in this way, and count it."""
        with self._lock:
            bad = self.kind == kind and self._random.random() < share
            self.struck[kind] += bad
            return bad

    def pause(self) -> float:
        """Draw how long an answer waits."""
        with self._lock:
            return self._random.uniform(0.0, SLOW_S)

    def old_listing(self, path: str) -> tuple[int, list[tuple[str, str]], bytes] | None:
        """Return an earlier listing where it is to be late."""
        at, answer = self._listed.get(path, (0.0, None))
        if self.kind != "late" or answer is None or time.monotonic() - at > LATE_S:
            return None
        with self._lock:
            self.struck["late"] += 1
        return answer

    def keep_listing(self, path: str, answer: tuple[int, list[tuple[str, str]], bytes]) -> None:
        """Remember a listing."""
        self._listed[path] = time.monotonic(), answer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Proxy

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        proxy = self.server
        if proxy.draw("throttled", THROTTLED_SHARE):
            self._reply(503, [("Content-Type", "application/xml")], SLOW_DOWN)
            return
        if proxy.draw("slow", 1.0):
            time.sleep(proxy.pause())
        is_listing = self.command == "GET" and "list-type=2" in self.path
        answer = proxy.old_listing(self.path) if is_listing else None
        if answer is None:
            answer = self._ask(body)
            if is_listing:
                proxy.keep_listing(self.path, answer)
        self._reply(*answer, cut=proxy.draw("cut", CUT_SHARE))

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _serve  # noqa: N815 - names of the library

    def _ask(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        connection = http.client.HTTPConnection(*self.server.upstream, timeout=60)
        try:
            headers = {
                name: value for name, value in self.headers.items() if name.lower() not in HOP
            }
            connection.request(self.command, self.path, body, headers)
            found = connection.getresponse()
            return found.status, found.getheaders(), found.read()
        finally:
            connection.close()

    def _reply(
        self, status: int, headers: list[tuple[str, str]], body: bytes, *, cut: bool = False
    ) -> None:
        self.send_response_only(status)
        length = str(len(body))
        for name, value in headers:
            if name.lower() == "content-length" and self.command == "HEAD":
                length = value
            elif name.lower() not in HOP:
                self.send_header(name, value)
        if status != http.client.NO_CONTENT:
            self.send_header("Content-Length", length)
        if cut:
            self.close_connection = True
            # Before the end of the head: an answer without a body is cut off, too.
            self._headers_buffer.pop()
            self.wfile.write(b"".join(self._headers_buffer))
            return
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@contextmanager
def bad_store(upstream: str, seed: int = 1) -> Iterator[Proxy]:
    """Run the proxy in a thread."""
    proxy = Proxy(upstream, seed)
    thread = threading.Thread(target=proxy.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.shutdown()
        thread.join()
        proxy.server_close()


def while_bad(proxy: Proxy, kind: str, sound: str) -> Callable[[Scene], None]:
    """Make a fault of bad answers, with a worker and the driver killed meanwhile.

    The trial itself looks at the lake by its `sound` address, not through the proxy.
    """

    def strike(scene: Scene) -> None:
        scene.lake = Lake.open(sound)
        proxy.kind = kind
        try:
            # A blow that hits no work proves nothing.
            with contextlib.suppress(TimeoutError):
                wait_for(lambda: scene.held() or scene.over(), "work in hand", BAD_S)
            faults.kill_worker(scene)
            faults.kill_driver(scene)
            with contextlib.suppress(TimeoutError):
                wait_for(scene.over, "the end", BAD_S)
        finally:
            proxy.kind = None
        if not proxy.struck[kind]:
            raise SystemExit(f"the store gave no {kind} answer: nothing is proven")

    return strike


def trial_of(kind: str) -> Callable[[Path, pa.Table, pa.Table, int], Aftermath]:
    """Make the trial of one kind of bad answers."""

    def trial(folder: Path, boards: pa.Table, _expected: pa.Table, seed: int) -> Aftermath:
        some = boards.slice(0, BOARDS)
        expected = undisturbed(tuned_settings(**{"lake": str(folder / "alone"), **QUICK}), some)
        with s3_process() as upstream, bad_store(upstream, seed) as proxy:
            lake, sound = (
                f"s3://bucket/lake?endpoint_override={url}" for url in (proxy.url, upstream)
            )
            with cluster(folder, environment=PAUSE, lake=lake) as made:
                fault = while_bad(proxy, kind, sound)
                return runs.run(made, some, fault, seed=seed, expected=expected, attempts_max=6)

    return trial


WHAT = {
    "slow": f"answers of S3 up to {SLOW_S:g} s late",
    "throttled": "every third answer of S3 is 503 SlowDown",
    "cut": "every sixth answer of S3 is cut off, what was asked for done",
    "late": f"listings of S3 up to {LATE_S:g} s old",
}
BAD_ANSWERS = {
    f"s3-{kind}": (f"{WHAT[kind]}; kill -9 of a worker and of the driver", trial_of(kind))
    for kind in KINDS
}

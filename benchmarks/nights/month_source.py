"""An HTTP archive on loopback that publishes day by day, and whose answers go wrong on purpose.

Which payload goes wrong on which nights, and how, is drawn from a seed before the first night.
Every fault is over before the last night, so that in the end each date has its true payload.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import random
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

KINDS = (
    "mutated", "missing", "null", "slow", "stalled", "cut off", "truncated", "swapped", "replaced",
    "refused",
)  # fmt: skip
"""Ways in which an answer goes wrong:
mutated: a character of a value is another one; missing: 404; null: a member is null;
slow: the body comes in two halves; stalled: the first request of the night is never answered;
cut off: the connection ends in the body; truncated: the body ends early, and its length says so;
swapped: another date's payload as it is; replaced: another date's boards under this date;
refused: 500."""
DRAFT = "draft"
"""Another date's boards, seen the day before: a draft that is replaced when its date has come."""
FAULT_SHARE = 0.5
DRAFT_SHARE = 0.2
NIGHTS_LATE_MAX = 5
NIGHTS_LONG_MAX = 3
SLOW_S = 0.1
STALL_S = 3.0

Payloads = Mapping[str, Mapping[dt.date, bytes]]
"""The true payloads: game -> date -> body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong with the payload of a date, and in which nights: first and last."""

    kind: str
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """An answer with a body that looked whole."""

    night: int
    game: str
    date: dt.date
    sha256: str


def draw_faults(payloads: Payloads, nights: int, seed: int) -> dict[tuple[str, dt.date], Fault]:
    """Draw the faults of a month whose night i finds the i-th date, and the next one as a draft."""
    random_ = random.Random(seed)
    found = {}
    kinds = list(KINDS)
    random_.shuffle(kinds)
    for game, bodies in payloads.items():
        for day, date in enumerate(sorted(bodies)):
            if random_.random() < DRAFT_SHARE and day:
                found[game, date] = Fault(kind=DRAFT, first=day - 1, last=day - 1)
            elif random_.random() < FAULT_SHARE:
                first = day + random_.randrange(NIGHTS_LATE_MAX)
                last = min(first + random_.randrange(NIGHTS_LONG_MAX), nights - 2)
                # One after the other, so that a short month has each of them as well.
                kinds.append(kind := kinds.pop(0))
                if first <= last:
                    found[game, date] = Fault(kind=kind, first=first, last=last)
    return found


@dataclass(slots=True, kw_only=True)
class Source:
    """The server: `with Source(...)` runs it in a thread of this process."""

    payloads: Payloads
    others: Payloads
    """Payloads of other dates, whose boards are shown in the place of the true ones."""
    faults: Mapping[tuple[str, dt.date], Fault]
    night: int = 0
    """The night it is; every date is there in the last one."""
    served: list[Served] = field(default_factory=list)
    struck: dict[str, set[tuple[str, dt.date]]] = field(default_factory=dict)
    """Faults that were met: kind -> payloads."""
    url: str = ""
    _stalled: set[tuple[int, str, dt.date]] = field(default_factory=set)
    _days: Sequence[dt.date] = ()
    _server: Any = None
    _thread: Any = None

    def __enter__(self) -> Self:
        """Serve on a free port of loopback."""
        outer = self
        self._days = sorted({date for bodies in self.payloads.values() for date in bodies})

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def today(self) -> dt.date:
        """Tell the date of the night."""
        return self._days[self.night]

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer a request for GAME/DATE.json as it is tonight."""
        game, _, name = request.path.strip("/").partition("/")
        try:
            date = dt.date.fromisoformat(name.removesuffix(".json"))
        except ValueError:
            date = dt.date.min
        body = self.payloads.get(game, {}).get(date)
        if body is None or date > self.today() + dt.timedelta(days=1):
            _answer(request, 404, b"")
            return
        fault = self.faults.get((game, date))
        if fault is None or not fault.first <= self.night <= fault.last:
            self._give(request, game, date, body)
            return
        self.struck.setdefault(fault.kind, set()).add((game, date))
        if fault.kind == "missing":
            _answer(request, 404, b"")
        elif fault.kind == "refused":
            _answer(request, 500, b"<html>out of order</html>")
        elif fault.kind == "stalled" and (self.night, game, date) not in self._stalled:
            self._stalled.add((self.night, game, date))
            time.sleep(STALL_S)
            request.close_connection = True
        elif fault.kind == "cut off":
            _answer(request, 200, body, cut=len(body) // 2)
        else:
            body = self.changed(fault.kind, game, date, body)
            self._give(request, game, date, body, slow=fault.kind == "slow")

    def changed(self, kind: str, game: str, date: dt.date, body: bytes) -> bytes:
        """Change a payload as a kind of fault does; the same change in every night."""
        random_ = random.Random(f"{kind} {game} {date}")
        if kind == "truncated":
            return body[: random_.randrange(1, len(body))]
        if kind in ("swapped", "replaced", DRAFT):
            other = random_.choice(sorted(self.others[game]))
            found = self.others[game][other]
            return found if kind == "swapped" else renamed(found, other, date)
        if kind == "null":
            value = json.loads(body)
            value[random_.choice([name for name in value if name != "printDate"])] = None
            return json.dumps(value).encode()
        if kind == "mutated":
            places = [i for i, byte in enumerate(body) if chr(byte).isalnum()]
            at = random_.choice(places)
            new = random_.choice([byte for byte in b"0123456ABCDE" if byte != body[at]])
            return body[:at] + bytes([new]) + body[at + 1 :]
        return body

    def _give(
        self,
        request: BaseHTTPRequestHandler,
        game: str,
        date: dt.date,
        body: bytes,
        *,
        slow: bool = False,
    ) -> None:
        sha256 = hashlib.sha256(body).hexdigest()
        etag = f'"{sha256[:16]}"'
        if request.headers.get("If-None-Match") == etag:
            _answer(request, 304, b"", etag=etag)
            return
        _answer(request, 200, body, etag=etag, pause_s=SLOW_S if slow else 0.0)
        self.served.append(Served(night=self.night, game=game, date=date, sha256=sha256))


def renamed(body: bytes, other: dt.date, date: dt.date) -> bytes:
    """Put a date in the place of another one wherever a payload names it."""
    return body.replace(str(other).encode(), str(date).encode())


def _answer(
    request: BaseHTTPRequestHandler,
    status: int,
    body: bytes,
    *,
    etag: str = "",
    cut: int | None = None,
    pause_s: float = 0.0,
) -> None:
    request.send_response(status)
    if etag:
        request.send_header("ETag", etag)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    half = len(body) // 2 if cut is None else cut
    try:
        request.wfile.write(body[:half])
        request.wfile.flush()
        time.sleep(pause_s)
        if cut is None:
            request.wfile.write(body[half:])
        else:
            request.close_connection = True
    except OSError:
        # The client went away: it was killed.
        request.close_connection = True

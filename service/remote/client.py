"""Requests to a nightgrid service: its problems become our errors, its key never shows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from nightgrid.archive.sources.proxies import named_proxy
from nightgrid.service.asking import COMMAND_LINE
from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.solvers.sentences import without_credentials

KEY_VARIABLE = "NIGHTGRID_API_KEY"
CONNECT_S = 10.0
READ_S = 90.0
"""A service waits a minute at most before it answers."""
_SCHEMES = ("http", "https")
_TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
_NO_SERVICE = "/problems/not-found"
"""A service has every path that this client asks for."""
_ERRNO = re.compile(r"^\[Errno -?\d+\] ")


class NotThereError(PermanentError):
    """The service has nothing of that name."""


class RemoteClient:
    """A connection to one service. Raises PermanentError for what the service refuses for good,
    TransientError for what may work later.
    """

    def __init__(
        self, url: str, key: str | None = None, transport: httpx.BaseTransport | None = None
    ) -> None:
        """Connect to nothing yet. Raises PermanentError for a URL that is none of HTTP."""
        try:
            parts = urlsplit(url)
            is_good = parts.scheme in _SCHEMES and bool(parts.hostname)
        except ValueError:
            is_good = False
        if not is_good or parts.username or parts.password:
            raise PermanentError(
                f"--url is {without_credentials(url)!r:.80}; expected http:// or https:// and a "
                "host, without a password"
            )
        self.url = url.rstrip("/")
        headers = {"Accept": "application/json", "User-Agent": COMMAND_LINE}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        self._http = httpx.Client(
            headers=headers,
            timeout=httpx.Timeout(READ_S, connect=CONNECT_S),
            transport=transport,
        )

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def ask(self, method: str, path: str, body: Any = None, **query: str | None) -> Any:
        """Send a request and return the JSON of its answer."""
        given = {name: value for name, value in query.items() if value is not None}
        try:
            answer = self._http.request(method, f"{self.url}{path}", params=given, json=body)
        except httpx.HTTPError as error:
            raise self._lost(error) from error
        if not answer.is_success:
            raise self._refused(answer)
        try:
            return answer.json()
        except ValueError as error:
            told = f"{self.url} is no nightgrid service: its answer is no JSON"
            raise PermanentError(told) from error

    def lines(self, path: str, accept: str) -> Iterator[str]:
        """Read an answer line by line, as it comes."""
        try:
            with self._http.stream(
                "GET", f"{self.url}{path}", headers={"Accept": accept}
            ) as answer:
                if not answer.is_success:
                    answer.read()
                    raise self._refused(answer)
                yield from answer.iter_lines()
        except httpx.HTTPError as error:
            raise self._lost(error) from error

    def _lost(self, error: httpx.HTTPError) -> TransientError:
        why = "does not answer in time" if isinstance(error, httpx.TimeoutException) else str(error)
        # "[Errno 111] Connection refused": the number is the system's own.
        why = _ERRNO.sub("", why)
        why = why[:1].lower() + why[1:] or type(error).__name__
        return TransientError(f"the service at {self.url}: {why}{named_proxy(self.url)}")

    def _refused(self, answer: httpx.Response) -> PermanentError | TransientError:
        status = answer.status_code
        try:
            problem: Mapping[str, Any] = answer.json()
            why, kind = str(problem["detail"]), problem.get("type")
        except (ValueError, KeyError, TypeError):
            through = named_proxy(self.url, status=status)
            why, kind = f"it answered {status} {answer.reason_phrase}{through}", _NO_SERVICE
        if status in _TRANSIENT:
            return TransientError(f"the service at {self.url}: {why}")
        if status == 401:
            return PermanentError(f"{why}; {KEY_VARIABLE} has the key to send")
        if kind == _NO_SERVICE:
            return PermanentError(
                f"there is no nightgrid service at {self.url}: {why}; expected its address alone, "
                "such as http://127.0.0.1:8765"
            )
        return NotThereError(why) if status == 404 else PermanentError(why)


def open_client(url: str) -> RemoteClient:
    """Connect to a service with the key of the environment, if there is one."""
    return RemoteClient(url, os.environ.get(KEY_VARIABLE) or None)

"""Payloads over HTTP, a file a date: conditional, bounded and polite."""

from __future__ import annotations

import datetime as dt
import email.utils
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import httpx
import tenacity

from nightgrid.archive import outages
from nightgrid.archive.sources import MAX_BODY_BYTES, Answer, AnswerKind, Validators, failed
from nightgrid.archive.sources.proxies import named_proxy
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.sentences import plural, without_credentials

_MISSING_KEY = re.compile(rb"<Error>.{0,200}?<Code>(?:NoSuchKey|AccessDenied)</Code>", re.DOTALL)
"""How an object store answers for a missing file, with 403 if it does not reveal that."""
_MISSING_KEY_BYTES = 2048
"""Such an answer has a few hundred bytes."""
_TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})


@dataclass(frozen=True, slots=True, kw_only=True)
class Politeness:
    """How a server is treated, and how long it may keep us waiting."""

    interval_s: float = 1.0
    """Shortest time between the starts of two requests, retries included."""
    attempts: int = 4
    """Requests for one date before it counts as failed."""
    backoff_s: float = 1.0
    """Mean wait before the second attempt; doubles with every further one."""
    backoff_max_s: float = 30.0
    retry_after_max_s: float = 120.0
    """Longest Retry-After that is waited for; a longer one ends the run's fetching."""
    timeout_s: float = 15.0
    """Timeout for connecting, and for every single read or write."""
    deadline_s: float = 60.0
    """Timeout for one response from request to last byte, however steadily it drips."""
    max_body_bytes: int = MAX_BODY_BYTES
    max_redirects: int = 3
    user_agent: str = "nightgrid/0.1 (puzzle archive; one request a second at most)"


class _TryAgain(Exception):  # noqa: N818 - a signal to the retry loop, not an error
    """An attempt that failed for a transient reason."""

    def __init__(self, answer: Answer, retry_after_s: float | None = None) -> None:
        super().__init__(answer.message)
        self.answer = answer
        self.retry_after_s = retry_after_s


class HttpSource:
    """Payloads at `{base}/DATE.json`.

    404 and 410 mean that there is no puzzle, and so does the 403 of an object store that says so in
    XML; any other 403 means that we are not welcome. Network errors, timeouts and the statuses of
    an overloaded server are retried after exponential backoff with jitter, or after Retry-After;
    any other status is final.
    """

    local = False

    def __init__(
        self,
        base_url: str,
        politeness: Politeness,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open a base URL without sending a request.

        Raises PermanentError if it is not a plain http or https URL.
        """
        self._base = _check_base(base_url)
        self._politeness = politeness
        self._sleep = sleep
        self._clock = clock
        self._next_start = clock()
        self.name = self._base
        self._client = httpx.Client(
            timeout=politeness.timeout_s,
            follow_redirects=False,
            # Payloads are a few KB; an uncompressed body cannot be a decompression bomb and is
            # stored as received.
            headers={"User-Agent": politeness.user_agent, "Accept-Encoding": "identity"},
        )

    def skipped(self) -> list[str]:
        """Return nothing: an endpoint does not list its files."""
        return []

    def dates(self, first: dt.date | None, last: dt.date | None) -> list[dt.date]:
        """List every day of the range; an endpoint cannot say which dates it has.

        Raises PermanentError if the range is open.
        """
        if first is None or last is None:
            raise PermanentError(f"{self.name} needs a first and a last date")
        return [first + dt.timedelta(days=i) for i in range((last - first).days + 1)]

    def url(self, date: dt.date) -> str:
        """Return the requested URL."""
        return f"{self._base}/{date}.json"

    def fetch(self, date: dt.date, validators: Validators | None) -> Answer:
        """Request one date, with retries within the limits of politeness."""
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_TryAgain),
            stop=tenacity.stop_after_attempt(self._politeness.attempts),
            wait=self._wait,
            before_sleep=self._tell,
            sleep=self._sleep,
            reraise=True,
        )
        try:
            answer = retrying(self._attempt, self.url(date), validators)
        except _TryAgain as signal:
            tries = f"after {plural(self._politeness.attempts, 'attempt')}"
            return replace(signal.answer, message=f"{signal.answer.message}, {tries}")
        outages.end_outage(self.name)
        return answer

    def close(self) -> None:
        """Close the connections."""
        outages.end_outage(self.name, answers=False)
        self._client.close()

    def _tell(self, state: tenacity.RetryCallState) -> None:
        """Log why the last request is retried."""
        signal = state.outcome.exception() if state.outcome else None
        why = signal.answer.message if isinstance(signal, _TryAgain) else "it does not answer"
        outages.report_outage(self.name, why, None)

    def _wait(self, state: tenacity.RetryCallState) -> float:
        signal = state.outcome.exception() if state.outcome else None
        if isinstance(signal, _TryAgain) and signal.retry_after_s is not None:
            return signal.retry_after_s
        jittered = tenacity.wait_random_exponential(
            multiplier=2 * self._politeness.backoff_s, max=self._politeness.backoff_max_s
        )
        return jittered(state)

    def _attempt(self, url: str, validators: Validators | None) -> Answer:
        self._take_turn()
        headers = {}
        if validators and validators.etag:
            headers["If-None-Match"] = validators.etag
        if validators and validators.last_modified:
            headers["If-Modified-Since"] = validators.last_modified
        try:
            return self._followed(url, headers)
        except httpx.TransportError as error:
            why = f"{_reason(error)}{named_proxy(url)}"
            answer = failed(url, "network", f"the request failed: {why}")
            if isinstance(error, httpx.UnsupportedProtocol):
                return answer
            raise _TryAgain(replace(answer, transient=True)) from error
        except OSError as error:
            answer = failed(url, "network", f"the request failed: {_reason(error)}")
            raise _TryAgain(replace(answer, transient=True)) from error
        except (httpx.InvalidURL, httpx.HTTPError, ValueError) as error:
            return failed(url, "bad-response", f"the response cannot be used: {_reason(error)}")

    def _followed(self, url: str, headers: dict[str, str]) -> Answer:
        """Request a URL, and follow its redirects on its own host; none leaves https.

        A redirecting source chooses what this machine requests next: it must not have contents of
        other hosts stored as its payloads. Raises httpx's errors.
        """
        source = target = httpx.URL(url)
        for _ in range(self._politeness.max_redirects + 1):
            # The body of a redirect is not read, whatever its length.
            with self._client.stream("GET", target, headers=headers) as response:
                if not response.has_redirect_location:
                    final = None if target == source else str(target)
                    return replace(self._read(url, response), final_url=final)
                before, target = target, target.join(response.headers["Location"])
            is_allowed = target.netloc == source.netloc and not target.userinfo
            if not is_allowed or target.scheme not in (before.scheme, "https"):
                to = f"{target.scheme}://{target.netloc.decode()}"
                message = f"a redirect leads to {to!r:.80}; name it if that is the source"
                return failed(url, "redirects", message)
        return failed(url, "redirects", f"more than {self._politeness.max_redirects} redirects")

    def _read(self, url: str, response: httpx.Response) -> Answer:
        status = response.status_code
        if status == httpx.codes.NOT_MODIFIED:
            return Answer(kind=AnswerKind.UNCHANGED, url=url, http_status=status)
        if status in (httpx.codes.NOT_FOUND, httpx.codes.GONE):
            return Answer(kind=AnswerKind.ABSENT, url=url, http_status=status)
        body, trouble = self._read_body(url, response)
        if status == httpx.codes.OK:
            encoding = response.headers.get("Content-Encoding", "identity")
            if trouble is None and encoding != "identity":
                trouble = ("content-encoding", "the body is compressed though this was declined")
            return Answer(
                kind=AnswerKind.FAILED if trouble else AnswerKind.BODY,
                url=url,
                body=body,
                http_status=status,
                etag=_header(response, "ETag"),
                last_modified=_header(response, "Last-Modified"),
                rule=trouble[0] if trouble else "",
                message=trouble[1] if trouble else "",
            )
        if status == httpx.codes.FORBIDDEN and _MISSING_KEY.search(body[:_MISSING_KEY_BYTES]):
            return Answer(kind=AnswerKind.ABSENT, url=url, http_status=status)
        through = named_proxy(url, status=status)
        answer = failed(url, "http-status", f"the server answered {status}{through}", status)
        answer = replace(answer, body=body or None)
        if status not in _TRANSIENT_STATUSES:
            return answer
        answer = replace(answer, transient=True)
        pause_s = _retry_after_s(response)
        if pause_s is not None and pause_s > self._politeness.retry_after_max_s:
            message = f"{answer.message} and asks to be left alone for {pause_s:.0f} s"
            return replace(answer, message=message, source_down=True)
        raise _TryAgain(answer, pause_s)

    def _read_body(
        self, url: str, response: httpx.Response
    ) -> tuple[bytes, tuple[str, str] | None]:
        body = bytearray()
        # Chunks as they arrive: a fixed chunk size would wait for a dripping server.
        deadline = self._clock() + self._politeness.deadline_s
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > self._politeness.max_body_bytes:
                most = self._politeness.max_body_bytes
                message = f"expected at most {most} bytes; the rest was not read"
                return bytes(body[:most]), ("body-too-large", message)
            if self._clock() > deadline:
                message = f"the body took longer than {self._politeness.deadline_s:g} s"
                raise _TryAgain(replace(failed(url, "network", message), transient=True))
        return bytes(body), None

    def _take_turn(self) -> None:
        pause_s = self._next_start - self._clock()
        if pause_s > 0:
            self._sleep(pause_s)
        self._next_start = self._clock() + self._politeness.interval_s


def _check_base(base_url: str) -> str:
    try:
        url = httpx.URL(base_url)
    except (httpx.InvalidURL, ValueError) as error:
        raise PermanentError(
            f"source {without_credentials(base_url)!r} is not a URL: {error}"
        ) from error
    if url.userinfo:
        raise PermanentError("the source's URL carries credentials, which logs would show")
    if url.scheme not in ("http", "https") or not url.host or url.query or url.fragment:
        raise PermanentError(
            f"source {base_url!r} is not a base URL; expected http(s)://HOST/PATH, to which "
            "/YYYY-MM-DD.json is added"
        )
    return base_url.rstrip("/")


def _retry_after_s(response: httpx.Response) -> float | None:
    text = response.headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdecimal():
        return float(text[:9])
    try:
        at = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=dt.UTC)
    return max(0.0, (at - dt.datetime.now(dt.UTC)).total_seconds())


def _header(response: httpx.Response, name: str) -> str | None:
    value = response.headers.get(name)
    # A validator is sent back with every request; a long one is not worth that.
    return value if value and len(value) <= 512 and value.isprintable() else None


def _reason(error: Exception) -> str:
    # httpx hides the system's message behind errors of its own.
    why = str(error)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            why = cause.strerror
        cause = cause.__cause__ or cause.__context__
    return why[:1].lower() + why[1:] if why else type(error).__name__

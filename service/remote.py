"""The jobs of a remote service, in the same form as jobs of a lake, so that commands show both
alike.

Its problems become our errors, and its key is never shown.
"""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import httpx
import pyarrow as pa

from nightgrid.archive.lake.schemas import SOLUTIONS
from nightgrid.archive.lookup.reference import DateReference, Reference
from nightgrid.archive.sources.proxies import named_proxy
from nightgrid.service.asking import COMMAND_LINE
from nightgrid.solvers.canonical import is_id
from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.solvers.registry import game
from nightgrid.solvers.sentences import without_credentials
from nightgrid.workers.ondemand.status import JobState, JobStatus

KEY_VARIABLE = "NIGHTGRID_API_KEY"
CONNECT_S = 10.0
READ_S = 90.0
"""Longest wait of a service before it answers."""
_SCHEMES = ("http", "https")
_TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
_NO_SERVICE = "/problems/not-found"
"""A 404 with another type: a service has every path that this client requests."""
_ERRNO = re.compile(r"^\[Errno -?\d+\] ")
POLL_S = 0.2
SOLUTION_ROWS = 1_000
"""Most solutions of one table."""
NDJSON = "application/x-ndjson"
_STATES: Mapping[str, JobState] = {
    "queued": "queued",
    "running": "working",
    "done": "done",
    "failed": "refused",
    "cancelled": "cancelled",
    "expired": "expired",
}


class NotThereError(PermanentError):
    """The service does not have this item."""


class RemoteJobs:
    """The jobs of one service. Raises PermanentError for permanent refusals, TransientError for
    failures that a retry may fix.
    """

    def __init__(self, url: str, transport: httpx.BaseTransport | None = None) -> None:
        """Connect lazily, with the key of the environment if there is one.

        Raises PermanentError for a URL other than http and https.
        """
        try:
            parts = urlsplit(url)
            # `port` raises for one beyond 65535.
            is_good = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_good = False
        if not is_good or parts.username or parts.password:
            raise PermanentError(
                f"--url is {without_credentials(url)!r:.80}; expected http:// or https:// and a "
                "host, without a password"
            )
        self.url = url.rstrip("/")
        headers = {"Accept": "application/json", "User-Agent": COMMAND_LINE}
        if key := os.environ.get(KEY_VARIABLE):
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
            told = f"{self.url} is not a nightgrid service: its answer is not JSON"
            raise PermanentError(told) from error

    def lines(self, path: str, accept: str) -> Iterator[str]:
        """Read an answer line by line, as it arrives."""
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
        # "[Errno 111] Connection refused": drop the system's number.
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

    def submit(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Submit a question; return the job as the service shows it."""
        given = {name: value for name, value in body.items() if value is not None}
        solve: dict[str, Any] = self.ask("POST", "/v1/solves", given)
        return solve

    def of_id(self, job_id: str) -> bool:
        """Return whether a job with this id exists."""
        return self.status(job_id).state != "unknown"

    def of_reference(self, reference: Reference) -> dict[str, str]:
        """Find every job about the puzzles of a reference that has a result or is open."""
        found: dict[str, str] = {}
        if isinstance(reference, DateReference):
            path = f"/v1/puzzles/{reference.game}/{reference.date}"
            for board in self.ask("GET", path, level=reference.level)["boards"]:
                found |= {answer["id"]: board["reference"] for answer in board["results"]}
                found |= self._open_jobs(board["puzzle_id"], board["reference"])
        elif is_id(reference.prefix):
            rows = self.ask("GET", "/v1/results", puzzle_id=reference.prefix)["results"]
            found = {row["job_id"]: row["puzzle"] for row in rows}
            found |= self._open_jobs(reference.prefix, reference.prefix)
        return found

    def _open_jobs(self, puzzle_id: str, name: str) -> dict[str, str]:
        """Find the waiting and running jobs about a puzzle."""
        page = self.ask("GET", "/v1/solves", puzzle_id=puzzle_id)
        return {solve["id"]: name for solve in page["solves"]}

    def _solve(self, job_id: str) -> dict[str, Any]:
        """Read a job. Raises NotThereError for an unknown one."""
        solve: dict[str, Any] = self.ask("GET", f"/v1/solves/{job_id}")
        return solve

    def status(self, job_id: str) -> JobStatus:
        """Return the status of a job."""
        try:
            return status_of(self._solve(job_id))
        except NotThereError:
            return JobStatus(job_id=job_id, state="unknown")

    def result_row(self, job_id: str, *, timeout_s: float) -> dict[str, Any] | None:
        """Read a job's result row, or None if it does not arrive in time."""
        ends_at = time.monotonic() + timeout_s
        while True:
            solve = self._solve(job_id)
            if solve["answer"] is not None:
                return row_of(solve)
            if _is_over(solve) or time.monotonic() >= ends_at:
                return None
            time.sleep(POLL_S)

    def cancel(self, job_id: str) -> tuple[JobStatus, bool]:
        """Leave a job; return its status afterwards, and whether it was open."""
        was_open = not _is_over(self._solve(job_id))
        return status_of(self.ask("DELETE", f"/v1/solves/{job_id}")), was_open

    def queue(self) -> dict[str, Any]:
        """Read the state of the service's queue."""
        found: dict[str, Any] = self.ask("GET", "/v1/queue")
        return found

    def solution_tables(self, row: Mapping[str, Any]) -> Iterator[pa.Table]:
        """Read the solutions of a result, in canonical order, some thousand at a time."""
        if not row["count"] or row["ask"] == "count":
            return
        path = f"/v1/solves/{row['job_id']}/solutions"
        lines = enumerate(line for line in self.lines(path, NDJSON) if line)
        names = ("job_id", "puzzle_id", "game", "ask", "run_id")
        alike = {name: row[name] for name in names}
        while part := list(itertools.islice(lines, SOLUTION_ROWS)):
            rows = [{**alike, "rank": rank, "solution": text} for rank, text in part]
            yield pa.Table.from_pylist(rows, SOLUTIONS)

    def puzzle(self, row: Mapping[str, Any]) -> Any | None:
        """Read the puzzle of a result."""
        own = self._solve(row["job_id"])["puzzle"]
        return None if own is None else game(row["game"]).puzzle_from_json(own)


def _is_over(solve: Mapping[str, Any]) -> bool:
    return solve["state"] not in ("queued", "running")


def status_of(solve: Mapping[str, Any]) -> JobStatus:
    """Convert a job of a service to the status of a job of a lake."""
    progress = solve["progress"] or {}
    age_s = None
    if not _is_over(solve) and solve["created_at"] is not None:
        begun = datetime.fromisoformat(solve["created_at"])
        age_s = max(0.0, (datetime.now(UTC) - begun).total_seconds())
    return JobStatus(
        job_id=solve["id"],
        state="done" if solve["answer"] is not None else _STATES[solve["state"]],
        age_s=age_s,
        chunks_done=progress.get("chunks_done"),
        chunks_total=progress.get("chunks_total"),
        states=None if progress.get("states") is None else int(progress["states"]),
        expected_s=progress.get("expected_s"),
        left_s=progress.get("left_s"),
        reason=solve["reason"],
    )


def row_of(solve: Mapping[str, Any]) -> dict[str, Any]:
    """Convert an answer of a service to a row of results."""
    answer = solve["answer"]
    about = ("puzzle_id", "game", "ask", "rules", "lexicon_id")
    alike = ("solver_version", "status", "value", "reason_code", "reason")
    return {
        "job_id": solve["id"],
        **{name: solve[name] for name in about},
        **{name: answer[name] for name in alike},
        "count": None if answer["count"] is None else int(answer["count"]),
        "states": int(answer["states"]),
        "nodes": int(answer["nodes"]),
        "kernel_ns": round(answer["kernel_s"] * 1e9),
        "run_id": "",
    }

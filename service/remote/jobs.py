"""Jobs of a service, in the shapes that jobs of a lake have, so that commands show both alike."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from nightgrid.archive.lake.tables import SOLUTIONS
from nightgrid.archive.lookup.reference import DateReference, read_reference
from nightgrid.service.remote.client import NotThereError, RemoteClient, quoted
from nightgrid.solvers.canonical import is_id
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import game
from nightgrid.workers.ondemand.status import JobState, JobStatus

POLL_SECONDS = (0.05, 0.1, 0.2, 0.5, 1.0)
SOLUTION_ROWS = 1_000
"""Solutions of one table."""
NDJSON = "application/x-ndjson"
_BY_ID = "a board submitted from a file has its job id"
_STATES: Mapping[str, JobState] = {
    "queued": "queued",
    "done": "done",
    "failed": "refused",
    "cancelled": "cancelled",
    "expired": "expired",
}


class RemoteJobs:
    """The jobs of a service."""

    def __init__(self, client: RemoteClient) -> None:
        self._client = client
        self._solves: dict[str, dict[str, Any]] = {}
        """Jobs that have ended."""

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def submit(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Ask something; return the job as the service shows it."""
        given = {name: value for name, value in body.items() if value is not None}
        return self._kept(self._client.ask("POST", "/v1/solves", body=given))

    def names(self, text: str) -> dict[str, str]:
        """Find the jobs that a text names: a job id, or a reference to puzzles of the lake.

        A reference means the jobs that have an answer, and those that wait or are worked.

        Raises PermanentError for a text that names none.
        """
        if is_id(text) and self._is_there(text):
            return {text: text}
        reference = read_reference(text)
        found: dict[str, str] = {}
        if isinstance(reference, DateReference):
            path = f"/v1/puzzles/{reference.game}/{reference.date}"
            try:
                day = self._client.get(path, level=reference.level)
            except NotThereError as error:
                raise PermanentError(f"{error}; {_BY_ID}") from None
            for board in day["boards"]:
                found |= {answer["id"]: board["reference"] for answer in board["results"]}
                found |= self._open_jobs(board["puzzle_id"], board["reference"])
        elif len(reference.prefix) == len(text) == 32:
            rows = self._client.get("/v1/results", puzzle_id=reference.prefix)["results"]
            found = {row["job_id"]: row["puzzle"] for row in rows}
            found |= self._open_jobs(reference.prefix, reference.prefix)
        if not found:
            told = f"the service at {self._client.url} was asked nothing about {text}; {_BY_ID}"
            raise PermanentError(told)
        return found

    def _open_jobs(self, puzzle_id: str, name: str) -> dict[str, str]:
        """Find the jobs about a puzzle that wait or are worked."""
        page = self._client.get("/v1/solves", puzzle_id=puzzle_id)
        return {solve["id"]: name for solve in page["solves"]}

    def _is_there(self, job_id: str) -> bool:
        try:
            self.solve(job_id)
        except NotThereError:
            return False
        return True

    def solve(self, job_id: str) -> dict[str, Any]:
        """Read a job. Raises NotThereError for one that there is not."""
        known = self._solves.get(job_id)
        return known or self._kept(self._client.get(f"/v1/solves/{quoted(job_id)}"))

    def status(self, job_id: str) -> JobStatus:
        """Return where a job is."""
        try:
            return status_of(self.solve(job_id))
        except NotThereError:
            return JobStatus(job_id=job_id, state="unknown")

    def result_row(self, job_id: str, *, timeout_s: float) -> dict[str, Any] | None:
        """Read a job's result row, or None if it is not there in time."""
        ends_at = time.monotonic() + timeout_s
        pauses = itertools.chain(POLL_SECONDS, itertools.repeat(POLL_SECONDS[-1]))
        while True:
            solve = self.solve(job_id)
            if solve["answer"] is not None:
                return row_of(solve)
            left_s = ends_at - time.monotonic()
            if _is_over(solve) or left_s <= 0:
                return None
            time.sleep(min(next(pauses), left_s))

    def cancel(self, job_id: str) -> tuple[JobStatus, bool]:
        """Want a job no more; tell where it is then, and whether it was open."""
        was_open = not _is_over(self.solve(job_id))
        solve = self._client.ask("DELETE", f"/v1/solves/{quoted(job_id)}")
        return status_of(self._kept(solve)), was_open

    def queue(self) -> dict[str, Any]:
        """Read how busy the service is."""
        found: dict[str, Any] = self._client.get("/v1/queue")
        return found

    def solution_tables(self, row: Mapping[str, Any]) -> Iterator[pa.Table]:
        """Read the solutions of a result, in canonical order, some thousand at a time."""
        if not row["count"] or row["ask"] == "count":
            return
        path = f"/v1/solves/{quoted(row['job_id'])}/solutions"
        lines = enumerate(line for line in self._client.lines(path, NDJSON) if line)
        names = ("job_id", "puzzle_id", "game", "ask", "run_id")
        alike = {name: row[name] for name in names}
        while part := list(itertools.islice(lines, SOLUTION_ROWS)):
            rows = [{**alike, "rank": rank, "solution": text} for rank, text in part]
            yield pa.Table.from_pylist(rows, SOLUTIONS)

    def puzzle(self, row: Mapping[str, Any]) -> Any | None:
        """Read the puzzle of a result."""
        own = self.solve(row["job_id"])["puzzle"]
        return None if own is None else game(row["game"]).puzzle_from_json(own)

    def _kept(self, solve: dict[str, Any]) -> dict[str, Any]:
        if _is_over(solve):
            self._solves[solve["id"]] = solve
        return solve


def _is_over(solve: Mapping[str, Any]) -> bool:
    return solve["state"] not in ("queued", "running")


def status_of(solve: Mapping[str, Any]) -> JobStatus:
    """Show a job of a service as a job of a lake is shown."""
    progress = solve.get("progress") or {}
    created_at = solve.get("created_at")
    is_open = not _is_over(solve)
    age_s = None
    if is_open and created_at is not None:
        begun = datetime.fromisoformat(created_at)
        age_s = max(0.0, (datetime.now(UTC) - begun).total_seconds())
    state = "done" if solve["answer"] is not None else _STATES.get(solve["state"], "working")
    return JobStatus(
        job_id=solve["id"],
        state=state,
        age_s=age_s,
        chunks_done=progress.get("chunks_done"),
        chunks_total=progress.get("chunks_total"),
        states=None if progress.get("states") is None else int(progress["states"]),
        expected_s=progress.get("expected_s"),
        left_s=progress.get("left_s"),
        reason=solve.get("reason") or "",
    )


def row_of(solve: Mapping[str, Any]) -> dict[str, Any]:
    """Show an answer of a service as a row of results."""
    answer = solve["answer"]
    count = answer["count"]
    return {
        "job_id": solve["id"],
        "puzzle_id": solve["puzzle_id"],
        "game": solve["game"],
        "ask": solve["ask"],
        "rules": solve["rules"],
        "lexicon_id": solve["lexicon_id"],
        "solver_version": answer["solver_version"],
        "status": answer["status"],
        "count": None if count is None else int(count),
        "value": answer.get("value"),
        "reason_code": answer["reason_code"],
        "reason": answer["reason"],
        "states": int(answer["states"]),
        "nodes": int(answer["nodes"]),
        "kernel_ns": round(answer["kernel_s"] * 1e9),
        "run_id": "",
    }

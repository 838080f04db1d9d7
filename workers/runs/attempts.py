"""Attempts at chunks in the lake: which counts, why earlier ones failed, which worker began one."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from nightgrid.archive.lake.conforming import reason_of_failure
from nightgrid.archive.lake.json_files import read_hint, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.runs.run_files import (
    ChunkKey,
    ChunkRef,
    chunk_keys,
    folder,
    started_attempts,
)

STARTS_READ = 1000
"""Records of beginnings that are read to name the workers of parts; of more chunks none is."""
STARTS_AT_ONCE = 16
"""Read side by side: on an object store each takes a round trip."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """The attempts at one chunk, kept in the lake because the driver may die too."""

    attempt: int = 1
    """The attempt that counts now; messages with a smaller one are stale."""
    failures: tuple[Reason, ...] = ()
    """Why it failed or died, oldest first."""
    interruptions: int = 0
    """How often it died together with its driver, perhaps for another reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A worker's record that it began an attempt at a chunk."""

    attempt: int
    worker: str
    """Worker id, under which its heartbeat lies in Redis."""
    started_at: float
    """Unix time, seconds."""


def read_attempts(lake: Lake, ref: ChunkRef) -> Attempts:
    """Read the attempts at a chunk; a damaged file counts as none."""
    return read_hint(lake, ref.attempts_path, _attempts_from_json) or Attempts()


def _attempts_from_json(value: dict[str, Any]) -> Attempts:
    attempt, interruptions = int(value["attempt"]), int(value["interruptions"])
    if attempt < 1 or interruptions < 0:
        raise ValueError("expected numbers of attempts")
    failures = tuple(map(failure_from_json, value["failures"]))
    return Attempts(attempt=attempt, failures=failures, interruptions=interruptions)


def read_all_attempts(lake: Lake, run_id: str) -> dict[ChunkKey, Attempts]:
    """Read the attempts at every chunk that failed or was interrupted."""
    found = {}
    for key in chunk_keys(lake.list(f"{folder(run_id)}/attempts")):
        ref = ChunkRef(run_id=run_id, segment=key[0], chunk=key[1])
        found[key] = read_attempts(lake, ref)
    return found


def write_attempts(lake: Lake, ref: ChunkRef, attempts: Attempts) -> None:
    """Write the attempts at a chunk."""
    value = {
        "attempt": attempts.attempt,
        "failures": [failure_to_json(failure) for failure in attempts.failures],
        "interruptions": attempts.interruptions,
    }
    write_json(lake, ref.attempts_path, value, checked=True)


def failure_to_json(failure: Reason) -> dict[str, str]:
    """Write why an attempt failed."""
    return {"code": str(failure.code), "reason": failure.sentence}


def failure_from_json(value: Any) -> Reason:
    """Read why an attempt failed; a sentence alone is what versions before 4 wrote."""
    if isinstance(value, str):
        return reason_of_failure(value)
    return Reason(code=ReasonCode(value["code"]), sentence=value["reason"])


def write_start(lake: Lake, ref: ChunkRef, worker: str, started_at: float) -> None:
    """Record that a worker begins a chunk, before it does.

    The record outlives every process. It is not synced to the disk: a machine that loses it in a
    power failure loses its workers too.
    """
    start = {"worker": worker, "started_at": started_at}
    write_json(lake, ref.started_path, start, durable=False)


def read_start(lake: Lake, ref: ChunkRef) -> Start | None:
    """Read which worker works on this attempt of a chunk, or None if no worker began."""

    def start(value: dict[str, Any]) -> Start:
        worker, started_at = str(value["worker"]), float(value["started_at"])
        return Start(attempt=ref.attempt, worker=worker, started_at=started_at)

    # A record cut short by a power failure counts as none: its worker is gone too.
    return read_hint(lake, ref.started_path, start)


def read_workers(lake: Lake, run_id: str, chunks: Collection[ChunkKey]) -> dict[ChunkKey, str]:
    """Read which worker began the last attempt at each of some chunks; nothing of very many.

    With few exceptions that is the one whose result counts. A result itself does not say: it is
    the same bytes whichever worker wrote it.
    """
    if len(chunks) > STARTS_READ:
        return {}
    started = sorted(started_attempts(lake.list(f"{folder(run_id)}/started")))
    # Of each chunk the last attempt stands last, and replaces those before it.
    last = {key: attempt for key, attempt in started if key in chunks}
    refs = [
        ChunkRef(run_id=run_id, segment=key[0], chunk=key[1], attempt=attempt)
        for key, attempt in last.items()
    ]
    with ThreadPoolExecutor(STARTS_AT_ONCE, "starts") as threads:
        starts = list(threads.map(lambda ref: read_start(lake, ref), refs))
    return {ref.key: start.worker for ref, start in zip(refs, starts, strict=True) if start}

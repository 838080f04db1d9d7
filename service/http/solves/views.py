"""Where a job is, as the service shows it: from its record, its end or its result."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from pydantic_core import from_json, to_json

from nightgrid.archive.lake.faults import DamagedFileError, LakeRefusesError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup.boards import find_boards
from nightgrid.archive.lookup.reference import IdReference
from nightgrid.archive.results.asked import find_asked
from nightgrid.archive.results.parts import parts_of
from nightgrid.archive.results.statuses import FINAL
from nightgrid.archive.skipped_files import skip_file
from nightgrid.archive.words.binding import open_game
from nightgrid.archive.words.dictionaries import with_words
from nightgrid.service.http.solves.names import Names
from nightgrid.service.http.solves.solve_json import Subject, solve_json
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.question import Question
from nightgrid.workers.caches import BoundedCache
from nightgrid.workers.ondemand.jobs.rows import find_row
from nightgrid.workers.ondemand.jobs.status import JobStatus, status
from nightgrid.workers.ondemand.record import BadRecordError
from nightgrid.workers.ondemand.record_files import read_ended, read_record

KNOWN_MAX = 1024
"""Jobs whose final answer, or whose question, is kept in memory."""
KNOWN_S = 60.0
"""How long an answer is shown from memory: retention may drop it from the lake meanwhile."""
STATES = {
    "queued": "queued",
    "working": "running",
    "run": "running",
    "done": "done",
    "refused": "failed",
    "damaged": "failed",
    "cancelled": "cancelled",
    "expired": "expired",
}
"""What the service calls the states of jobs; `done` may be `failed`, see `solve_json`."""


class Views:
    """Shows jobs. Its methods block, and may be called from several threads."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._subjects: BoundedCache[str, Subject] = BoundedCache(KNOWN_MAX)
        self._times: BoundedCache[str, tuple[float | None, float | None]] = BoundedCache(KNOWN_MAX)
        """When jobs were submitted, and when they were seen to have ended: Unix time."""
        self._final: BoundedCache[str, bytes] = BoundedCache(KNOWN_MAX, KNOWN_S)
        """Jobs that are answered for good, as JSON, which takes less than their objects."""
        self.names = Names(lake)

    def remember(self, job_id: str, subject: Callable[[], Subject]) -> None:
        """Keep what a job is about, unless that is kept: the lake need not be asked then."""
        if self._subjects.get(job_id) is None:
            self._subjects.put(job_id, subject())

    def final(self, job_id: str) -> dict[str, Any] | None:
        """Show a job that is answered for good, if that is kept: no look at the lake."""
        known = self.final_json(job_id)
        return None if known is None else from_json(known)

    def final_json(self, job_id: str) -> bytes | None:
        """Show a job that is answered for good, as JSON, if that is kept."""
        return self._final.get(job_id)

    def has_final(self, job_id: str) -> bool:
        """Tell whether it is kept that a job is answered for good."""
        return self._final.get(job_id) is not None

    def look(self, job_id: str) -> dict[str, Any] | None:
        """Show a job, or None for one that was never submitted and has no result.

        Raises TransientError where the lake does not answer.
        """
        known = self.final(job_id)
        if known is not None:
            return known
        found = status(self._lake, job_id)
        if found.state == "unknown":
            return None
        row = find_row(self._lake, job_id) if found.state == "done" else None
        return self.show(job_id, found, row)

    def show(self, job_id: str, found: JobStatus, row: Mapping[str, Any] | None) -> dict[str, Any]:
        """Write where a job is, with its result row if it has one."""
        subject = self._subject_of(job_id, row)
        created_at, ended_at = self._times_of(found)
        value = solve_json(
            job_id,
            STATES[found.state],
            subject,
            created_at=created_at,
            ended_at=ended_at,
            row=row,
            parts=() if row is None else parts_of(self._lake, row),
            progress=_progress(found),
            reason=found.reason,
        )
        # A puzzle that could not be read may be there the next time.
        is_final = row is not None and row["status"] in FINAL
        if is_final and subject.puzzle is not None:
            self._final.put(job_id, to_json(value))
        return value

    def keep_final(self, job_id: str, written: bytes, created_at: float, ended_at: float) -> None:
        """Keep a job that is answered for good, as JSON: the lake is yet to get its answer.

        Kept is also when it was submitted and when it ended, as Unix time.
        """
        self._times.put(job_id, (created_at, ended_at))
        self._final.put(job_id, written)

    def forget(self, job_id: str) -> None:
        """Look anew: the job was asked again, or has ended."""
        self._times.drop(job_id)

    def drop(self, job_id: str) -> None:
        """Show a job as the lake has it: its answer is no longer there."""
        self._final.drop(job_id)
        self._subjects.drop(job_id)

    def puzzle(self, puzzle_id: str, question: Question) -> Any:
        """Return a puzzle as its game has it. Raises PermanentError where the lake has none."""
        asked = find_asked(self._lake, puzzle_id)
        if asked is not None:
            value = with_words(self._lake, asked.puzzle)
            return open_game(self._lake, question.game).puzzle_from_json(value)
        (board,) = find_boards(self._lake, IdReference(prefix=puzzle_id))
        return board.published.puzzle

    def _subject_of(self, job_id: str, row: Mapping[str, Any] | None) -> Subject:
        known = self._subjects.get(job_id)
        if known is not None:
            return known
        lake = self._lake
        message: Mapping[str, Any] | None = row
        puzzle: Any = None
        if row is None:
            record = None
            with suppress(BadRecordError):
                record = read_record(lake, job_id)
            ended = read_ended(lake, job_id) if record is None else None
            message = record.message if record else ended.message if ended else None
            if message is None:
                raise PermanentError(f"the lake does not say what job {job_id} is about")
            puzzle = message["puzzle"]
        assert message is not None
        question = Question.from_json(message)
        game = open_game(lake, question.game)
        if puzzle is not None:
            puzzle_id = game.puzzle_id(game.puzzle_from_json(with_words(lake, puzzle)))
        else:
            puzzle_id = message["puzzle_id"]
            try:
                puzzle = game.puzzle_to_json(self.puzzle(puzzle_id, question))
            except (DamagedFileError, LakeRefusesError) as error:
                skip_file(f"the puzzle {puzzle_id}", error)
            except PermanentError:
                pass  # the lake has none
        subject = Subject(
            question=question,
            puzzle_id=puzzle_id,
            puzzle=puzzle,
            references=self.names.of(puzzle_id),
        )
        if puzzle is not None:
            self._subjects.put(job_id, subject)
        return subject

    def _times_of(self, found: JobStatus) -> tuple[float | None, float | None]:
        created_at, ended_at = self._times.get(found.job_id) or (None, None)
        if found.age_s is not None:
            created_at = time.time() - found.age_s if created_at is None else created_at
            ended_at = None
        elif created_at is not None and ended_at is None:
            ended_at = time.time()
        if created_at is not None:
            self._times.put(found.job_id, (created_at, ended_at))
        return created_at, ended_at


def _progress(found: JobStatus) -> dict[str, Any] | None:
    if found.chunks_total is None and found.elapsed_s is None:
        return None
    return {
        # One task works all of a job that has no chunks.
        "chunks_done": found.chunks_done or 0,
        "chunks_total": found.chunks_total or 1,
        "elapsed_s": _rounded(found.elapsed_s),
        "states": None if found.states is None else str(found.states),
        "expected_s": _rounded(found.expected_s),
        "left_s": _rounded(found.left_s),
    }


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)

"""Where a job is, as the service shows it: from its record, its end or its result."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from nightgrid.archive.lake.faults import DamagedFileError, LakeRefusesError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup.boards import find_boards
from nightgrid.archive.lookup.reference import IdReference
from nightgrid.archive.results.asked import find_asked
from nightgrid.archive.results.files import ONDEMAND_PREFIX
from nightgrid.archive.results.parts import Part, parts_of
from nightgrid.archive.results.statuses import FINAL
from nightgrid.archive.skipped_files import skip_file
from nightgrid.archive.words.binding import open_game
from nightgrid.archive.words.dictionaries import with_words
from nightgrid.service.http.solves.names import Names
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.question import Question
from nightgrid.workers.bounded_cache import BoundedCache
from nightgrid.workers.ondemand.jobs.forecast import forecast
from nightgrid.workers.ondemand.jobs.rows import find_row
from nightgrid.workers.ondemand.jobs.status import JobStatus, status
from nightgrid.workers.ondemand.jobs.task_progress import TaskProgress
from nightgrid.workers.ondemand.record import BadRecordError
from nightgrid.workers.ondemand.record_files import read_ended, read_record

API = "/v1/solves"
KNOWN_MAX = 1024
"""Jobs whose final answer, or whose question, is kept in memory."""
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
"""What the service calls the states of jobs; `done` may be `failed`, see `state_of`."""
ToldOf = Callable[[str], TaskProgress | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a job is about."""

    question: Question
    puzzle_id: str
    puzzle: Mapping[str, Any] | None
    """In the project's own form; None where the lake does not have it."""
    references: tuple[str, ...] = ()


class Views:
    """Shows jobs. Its methods block, and may be called from several threads."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._subjects: BoundedCache[str, Subject] = BoundedCache(KNOWN_MAX)
        self._times: BoundedCache[str, tuple[float | None, float | None]] = BoundedCache(KNOWN_MAX)
        """When jobs were submitted, and when they were seen to have ended: Unix time."""
        self._final: BoundedCache[str, dict[str, Any]] = BoundedCache(KNOWN_MAX)
        self.names = Names(lake)

    def remember(self, job_id: str, subject: Subject) -> None:
        """Keep what a job is about, which the lake need not be asked then."""
        self._subjects.put(job_id, subject)

    def subject(self, job_id: str) -> Subject | None:
        """Tell what a job is about, if that is kept."""
        return self._subjects.get(job_id)

    def final(self, job_id: str) -> dict[str, Any] | None:
        """Show a job that is answered for good, if that is kept: no look at the lake."""
        return self._final.get(job_id)

    def look(self, job_id: str, told_of: ToldOf | None = None) -> dict[str, Any] | None:
        """Show a job, or None for one that was never submitted and has no result.

        `told_of` reads what the task of a job has told of its progress. Raises TransientError where
        the lake does not answer.
        """
        known = self._final.get(job_id)
        if known is not None:
            return known
        found = status(self._lake, job_id)
        if found.state == "unknown":
            return None
        row = find_row(self._lake, job_id) if found.state == "done" else None
        solve = self.show(job_id, found, row)
        told = None if told_of is None or found.started_at is None else told_of(job_id)
        # An attempt that is over may have told it.
        if told is not None and told.started_at == found.started_at:
            return {**solve, "progress": _told_of_task(solve["progress"], told)}
        return solve

    def show(
        self,
        job_id: str,
        found: JobStatus,
        row: Mapping[str, Any] | None,
        parts: Sequence[Part] | None = None,
    ) -> dict[str, Any]:
        """Write where a job is, with its result row if it has one.

        Without its parts, the lake is asked for them.
        """
        subject = self._subject_of(job_id, row)
        created_at, ended_at = self._times_of(found)
        state = STATES[found.state]
        if row is not None and row["status"] == "poison":
            state = "failed"
        at = f"{API}/{job_id}"
        answer = None
        if row is not None:
            of = parts_of(self._lake, row) if parts is None else parts
            answer = self._answer(row, of, created_at, ended_at)
        value: dict[str, Any] = {
            "id": job_id,
            "state": state,
            "game": subject.question.game,
            "puzzle_id": subject.puzzle_id,
            "references": list(subject.references),
            "ask": str(subject.question.ask),
            "rules": subject.question.rules,
            "lexicon_id": subject.question.lexicon_id,
            "puzzle": subject.puzzle,
            "created_at": _written(created_at),
            "ended_at": _written(ended_at),
            "place": None,
            "progress": self._progress(found),
            "answer": answer,
            "reason": found.reason or (row["reason"] if row else ""),
            "links": {
                "self": at,
                "events": f"{at}/events",
                "solutions": f"{at}/solutions",
                "picture": f"{at}/picture.svg",
            },
        }
        # A puzzle that could not be read may be there the next time.
        is_final = row is not None and row["status"] in FINAL and not _may_be_dropped(row)
        if is_final and subject.puzzle is not None:
            self._final.put(job_id, value)
        return value

    def note_times(self, job_id: str, created_at: float, ended_at: float | None = None) -> None:
        """Keep when a job was submitted, and when it ended: Unix time."""
        self._times.put(job_id, (created_at, ended_at))

    def forget(self, job_id: str) -> None:
        """Look anew: the job was asked again, or has ended."""
        self._times.drop(job_id)

    def drop(self, job_id: str) -> None:
        """Show a job as the lake has it: its answer is no longer there."""
        self._final.drop(job_id)
        self._subjects.drop(job_id)

    def forget_answers(self, is_kept: Callable[[str], bool]) -> None:
        """Look anew at every job that was answered for good, but for those that are kept."""
        self._final.drop_where(lambda job_id: not is_kept(job_id))

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

    def _answer(
        self,
        row: Mapping[str, Any],
        parts: Sequence[Part],
        created_at: float | None,
        ended_at: float | None,
    ) -> dict[str, Any]:
        ask, count = Ask.parse(row["ask"]), row["count"]
        listed = 0 if ask.kind == "count" or not count else int(count)
        if ask.limit is not None:
            listed = min(listed, ask.limit)
        wall_s = None
        if created_at is not None and ended_at is not None:
            wall_s = round(max(0.0, ended_at - created_at), 4)
        return {
            "status": row["status"],
            "count": None if count is None else str(count),
            "value": row["value"],
            "truncated": ask.kind == "all" and ask.limit is not None and listed == ask.limit,
            "reason_code": row["reason_code"],
            "reason": row["reason"],
            "states": str(row["states"]),
            "nodes": str(row["nodes"]),
            "kernel_s": row["kernel_ns"] / 1e9,
            "wall_s": wall_s,
            "solver_version": row["solver_version"],
            "solutions_stored": listed,
            "parts": [_part(part) for part in parts],
        }

    def _progress(self, found: JobStatus) -> dict[str, Any] | None:
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


def _may_be_dropped(row: Mapping[str, Any]) -> bool:
    """Tell whether solutions may lie in files of their own: retention may drop such an answer."""
    is_of_run = not row["run_id"].startswith(ONDEMAND_PREFIX)
    return is_of_run and Ask.parse(row["ask"]).kind == "all"


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def _told_of_task(progress: Mapping[str, Any], told: TaskProgress) -> dict[str, Any]:
    """Add to the progress of a task what it has told while it works."""
    expected_s = progress["expected_s"] or 0.0
    whole_s, left_s = forecast(expected_s, told.kernel_s, told.passed)
    forecasts = {"expected_s": _rounded(whole_s), "left_s": _rounded(left_s)} if expected_s else {}
    return {**progress, "states": str(told.states), **forecasts}


def is_over(solve: Mapping[str, Any]) -> bool:
    """Tell whether a job has ended, with or without an answer."""
    return solve["state"] not in ("queued", "running")


def _part(part: Part) -> dict[str, Any]:
    return {
        "path": part.path,
        "what": part.what,
        "status": part.status,
        "count": None if part.count is None else str(part.count),
        "states": str(part.states),
        "seconds": part.seconds,
        "worker": part.worker or None,
    }


def _written(at: float | None) -> str | None:
    if at is None:
        return None
    return dt.datetime.fromtimestamp(at, dt.UTC).isoformat(timespec="milliseconds")

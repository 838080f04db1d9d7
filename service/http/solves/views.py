"""Where a job is, as the service shows it: from its submissions, its end or its result."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import redis
from pydantic_core import from_json, to_json

from nightgrid.archive.games import has_plug
from nightgrid.archive.ingest.editions import editions_path
from nightgrid.archive.lake.faults import DamagedFileError, LakeRefusesError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import EDITIONS
from nightgrid.archive.lookup.boards import find_boards
from nightgrid.archive.lookup.reference import IdReference, reference_text
from nightgrid.archive.results.asked import find_asked
from nightgrid.archive.results.statuses import FINAL
from nightgrid.archive.skipped_files import skip_file
from nightgrid.archive.words.binding import open_game
from nightgrid.archive.words.dictionaries import with_words
from nightgrid.service.http.caches import BoundedCache, Cached
from nightgrid.service.http.solves.solve_json import Subject, solve_json
from nightgrid.solvers.errors import NightgridError, PermanentError
from nightgrid.solvers.question import Question
from nightgrid.solvers.registry import GAMES
from nightgrid.workers.broker.queues import INTERACTIVE, waiting_in_order
from nightgrid.workers.ondemand.results import find_row
from nightgrid.workers.ondemand.status import JobStatus, status
from nightgrid.workers.ondemand.submissions import read_ended, read_wanted
from nightgrid.workers.settings import Settings

KNOWN_MAX = 1024
"""Jobs whose final answer, or whose question, is kept in memory."""
KNOWN_S = 60.0
"""How long an answer is shown from memory: retention may drop it from the lake meanwhile."""
PLACES_S = 0.5
"""How long a look at the queue counts."""
STATES = {"working": "running", "refused": "failed"}
"""What the service calls states of jobs otherwise; `done` may be `failed`, see `solve_json`."""


NAMES_S = 5.0
"""How long what was read counts."""
_NAME_COLUMNS = ("date", "level", "puzzle_id")


class Views:
    """Shows jobs. Its methods block, and may be called from several threads."""

    def __init__(self, lake: Lake, client: redis.Redis, settings: Settings) -> None:
        self._lake = lake
        self._client, self._settings = client, settings
        self._places = Cached(self._read_places, PLACES_S)
        self._subjects: BoundedCache[str, Subject] = BoundedCache(KNOWN_MAX)
        self._times: BoundedCache[str, tuple[float | None, float | None]] = BoundedCache(KNOWN_MAX)
        """When jobs were submitted, and when they were seen to have ended: Unix time."""
        self._final: BoundedCache[str, bytes] = BoundedCache(KNOWN_MAX, KNOWN_S)
        """Jobs that are answered for good, as JSON, which takes less than their objects."""
        self.names = Names(lake)

    def final(self, job_id: str) -> bytes | None:
        """Return the JSON of a job that is answered for good, if that is kept."""
        return self._final.get(job_id)

    def keep_final(self, job_id: str, written: bytes, created_at: float, ended_at: float) -> None:
        """Keep a job that is answered for good, as JSON, before the lake gets its answer.

        Kept is also when it was submitted and when it ended, as Unix time.
        """
        self._times.put(job_id, (created_at, ended_at))
        self._final.put(job_id, written)

    def forget(self, job_id: str) -> None:
        """Forget when a job was submitted and ended: it was asked again."""
        self._times.drop(job_id)

    def drop(self, job_id: str) -> None:
        """Show a job as the lake has it: its answer is no longer there."""
        self._final.drop(job_id)
        self._subjects.drop(job_id)

    def look(self, job_id: str) -> dict[str, Any] | None:
        """Show a job, or None for one that was never submitted and has no result.

        Raises TransientError where the lake does not answer.
        """
        known = self.final(job_id)
        if known is not None:
            solve: dict[str, Any] = from_json(known)
            return solve
        found = status(self._lake, job_id)
        row = find_row(self._lake, job_id) if found.state == "done" else None
        if found.state == "unknown" or (found.state == "done" and row is None):
            return None
        subject = self._subject_of(job_id, row)
        created_at, ended_at = self._times_of(found)
        value = solve_json(
            job_id,
            STATES.get(found.state, found.state),
            subject,
            created_at=created_at,
            ended_at=ended_at,
            row=row,
            progress=_progress(found),
            reason=found.reason,
        )
        if found.state == "queued":
            value["place"] = self._places.get().get(found.run_id or "")
        # A puzzle that could not be read may be there the next time.
        is_final = row is not None and row["status"] in FINAL
        if is_final and subject.puzzle is not None:
            self._final.put(job_id, to_json(value))
        return value

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
        question, puzzle_id, puzzle = self._asked(job_id) if row is None else self._answered(row)
        subject = Subject(
            question=question,
            puzzle_id=puzzle_id,
            puzzle=puzzle,
            references=self.names.of(puzzle_id),
        )
        if puzzle is not None:
            self._subjects.put(job_id, subject)
        return subject

    def _asked(self, job_id: str) -> tuple[Question, str, Mapping[str, Any]]:
        """Read what a job without a row is about."""
        wanted, ended = read_wanted(self._lake, job_id), read_ended(self._lake, job_id)
        if wanted is not None:
            submission = wanted.last
        elif ended is not None:
            submission = ended.submission
        else:
            raise PermanentError(f"the lake does not say what job {job_id} is about")
        return submission.question, submission.puzzle_id, submission.puzzle

    def _answered(self, row: Mapping[str, Any]) -> tuple[Question, str, Mapping[str, Any] | None]:
        """Read what a row is about; the puzzle is None where the lake does not have it."""
        question, puzzle_id = Question.from_json(row), row["puzzle_id"]
        puzzle = None
        try:
            game = open_game(self._lake, question.game)
            puzzle = game.puzzle_to_json(self.puzzle(puzzle_id, question))
        except (DamagedFileError, LakeRefusesError) as error:
            skip_file(f"the puzzle {puzzle_id}", error)
        except PermanentError:
            pass  # the lake has none
        return question, puzzle_id, puzzle

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

    def _read_places(self) -> dict[str, int]:
        """Count the messages before the first of each run; none where no server answers."""
        order: list[str] = []
        with suppress(redis.RedisError):
            order = waiting_in_order(self._client, self._settings, INTERACTIVE)
        return {about.partition("/")[0]: place for place, about in reversed([*enumerate(order)])}


class Names:
    """Knows on which dates puzzles were published. Thread-safe."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._sizes: Mapping[str, int] = {}
        self._names: dict[str, list[str]] = {}
        self._cached = Cached(self._read, NAMES_S)

    def of(self, puzzle_id: str) -> tuple[str, ...]:
        """Name the editions of a puzzle, the last date first; none where the lake knows none."""
        # Names are for people: without a lake those that were read last are as good.
        with suppress(NightgridError):
            self._cached.get()
        return tuple(self._names.get(puzzle_id, ()))

    def _read(self) -> None:
        sizes = self._lake.sizes("editions")
        if sizes == self._sizes:
            return
        names: dict[str, list[str]] = {}
        for game in filter(has_plug, GAMES):
            rows = self._lake.read_table(editions_path(game), EDITIONS, _NAME_COLUMNS).to_pylist()
            for row in sorted(rows, key=lambda row: row["date"], reverse=True):
                name = reference_text(game, row["date"], row["level"])
                mine = names.setdefault(row["puzzle_id"], [])
                if name not in mine:
                    mine.append(name)
        self._names, self._sizes = names, sizes


def _progress(found: JobStatus) -> dict[str, Any] | None:
    if found.chunks_total is None:
        return None
    return {
        "chunks_done": found.chunks_done,
        "chunks_total": found.chunks_total,
        "states": None if found.states is None else str(found.states),
        "expected_s": None if found.expected_s is None else round(found.expected_s, 3),
        "left_s": None if found.left_s is None else round(found.left_s, 3),
    }

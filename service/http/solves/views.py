"""Show jobs of the service, from their submissions, ends or results."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from functools import lru_cache
from threading import Condition, Lock
from typing import Any

from cachetools import LRUCache, TTLCache, cached
from pydantic_core import from_json

from nightgrid.archive.games import has_plug
from nightgrid.archive.ingest.editions import editions_path
from nightgrid.archive.lake.faults import DamagedFileError, LakeRefusesError
from nightgrid.archive.lake.schemas import EDITIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup.boards import find_boards
from nightgrid.archive.lookup.reference import IdReference, reference_text
from nightgrid.archive.skipped_files import skip_file
from nightgrid.archive.words.binding import open_game
from nightgrid.archive.words.dictionaries import with_words
from nightgrid.service.http.solves.admission import in_same_class
from nightgrid.service.http.solves.small_boards import Solved
from nightgrid.service.http.solves.solve_json import solve_json
from nightgrid.solvers.errors import NightgridError, PermanentError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.question import Question
from nightgrid.solvers.registry import GAMES
from nightgrid.workers.ondemand.results import find_row
from nightgrid.workers.ondemand.status import JobStatus, status
from nightgrid.workers.ondemand.submissions import open_jobs, read_ended, read_wanted
from nightgrid.workers.runs.manifest import read_done
from nightgrid.workers.settings import Settings

TIMES_MAX = 1024
"""Most jobs whose times of submission and end are remembered."""
PLACES_S = 0.5
"""Lifetime of a listing of the open jobs."""
STATES = {"working": "running", "refused": "failed"}
"""The service's names of some states; `done` may be `failed`, see `solve_json`."""
NAMES_S = 5.0
"""Lifetime of a listing of the editions' files."""
_NAME_COLUMNS = ("date", "level", "puzzle_id")


class Views:
    """Shows jobs. Its methods block, and may be called from several threads."""

    def __init__(self, lake: Lake, settings: Settings, unfiled: Mapping[str, Solved]) -> None:
        """Take the service's own answers that are not stored yet, by job."""
        self._lake, self._settings, self._unfiled = lake, settings, unfiled
        self._open = cached(TTLCache(1, PLACES_S), condition=Condition())(lambda: open_jobs(lake))
        self._times: LRUCache[str, tuple[float | None, float | None]] = LRUCache(TIMES_MAX)
        """When jobs were submitted, and when they were seen to have ended: Unix time."""
        self._lock = Lock()
        self._sizes = cached(TTLCache(1, NAMES_S), condition=Condition())(
            lambda: frozenset(lake.sizes("editions").items())
        )

    def references(self, puzzle_id: str) -> list[str]:
        """List the editions of a puzzle; none if the lake has none, or does not answer."""
        try:
            return _editions_of(self._lake, self._sizes()).get(puzzle_id, [])
        except NightgridError:
            return []

    def note_times(self, job_id: str, created_at: float | None, ended_at: float | None) -> None:
        """Remember when a job was submitted, and when it ended, as Unix time."""
        with self._lock:
            self._times[job_id] = created_at, ended_at

    def look(self, job_id: str) -> dict[str, Any] | None:
        """Return a job, or None for one that was never submitted and has no result.

        Raises TransientError if the lake does not answer.
        """
        if (known := self._unfiled.get(job_id)) is not None:
            solve: dict[str, Any] = from_json(known.reply)
            return solve
        found = status(self._lake, job_id)
        row = find_row(self._lake, job_id) if found.state == "done" else None
        if found.state == "unknown" or (found.state == "done" and row is None):
            return None
        about = self._asked(job_id) if row is None else self._answered(row)
        if about is None:
            return self.look(job_id)
        question, puzzle_id, puzzle = about
        created_at, ended_at = self._times_of(found)
        value = solve_json(
            job_id,
            STATES.get(found.state, found.state),
            question,
            puzzle_id,
            puzzle,
            references=self.references(puzzle_id),
            created_at=created_at,
            ended_at=ended_at,
            row=row,
            progress=_progress(found),
            reason=found.reason,
        )
        if found.state == "queued":
            value["place"] = self._place(job_id)
        return value

    def is_open(self, job_id: str) -> bool:
        """Return whether a job waits or runs, by two reads; `look` takes many."""
        if job_id in self._unfiled:
            return False
        wanted = read_wanted(self._lake, job_id)
        return wanted is not None and read_done(self._lake, wanted.run_id) is None

    def _asked(self, job_id: str) -> tuple[Question, str, Mapping[str, Any]] | None:
        """Read the question of a job without a row; None if it has one by now."""
        wanted, ended = read_wanted(self._lake, job_id), read_ended(self._lake, job_id)
        if wanted is not None:
            submission = wanted.last
        elif ended is not None:
            submission = ended.submission
        else:
            return None
        return submission.question, submission.puzzle_id, submission.puzzle

    def _answered(self, row: Mapping[str, Any]) -> tuple[Question, str, Mapping[str, Any] | None]:
        """Read the question of a row; the puzzle is None if the lake does not have it."""
        question, puzzle_id = Question.from_json(row), row["puzzle_id"]
        puzzle = None
        try:
            game = open_game(self._lake, question.game)
            puzzle = game.puzzle_to_json(self._puzzle(row, game))
        except (DamagedFileError, LakeRefusesError) as error:
            skip_file(f"the puzzle {puzzle_id}", error)
        except PermanentError:
            pass  # the lake has none
        return question, puzzle_id, puzzle

    def _puzzle(self, row: Mapping[str, Any], game: Game[Any, Any]) -> Any:
        """Return the puzzle of a row. Raises PermanentError if the lake lacks it or its words."""
        if row["puzzle"] is not None:
            return game.puzzle_from_json(with_words(self._lake, json.loads(row["puzzle"])))
        (board,) = find_boards(self._lake, IdReference(prefix=row["puzzle_id"]))
        return board.published.puzzle

    def _times_of(self, found: JobStatus) -> tuple[float | None, float | None]:
        with self._lock:
            created_at, ended_at = self._times.get(found.job_id) or (None, None)
        if found.age_s is not None:
            created_at, ended_at = created_at or time.time() - found.age_s, None
        elif created_at is not None and ended_at is None:
            ended_at = time.time()
        if created_at is not None:
            self.note_times(found.job_id, created_at, ended_at)
        return created_at, ended_at

    def _place(self, job_id: str) -> int | None:
        """Count the open jobs ahead of one; None if it is brand new or has ended."""
        wanted = self._open().wanted
        if job_id not in wanted:
            return None
        expected_s = wanted[job_id].last.expected_s
        ahead = in_same_class(wanted.values(), expected_s, self._settings)
        return [job.job_id for job in ahead].index(job_id)


@lru_cache(maxsize=1)
def _editions_of(lake: Lake, sizes: frozenset[tuple[str, int]]) -> dict[str, list[str]]:  # noqa: ARG001 - the key
    """Read where puzzles were published, as references by puzzle, the last date first."""
    names: dict[str, list[str]] = {}
    for game in filter(has_plug, GAMES):
        rows = lake.read_table(editions_path(game), EDITIONS, _NAME_COLUMNS).to_pylist()
        for row in sorted(rows, key=lambda row: row["date"], reverse=True):
            name = reference_text(game, row["date"], row["level"])
            mine = names.setdefault(row["puzzle_id"], [])
            if name not in mine:
                mine.append(name)
    return names


def _progress(found: JobStatus) -> dict[str, Any] | None:
    if found.chunks_total is None:
        return None
    return {
        "chunks_done": found.chunks_done,
        "chunks_total": found.chunks_total,
        "states": None if found.states is None else str(found.states),
        "elapsed_s": None if found.age_s is None else int(found.age_s),
        "expected_s": None if found.expected_s is None else round(found.expected_s, 3),
        "left_s": None if found.left_s is None else round(found.left_s, 3),
    }

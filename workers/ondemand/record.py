"""The record of an on-demand job: what is wanted of it, and how far it is."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nightgrid.archive.lake.json_files import checked_value
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.words.binding import open_game
from nightgrid.archive.words.dictionaries import with_words
from nightgrid.solvers.algebra import Expected
from nightgrid.solvers.canonical import ID_HEX_DIGITS
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.question import Question
from nightgrid.solvers.reasons import Reason
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.runs.attempts import failure_from_json, failure_to_json

UNSAID = {"rules": "", "lexicon_id": "", "solver_version": ""}
"""What records and messages of earlier versions do not say. An unsaid solver is the worker's."""


class BadRecordError(PermanentError):
    """A record that does not say what a record has to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A job that is wanted and has not ended."""

    job_id: str
    question: Question
    puzzle: Mapping[str, Any]
    """The puzzle as it travels in messages."""
    budget: JobBudget
    """The largest that a submitter gave."""
    submitted_at: float
    """Unix time, seconds. It tells one submission of a job from the next."""
    attempts: int = 0
    """Counted before the work begins."""
    worker: str | None = None
    """Which worker began last."""
    started_at: float | None = None
    expected: Expected | None = None
    """What its worker expects it to take; None before it begins, and for what takes no second."""
    run_id: str | None = None
    """The run that it became because it is large."""
    failure: Reason | None = None
    """Why the last attempt failed, if its process lived to tell."""
    deadline_at: float | None = None
    """Unix time, seconds, until which an answer is wanted; None: however long it takes."""
    sent_in_vain: int = 0
    """Times in a row that the keeper sent it and no worker has begun it."""
    split: str = ""
    """How a submitter wants it divided: auto, ahead or never; "": as the worker's settings say."""
    besides: str | None = None
    """The run, or the name of the on-demand answer, that had said over budget or poison when the
    job was submitted: what it says does not end this submission."""

    @property
    def is_late(self) -> bool:
        """Whether its deadline has passed."""
        return self.deadline_at is not None and time.time() >= self.deadline_at

    def covers(self, wanted: Record) -> bool:
        """Tell whether it may cost as much, and may take as long, as another submitter wants."""
        in_time = latest(self.deadline_at, wanted.deadline_at) == self.deadline_at
        return in_time and self.budget.covers(wanted.budget)

    @property
    def message(self) -> dict[str, Any]:
        """The message that gets it worked."""
        return {
            "job_id": self.job_id,
            **self.question.to_json(),
            "budget": self.budget.part.limits,
            "puzzle": dict(self.puzzle),
        }

    def to_json(self) -> dict[str, Any]:
        """Write it as the lake keeps it."""
        value = {**self.message, **self.budget.to_json()} | {
            "submitted_at": self.submitted_at,
            "attempts": self.attempts,
            "worker": self.worker,
            "run_id": self.run_id,
        }
        if self.started_at is not None:
            value["started_at"] = self.started_at
        if self.expected is not None:
            value["expected_s"] = round(self.expected.seconds, 3)
            value["passed"] = list(self.expected.passed)
        if self.failure is not None:
            value["failure"] = failure_to_json(self.failure)
        if self.deadline_at is not None:
            value["deadline_at"] = self.deadline_at
        if self.sent_in_vain:
            value["sent_in_vain"] = self.sent_in_vain
        if self.split:
            value["split"] = self.split
        if self.besides is not None:
            value["besides"] = self.besides
        return value

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Record:
        """Read it as `to_json` writes it.

        Raises BadRecordError, in one sentence, for anything else.
        """
        try:
            record = cls(
                job_id=checked_value(value, "job_id", str),
                question=Question.from_json({**UNSAID, **value}),
                puzzle=checked_value(value, "puzzle", dict),
                budget=JobBudget.from_json(value),
                submitted_at=float(checked_value(value, "submitted_at", float, int)),
                attempts=checked_value(value, "attempts", int),
                worker=checked_value(value, "worker", str, type(None)),
                started_at=time_or_none(value.get("started_at"), "started_at"),
                expected=_expected(value),
                run_id=checked_value(value, "run_id", str, type(None)),
                failure=failure_from_json(value["failure"]) if value.get("failure") else None,
                deadline_at=time_or_none(value.get("deadline_at"), "deadline_at"),
                sent_in_vain=checked_value({"sent_in_vain": 0, **value}, "sent_in_vain", int),
                split=str(value.get("split", "")),
                besides=checked_value({"besides": None, **value}, "besides", str, type(None)),
            )
        except PermanentError as error:
            raise BadRecordError(str(error)) from error
        except (KeyError, TypeError, ValueError) as error:
            raise BadRecordError(f"a value is none: {error!r:.80}") from error
        if not is_job_id(record.job_id):
            raise BadRecordError(f"job_id is {record.job_id!r:.60}; expected {_EXPECTED}")
        if not math.isfinite(record.submitted_at):
            raise BadRecordError(f"submitted_at is {record.submitted_at}; expected a time")
        return record


def _expected(value: Mapping[str, Any]) -> Expected | None:
    """Read what a job is expected to take. Raises TypeError or ValueError for what is no number."""
    seconds = value.get("expected_s")
    if seconds is None:
        return None
    found = Expected(
        seconds=float(seconds), passed=tuple(float(share) for share in value.get("passed", ()))
    )
    if not all(map(math.isfinite, (found.seconds, *found.passed))):
        raise ValueError(f"expected_s or passed is {found!r:.60}")
    return found


def time_or_none(value: Any, name: str) -> float | None:
    """Read a time, Unix seconds, or None. Raises BadRecordError for anything else."""
    if value is None:
        return None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value):
        raise BadRecordError(f"{name} is {value!r:.60}; expected a time")
    return float(value)


def latest(*deadlines: float | None) -> float | None:
    """Tell which of several deadlines is the latest; None is none, and later than all."""
    times = [at for at in deadlines if at is not None]
    return max(times) if len(times) == len(deadlines) else None


_EXPECTED = f"{ID_HEX_DIGITS} hexadecimal digits"


def is_job_id(text: str) -> bool:
    """Tell whether a text may be the id of a job."""
    return len(text) == ID_HEX_DIGITS and not set(text) - set("0123456789abcdef")


def check_job_id(job_id: str) -> None:
    """Raise PermanentError for what is no id of a job."""
    if not is_job_id(job_id):
        raise PermanentError(f"job id is {job_id!r:.60}; expected {_EXPECTED}")


def without_words(value: dict[str, Any], puzzle: Any) -> dict[str, Any]:
    """Put the id of a board's own words in their place."""
    if value.get("dictionary") is None:
        return value
    rest = {name: item for name, item in value.items() if name != "dictionary"}
    return {**rest, "dictionary_id": puzzle.dictionary_id}


def puzzle_id_of(lake: Lake, record: Record) -> str:
    """Tell the puzzle that a record is about. Raises PermanentError for one that is none."""
    game = open_game(lake, record.question.game)
    return game.puzzle_id(game.puzzle_from_json(with_words(lake, record.puzzle)))

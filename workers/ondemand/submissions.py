"""Submissions: files that record which jobs are wanted, by which client, until when, at which cost.

runs/ondemand/<d>/<job_id>--<client>-<limits>.json  a client wants this job, within these limits;
                                                    d: first digit of its id: short listings
runs/ended/<job_id>.json                            how a job ended without an answer

A submission is created once and never changed: a client that wants more creates another one. The
largest budget and the latest deadline of a job's submissions count, and the job is wanted while one
is left. The keeper deletes them when the job has ended; a client deletes its own when it leaves.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import time
import uuid
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache, reduce
from typing import Any, Literal

from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.json_files import read_as, read_hint, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.canonical import ID_HEX_DIGITS, canonical_json, digest, is_id
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.question import Question
from nightgrid.workers.ondemand.budgets import JobBudget

SUBMISSIONS = "runs/ondemand"
ENDED = "runs/ended"
CLIENT_DIGITS, LIMITS_DIGITS = 24, 8
NAMELESS = "nameless"
"""Client name of a submission from an anonymous client."""
KEPT = 10_000
"""Cache size of submissions; they never change."""

End = Literal["refused", "cancelled", "expired"]
"""`refused`: no worker could solve it, for reasons other than the puzzle. `cancelled`: no client
wants it any more. `expired`: its deadline passed. None of them is an answer: the next submission
asks again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A client's request for a job."""

    job_id: str
    question: Question
    puzzle_id: str
    puzzle: Mapping[str, Any]
    """The puzzle as JSON, with its own words replaced by their id."""
    client: str
    budget: JobBudget
    submitted_at: float
    """Unix time, seconds."""
    deadline_at: float | None = None
    """Deadline, Unix time in seconds; None: none."""
    expected_s: float = 0.0
    """Its game's estimate in seconds, if the client has asked for it."""
    after: str = ""
    """The run whose row does not answer it: over a smaller budget, or poison."""
    trace: Mapping[str, str] = field(default_factory=dict)
    """The trace that it belongs to."""

    @property
    def path(self) -> str:
        """Its file."""
        limits = digest(
            "limits", canonical_json(self.budget.to_json()), str(self.deadline_at), self.after
        )
        return f"{_folder(self.job_id)}/{self.job_id}--{self.client}-{limits[:LIMITS_DIGITS]}.json"

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        about = asdict(self) | self.question.to_json() | {"budget": self.budget.to_json()}
        del about["question"]
        return about

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Submission:
        """Parse what `to_json` returns."""
        parts: dict[str, Any] = {
            "question": Question.from_json(value),
            "budget": JobBudget.from_json(value["budget"]),
        }
        names = {each.name for each in fields(cls)} - parts.keys()
        return cls(**parts, **{name: value[name] for name in names})


@dataclass(frozen=True, slots=True)
class Wanted:
    """All submissions of a job together."""

    submissions: tuple[Submission, ...]
    """At least one, the oldest first."""

    @property
    def last(self) -> Submission:
        """The last submission; all of them ask the same about the same puzzle."""
        return self.submissions[-1]

    @property
    def job_id(self) -> str:
        """The job."""
        return self.last.job_id

    @property
    def submitted_at(self) -> float:
        """When it was first submitted."""
        return self.submissions[0].submitted_at

    @property
    def budget(self) -> JobBudget:
        """The larger of each limit."""
        return reduce(JobBudget.or_more, (each.budget for each in self.submissions))

    @property
    def deadline_at(self) -> float | None:
        """The latest deadline; None if any submission has none."""
        times = [each.deadline_at for each in self.submissions if each.deadline_at is not None]
        return max(times) if len(times) == len(self.submissions) else None

    @property
    def is_late(self) -> bool:
        """Whether its deadline has passed."""
        return self.deadline_at is not None and time.time() >= self.deadline_at

    @property
    def run_id(self) -> str:
        """Its run: another budget of a part makes another run, and so does another try."""
        return run_id_of(self.job_id, self.budget, self.last.after)


def run_id_of(job_id: str, budget: JobBudget, after: str) -> str:
    """Return the run of a job within a budget, which follows the run `after`, if any."""
    limits = {**budget.part.limits, "solution_bytes": budget.solution_bytes}
    return digest("ondemand", job_id, canonical_json(limits), after)


def client_name(*of: str) -> str:
    """Return the name of a client from what identifies it; without that, a random name."""
    if not of:
        return f"{NAMELESS}{uuid.uuid4().hex[: CLIENT_DIGITS - len(NAMELESS)]}"
    return hashlib.sha256("\n".join(of).encode("utf-8", "replace")).hexdigest()[:CLIENT_DIGITS]


def create_submission(lake: Lake, submission: Submission) -> None:
    """Write the file of a submission; writing the same one again changes nothing."""
    data = (canonical_json(submission.to_json()) + "\n").encode("ascii")
    lake.write_bytes(submission.path, data, new=True)
    lake.delete(ended_path(submission.job_id), durable=False)


def delete_submissions(lake: Lake, submissions: Collection[Submission]) -> None:
    """Delete submissions."""
    for submission in submissions:
        lake.delete(submission.path)


def has_submission(lake: Lake, job_id: str) -> bool:
    """Return whether a job is wanted, without reading by which clients."""
    return any(_job_of(path) == job_id for path in lake.list(_folder(job_id)))


def _folder(job_id: str) -> str:
    return f"{SUBMISSIONS}/{job_id[0]}"


def _job_of(path: str) -> str:
    return path.rpartition("/")[2].partition("--")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenJobs:
    """The jobs that have not ended, from one listing."""

    wanted: Mapping[str, Wanted]
    """By job, the oldest first."""
    damaged: Mapping[str, str]
    """Damaged submissions by path: what is wrong with each, in one sentence."""


def open_jobs(lake: Lake, job_id: str | None = None) -> OpenJobs:
    """Read all submissions, or those of one job; a damaged one does not affect the others."""
    found: list[Submission] = []
    damaged: dict[str, str] = {}
    for path in lake.list(SUBMISSIONS if job_id is None else _folder(job_id)):
        if job_id not in (None, _job_of(path)):
            continue
        try:
            found.append(_read_submission(lake, path))
        except MissingFileError:
            continue  # It has just ended.
        except DamagedFileError as error:
            damaged[path] = str(error)
    found.sort(key=lambda each: each.submitted_at)
    jobs: dict[str, list[Submission]] = {}
    for each in found:
        jobs.setdefault(each.job_id, []).append(each)
    return OpenJobs(wanted={job: Wanted(tuple(of)) for job, of in jobs.items()}, damaged=damaged)


def read_wanted(lake: Lake, job_id: str) -> Wanted | None:
    """Read the submissions of a job; None if there are none. Damaged ones are left out."""
    return open_jobs(lake, job_id).wanted.get(job_id)


@lru_cache(KEPT)
def _read_submission(lake: Lake, path: str) -> Submission:
    found = read_as(lake, path, Submission.from_json)
    if found is None:
        raise MissingFileError(path)
    return found


# -- ends without an answer --------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a job ended without an answer about its puzzle."""

    end: End
    reason: str
    run_id: str
    submission: Submission
    """The question of its last submission."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Ended:
        """Parse what `end_job` writes."""
        return cls(**{**value, "submission": Submission.from_json(value["submission"])})


def ended_path(job_id: str) -> str:
    """Return the file that records that a job ended without an answer."""
    return f"{ENDED}/{job_id}.json"


def end_job(lake: Lake, wanted: Wanted, end: End, reason: str) -> None:
    """End a job without an answer, until it is submitted again."""
    about = {"end": end, "reason": reason, "run_id": wanted.run_id}
    write_json(lake, ended_path(wanted.job_id), {**about, "submission": wanted.last.to_json()})
    delete_submissions(lake, wanted.submissions)


def read_ended(lake: Lake, job_id: str) -> Ended | None:
    """Read how a job ended without an answer; None if it did not, or the file is damaged."""
    return read_hint(lake, ended_path(job_id), Ended.from_json)


def drop_ends(lake: Lake, before: dt.datetime) -> None:
    """Delete ends older than a time."""
    for path, (_, written_ns) in lake.stamps(ENDED).items():
        if written_ns < before.timestamp() * 1e9:
            lake.delete(path, durable=False)


def check_job_id(job_id: str) -> None:
    """Raise PermanentError unless a text has the form of a job id."""
    if not is_id(job_id):
        expected = f"expected {ID_HEX_DIGITS} hexadecimal digits"
        raise PermanentError(f"job id is {job_id!r:.60}; {expected}")

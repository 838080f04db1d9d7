"""Submissions: the files that say which jobs are wanted, by whom, until when, and at which cost.

runs/ondemand/<job_id>/<client>-<limits>.json   a client wants this job, within these limits
runs/ended/<job_id>.json                        how a job ended without an answer

A submission is created once and never changed: a client that wants more creates another one. Among
those of a job the largest budget and the latest deadline count, and the job is wanted while one is
left. The keeper deletes them when the job has ended, a client its own when it leaves.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
import uuid
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import reduce
from typing import Any, Literal, get_args

from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.json_files import checked_value, read_as, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.canonical import ID_HEX_DIGITS, canonical_json, digest
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.question import Question
from nightgrid.workers.caches import BoundedCache
from nightgrid.workers.ondemand.budgets import JobBudget

SUBMISSIONS = "runs/ondemand"
ENDED = "runs/ended"
CLIENT_DIGITS, LIMITS_DIGITS = 24, 8
NAMELESS = "nameless"
"""Client of a submission whose client cannot be told from others."""
KEPT = 10_000
"""Submissions that are kept in memory: none of them changes."""
_kept: BoundedCache[tuple[str, str], Submission] = BoundedCache(KEPT)

End = Literal["refused", "cancelled", "expired"]
"""`refused`: no worker could work it, for reasons that are not the puzzle's. `cancelled`: no client
wants it any more. `expired`: its deadline passed. None is an answer: the next submission asks
again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A client wants a job."""

    job_id: str
    question: Question
    puzzle_id: str
    puzzle: Mapping[str, Any]
    """The puzzle as JSON, with the id of its own words in their place."""
    client: str
    budget: JobBudget
    submitted_at: float
    """Unix time, seconds."""
    deadline_at: float | None = None
    """Unix time, seconds, until which an answer is wanted; None: however long it takes."""
    expected_s: float = 0.0
    """What its game expects it to take, if the client has asked."""
    after: str = ""
    """The run that ended with a row which does not answer it: over a smaller budget, or poison."""

    trace: Mapping[str, str] = field(default_factory=dict)
    """Names the trace that it belongs to."""

    @property
    def path(self) -> str:
        """Name its file."""
        limits = digest(
            "limits", canonical_json(self.budget.to_json()), str(self.deadline_at), self.after
        )
        name = f"{self.client}-{limits[:LIMITS_DIGITS]}.json"
        return f"{_folder(self.job_id)}/{name}"

    def to_json(self) -> dict[str, Any]:
        """Write it as the lake keeps it."""
        about = asdict(self)
        for name in ("question", "budget"):
            del about[name]
        return {**about, **self.question.to_json(), **self.budget.to_json()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Submission:
        """Read it as `to_json` writes it. Raises PermanentError, ValueError or TypeError."""
        deadline_at = value["deadline_at"]
        found = cls(
            question=Question.from_json(value),
            budget=JobBudget.from_json(value),
            puzzle=checked_value(value, "puzzle", dict),
            trace=checked_value(value, "trace", dict),
            submitted_at=float(value["submitted_at"]),
            deadline_at=None if deadline_at is None else float(deadline_at),
            expected_s=float(value["expected_s"]),
            **{
                name: checked_value(value, name, str)
                for name in ("job_id", "puzzle_id", "client", "after")
            },
        )
        if not is_job_id(found.job_id):
            raise PermanentError(f"job_id is {found.job_id!r:.60}; expected {_EXPECTED}")
        if not all(map(math.isfinite, (found.submitted_at, found.expected_s))):
            raise PermanentError("a time is infinite")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What all submissions of a job want together."""

    job_id: str
    submissions: tuple[Submission, ...]
    """One at least, the oldest first."""
    budget: JobBudget
    """The larger of each limit."""
    deadline_at: float | None
    """The latest; None if any has none."""

    @property
    def question(self) -> Question:
        """What is asked."""
        return self.submissions[0].question

    @property
    def puzzle_id(self) -> str:
        """The puzzle that it is about."""
        return self.submissions[0].puzzle_id

    @property
    def submitted_at(self) -> float:
        """When it was submitted first."""
        return self.submissions[0].submitted_at

    @property
    def is_late(self) -> bool:
        """Whether its deadline has passed."""
        return self.deadline_at is not None and time.time() >= self.deadline_at

    @property
    def run_id(self) -> str:
        """Name its run: another budget of a part is another run, and so is another try."""
        return run_id_of(self.job_id, self.budget, self.submissions[-1].after)


def run_id_of(job_id: str, budget: JobBudget, after: str) -> str:
    """Name the run of a job within a budget, which follows the run `after`, if any."""
    limits = {**budget.part.limits, "solution_bytes": budget.solution_bytes}
    return digest("ondemand", job_id, canonical_json(limits), after)


def _wanted(submissions: Iterable[Submission]) -> Wanted | None:
    found = sorted(submissions, key=lambda each: each.submitted_at)
    if not found:
        return None
    deadlines = [each.deadline_at for each in found]
    times = [at for at in deadlines if at is not None]
    return Wanted(
        job_id=found[0].job_id,
        submissions=tuple(found),
        budget=reduce(JobBudget.or_more, (each.budget for each in found)),
        deadline_at=max(times) if len(times) == len(deadlines) else None,
    )


def client_name(*of: str) -> str:
    """Name a client by what tells it from others; without that by a random name."""
    if not of:
        return f"{NAMELESS}{uuid.uuid4().hex[: CLIENT_DIGITS - len(NAMELESS)]}"
    return hashlib.sha256("\n".join(of).encode("utf-8", "replace")).hexdigest()[:CLIENT_DIGITS]


def create_submission(lake: Lake, submission: Submission) -> None:
    """Create the file of a submission; the same one again changes nothing."""
    data = (canonical_json(submission.to_json()) + "\n").encode("ascii")
    lake.create_bytes(submission.path, data)
    lake.delete(ended_path(submission.job_id), durable=False)


def read_wanted(lake: Lake, job_id: str) -> Wanted | None:
    """Read what is wanted of a job; None if nothing is. Damaged submissions are left out."""
    return open_jobs(lake, _folder(job_id)).wanted.get(job_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenJobs:
    """The jobs that have not ended, as one listing found them."""

    wanted: Mapping[str, Wanted]
    """By job, the oldest first."""
    damaged: Mapping[str, str]
    """What is no submission, by its path: what is wrong with it, in one sentence."""


def open_jobs(lake: Lake, folder: str = SUBMISSIONS) -> OpenJobs:
    """Read all submissions, or those of a folder; one that is damaged costs no other."""
    found: dict[str, list[Submission]] = {}
    damaged: dict[str, str] = {}
    for path in lake.list(folder):
        try:
            submission = read_submission(lake, path)
        except MissingFileError:
            continue
        except PermanentError as error:
            damaged[path] = str(error)
            continue
        found.setdefault(submission.job_id, []).append(submission)
    every = (wanted for each in found.values() if (wanted := _wanted(each)) is not None)
    ordered = sorted(every, key=lambda wanted: wanted.submitted_at)
    return OpenJobs(wanted={each.job_id: each for each in ordered}, damaged=damaged)


def read_submission(lake: Lake, path: str) -> Submission:
    """Read one submission, once in each process.

    Raises DamagedFileError for a file that is none, and MissingFileError.
    """
    known = _kept.get((lake.url, path))
    if known is not None:
        return known
    try:
        submission = Submission.from_json(json.loads(lake.read_bytes(path)))
        if submission.path != path:
            raise PermanentError(f"it is about job {submission.job_id}")
    except MissingFileError:
        raise
    except (PermanentError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise DamagedFileError(f"{path} is no submission: {error!s:.100}") from error
    _kept.put((lake.url, path), submission)
    return submission


def delete_submissions(lake: Lake, submissions: Collection[Submission]) -> None:
    """Delete submissions that have ended."""
    for submission in submissions:
        lake.delete(submission.path)


def has_submission(lake: Lake, job_id: str) -> bool:
    """Return whether a job is wanted, without reading by whom."""
    return bool(lake.list(_folder(job_id)))


def list_jobs(lake: Lake) -> set[str]:
    """List the jobs that are wanted, without reading any submission."""
    return {path.split("/")[-2] for path in lake.list(SUBMISSIONS)}


# -- ends without an answer --------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a job ended without an answer about its puzzle."""

    job_id: str
    end: End
    reason: str
    ended_at: float
    """Unix time, seconds."""
    run_id: str
    submission: Submission
    """What was asked, by the last one who wanted it."""


def ended_path(job_id: str) -> str:
    """Name the file that says that a job ended without an answer."""
    return f"{ENDED}/{job_id}.json"


def end_job(lake: Lake, wanted: Wanted, end: End, reason: str) -> None:
    """End a job without an answer, until it is submitted again."""
    value = {
        "job_id": wanted.job_id,
        "end": end,
        "reason": reason,
        "ended_at": time.time(),
        "run_id": wanted.run_id,
        "submission": wanted.submissions[-1].to_json(),
    }
    write_json(lake, ended_path(wanted.job_id), value)
    delete_submissions(lake, wanted.submissions)


def read_ended(lake: Lake, job_id: str) -> Ended | None:
    """Read how a job ended without an answer; None if it did not, or the file is damaged."""
    with suppress(PermanentError):
        return read_as(lake, ended_path(job_id), _ended)
    return None


def _ended(value: dict[str, Any]) -> Ended:
    if value["end"] not in get_args(End):
        raise ValueError(f"end is {value['end']!r:.40}")
    return Ended(
        job_id=checked_value(value, "job_id", str),
        end=value["end"],
        reason=checked_value(value, "reason", str),
        ended_at=float(value["ended_at"]),
        run_id=checked_value(value, "run_id", str),
        submission=Submission.from_json(value["submission"]),
    )


def list_ended(lake: Lake) -> list[Ended]:
    """Read all ends without an answer."""
    jobs = [path.rpartition("/")[2].removesuffix(".json") for path in lake.list(ENDED)]
    return [ended for job in jobs if (ended := read_ended(lake, job)) is not None]


# -- ids of jobs -------------------------------------------------------------------------------

_EXPECTED = f"{ID_HEX_DIGITS} hexadecimal digits"


def is_job_id(text: str) -> bool:
    """Return whether a text may be the id of a job."""
    return len(text) == ID_HEX_DIGITS and not set(text) - set("0123456789abcdef")


def check_job_id(job_id: str) -> None:
    """Raise PermanentError for what is no id of a job."""
    if not is_job_id(job_id):
        raise PermanentError(f"job id is {job_id!r:.60}; expected {_EXPECTED}")


def _folder(job_id: str) -> str:
    return f"{SUBMISSIONS}/{job_id}"


def without_words(value: dict[str, Any], puzzle: Any) -> dict[str, Any]:
    """Put the id of a board's own words in their place."""
    if value.get("dictionary") is None:
        return value
    rest = {name: item for name, item in value.items() if name != "dictionary"}
    return {**rest, "dictionary_id": puzzle.dictionary_id}

"""The files of on-demand jobs in the lake: what is wanted, and what ended without an answer.

runs/ondemand/<job_id>.json           from submission until the job ends
              <job_id>.budget.json    a larger budget or a later deadline, which a later submitter
                                      of the job gave
runs/ended/<job_id>.json              a job that ended without an answer about its puzzle
runs/set-aside/<name>                 what lay among the records and is none

A record is written by its submitter, its worker and the keeper, none of which waits for another.
What one of them loses to another is an attempt that was counted, never a job: a budget that is
raised and an end have files of their own.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple, get_args

from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.json_files import checked_value, read_as, read_json, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.ondemand.record import (
    BadRecordError,
    Record,
    is_job_id,
    latest,
    time_or_none,
)
from nightgrid.workers.runs.interests import drop_interests

RECORDS = "runs/ondemand"
ENDED = "runs/ended"
SET_ASIDE = "runs/set-aside"
_RAISED = ".budget.json"

End = Literal["refused", "cancelled", "expired"]
"""`refused`: no worker could work it, for reasons that are not the puzzle's. `cancelled`: a person
did not want it any more. `expired`: its deadline passed. None is an answer: the next submission
asks again."""


def record_path(job_id: str) -> str:
    """Name the file that says a job is wanted."""
    return f"{RECORDS}/{job_id}.json"


def _raised_path(job_id: str) -> str:
    return f"{RECORDS}/{job_id}{_RAISED}"


def ended_path(job_id: str) -> str:
    """Name the file that says that a job ended without an answer."""
    return f"{ENDED}/{job_id}.json"


def read_record(lake: Lake, job_id: str) -> Record | None:
    """Read what is wanted of a job, or None if nothing is, or no more.

    Raises BadRecordError for a file that is no record.
    """
    record = _read(lake, record_path(job_id), raised=lake.exists(_raised_path(job_id)))
    return None if record is None or _is_over(lake, record) else record


class Records(NamedTuple):
    """What lies among the records."""

    open: list[Record]
    """Jobs that have not ended, the oldest first."""
    over: list[Record]
    """Jobs that have ended, whose records a killed process has left, or a late worker."""
    bad: dict[str, str]
    """What is no record, by its path: what is wrong with it, in one sentence."""


def read_records(lake: Lake) -> Records:
    """Read all records; one that is damaged costs no other."""
    paths = set(lake.list(RECORDS))
    ended = set(lake.list(ENDED)) if paths else set()
    found: list[Record] = []
    over: list[Record] = []
    bad: dict[str, str] = {}
    for path in sorted(paths):
        if path.endswith(_RAISED):
            continue
        raised = path.removesuffix(".json") + _RAISED in paths
        try:
            record = _read(lake, path, raised=raised)
        except BadRecordError as error:
            bad[path] = str(error)
            continue
        if record is None:
            continue
        if ended_path(record.job_id) in ended and _is_over(lake, record):
            over.append(record)
        else:
            found.append(record)
    found.sort(key=lambda record: record.submitted_at)
    return Records(found, over, bad)


def list_jobs(lake: Lake) -> list[str]:
    """List the jobs that have a record, without a look into any."""
    names = (path.rpartition("/")[2] for path in lake.list(RECORDS) if not path.endswith(_RAISED))
    return [name.removesuffix(".json") for name in names]


def open_records(lake: Lake) -> list[Record]:
    """Read the records of all jobs that have not ended, the oldest first."""
    return read_records(lake).open


def _read(lake: Lake, path: str, *, raised: bool) -> Record | None:
    try:
        record = read_record_file(lake, path)
    except MissingFileError:
        return None
    except BadRecordError:
        raise
    except PermanentError as error:
        # A file that another user owns, for instance.
        raise BadRecordError(str(error)) from error
    return _with_raised(lake, record) if raised else record


def read_record_file(lake: Lake, path: str) -> Record:
    """Read a record without the limits that were raised.

    Raises BadRecordError for a file that is no record, and what reading a file raises.
    """
    try:
        value = json.loads(lake.read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise BadRecordError(f"{path} is not JSON: {error!s:.80}") from error
    if not isinstance(value, dict):
        raise BadRecordError(f"{path}: expected a JSON object")
    try:
        record = Record.from_json(value)
    except BadRecordError as error:
        raise BadRecordError(f"{path}: {error}") from error
    if path != record_path(record.job_id):
        raise BadRecordError(f"{path} is about job {record.job_id}")
    return record


def _with_raised(lake: Lake, record: Record) -> Record:
    try:
        found = read_raised_file(lake, _raised_path(record.job_id))
    except PermanentError:
        # Damaged: the submitter that gave it may give it again.
        return record
    if found is None:
        return record
    budget, deadline_at = found
    return replace(record, budget=record.budget.or_more(budget), deadline_at=deadline_at)


def read_raised_file(lake: Lake, path: str) -> tuple[JobBudget, float | None] | None:
    """Read the budget and the deadline that a later submitter gave; None: the file is gone.

    Raises PermanentError for anything else.
    """
    value = read_json(lake, path)
    if value is None:
        return None
    try:
        return JobBudget.from_json(value), time_or_none(value.get("deadline_at"), "deadline_at")
    except PermanentError as error:
        raise DamagedFileError(f"{path}: {error}") from error


def write_record(lake: Lake, record: Record) -> None:
    """Keep what is wanted of a job, and how far it is."""
    write_json(lake, record_path(record.job_id), record.to_json())


def create_record(lake: Lake, record: Record) -> bool:
    """Keep what is wanted of a job unless there is a file already; tell whether there was none."""
    data = (canonical_json(record.to_json()) + "\n").encode("ascii")
    created = lake.create_bytes(record_path(record.job_id), data)
    if created:
        # What was said of an earlier submission. A budget that was raised stays: it may be another
        # submitter's of this one.
        lake.delete(ended_path(record.job_id))
        lake.delete(_aside_path(record_path(record.job_id)))
    return created


def raise_limits(lake: Lake, record: Record, wanted: Record) -> bool:
    """Give a job that is wanted already what another submitter wants; tell whether it is still.

    It gets the larger of the two budgets and the later of the two deadlines.
    """
    value = record.budget.or_more(wanted.budget).to_json()
    deadline_at = latest(record.deadline_at, wanted.deadline_at)
    write_json(lake, _raised_path(record.job_id), value | {"deadline_at": deadline_at})
    return lake.exists(record_path(record.job_id))


def delete_record(lake: Lake, job_id: str) -> None:
    """Want nothing more of a job."""
    drop_interests(lake, job_id)
    lake.delete(_raised_path(job_id))
    lake.delete(record_path(job_id))


# -- ends without an answer --------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a submission ended without an answer about its puzzle."""

    job_id: str
    end: End
    reason: str
    submitted_at: float
    """Which submission."""
    ended_at: float
    """Unix time, seconds."""
    attempts: int = 0
    run_id: str | None = None
    message: Mapping[str, Any] | None = None
    """What was asked, as the message to workers said it; None from an earlier version."""


def end_record(lake: Lake, record: Record, end: End, reason: str) -> Ended:
    """End a job without an answer: no process works it any more, until it is submitted again."""
    ended = Ended(
        job_id=record.job_id,
        end=end,
        reason=reason,
        submitted_at=record.submitted_at,
        ended_at=time.time(),
        attempts=record.attempts,
        run_id=record.run_id,
        message=record.message,
    )
    # In this order: a worker that writes the record once more brings nothing back.
    write_json(lake, ended_path(record.job_id), asdict(ended))
    delete_record(lake, record.job_id)
    return ended


def read_ended(lake: Lake, job_id: str) -> Ended | None:
    """Read how the last submission of a job ended without an answer, or None."""
    try:
        return read_end_file(lake, ended_path(job_id))
    except PermanentError:
        # Damaged: the job can be asked again all the same.
        return None


def read_end_file(lake: Lake, path: str) -> Ended | None:
    """Read how a submission ended without an answer; None: the file is gone.

    Raises PermanentError for anything else.
    """
    ended = read_as(lake, path, _ended)
    if ended is not None and path != ended_path(ended.job_id):
        raise DamagedFileError(f"{path} is about job {ended.job_id}")
    return ended


def _ended(value: dict[str, Any]) -> Ended:
    if value["end"] not in get_args(End):
        raise ValueError(f"end is {value['end']!r:.40}")
    for name in ("submitted_at", "ended_at"):
        checked_value(value, name, float, int)
    for name in ("job_id", "reason"):
        checked_value(value, name, str)
    checked_value({"attempts": 0, **value}, "attempts", int)
    checked_value({"run_id": None, **value}, "run_id", str, type(None))
    checked_value({"message": None, **value}, "message", dict, type(None))
    return Ended(**value)


def list_ended(lake: Lake) -> list[Ended]:
    """Read all ends without an answer that no later submission has replaced."""
    jobs = [path.rpartition("/")[2].removesuffix(".json") for path in lake.list(ENDED)]
    return [ended for job in jobs if (ended := read_ended(lake, job)) is not None]


def drop_over(lake: Lake, job_id: str) -> None:
    """Delete the record of a submission that has ended, if it is still there."""
    with suppress(BadRecordError):
        record = _read(lake, record_path(job_id), raised=False)
        if record is not None and _is_over(lake, record):
            delete_record(lake, job_id)


def _is_over(lake: Lake, record: Record) -> bool:
    ended = read_ended(lake, record.job_id)
    return ended is not None and ended.submitted_at == record.submitted_at


# -- what is no record -------------------------------------------------------------------------


def _aside_path(path: str) -> str:
    return f"{SET_ASIDE}/{path.rpartition('/')[2]}"


def set_aside(lake: Lake, path: str) -> str | None:
    """Move what is no record out of the way; return where it lies now, None if it is gone."""
    try:
        data = lake.read_bytes(path)
        lake.write_bytes(_aside_path(path), data)
        if lake.read_bytes(path) == data:
            lake.delete(path)
    except MissingFileError:
        return None
    return _aside_path(path)


def list_set_aside(lake: Lake) -> list[str]:
    """List what was set aside."""
    return lake.list(SET_ASIDE)


def describe_set_aside(path: str) -> str:
    """Say what a file that was set aside is: a damaged record, or of another program."""
    if is_job_id(PurePosixPath(path).stem):
        return "the damaged record of a job, set aside; submit the job again"
    return "no record of a job, set aside; delete the file once it is not needed"


def is_set_aside(lake: Lake, job_id: str) -> bool:
    """Tell whether what lay in the place of a job's record was set aside."""
    return lake.exists(_aside_path(record_path(job_id)))

"""Which clients want a job: each submission is one interest, and the job goes on while one is left.

runs/wishes/<job_id>/<name>.json    from submission until it is withdrawn or the job ends

The folder has the name that interests had before; lakes keep it.

Losing one costs no answer: at worst a job is cancelled while another client wants it, which its
next look tells it.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator
from contextlib import suppress

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.json_files import read_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.errors import PermanentError

INTERESTS = "runs/wishes"
NAME_DIGITS = 24
NAMELESS = "nameless-"
"""How the names of interests begin whose clients cannot be told from others."""
_LAST = "none"
"""No file of a job's folder is called so: none of them has to be deleted last."""


def interest_name(*of: str) -> str:
    """Name the interest of a client by what tells it from others, or else by a random name."""
    if not of:
        return f"{NAMELESS}{uuid.uuid4().hex[:NAME_DIGITS]}"
    return hashlib.sha256("\n".join(of).encode("utf-8", "replace")).hexdigest()[:NAME_DIGITS]


def add_interest(lake: Lake, job_id: str, submitted_at: float, name: str) -> None:
    """Note that a client wants the submission of a job; the same name again changes nothing."""
    data = canonical_json({"submitted_at": submitted_at}).encode("ascii")
    lake.write_bytes(f"{_folder(job_id)}/{name}.json", data, durable=False)


def withdraw_interest(lake: Lake, job_id: str, submitted_at: float, name: str | None) -> int:
    """Take an interest away; tell how many are left for this submission.

    `name` None, or of no interest: a nameless one, which is as good as any other nameless one. That
    of another client stays: one that withdraws twice takes nothing away from it.
    """
    interests = list(_interests(lake, job_id, submitted_at))
    nameless = (one for one in interests if one.startswith(NAMELESS))
    mine = name if name in interests else next(nameless, None)
    if mine is None:
        return len(interests)
    lake.delete(f"{_folder(job_id)}/{mine}.json", durable=False)
    return len(interests) - 1


def drop_interests(lake: Lake, job_id: str) -> None:
    """Delete the interests in a job that has ended."""
    lake.delete_folder(_folder(job_id), last=f"{_folder(job_id)}/{_LAST}")


def _interests(lake: Lake, job_id: str, submitted_at: float) -> Iterator[str]:
    """Name the interests for this submission; what is left of earlier ones does not count."""
    for path in lake.list(_folder(job_id)):
        # One that is damaged is no interest.
        with suppress(PermanentError):
            if read_interest_file(lake, path) == submitted_at:
                yield path.rpartition("/")[2].removesuffix(".json")


def read_interest_file(lake: Lake, path: str) -> float | None:
    """Read for which submission an interest is, Unix seconds; None: the file is gone.

    Raises PermanentError for a file that is no interest.
    """
    value = read_json(lake, path)
    if value is None:
        return None
    submitted_at = value.get("submitted_at")
    if not isinstance(submitted_at, (int, float)):
        raise DamagedFileError(f"{path}: submitted_at is {submitted_at!r:.60}; expected a time")
    return submitted_at


def _folder(job_id: str) -> str:
    return f"{INTERESTS}/{job_id}"

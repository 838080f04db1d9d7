"""Who wants a job: each submission is a wish, and a job that one client leaves may be another's.

runs/wishes/<job_id>/<name>.json    from submission until it is withdrawn or the job ends

Losing one costs no answer: at worst a job is cancelled while another client wants it, which its
next look tells it.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator
from contextlib import suppress

from nightgrid.archive.lake.json_files import read_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import canonical_json
from nightgrid.solvers.errors import PermanentError

WISHES = "runs/wishes"
NAME_DIGITS = 24
_LAST = "none"
"""No file of a job's folder is called so: none of them has to be deleted last."""


def wish_name(*of: str) -> str:
    """Name the wish of a client that can be told from others; without any, a wish of its own."""
    text = "\n".join(of) or uuid.uuid4().hex
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:NAME_DIGITS]


def add_wish(lake: Lake, job_id: str, submitted_at: float, name: str) -> None:
    """Note that a client wants the submission of a job; the same wish again is one wish."""
    data = canonical_json({"submitted_at": submitted_at}).encode("ascii")
    lake.write_bytes(f"{_folder(job_id)}/{name}.json", data, durable=False)


def withdraw(lake: Lake, job_id: str, submitted_at: float, name: str | None) -> int:
    """Take a wish away; tell how many are left for this submission.

    `name` None, or of no wish: one that has no name of its own is as good as any other.
    """
    wishes = list(_wishes(lake, job_id, submitted_at))
    mine = name if name in wishes else next(iter(wishes), None)
    if mine is None:
        return 0
    lake.delete(f"{_folder(job_id)}/{mine}.json", durable=False)
    return len(wishes) - 1


def drop_wishes(lake: Lake, job_id: str) -> None:
    """Forget who wanted a job that has ended."""
    lake.delete_folder(_folder(job_id), last=f"{_folder(job_id)}/{_LAST}")


def _wishes(lake: Lake, job_id: str, submitted_at: float) -> Iterator[str]:
    """Name the wishes for this submission; what is left of earlier ones does not count."""
    for path in lake.list(_folder(job_id)):
        # One that is damaged is no wish.
        with suppress(PermanentError):
            value = read_json(lake, path)
            if value is not None and value.get("submitted_at") == submitted_at:
                yield path.rpartition("/")[2].removesuffix(".json")


def _folder(job_id: str) -> str:
    return f"{WISHES}/{job_id}"

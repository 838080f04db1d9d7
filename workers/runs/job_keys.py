"""Ids of jobs, and which of them are already answered: columns of millions.

A job_id has 128 bits. At 16 bytes each, all jobs of a large run and all answered jobs fit into
memory, and an anti-join of sorted arrays finds the open ones.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from enum import IntFlag
from hashlib import sha256
from json.encoder import encode_basestring_ascii

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import scan_results
from nightgrid.archive.results.statuses import FINAL, is_among
from nightgrid.solvers.algebra import Budget, Status
from nightgrid.solvers.canonical import ID_HEX_DIGITS
from nightgrid.solvers.question import Question
from nightgrid.solvers.reasons import ReasonCode

Keys = npt.NDArray[np.bytes_]
"""Job ids as 16 bytes each: an array of KEY."""
KEY = np.dtype(f"S{ID_HEX_DIGITS // 2}")
NO_KEYS = np.empty(0, KEY)
Mask = npt.NDArray[np.bool_]
Flags = npt.NDArray[np.uint8]
"""Flags of `Known` for each job."""

_LIMITS = ("budget_nodes", "budget_table_bytes", "budget_seconds")
_TOTALS = ("total_seconds", "total_bytes")
_COLUMNS = ("job_id", "game", "ask", "status", "run_id", *_TOTALS, *_LIMITS)
_LISTED = ("reason_code", "budget_solution_bytes")


def name_jobs(question: Question, subjects: pa.Array | pa.ChunkedArray) -> Keys:
    """Return the ids of the jobs of subjects, as `question.job_id` does for one."""
    tail = ("," + json.dumps(question.job_fields, separators=(",", ":"))[1:]).encode("ascii")
    names = (encode_basestring_ascii(name).encode("ascii") for name in subjects.to_pylist())
    return np.frombuffer(
        b"".join(sha256(b"[" + name + tail).digest()[: KEY.itemsize] for name in names), KEY
    )


def keys_of(job_ids: pa.Array | pa.ChunkedArray) -> Keys:
    """Parse a column of job ids of 32 hexadecimal digits each."""
    return np.frombuffer(bytes.fromhex("".join(job_ids.to_pylist())), KEY)


def ids_of(keys: Keys) -> pa.Array:
    """Format job ids as in the tables of the lake."""
    text = keys.tobytes().hex().encode("ascii")
    offsets = np.arange(len(keys) + 1, dtype=np.int32) * ID_HEX_DIGITS
    return pa.Array.from_buffers(
        pa.string(), len(keys), [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    )


class KeySet:
    """A set of jobs, as one sorted array of 16 bytes a job; grows by thousands at once."""

    def __init__(self) -> None:
        self._keys = np.empty(0, KEY)

    def add(self, keys: Keys) -> Mask:
        """Add keys; return for each whether it is new: of equal ones, only the first is."""
        ranked, firsts = np.unique(keys, return_index=True)
        at = np.searchsorted(self._keys, ranked)
        is_new = at == len(self._keys)
        is_new[~is_new] = self._keys[at[~is_new]] != ranked[~is_new]
        self._keys = np.insert(self._keys, at[is_new], ranked[is_new])
        fresh = np.zeros(len(keys), np.bool_)
        fresh[firsts[is_new]] = True
        return fresh


class Known(IntFlag):
    """Facts in the lake about a job."""

    FINAL = 1
    """It has a result that does not depend on the budget."""
    GIVEN_UP = 2
    """It was over budget or poison within at least this budget."""
    POISON = 4
    """It was given up as poison."""


class Answers:
    """Facts in the lake about jobs: a sorted array of keys, and the flags of each."""

    def __init__(self, keys: Sequence[Keys] = (), flags: Sequence[Flags] = ()) -> None:
        self._keys, at = np.unique(np.concatenate([NO_KEYS, *keys]), return_inverse=True)
        self._flags = np.zeros(len(self._keys), np.uint8)
        np.bitwise_or.at(self._flags, at, np.concatenate([np.empty(0, np.uint8), *flags]))

    def flags(self, keys: Keys) -> Flags:
        """Return the flags of each job; 0: unknown."""
        if not len(self._keys):
            return np.zeros(len(keys), np.uint8)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, self._flags[at], np.uint8(0))

    def have(self, keys: Keys, known: Known = Known.FINAL | Known.GIVEN_UP) -> Mask:
        """Return for each job whether it has any of the flags; by default, needs no work."""
        return np.asarray((self.flags(keys) & known.value) != 0)


def read_answers(
    lake: Lake,
    question: Question,
    budget: Budget,
    *,
    but_of: str | None = None,
    again: Collection[str] = (),
    listed_bytes: int | None = None,
) -> Answers:
    """Read which jobs need no work within a budget, from all results but those of run `but_of`.

    Statuses in `again` do not count as answers. Over budget and poison count only if the row had at
    least this budget of nodes, table bytes and seconds, and no totals such as those of on-demand
    jobs. Too many solutions count only if the row's limit was at least `listed_bytes`; None: any
    limit.
    """
    keys, flags = [], []
    columns = _COLUMNS if listed_bytes is None else (*_COLUMNS, *_LISTED)
    for found in scan_results(lake, columns):
        asked = pc.and_(
            pc.equal(found.column("game"), question.game),
            pc.equal(found.column("ask"), str(question.ask)),
        )
        rows = found.filter(pc.and_(asked, pc.not_equal(found.column("run_id"), but_of or "")))
        is_final = is_among(rows.column("status"), FINAL)
        counts = pc.or_(is_final, _had(rows, budget, listed_bytes))
        rows = rows.filter(pc.and_not(counts, is_among(rows.column("status"), again)))
        status = rows.column("status")
        is_poison = pc.equal(status, str(Status.POISON)).to_numpy()
        given_up = np.where(is_poison, Known.GIVEN_UP | Known.POISON, Known.GIVEN_UP)
        known = np.where(is_among(status, FINAL).to_numpy(), Known.FINAL, given_up)
        keys.append(keys_of(rows.column("job_id")))
        flags.append(known.astype(np.uint8))
    return Answers(keys, flags)


def _had(rows: pa.Table, budget: Budget, listed_bytes: int | None) -> pa.ChunkedArray:
    """Return for each row whether its job had at least a budget, and no totals."""
    had = pc.and_(*(pc.is_null(rows.column(name)) for name in _TOTALS))
    for name, least in zip(_LIMITS, budget.limits.values(), strict=True):
        had = pc.and_(had, pc.fill_null(pc.greater_equal(rows.column(name), least), False))
    if listed_bytes is None:
        return had
    is_long = pc.equal(rows.column("reason_code"), str(ReasonCode.SOLUTION_BYTES))
    less = pc.fill_null(pc.less(rows.column("budget_solution_bytes"), listed_bytes), True)
    return pc.and_not(had, pc.and_(pc.fill_null(is_long, False), less))

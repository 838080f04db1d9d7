"""Jobs by the million: named from a column of puzzles, and which of them need no work.

A job_id is 128 bits. Kept as 16 bytes each, every job of a large run and every job that has been
answered fit into memory, and finding the open ones is an anti-join of sorted arrays.
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
"""Job ids as their 16 bytes each: an array of KEY."""
KEY = np.dtype(f"S{ID_HEX_DIGITS // 2}")
NO_KEYS = np.empty(0, KEY)
Mask = npt.NDArray[np.bool_]
Flags = npt.NDArray[np.uint8]
"""What is known of each job, as `Known` has it."""

_LIMITS = ("budget_nodes", "budget_table_bytes", "budget_seconds")
_TOTALS = ("total_seconds", "total_bytes")
_COLUMNS = ("job_id", "game", "ask", "status", "run_id", *_TOTALS, *_LIMITS)
_LISTED = ("reason_code", "budget_solution_bytes")


def name_jobs(question: Question, subjects: pa.Array | pa.ChunkedArray) -> Keys:
    """Name the jobs that ask a question about subjects, as `question.job_id` does."""
    tail = ("," + json.dumps(question.job_fields, separators=(",", ":"))[1:]).encode("ascii")
    names = (encode_basestring_ascii(name).encode("ascii") for name in subjects.to_pylist())
    return np.frombuffer(
        b"".join(sha256(b"[" + name + tail).digest()[: KEY.itemsize] for name in names), KEY
    )


def keys_of(job_ids: pa.Array | pa.ChunkedArray) -> Keys:
    """Read a column of job ids, of 32 hexadecimal digits each."""
    return np.frombuffer(bytes.fromhex("".join(job_ids.to_pylist())), KEY)


def ids_of(keys: Keys) -> pa.Array:
    """Write job ids as the tables of the lake have them."""
    text = keys.tobytes().hex().encode("ascii")
    offsets = np.arange(len(keys) + 1, dtype=np.int32) * ID_HEX_DIGITS
    return pa.Array.from_buffers(
        pa.string(), len(keys), [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    )


class KeySet:
    """A set of jobs that grows by the thousand: one sorted array, 16 bytes a job."""

    def __init__(self) -> None:
        self._keys = np.empty(0, KEY)

    def add(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """Add keys; return for each whether it is new, of equal new ones the first."""
        ranked, firsts = np.unique(keys, return_index=True)
        at = np.searchsorted(self._keys, ranked)
        is_new = at == len(self._keys)
        is_new[~is_new] = self._keys[at[~is_new]] != ranked[~is_new]
        self._keys = np.insert(self._keys, at[is_new], ranked[is_new])
        fresh = np.zeros(len(keys), np.bool_)
        fresh[firsts[is_new]] = True
        return fresh


class Known(IntFlag):
    """What the lake knows of a job."""

    FINAL = 1
    """It has a result that no budget changes."""
    GIVEN_UP = 2
    """It is over budget or poison in a run that had at least the budget in question."""
    POISON = 4
    """It was given up as poison."""


class Answers:
    """What the lake knows of jobs: a sorted array of keys, and the flags of each."""

    def __init__(self, keys: Sequence[Keys] = (), flags: Sequence[Flags] = ()) -> None:
        self._keys, at = np.unique(np.concatenate([NO_KEYS, *keys]), return_inverse=True)
        self._flags = np.zeros(len(self._keys), np.uint8)
        np.bitwise_or.at(self._flags, at, np.concatenate([np.empty(0, np.uint8), *flags]))

    def flags(self, keys: Keys) -> Flags:
        """Return what is known of each job; 0: nothing."""
        if not len(self._keys):
            return np.zeros(len(keys), np.uint8)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, self._flags[at], np.uint8(0))

    def have(self, keys: Keys, known: Known = Known.FINAL | Known.GIVEN_UP) -> Mask:
        """Return for each job whether it has any of some flags; by default, needs no work."""
        found: Mask = (self.flags(keys) & known.value) != 0
        return found


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

    Over budget, poison or invalid are no answers if they are among the statuses `again`. Over
    budget and poison count only if the run that said so had at least this budget of nodes,
    table bytes and seconds each, as its rows say; a job on demand has totals, and does not count.
    What had too many solutions counts if its row says that it could list at least `listed_bytes`
    of them; None: whatever it could.
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
    """Return for each row whether it says that its job had a budget, and no total."""
    had = pc.and_(*(pc.is_null(rows.column(name)) for name in _TOTALS))
    for name, least in zip(_LIMITS, budget.limits.values(), strict=True):
        had = pc.and_(had, pc.fill_null(pc.greater_equal(rows.column(name), least), False))
    if listed_bytes is None:
        return had
    is_long = pc.equal(rows.column("reason_code"), str(ReasonCode.SOLUTION_BYTES))
    less = pc.fill_null(pc.less(rows.column("budget_solution_bytes"), listed_bytes), True)
    return pc.and_not(had, pc.and_(pc.fill_null(is_long, False), less))

"""Jobs by the million: named from a column of puzzles, and which of them need no work.

A job_id is 128 bits. Kept as 16 bytes each, every job of a large run and every job that has been
answered fit into memory, and finding the open ones is an anti-join of sorted arrays.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
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
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.question import Question
from nightgrid.solvers.reasons import ReasonCode

Keys = npt.NDArray[np.bytes_]
"""Job ids as their 16 bytes each: an array of KEY."""
KEY = np.dtype(f"S{ID_HEX_DIGITS // 2}")

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
    """Read a column of job ids.

    Raises PermanentError for anything but 32 hexadecimal digits each.
    """
    texts = job_ids.to_pylist()
    try:
        if all(len(text) == ID_HEX_DIGITS for text in texts):
            found = np.frombuffer(bytes.fromhex("".join(texts)), KEY)
            if len(found) == len(texts):
                return found
    except (TypeError, ValueError):
        pass
    raise PermanentError(f"expected job ids of {ID_HEX_DIGITS} hexadecimal digits")


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

    def __len__(self) -> int:
        return len(self._keys)

    def holds(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """Return for each key whether it is in the set."""
        return self._found(keys, np.searchsorted(self._keys, keys))

    def add(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """Add keys; return for each whether it is new, of equal new ones the first."""
        ranked, firsts = np.unique(keys, return_index=True)
        at = np.searchsorted(self._keys, ranked)
        is_new = ~self._found(ranked, at)
        self._keys = np.insert(self._keys, at[is_new], ranked[is_new])
        fresh = np.zeros(len(keys), np.bool_)
        fresh[firsts[is_new]] = True
        return fresh

    def _found(self, keys: Keys, at: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        if not len(self._keys):
            return np.zeros(len(keys), np.bool_)
        found: npt.NDArray[np.bool_] = self._keys[np.minimum(at, len(self._keys) - 1)] == keys
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The jobs that need no work."""

    final: KeySet = field(default_factory=KeySet)
    """With a result that no budget changes."""
    given_up: KeySet = field(default_factory=KeySet)
    """Over budget or poison in a run that had at least the budget in question."""
    poison: KeySet = field(default_factory=KeySet)
    """Those given up as poison."""
    again: KeySet = field(default_factory=KeySet)
    """Those that would need no work, and are to be worked again."""

    def hold(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """Return for each job whether it needs no work."""
        return self.final.holds(keys) | self.given_up.holds(keys)


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

    Over budget, poison or invalid are no answers if they are among the statuses `again`.

    Over budget and poison count only if the run that said so had at least this budget of nodes,
    table bytes and seconds each, as its rows say; a job on demand has totals, and does not count.
    What had too many solutions counts if its row says that it could list at least `listed_bytes`
    of them; None: whatever it could.
    """
    answers = Answers()
    columns = _COLUMNS if listed_bytes is None else (*_COLUMNS, *_LISTED)
    for found in scan_results(lake, columns):
        asked = pc.and_(
            pc.equal(found.column("game"), question.game),
            pc.equal(found.column("ask"), str(question.ask)),
        )
        rows = found.filter(pc.and_(asked, pc.not_equal(found.column("run_id"), but_of or "")))
        status = rows.column("status")
        is_final = is_among(status, FINAL)
        counts = pc.or_(is_final, _had(rows, budget, listed_bytes))
        is_again = is_among(status, again)
        is_poison = pc.equal(status, str(Status.POISON))
        for keys, chosen in (
            (answers.again, is_again),
            (answers.final, pc.and_not(is_final, is_again)),
            (answers.given_up, pc.invert(pc.or_(is_final, is_again))),
            (answers.poison, pc.and_not(is_poison, is_again)),
        ):
            keys.add(keys_of(rows.column("job_id").filter(pc.and_(counts, chosen))))
    return answers


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

"""Jobs by the million, as numbers: named from a column of puzzles, and which are answered.

A job_id is 128 bits. Kept as two 64-bit numbers it takes 16 bytes, so that a planner can remember
every job of a large run, and every job that has been answered, in a bounded share of its memory.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.json_files import read_hint
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import scan_results
from nightgrid.archive.results.statuses import FINAL, is_among
from nightgrid.solvers.algebra import Budget, Status
from nightgrid.solvers.canonical import ID_HEX_DIGITS
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.question import Question
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.workers.runs.run_files import plan_path

Keys = npt.NDArray[np.uint64]
"""Job ids as numbers, (jobs, 2): the high half, then the low half."""
KEY_BYTES = ID_HEX_DIGITS // 2
_DIGITS = b"0123456789abcdef"

_GIVEN_UP = {str(Status.OVER_BUDGET): "over_budget", str(Status.POISON): "poison"}
"""The statuses that a larger budget or another try may change, and where `Answers` has them."""
_LIMITS = ("budget_nodes", "budget_table_bytes", "budget_seconds")
_COLUMNS = (
    "job_id",
    "puzzle_id",
    "game",
    "ask",
    "status",
    "run_id",
    "total_seconds",
    "total_bytes",
    *_LIMITS,
)
_LISTED = ("reason_code", "budget_solution_bytes")


def name_jobs(question: Question, puzzle_ids: pa.Array) -> Keys:
    """Name the jobs that ask a question about puzzles, as `question.job_id` does.

    Takes less than a microsecond each.
    """
    tail = ("," + json.dumps(question.job_fields, separators=(",", ":"))[1:]).encode("ascii")
    text = _hex_text(puzzle_ids)
    if text is None:
        texts = [json.dumps(name).encode("ascii") for name in puzzle_ids.to_pylist()]
        hashes = [sha256(b"[" + name + tail).digest()[:KEY_BYTES] for name in texts]
    else:
        # Nothing in hexadecimal digits is written otherwise in JSON.
        tail = b'"' + tail
        starts = range(0, len(text), ID_HEX_DIGITS)
        names = (text[start : start + ID_HEX_DIGITS] for start in starts)
        hashes = [sha256(b'["' + name + tail).digest()[:KEY_BYTES] for name in names]
    return _keys(b"".join(hashes))


def keys_of(job_ids: pa.Array) -> Keys:
    """Read a column of job ids.

    Raises PermanentError for anything but 32 hexadecimal digits each.
    """
    text = _hex_text(job_ids)
    if text is None:
        raise PermanentError(f"expected job ids of {ID_HEX_DIGITS} hexadecimal digits")
    return _keys(bytes.fromhex(text.decode("ascii")))


def _hex_text(column: pa.Array | pa.ChunkedArray) -> bytes | None:
    """Join a column of ids of hexadecimal digits, or return None where any is something else."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    try:
        fixed = [chunk.cast(pa.binary()).cast(pa.binary(ID_HEX_DIGITS)) for chunk in chunks]
    except pa.ArrowInvalid:
        return None
    if any(chunk.null_count for chunk in fixed):
        return None
    text = b"".join(
        memoryview(chunk.buffers()[1])[chunk.offset * ID_HEX_DIGITS :][: len(chunk) * ID_HEX_DIGITS]
        for chunk in fixed
        if len(chunk)
    )
    return None if text.translate(None, _DIGITS) else text


def ids_of(keys: Keys) -> pa.Array:
    """Write job ids as the tables of the lake have them."""
    text = keys.astype(">u8").tobytes().hex().encode("ascii")
    offsets = np.arange(len(keys) + 1, dtype=np.int32) * ID_HEX_DIGITS
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.string(), len(keys), buffers)


def _keys(data: bytes) -> Keys:
    return np.frombuffer(data, ">u8").astype(np.uint64).reshape(-1, 2)


SHELVES = 16
"""Parts of a set, by the first digit of the id: what is merged at once."""


class KeySet:
    """A set of jobs that grows by the thousand, 16 bytes each.

    The keys lie in sorted runs, each at least twice as long as the next, as log-structured
    storage keeps them: adding and looking up cost a logarithmic number of passes.
    """

    def __init__(self) -> None:
        self._shelves: list[list[Keys]] = [[] for _ in range(SHELVES)]

    def __len__(self) -> int:
        return sum(len(run) for shelf in self._shelves for run in shelf)

    def holds(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """Tell of each key whether it is in the set."""
        if not any(self._shelves):
            return np.zeros(len(keys), np.bool_)
        order, ranked = _ranked(keys)
        found = np.empty(len(keys), np.bool_)
        found[order] = self._hold(ranked)
        return found

    def _hold(self, ranked: Keys) -> npt.NDArray[np.bool_]:
        found = np.zeros(len(ranked), np.bool_)
        for shelf, here in zip(self._shelves, _by_shelf(ranked), strict=True):
            for run in shelf:
                found[here] |= _in_run(run, ranked[here])
        return found

    def add(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """Add keys; tell of each whether it is new, of equal new ones the first."""
        order, ranked = _ranked(keys)
        first = np.ones(len(keys), np.bool_)
        first[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
        first &= ~self._hold(ranked)
        fresh = np.zeros(len(keys), np.bool_)
        fresh[order[first]] = True
        new = ranked[first]
        for shelf, here in zip(self._shelves, _by_shelf(new), strict=True):
            if here.start < here.stop:
                shelf.append(new[here].copy())
            while len(shelf) > 1 and len(shelf[-2]) < 2 * len(shelf[-1]):
                shelf[-2:] = [_merged(shelf[-2], shelf[-1])]
        return fresh


def _ranked(keys: Keys) -> tuple[npt.NDArray[np.intp], Keys]:
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    return order, keys[order]


def _by_shelf(ranked: Keys) -> list[slice]:
    """Say where in sorted keys those of each shelf stand."""
    firsts = np.arange(1, SHELVES, dtype=np.uint64) << np.uint64(60)
    bounds = [0, *np.searchsorted(ranked[:, 0], firsts).tolist(), len(ranked)]
    return [slice(start, stop) for start, stop in pairwise(bounds)]


def _merged(one: Keys, other: Keys) -> Keys:
    both = np.concatenate([one, other])
    # Two sorted runs: a stable sort merges them in one pass. High halves that are equal stand in
    # any order, which looking up bears.
    merged: Keys = both[np.argsort(both[:, 0], kind="stable")]
    return merged


def _in_run(run: Keys, keys: Keys) -> npt.NDArray[np.bool_]:
    high = run[:, 0]
    at = np.searchsorted(high, keys[:, 0])
    found = np.zeros(len(keys), np.bool_)
    left = np.arange(len(keys))
    while len(left):
        # Beside a key may stand others with the same high half: look at each of them.
        left = left[at[left] < len(run)]
        left = left[high[at[left]] == keys[left, 0]]
        hit = run[at[left], 1] == keys[left, 1]
        found[left[hit]] = True
        left = left[~hit]
        at[left] += 1
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The jobs that need no work."""

    final: KeySet
    """With a result that no budget changes."""
    over_budget: KeySet
    """Over budget in a run that had at least the budget in question."""
    poison: KeySet
    """Poison in such a run."""
    again: KeySet
    """Those of the two above, and invalid ones, that are to be worked again all the same."""

    @classmethod
    def none(cls) -> Answers:
        """Begin with no answers."""
        return cls(final=KeySet(), over_budget=KeySet(), poison=KeySet(), again=KeySet())

    def hold(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """Tell of each job whether it needs no work."""
        return self.final.holds(keys) | self.cover(keys)

    def cover(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """Tell of each job whether a run of this budget has given it up."""
        return self.over_budget.holds(keys) | self.poison.holds(keys)

    def call_poison(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """Tell of each job whether it needs no work for being poison, and nothing else."""
        return self.poison.holds(keys) & ~(self.final.holds(keys) | self.over_budget.holds(keys))


def read_answers(
    lake: Lake,
    question: Question,
    budget: Budget,
    *,
    but_of: str | None = None,
    again: Collection[str] = (),
    listed_bytes: int | None = None,
    about: pa.Array | None = None,
) -> Answers:
    """Read which jobs need no work within a budget, from all results but those of run `but_of`.

    Over budget, poison or invalid are no answers if they are among the statuses `again`.

    Over budget and poison count only if the run that said so had at least this budget of nodes,
    table bytes and seconds each, as its rows say; a run whose budget the lake does not know does
    not count, and no task for a job on demand. What had too many solutions counts if its row says
    that it could list at least `listed_bytes` of them; None: whatever it could. With `about`, only
    what was asked about these puzzles is wanted.
    """
    answers = Answers.none()
    enough: dict[str, bool] = {}
    columns = _COLUMNS if listed_bytes is None else (*_COLUMNS, *_LISTED)
    for found in scan_results(lake, columns):
        asked = pc.and_(
            pc.equal(found.column("game"), question.game),
            pc.equal(found.column("ask"), str(question.ask)),
        )
        if about is not None:
            asked = pc.and_(asked, pc.is_in(found.column("puzzle_id"), value_set=about))
        rows = found.filter(pc.and_(asked, pc.not_equal(found.column("run_id"), but_of or "")))
        if not len(rows):
            continue
        final = is_among(rows.column("status"), FINAL)
        others = rows.filter(pc.invert(final))
        if Status.INVALID in again:
            refused = pc.equal(rows.column("status"), str(Status.INVALID))
            answers.again.add(keys_of(rows.column("job_id").filter(refused)))
            final = pc.and_not(final, refused)
        answers.final.add(keys_of(rows.column("job_id").filter(final)))
        if not len(others):
            continue
        if listed_bytes is not None and Status.OVER_BUDGET not in again:
            others = others.filter(pc.invert(_listed_less(others, listed_bytes)))
        _give_up(answers, others.filter(_had(others, budget)), again)
        silent = others.filter(pc.is_null(others.column(_LIMITS[0])))
        for run_id in pc.unique(silent.column("run_id")).to_pylist():
            if run_id not in enough:
                enough[run_id] = _had_by_plan(lake, run_id, budget)
        runs = pa.array([run_id for run_id, had in enough.items() if had], pa.string())
        _give_up(answers, silent.filter(pc.is_in(silent.column("run_id"), value_set=runs)), again)
    return answers


def finally_answered(lake: Lake, question: Question, again: Collection[str] = ()) -> pa.Array:
    """Read the ids of the puzzles about which a question has an answer that no budget changes.

    A status among those `again` is no answer.
    """
    found = [pa.array([], pa.string())]
    asked = question.to_json()
    answers = [status for status in FINAL if status not in again]
    for rows in scan_results(lake, ("puzzle_id", "status", *asked)):
        is_answer = is_among(rows.column("status"), answers)
        for name, text in asked.items():
            is_answer = pc.and_(is_answer, pc.equal(rows.column(name), text))
        found += rows.filter(is_answer).column("puzzle_id").chunks
    return pc.unique(pa.concat_arrays(found))


def _give_up(answers: Answers, rows: pa.Table, again: Collection[str]) -> None:
    """Add jobs that ended without an answer within the budget in question."""
    for status, known in _GIVEN_UP.items():
        ended = pc.equal(rows.column("status"), status)
        keys = keys_of(rows.column("job_id").filter(ended))
        (answers.again if status in again else getattr(answers, known)).add(keys)


def _had(rows: pa.Table, budget: Budget) -> pa.ChunkedArray:
    """Tell of rows whether they say that they had a budget, and no total besides."""
    limits = (budget.nodes, budget.table_bytes, budget.seconds)
    had = pc.and_(pc.is_null(rows.column("total_seconds")), pc.is_null(rows.column("total_bytes")))
    for name, least in zip(_LIMITS, limits, strict=True):
        enough = pc.greater_equal(rows.column(name), least)
        had = pc.and_(had, pc.fill_null(enough, False))
    return had


def _listed_less(rows: pa.Table, least: int) -> pa.ChunkedArray:
    """Tell of rows whether they had too many solutions for a smaller bound than this, or unsaid."""
    is_long = pc.equal(rows.column("reason_code"), str(ReasonCode.SOLUTION_BYTES))
    less = pc.fill_null(pc.less(rows.column("budget_solution_bytes"), least), True)
    return pc.and_(pc.fill_null(is_long, False), less)


def _had_by_plan(lake: Lake, run_id: str, budget: Budget) -> bool:
    """Tell whether the plan of a run of an earlier version says so of it."""
    had = read_hint(lake, plan_path(run_id), lambda plan: Budget(**plan["budget"]))
    return had is not None and (
        had.nodes >= budget.nodes
        and had.table_bytes >= budget.table_bytes
        and had.seconds >= budget.seconds
    )

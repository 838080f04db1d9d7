"""Staged counts: one job whose states advance layer by layer, in parts that are bucket ranges.

All parts of a stage advance states of one layer to the next. When all are done, the next stage is
cut from their output. Its parts take over whole buckets, so equal states that several parts reached
meet in one part and are merged: no state is advanced twice. With stages of two layers, two workers
took a tenth longer (loose boards of 14 dominoes), though they waited less often.

States between two stages are in runs/run=<id>/frontier/seg-...-chunk-....parquet, named like the
chunk that wrote them. Rows are sorted by bucket, and the metadata say where each bucket begins, so
that a part of the next stage reads only the row groups of its buckets. Writes are not synced: if a
worker finds states missing or damaged, the chunk that wrote them is solved again.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from nightgrid.archive.lake.schemas import frontier_schema
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game
from nightgrid.workers.runs.manifest import Segment
from nightgrid.workers.runs.run_files import ChunkKey, ChunkRef, folder, named_chunks
from nightgrid.workers.tuning import CARRY_ROWS, Tuning

STAGE_TAIL = 4
"""Number of smaller parts that the last part of a large stage is cut into, so that workers finish
at about the same time."""
CARRIED = "carried"
"""Status of a part whose states the next stage takes over."""
WORD_BYTES = 8
ROOM_FACTOR = 2
"""Divisor of a part's table bytes for the states it takes over: two layers and the index have to
fit, and the number of new states is not known beforehand."""
GROUP_ROWS = 16_384
"""Rows of a row group. A reader of some buckets reads half a row group too many at either end."""
_METADATA = b"nightgrid.frontier"

Rows = npt.NDArray[np.uint64]
"""uint64[states, row_words]: as `nightgrid.solvers.layered_count.LayeredCount.rows`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePart:
    """One part of a staged count: the states of some buckets of a layer."""

    layer: int
    buckets: tuple[int, int]
    """First bucket, and one past the last."""
    until: int | None
    """The layer to stop at; None: the first that has more than `carry_rows` states."""
    carry_rows: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the part as JSON, as `Game.solve` takes it."""
        told = asdict(self)
        if self.carry_rows is None:
            del told["carry_rows"]
        return told

    def halves(self, reached: int) -> list[StagePart]:
        """Divide a part that reached a layer in two; a part of a single bucket is not divided.

        Both halves stop at the same layer, as all parts of a stage do.
        """
        first, last = self.buckets
        middle = (first + last) // 2
        if middle == first:
            return [self]
        until = max(reached, self.layer + 1) if self.until is None else self.until
        return [
            StagePart(layer=self.layer, buckets=part, until=until)
            for part in ((first, middle), (middle, last))
        ]


def stage_part(text: str) -> StagePart | None:
    """Parse a manifest row's part; None if it is not a part of a staged count."""
    value = json.loads(text) if text else None
    if not isinstance(value, dict) or "layer" not in value:
        return None
    return StagePart(**{**value, "buckets": tuple(value["buckets"])})


def first_stage(
    game: Game[Any, Any], puzzle: Any, budget: Budget, *, carry_rows: int = CARRY_ROWS
) -> list[dict[str, Any]] | None:
    """Return the only part of the first stage of a board's count; None if it has no layers."""
    count = game.layered(puzzle, budget)
    if count is None or not count.layers:
        return None
    part = StagePart(
        layer=0,
        buckets=(0, count.buckets),
        until=None,
        carry_rows=max(1, min(carry_rows, _fitting_rows(budget, count.row_words))),
    )
    return [part.to_json()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """The output of a part: the number of states in each bucket of one layer."""

    layer: int
    row_words: int
    rows: tuple[int, ...]
    kept: int = 0
    """Input states, of the layer before; 0 for the only part of a stage, which goes on freely."""

    def to_json(self) -> str:
        """Return it as JSON for the column `children`."""
        return canonical_json(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Carried:
        """Parse it."""
        value = json.loads(text)
        return cls(**{**value, "rows": tuple(value["rows"])})


def next_stage(
    carried: Sequence[Carried], tuning: Tuning, budget: Budget
) -> list[tuple[StagePart, int]]:
    """Cut the next stage from the output of the last one: parts and their states.

    Few states make one part, which advances while they stay few; many make parts of about equal
    size, in the order of their buckets. Nothing depends on the number of workers: results name the
    number of parts.
    """
    one = carried[0]
    rows = [sum(counts) for counts in zip(*(c.rows for c in carried), strict=True)]
    total = sum(rows)
    kept = sum(c.kept for c in carried)
    # The next stage is likely to grow as the last one did.
    fitting = _fitting_rows(budget, one.row_words, total / kept if kept else 1.0)
    if total <= min(tuning.stage_carry_rows, fitting):
        carry_rows = max(1, min(tuning.stage_carry_rows, fitting))
        whole = StagePart(
            layer=one.layer, buckets=(0, len(rows)), until=None, carry_rows=carry_rows
        )
        return [(whole, total)]
    until = one.layer + 1
    into = max(tuning.stage_parts_min, -(-total // min(tuning.stage_rows, fitting)))
    before = [0, *accumulate(rows)]
    shares = [i * total // into for i in range(into + 1)]
    if into > tuning.stage_parts_min and total // into > tuning.stage_carry_rows:
        shares += [total - i * total // (into * STAGE_TAIL) for i in range(1, STAGE_TAIL)]
    # The bucket before which so many states lie, or nearly.
    cuts = sorted({bisect_left(before, share) for share in shares} | {len(rows)})
    found = [
        (StagePart(layer=one.layer, buckets=(a, b), until=until), before[b] - before[a])
        for a, b in pairwise(cuts)
    ]
    return [(part, size) for part, size in found if size]


def _fitting_rows(budget: Budget, row_words: int, growth: float = 1.0) -> int:
    """Return how many states a part may take over, if they become `growth` times as many."""
    layers = 1 + max(growth, 1.0)
    return max(1, int(budget.table_bytes / (ROOM_FACTOR * layers * WORD_BYTES * row_words)))


class LostFrontierError(Exception):
    """A frontier is missing, damaged or of another layer than expected."""


def frontier_path(ref: ChunkRef) -> str:
    """Return the file of the states that a chunk leaves."""
    return f"{frontier_folder(ref.run_id)}/{ref.name}.parquet"


def frontier_folder(run_id: str) -> str:
    """Return the folder of all frontiers of a run."""
    return f"{folder(run_id)}/frontier"


def sources(segment_of: Callable[[int], Segment], ref: ChunkRef) -> list[ChunkRef]:
    """List the chunks whose states a part of a stage takes over; `segment_of` reads segments."""
    number, chunk = ref.key
    while True:
        segment = segment_of(number)
        if segment.kind == "stage":
            return [ChunkRef(run_id=ref.run_id, segment=s, chunk=c) for s, c in segment.origins]
        if segment.kind == "plan":
            return []
        # Half of a part, or a row on its own: it reads the input of the whole part.
        number, chunk = segment.origins[chunk]


def write_frontier(
    lake: Lake,
    ref: ChunkRef,
    layer: int,
    rows: Rows,
    begins: npt.NDArray[np.int64],
    layout: str,
) -> None:
    """Write states of one layer, sorted by bucket; bucket b begins at row `begins[b]`."""
    about = {"layer": layer, "layout": layout, "begins": begins.tolist()}
    schema = frontier_schema(rows.shape[1])
    schema = schema.with_metadata({**schema.metadata, _METADATA: canonical_json(about).encode()})
    column = pa.Array.from_buffers(schema.field(0).type, len(rows), [None, pa.py_buffer(rows)])

    def fill(sink: pa.NativeFile) -> None:
        # States are distinct. The file is not synced: a power failure may leave blank pages.
        pq.write_table(
            pa.table([column], schema=schema),
            sink,
            row_group_size=GROUP_ROWS,
            compression="none",
            use_dictionary=False,
            write_statistics=False,
            write_page_checksum=True,
        )

    lake.write_spill(frontier_path(ref), fill)


def read_frontier(
    lake: Lake, ref: ChunkRef, part: StagePart, layout: str
) -> tuple[Rows, npt.NDArray[np.int64]]:
    """Read the states of a part's buckets that one chunk left.

    Returns them, where each of the part's buckets begins among them, and where the last ends.
    Raises LostFrontierError, and PermanentError for states with another word layout than this
    machine's.
    """
    path = frontier_path(ref)
    try:
        with lake.open_parquet(path) as file:
            about = json.loads((file.schema_arrow.metadata or {})[_METADATA])
            first, last = part.buckets
            begins = np.array(about["begins"][first : last + 1], np.int64)
            if about["layer"] == part.layer and about["layout"] == layout:
                return _rows(file, int(begins[0]), int(begins[-1])), begins - begins[0]
    except PermanentError as error:
        raise LostFrontierError(str(error)) from error
    if about["layer"] != part.layer:
        raise LostFrontierError(f"{path} does not hold the states of layer {part.layer}")
    raise PermanentError(f"{path} is from a machine with another layout of the board")


def _rows(file: pq.ParquetFile, start: int, stop: int) -> Rows:
    """Read the rows from `start` on before `stop`."""
    words = file.schema_arrow.field(0).type.byte_width // WORD_BYTES
    if start == stop:
        return np.empty((0, words), np.uint64)
    size = file.metadata.row_group(0).num_rows
    first = start // size
    groups = list(range(first, -(-stop // size)))
    column = file.read_row_groups(groups, use_threads=False).column(0).combine_chunks()
    rows = np.frombuffer(column.buffers()[1], np.uint64).reshape(-1, words)[: len(column)]
    # Kernels are compiled for writable arrays, and Arrow's are read-only.
    return rows[start - first * size : stop - first * size].copy()


def frontiers(lake: Lake, run_id: str) -> list[ChunkKey]:
    """List the chunks of a run whose frontiers are in the lake."""
    return [key for key, _ in named_chunks(lake.list(frontier_folder(run_id)))]


def drop_frontiers(lake: Lake, run_id: str, dropped: Iterable[ChunkKey] | None = None) -> None:
    """Delete the frontiers of some chunks of a run; None: all of them."""
    for segment, chunk in frontiers(lake, run_id) if dropped is None else dropped:
        ref = ChunkRef(run_id=run_id, segment=segment, chunk=chunk)
        lake.delete(frontier_path(ref), durable=False)

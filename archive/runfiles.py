"""The files of a run: plan, manifest segments, parts, attempts, and who writes which.

runs/run=<id>/plan.json                          planner   what is asked; written last, so a
                                                           run with a plan is planned entirely
              manifest/seg-00000.parquet         planner, then driver; row group i = chunk i;
                                                           its metadata say why it exists;
                                                           never written over
              sample.json                        planner   jobs and their features, to learn
                                                           from what they will have taken
              started/seg-…-chunk-…-attempt-N.json   worker   before it works on a chunk
              parts/seg-…-chunk-….parquet        worker    outcomes; its presence means done
              frontier/seg-…-chunk-….parquet     worker    states that a stage leaves; deleted by
                                                           the driver when they were taken on
              attempts/seg-…-chunk-….json        driver    deaths and failures so far
              DONE.json                          driver    the results stand in results/
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import pyarrow as pa

from archive.lake import Lake, MissingFileError
from solvers.algebra import Ask, Budget, canonical_json
from solvers.errors import PermanentError, TransientError

CHUNKS_MAX = 100_000
"""Chunks of one segment: what five digits name."""
_ORIGINS = b"nightgrid.segment"
"""Where the metadata of a segment's schema say why it exists."""
_RUN_ID = re.compile(r"[0-9a-f]{32}")
_NAME = re.compile(r"seg-(\d{5})-chunk-(\d{5})(?:-attempt-(\d+))?\.\w+$")
_JOB_NO = pa.schema([pa.field("job_no", pa.int64(), nullable=False)])

SegmentKind = Literal["plan", "split", "broken", "stage"]
Place = tuple[int, int]
"""(segment, chunk)."""


class SegmentTakenError(TransientError):
    """Another driver has added the segment; the run has to be read anew."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ChunkRef:
    """What one Celery message stands for: one row group of a run's manifest."""

    run_id: str
    segment: int
    chunk: int
    attempt: int = 1
    """Counts submissions that matter: a message older than the last attempt is stale."""

    def __post_init__(self) -> None:
        if not _RUN_ID.fullmatch(self.run_id):
            raise PermanentError(f"run_id is {self.run_id!r:.60}; expected 32 hexadecimal digits")
        if not (0 <= self.segment < CHUNKS_MAX and 0 <= self.chunk < CHUNKS_MAX):
            raise PermanentError(
                f"chunk {self.segment}/{self.chunk} is out of range; expected 0 to {CHUNKS_MAX - 1}"
            )
        if self.attempt < 1:
            raise PermanentError(f"attempt is {self.attempt}; expected 1 or more")

    @property
    def place(self) -> Place:
        """The chunk, whatever its attempt."""
        return self.segment, self.chunk

    @property
    def name(self) -> str:
        """The chunk as its files are named."""
        return f"seg-{self.segment:05d}-chunk-{self.chunk:05d}"

    @property
    def manifest_path(self) -> str:
        """The manifest file whose row group `chunk` this is."""
        return f"{folder(self.run_id)}/manifest/seg-{self.segment:05d}.parquet"

    @property
    def part_path(self) -> str:
        """Where the outcomes go, whoever works the chunk, however often."""
        return f"{folder(self.run_id)}/parts/{self.name}.parquet"

    @property
    def started_path(self) -> str:
        """Where a worker notes that it works on this attempt."""
        return f"{folder(self.run_id)}/started/{self.name}-attempt-{self.attempt}.json"

    @property
    def attempts_path(self) -> str:
        """Where the driver keeps deaths and failures of the chunk."""
        return f"{folder(self.run_id)}/attempts/{self.name}.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One manifest file."""

    number: int
    kind: SegmentKind
    """`plan`: written by the planner. `split`: children of rows that came back split.
    `broken`: the rows of chunks over the cap on attempts, one row a chunk.
    `stage`: the next stage of a staged count, one part a chunk."""
    origins: tuple[Place, ...]
    """For each chunk the chunk that it continues; empty for `plan`. Of a `stage`, the chunks whose
    states all of its chunks together take over."""
    chunk_rows: tuple[int, ...]
    chunk_cost_s: tuple[float, ...] = ()
    """What the planner expected each chunk to take; empty where nobody has said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A planned run, as its files stand."""

    run_id: str
    game: str
    ask: Ask
    budget: Budget
    rules: str
    lexicon_id: str
    solver_version: str
    job_count: int
    answered_count: int
    """Jobs that the lake had already answered when the run was planned."""
    divided_count: int
    """Jobs that were divided when the run was planned."""
    created_at: str
    segments: tuple[Segment, ...]

    def expanded(self, kind: SegmentKind) -> frozenset[Place]:
        """Chunks that a segment of this kind continues."""
        return frozenset(o for s in self.segments if s.kind == kind for o in s.origins)

    def chunks(self) -> list[ChunkRef]:
        """Every chunk that has to be worked: broken ones are replaced by their rows."""
        broken = self.expanded("broken")
        return [
            ChunkRef(run_id=self.run_id, segment=s.number, chunk=i)
            for s in self.segments
            for i in range(len(s.chunk_rows))
            if (s.number, i) not in broken
        ]

    def rows(self, place: Place) -> int:
        """Count the rows of a chunk."""
        return self.segments[place[0]].chunk_rows[place[1]]

    def expected_s(self, place: Place) -> float:
        """Say what a chunk is expected to take: what came back split was more than expected."""
        segment = self.segments[place[0]]
        if segment.chunk_cost_s:
            return segment.chunk_cost_s[place[1]]
        return math.inf if segment.kind == "split" else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """What has happened to one chunk, kept in the lake because the driver may die too."""

    attempt: int = 1
    """The attempt that counts now; messages with a smaller one are stale."""
    failures: tuple[str, ...] = ()
    """Why it failed or died, oldest first."""
    interruptions: int = 0
    """How often it died together with its driver, perhaps innocent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A worker's note that it works on a chunk."""

    attempt: int
    worker: str
    """Worker id, by which its liveness is asked for."""
    started_at: float
    """Unix time, seconds."""


def folder(run_id: str) -> str:
    """Name the folder of a run."""
    return f"runs/run={run_id}"


def read_json(lake: Lake, path: str) -> dict[str, Any] | None:
    """Read a small JSON object, or None where there is no file.

    Raises PermanentError for anything but a JSON object.
    """
    try:
        value = json.loads(lake.read_bytes(path))
    except MissingFileError:
        return None
    except ValueError as error:
        raise PermanentError(f"{path} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise PermanentError(f"{path}: expected a JSON object")
    return value


def write_json(lake: Lake, path: str, value: Mapping[str, Any]) -> None:
    """Write a small JSON object, atomically."""
    lake.write_bytes(path, (canonical_json(value) + "\n").encode("ascii"))


def open_run(lake: Lake, run_id: str) -> Run:
    """Read what a run asks and how far its manifest reaches.

    Raises PermanentError for a run that is not in the lake or was not planned to its end.
    """
    if not _RUN_ID.fullmatch(run_id):
        raise PermanentError(f"run_id is {run_id!r:.60}; expected 32 hexadecimal digits")
    plan = read_json(lake, f"{folder(run_id)}/plan.json")
    if plan is None:
        raise PermanentError(f"run {run_id} is not in {lake.url}; expected a planned run")
    return Run(
        run_id=run_id,
        game=plan["game"],
        ask=Ask.parse(plan["ask"]),
        budget=Budget(**plan["budget"]),
        rules=plan["rules"],
        lexicon_id=plan["lexicon_id"],
        solver_version=plan["solver_version"],
        job_count=plan["job_count"],
        answered_count=plan["answered_count"],
        # Earlier plans do not say: they divided every job or none.
        divided_count=plan.get("divided_count", plan.get("split_ahead", 1) - 1),
        created_at=plan["created_at"],
        segments=read_segments(lake, run_id),
    )


def read_segments(lake: Lake, run_id: str) -> tuple[Segment, ...]:
    """Read which segments a run's manifest has."""
    base = f"{folder(run_id)}/manifest"
    count = sum(name.endswith(".parquet") for name in lake.list(base))
    return tuple(read_segment(lake, run_id, number) for number in range(count))


def read_segment(lake: Lake, run_id: str, number: int) -> Segment:
    """Read one segment of a run's manifest."""
    path = f"{folder(run_id)}/manifest/seg-{number:05d}"
    text = (lake.schema(f"{path}.parquet").metadata or {}).get(_ORIGINS)
    # Runs of earlier versions say it in a file beside the segment.
    about = read_json(lake, f"{path}.json") if text is None else json.loads(text)
    if about is None:
        raise PermanentError(f"{path}.parquet does not say why it exists")
    return Segment(
        number=number,
        kind=about["kind"],
        origins=tuple((s, c) for s, c in about["origins"]),
        chunk_rows=tuple(lake.row_groups(f"{path}.parquet")),
        chunk_cost_s=tuple(about.get("cost_s", ())),
    )


def stream_segment(
    lake: Lake,
    run_id: Callable[[], str],
    kind: SegmentKind,
    chunks: Iterable[pa.Table],
    chunk_cost_s: Sequence[float],
    schema: pa.Schema,
) -> None:
    """Write the first manifest segment of a run whose id is known when its chunks are made.

    `chunk_cost_s` is read at the end too. Raises SegmentTakenError as `add_segment` does.
    """

    def place() -> tuple[str, dict[str, str]]:
        if len(chunk_cost_s) > CHUNKS_MAX:
            raise PermanentError(
                f"{len(chunk_cost_s)} chunks; a segment holds at most {CHUNKS_MAX}"
            )
        about = {"kind": kind, "origins": [], "cost_s": [round(s, 4) for s in chunk_cost_s]}
        path = f"{folder(run_id())}/manifest/seg-00000.parquet"
        return path, {_ORIGINS.decode(): canonical_json(about)}

    if not lake.stream_row_groups(chunks, schema, place, new=True):
        raise SegmentTakenError(f"run {run_id()}: somebody else has added segment 0")


def add_segment(
    lake: Lake,
    run_id: str,
    number: int,
    kind: SegmentKind,
    origins: Sequence[Place],
    chunks: Sequence[pa.Table],
    schema: pa.Schema,
) -> Segment:
    """Add one manifest segment, one chunk per table, each of at least one row of its origin.

    Raises SegmentTakenError when the run has a segment of this number: what its chunks mean
    must never change, since workers may be at them.
    """
    if len(chunks) > CHUNKS_MAX:
        raise PermanentError(f"{len(chunks)} chunks; a segment holds at most {CHUNKS_MAX}")
    path = f"{folder(run_id)}/manifest/seg-{number:05d}.parquet"
    about = canonical_json({"kind": kind, "origins": [list(o) for o in origins]})
    metadata = {**(schema.metadata or {}), _ORIGINS: about.encode("ascii")}
    if not lake.write_row_groups(path, chunks, schema.with_metadata(metadata), new=True):
        raise SegmentTakenError(f"run {run_id}: somebody else has added segment {number}")
    return Segment(
        number=number,
        kind=kind,
        origins=tuple(origins),
        chunk_rows=tuple(len(chunk) for chunk in chunks),
    )


def part_row(row: pa.Table, part: Any, part_path: str) -> pa.Table:
    """Make the manifest row of a part from that of its job or of the part it belongs to."""
    for name, text in (("part", canonical_json(part)), ("part_path", part_path)):
        at = row.schema.get_field_index(name)
        row = row.set_column(at, row.schema.field(at), pa.array([text], pa.string()))
    return row


def done_places(lake: Lake, run_id: str) -> set[Place]:
    """List the chunks whose outcomes are in the lake."""
    return set(places(lake.list(f"{folder(run_id)}/parts")))


def places(paths: Iterable[str]) -> list[Place]:
    """Tell to which chunks files belong, by their names."""
    return [place for path in paths if (place := _place(path)) is not None]


def pending_chunks(lake: Lake, run: Run) -> list[ChunkRef]:
    """List the chunks still to be worked, each with the attempt that counts now."""
    done = done_places(lake, run.run_id)
    attempts = read_all_attempts(lake, run.run_id)
    return [
        ChunkRef(
            run_id=run.run_id,
            segment=ref.segment,
            chunk=ref.chunk,
            attempt=attempts.get(ref.place, Attempts()).attempt,
        )
        for ref in run.chunks()
        if ref.place not in done
    ]


def _place(path: str) -> Place | None:
    match = _NAME.search(path)
    return None if match is None else (int(match[1]), int(match[2]))


def read_attempts(lake: Lake, ref: ChunkRef) -> Attempts:
    """Read what has happened to a chunk so far."""
    value = read_json(lake, ref.attempts_path)
    if value is None:
        return Attempts()
    return Attempts(**{**value, "failures": tuple(value["failures"])})


def read_all_attempts(lake: Lake, run_id: str) -> dict[Place, Attempts]:
    """Read what has happened to every chunk to which something has."""
    found = {}
    for name in lake.list(f"{folder(run_id)}/attempts"):
        place = _place(name)
        if place is not None:
            ref = ChunkRef(run_id=run_id, segment=place[0], chunk=place[1])
            found[place] = read_attempts(lake, ref)
    return found


def write_attempts(lake: Lake, ref: ChunkRef, attempts: Attempts) -> None:
    """Keep what has happened to a chunk."""
    write_json(lake, ref.attempts_path, asdict(attempts))


def write_start(lake: Lake, ref: ChunkRef, worker: str, started_at: float) -> None:
    """Note durably that a worker begins a chunk, before it does."""
    write_json(lake, ref.started_path, {"worker": worker, "started_at": started_at})


def read_start(lake: Lake, ref: ChunkRef) -> Start | None:
    """Read who works on this attempt of a chunk, or None if nobody began."""
    value = read_json(lake, ref.started_path)
    if value is None:
        return None
    return Start(attempt=ref.attempt, worker=value["worker"], started_at=value["started_at"])


def read_done(lake: Lake, run_id: str) -> dict[str, Any] | None:
    """Read how a finished run ended, or None while it is not finished."""
    return read_json(lake, f"{folder(run_id)}/DONE.json")


def read_expanded(lake: Lake, run: Run) -> dict[Place, set[int]]:
    """Read which jobs of which chunks go on in `split` segments.

    The manifest decides, not the part: a chunk that is worked twice may come back split once and
    solved once, where time was what it ran out of.
    """
    expanded: dict[Place, set[int]] = {}
    for segment in run.segments:
        if segment.kind == "split":
            path = f"{folder(run.run_id)}/manifest/seg-{segment.number:05d}.parquet"
            numbers = lake.read_table(path, _JOB_NO).column("job_no").to_pylist()
            at = 0
            for origin, rows in zip(segment.origins, segment.chunk_rows, strict=True):
                expanded.setdefault(origin, set()).update(numbers[at : at + rows])
                at += rows
    return expanded

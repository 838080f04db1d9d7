"""Where staged counts wait: the next stage of one is planned when its every part is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from archive.frontier import frontiers, sources
from archive.lake import Lake
from archive.runfiles import ChunkRef, Place, Segment, part_row
from archive.stages import Carried, StageSizes, next_stage
from solvers.algebra import Budget
from workers.expansion import Growth, PartOf


@dataclass(slots=True)
class _Stage:
    """The last stage of a job that was planned."""

    number: int
    waiting: set[Place] = field(default_factory=set)
    """Parts that have not been read."""
    carried: dict[Place, Carried] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStage:
    """A stage to be added to the manifest."""

    origins: list[Place]
    chunks: list[pa.Table]


class Barriers:
    """The staged counts of one run."""

    def __init__(self, parts: Mapping[Place, PartOf], sizes: StageSizes, budget: Budget) -> None:
        self._parts: dict[Place, PartOf] = {}
        self._stages: dict[int, _Stage] = {}
        self._sizes = sizes
        self._budget = budget
        self.join(parts)

    def join(self, parts: Mapping[Place, PartOf]) -> None:
        """Take note of the parts that a segment has brought."""
        for place, part in parts.items():
            if part.stage is None:
                continue
            self._parts[place] = part
            stage = self._stages.get(part.job)
            if stage is None or stage.number < part.stage:
                stage = self._stages[part.job] = _Stage(part.stage)
            if stage.number == part.stage:
                stage.waiting.add(place)

    def staged(self, place: Place) -> bool:
        """Tell whether a chunk is a part of a staged count."""
        return place in self._parts

    def sources(self, segments: Sequence[Segment], ref: ChunkRef) -> list[Place]:
        """Name the chunks whose states a chunk takes over: one that is no part of a stage, none."""
        if not self.staged(ref.place):
            return []
        return [source.place for source in sources(segments.__getitem__, ref)]

    def arrive(self, place: Place, growth: Growth) -> None:
        """Take note of what became of a chunk, which may be told twice.

        The parts that it was split into have to be known when the next stages are asked for.
        """
        part = self._parts.get(place)
        stage = None if part is None else self._stages[part.job]
        if part is None or stage is None or stage.number != part.stage or growth.lost:
            # What was lost for good leaves its stage waiting: it has no next one.
            return
        stage.waiting.discard(place)
        if growth.carried is not None:
            stage.carried[place] = growth.carried

    def next_stages(self, lake: Lake, run_id: str) -> list[NextStage]:
        """Plan the stages for which nothing is missing any more."""
        found = []
        for stage in self._stages.values():
            if stage.waiting or not stage.carried:
                continue
            origins = sorted(stage.carried)
            parts = next_stage([stage.carried[o] for o in origins], self._sizes, self._budget)
            first = ChunkRef(run_id=run_id, segment=origins[0][0], chunk=origins[0][1])
            row = lake.read_row_group(first.manifest_path, first.chunk)
            rows = [
                (size, part_row(row, part.to_json(), f"{stage.number + 1}.{i}"))
                for i, (part, size) in enumerate(parts)
            ]
            rows.sort(key=lambda sized: -sized[0])
            found.append(NextStage(origins=origins, chunks=[chunk for _, chunk in rows]))
        return found

    def litter(self, lake: Lake, run_id: str) -> list[Place]:
        """Name the frontiers that have been taken on."""
        return [
            place
            for place in frontiers(lake, run_id)
            if (part := self._parts.get(place)) is not None
            and part.stage is not None
            and part.stage < self._stages[part.job].number - 1
        ]

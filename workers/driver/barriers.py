"""Where staged counts wait: the next stage of one is planned when its every part is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Budget
from nightgrid.workers.driver.chunk_table import ChunkTable
from nightgrid.workers.runs.frontier import frontiers
from nightgrid.workers.runs.manifest import ChunkRef, Place, part_row
from nightgrid.workers.runs.stages import Carried, StageSizes, next_stage


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStage:
    """A stage to be added to the manifest."""

    origins: list[Place]
    chunks: list[pa.Table]


def next_stages(
    lake: Lake, table: ChunkTable, sizes: StageSizes, budget: Budget
) -> Iterator[NextStage]:
    """Plan the stages for which nothing is missing any more, largest parts first."""
    for job in table.jobs.due.values():
        yield _next_stage(lake, table.run_id, job.stage or 0, job.carried, sizes, budget)


def _next_stage(
    lake: Lake,
    run_id: str,
    number: int,
    carried: Mapping[Place, Carried],
    sizes: StageSizes,
    budget: Budget,
) -> NextStage:
    origins = sorted(carried)
    parts = next_stage([carried[origin] for origin in origins], sizes, budget)
    first = ChunkRef(run_id=run_id, segment=origins[0][0], chunk=origins[0][1])
    row = lake.read_row_group(first.manifest_path, first.chunk)
    rows = [
        (size, part_row(row, part.to_json(), f"{number + 1}.{i}"))
        for i, (part, size) in enumerate(parts)
    ]
    rows.sort(key=lambda sized: -sized[0])
    return NextStage(origins=origins, chunks=[chunk for _, chunk in rows])


def obsolete_frontiers(lake: Lake, table: ChunkTable) -> list[Place]:
    """Name the chunks whose frontiers no part will read again: those of two stages before the last.

    The states of the last stage but one are kept while its own may still be lost.
    """
    found = []
    for place in frontiers(lake, table.run_id):
        chunk = table.get(place)
        if chunk is None or chunk.part_of is None or chunk.part_of.stage is None:
            continue
        last = table.jobs[chunk.part_of.job].stage
        if last is not None and chunk.part_of.stage < last - 1:
            found.append(place)
    return found

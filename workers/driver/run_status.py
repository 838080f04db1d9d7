"""The table of a run's chunks as the lake has it, and the progress that follows from it."""

from __future__ import annotations

import time
from dataclasses import replace

from nightgrid.archive.lake.storage import Lake
from nightgrid.workers.driver.chunk_states import State
from nightgrid.workers.driver.chunk_table import ChunkTable
from nightgrid.workers.driver.follow_up_chunks import GROWTH_COLUMNS, read_parts, went_on
from nightgrid.workers.driver.progress import Progress, progress_of
from nightgrid.workers.runs.attempts import read_all_attempts
from nightgrid.workers.runs.manifest import Run, done_places, open_run, read_expanded


def open_table(lake: Lake, run: Run) -> ChunkTable:
    """Make the table of a run's chunks; those that have a result are done and were not read."""
    table = ChunkTable(run.run_id, read_all_attempts(lake, run.run_id))
    done = done_places(lake, run.run_id)
    for segment in run.segments:
        divided = segment.kind == "plan" and run.divided_count
        has_parts = segment.kind in ("split", "stage") or divided
        parts = read_parts(lake, run.run_id, segment) if has_parts else {}
        table.add(segment, parts, read_expanded(lake, replace(run, segments=(segment,))).items())
    table.sort_ready()
    for chunk in list(table.ready()):
        if chunk.place in done:
            table.land(chunk.place)
    return table


def run_status(lake: Lake, run_id: str, processes: int = 1) -> Progress:
    """Tell how far a run is, whichever process works it: reads the result of each chunk.

    Raises PermanentError for a run that the lake does not have.
    """
    begun = time.monotonic()
    run = open_run(lake, run_id)
    table = open_table(lake, run)
    for chunk in list(table.chunks_in(State.DONE)):
        growth = went_on(lake, table.ref(chunk.place), chunk.went_on, GROWTH_COLUMNS)
        table.read(chunk.place, growth.reading, growth.carried)
    now = time.monotonic()
    return progress_of(table, run, processes=processes, seconds=now - begun, now=now)

"""The remaining work of a run, as a new driver finds it in the lake."""

from nightgrid.archive.lake.storage import Lake
from nightgrid.workers.runs.attempt_notes import read_attempts
from nightgrid.workers.runs.manifest import Run
from nightgrid.workers.runs.run_files import ChunkRef, done_chunks


def pending_chunks(lake: Lake, run: Run) -> list[ChunkRef]:
    """List the remaining chunks, each with its current attempt."""
    done = done_chunks(lake, run.run_id)
    attempts = read_attempts(lake, run.run_id)
    return [
        ChunkRef(
            run_id=run.run_id,
            segment=ref.segment,
            chunk=ref.chunk,
            attempt=attempts.get(ref.key, 1),
        )
        for ref in run.chunks()
        if ref.key not in done
    ]

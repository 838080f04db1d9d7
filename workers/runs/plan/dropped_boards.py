"""Boards whose answer to `all` retention has dropped: no night works their jobs again by itself."""

from __future__ import annotations

import pyarrow as pa

from nightgrid.archive.ingest.puzzles import read_puzzle_table
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.dropped import dropped_jobs
from nightgrid.solvers.question import Question
from nightgrid.workers.runs.job_keys import KeySet, keys_of, name_jobs


def dropped_boards(lake: Lake, question: Question) -> pa.Array:
    """Read the ids of a game's boards about which a question was answered, and that was dropped.

    Names the job of every board where anything of the game was dropped, and reads nothing else.
    """
    none = pa.array([], pa.string())
    if question.ask.kind != "all":
        return none
    jobs = dropped_jobs(lake, question.game)
    if not len(jobs):
        return none
    dropped = KeySet()
    dropped.add(keys_of(jobs))
    ids = read_puzzle_table(lake, question.game, ["puzzle_id"]).column("puzzle_id")
    named = (pa.array(dropped.holds(name_jobs(question, chunk))) for chunk in ids.chunks)
    found = (chunk.filter(is_dropped) for chunk, is_dropped in zip(ids.chunks, named, strict=True))
    return pa.concat_arrays([none, *found])

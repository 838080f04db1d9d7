"""Describe in words into which parts jobs of a run were divided; kept beside the results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.parts import Part
from nightgrid.solvers.question import Question
from nightgrid.solvers.registry import game_plug
from nightgrid.solvers.sentences import numbered
from nightgrid.workers.runs.attempts import read_workers
from nightgrid.workers.runs.manifest import Run
from nightgrid.workers.runs.run_files import ChunkKey, segment_path

JOBS_TOLD = 1000
"""Jobs of a run whose parts are kept: in a large count these are boards among millions."""
PARTS_TOLD = 10_000
WHAT_MAX = 100
"""Characters that say what a part is."""

Rows = Mapping[int, Sequence[Mapping[str, Any]]]
"""Rows of parts by number of job, in order."""


def parts_of_jobs(lake: Lake, run: Run, divided: Rows) -> dict[str, list[Part]]:
    """Describe the parts of divided jobs, by job: at most so many jobs and parts as are kept."""
    told: dict[int, Sequence[Mapping[str, Any]]] = {}
    left = PARTS_TOLD
    for number in sorted(divided)[:JOBS_TOLD]:
        left -= len(divided[number])
        if left < 0:
            break
        told[number] = divided[number]
    known = _known(lake, run, told.keys())
    workers = read_workers(lake, run.run_id, {chunk for _, chunk in known.values()})
    return {
        str(rows[0]["job_id"]): [
            _part(row, known.get((number, row["part_path"])), workers) for row in rows
        ]
        for number, rows in told.items()
    }


def _part(
    row: Mapping[str, Any], known: tuple[str, ChunkKey] | None, workers: Mapping[ChunkKey, str]
) -> Part:
    what, chunk = known or ("", None)
    return Part(
        path=row["part_path"],
        what=what,
        status=row["status"],
        count=None if row["count"] is None else int(row["count"]),
        states=row["states"],
        seconds=row["kernel_ns"] / 1e9,
        worker="" if chunk is None else workers.get(chunk, ""),
    )


def _known(
    lake: Lake, run: Run, numbers: Iterable[int]
) -> dict[tuple[int, str], tuple[str, ChunkKey]]:
    """Return what the parts of some jobs are and in which chunks, by number of job and path."""
    wanted = set(numbers)
    found: dict[tuple[int, str], tuple[str, ChunkKey]] = {}
    if not wanted:
        return found
    for segment in run.segments:
        if segment.kind == "plan" and not segment.divided:
            continue
        path = segment_path(run.run_id, segment.number)
        groups = lake.iter_row_groups(path, ["job_no", "part", "part_path"])
        for chunk, table in enumerate(groups):
            columns = (table.column(name).to_pylist() for name in table.column_names)
            for number, part, place in zip(*columns, strict=True):
                if number in wanted:
                    # A chunk that was broken up lies before those that its rows have become.
                    found[number, place] = words_of(part, run.question), (segment.number, chunk)
    return found


def words_of(part: str, question: Question) -> str:
    """Describe a part from its JSON: "spangrams 1-128 with their zones"."""
    if not part:
        return "the whole"
    value = json.loads(part)
    text: str | None = None
    if isinstance(value, dict) and "ranks" in value:
        text = numbered("solution", *value["ranks"])
    else:
        with suppress(KeyError, TypeError, ValueError):
            text = game_plug(question.game).words_of_part(value, question.rules)
    if text is None:
        text = _listed(value)
    return text if len(text) <= WHAT_MAX else f"{text[: WHAT_MAX - 3]}..."


def _listed(value: Any) -> str:
    """Describe a part of which its game says nothing."""
    if not isinstance(value, dict):
        return f"first choices {_shown(value)}"
    return ", ".join(f"{name} {_shown(value[name])}" for name in sorted(value, reverse=True))


def _shown(value: Any) -> str:
    is_range = isinstance(value, list) and len(value) == 2 and all(type(v) is int for v in value)
    if is_range and value[0] < value[1]:
        return f"{value[0]}-{value[1] - 1}"
    return json.dumps(value, separators=(",", ":"))

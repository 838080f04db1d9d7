"""Describe in words into which parts jobs of a run were divided; kept beside the results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.parts import Part
from nightgrid.workers.runs.manifest import Run
from nightgrid.workers.runs.run_files import segment_path
from nightgrid.workers.runs.staged.stages import stage_part

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
    words = _words(lake, run, told.keys())
    return {
        str(rows[0]["job_id"]): [
            Part(
                path=row["part_path"],
                what=words.get((number, row["part_path"]), ""),
                status=row["status"],
                count=None if row["count"] is None else int(row["count"]),
                states=row["states"],
                seconds=row["kernel_ns"] / 1e9,
                worker="",
            )
            for row in rows
        ]
        for number, rows in told.items()
    }


def _words(lake: Lake, run: Run, numbers: Iterable[int]) -> dict[tuple[int, str], str]:
    """Say what the parts of some jobs are, by number of job and path of the part."""
    wanted = set(numbers)
    found: dict[tuple[int, str], str] = {}
    if not wanted:
        return found
    for segment in run.segments:
        if segment.kind == "plan" and not segment.divided:
            continue
        path = segment_path(run.run_id, segment.number)
        for table in lake.iter_row_groups(path, ["job_no", "part", "part_path"]):
            columns = (table.column(name).to_pylist() for name in table.column_names)
            for number, part, place in zip(*columns, strict=True):
                if number in wanted:
                    found[number, place] = words_of(part)
    return found


def words_of(part: str) -> str:
    """Describe a part from its JSON: "layer 3, buckets 0-63"."""
    if not part:
        return "the whole"
    stage = stage_part(part)
    if stage is not None:
        first, end = stage.buckets
        until = "" if stage.until is None else f", up to layer {stage.until}"
        return f"layer {stage.layer}, buckets {first}-{end - 1}{until}"
    value = json.loads(part)
    if isinstance(value, dict):
        text = ", ".join(f"{name} {_shown(value[name])}" for name in sorted(value, reverse=True))
    else:
        text = f"first choices {_shown(value)}"
    return text if len(text) <= WHAT_MAX else f"{text[: WHAT_MAX - 3]}..."


def _shown(value: Any) -> str:
    is_range = isinstance(value, list) and len(value) == 2 and all(type(v) is int for v in value)
    if is_range and value[0] < value[1]:
        return f"{value[0]}-{value[1] - 1}"
    return json.dumps(value, separators=(",", ":"))

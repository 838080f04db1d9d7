"""Merges of results that are killed at any step, or that other merges meet at any step.

`python -m benchmarks.chaos.lakes.merges LAKE STEP` merges a lake and ends by SIGKILL before that
step.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from benchmarks.chaos.lakes.nights import Field, Found
from benchmarks.chaos.lakes.stepping import SteppingLake, doing_at
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RESULTS
from nightgrid.archive.merging.merge import merge_folder
from nightgrid.archive.results.files import RESULT_FILES, put_rows, result_path
from nightgrid.archive.results.results import read_results

ROOT = Path(__file__).resolve().parents[3]
FILES = 4
STEPS = range(1, 100)
"""Steps before which a merge is killed, or meets another: it has fewer."""
MERGE_S = 120.0


def _many_files(field: Field, folder: Path) -> Lake:
    """Copy the lake, with its results in several small files."""
    lake = Lake.open(str(folder))
    shutil.copytree(field.lake, folder)
    rows = read_results(lake)
    for path in lake.list("results"):
        lake.delete(path)
    for number in range(FILES):
        some = rows.take(list(range(number, len(rows), FILES))).sort_by("job_id")
        put_rows(lake, result_path(f"{number:032x}"), some)
    return lake


def _looked_at(field: Field, lake: Lake, struck: int) -> Found:
    """Compare what readers see now, and after the night that merges again; count files' rows."""
    seen = read_results(lake).num_rows
    wanted = read_results(Lake.open(str(field.lake))).num_rows
    found = field.after_night(lake, struck)
    names = lake.read_table("results", RESULTS, ["job_id"]).column("job_id").to_pylist()
    bad = "" if seen == wanted else f"a reader saw {seen} of {wanted} rows"
    return replace(found, doubled=len(names) - len(set(names)), bad=bad or found.bad)


def _worst(found: list[Found], said: str) -> Found:
    bad = [one for one in found if one.lost or one.doubled or one.differing or one.bad]
    one = (bad or found)[0]
    return replace(one, struck=len(found), said=said)


def killed(field: Field, folder: Path) -> Found:
    """Kill a process that merges before each of its steps."""
    found = []
    for step in STEPS:
        lake = _many_files(field, folder / f"{step}")
        command = [sys.executable, "-m", "benchmarks.chaos.lakes.merges", lake.url, str(step)]
        ended = subprocess.run(command, cwd=ROOT, check=False, timeout=MERGE_S).returncode
        if ended == 0:
            break
        if ended != -signal.SIGKILL:
            return Found(struck=step, said="", bad=f"a merge ended with {ended}")
        found.append(_looked_at(field, lake, 1))
    return _worst(found, "readers saw each row once at every step")


def at_once(field: Field, folder: Path) -> Found:
    """Let another merge do all of its work at each step of a merge."""
    found = []
    for step in STEPS:
        lake = _many_files(field, folder / f"{step}")
        other = Lake.open(lake.url)
        stepping = SteppingLake(
            lake, doing_at(step, lambda other=other: merge_folder(other, RESULT_FILES))
        )
        merge_folder(stepping, RESULT_FILES)
        found.append(_looked_at(field, lake, 1))
        if stepping.steps < step:
            break
    return _worst(found, "readers saw each row once at every step")


def main() -> int:
    """Merge, and die before a step."""

    def die(number: int, _: str) -> None:
        if number == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)

    merge_folder(SteppingLake(Lake.open(sys.argv[1]), die), RESULT_FILES)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Results of nights, and nights in processes that may be killed."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa

from nightgrid.archive.lake.schemas import RESULTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.flows.night.report import GameReport
from nightgrid.flows.night.settings import NightSettings
from nightgrid.flows.runs import Watch
from nightgrid.flows.start import run_night

ROOT = Path(__file__).resolve().parents[2]
NIGHT = Path(__file__).parent / "night" / "night_program.py"
DIFFERS_BY_RUN = ("kernel_ns", "run_id")


def run_one(settings: NightSettings, **watch: Any) -> GameReport:
    """Run a night of one game without Prefect and return the game's report."""
    (report,) = run_night(settings, Watch(**watch), prefect=False).games
    return report


def results(settings: NightSettings) -> pa.Table:
    """Read every result row, without what differs from run to run."""
    table = Lake.open(settings.workers.lake).read_table("results", RESULTS)
    return table.drop_columns(list(DIFFERS_BY_RUN)).sort_by("job_id").combine_chunks()


def in_a_process(
    python: str | Path, settings: NightSettings, *options: str, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run night_program.py to its end, whatever that is."""
    source = settings.games[0].source
    command = [str(python), str(NIGHT), source, settings.workers.lake, *options]
    env = {**os.environ, **environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=150, check=False
    )


def said(process: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Read the JSON object that night_program.py prints last."""
    assert process.returncode == 0, process.stderr[-3000:]
    answer: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return answer

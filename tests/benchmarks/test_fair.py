"""What large boards and a batch got of batch workers is read from the log of these."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.http import fair
from nightgrid.workers.settings import Settings

BEGUN = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def line(run: str, begun_s: float, seconds: float) -> str:
    ended = BEGUN + dt.timedelta(seconds=begun_s + seconds)
    told = {"event": "task ended", "run": run, "seconds": seconds, "timestamp": ended.isoformat()}
    return json.dumps(told)


def test_time_is_summed_by_kind_of_run_and_each_run_is_opened_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Given two runs of many chunks, Then seconds count from the first chunk of a large board."""
    settings = Settings(lake=str(tmp_path / "lake"), var_dir=tmp_path / "var")
    logs = settings.side_dir / "logs"
    logs.mkdir(parents=True)
    batch = [line("batch", at, 2.0) for at in (0.0, 4.0, 10.0, 12.0)]
    large = [line("large", at, 1.0) for at in (5.0, 8.0, 9.0)]
    other = [json.dumps({"event": "task begun", "run": "batch"}), "no JSON"]
    (logs / "batch.log").write_text("\n".join([*batch, *large, *other]))
    opened: Counter[str] = Counter()

    def open_run(_: Any, name: str) -> SimpleNamespace:
        opened[name] += 1
        return SimpleNamespace(puzzle_count=1, job_count=1 if name == "large" else 500)

    monkeypatch.setattr(fair, "open_run", open_run)
    # From 5 s on to 13 s: of the batch 1 s of the second chunk, the third, half of the last one.
    spent = fair.spent_seconds(settings, BEGUN.timestamp() + 13.0)
    assert spent == pytest.approx((3.0, 4.0))
    assert opened == {"batch": 1, "large": 1}

"""GET /v1/runs: the question and the progress of each run."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from starlette.testclient import TestClient

from nightgrid.archive.lake.storage import Lake


def test_a_run_has_its_question_and_its_outcome(sample: TestClient):
    told = sample.get("/v1/runs").json()
    assert (told["total"], told["next"]) == (1, None)
    (run,) = told["runs"]
    assert (run["state"], run["game"], run["ask"], run["jobs"]) == ("done", "pips", "count", 9)
    assert run["chunks_done"] == run["chunks_total"] > 0
    assert run["statuses"] == {"solved": 9}
    assert run["created_at"] <= run["finished_at"]
    assert run["finished_at"].endswith("+00:00")


def test_open_cancelled_and_damaged_runs_are_distinguished(
    sample_lake: Path, open_client: Callable[..., TestClient], tmp_path: Path
):
    shutil.copytree(sample_lake, tmp_path / "lake")
    lake = Lake.open(str(tmp_path / "lake"))
    client = open_client(tmp_path / "lake")
    (path,) = (path for path in lake.folders("runs") if "run=" in path)
    run_id = path.removeprefix("runs/run=")
    # Both have its question.
    lake.write_bytes(f"{path}/plan.json", lake.read_bytes(f"{path}/DONE.json"))
    lake.delete(f"{path}/DONE.json")
    (run,) = client.get("/v1/runs").json()["runs"]
    assert run["state"] == "open"
    assert client.delete(f"/v1/runs/{run_id}").json()["state"] == "cancelled"
    (run,) = client.get("/v1/runs").json()["runs"]
    assert run["state"] == "cancelled"
    assert client.delete("/v1/runs/none").status_code == 404
    lake.write_bytes(f"{path}/plan.json", b"{")
    (run,) = client.get("/v1/runs").json()["runs"]
    assert run["state"] == "damaged"
    assert run["reason"]
    assert str(tmp_path) not in run["reason"]


def test_pages_end(sample: TestClient):
    assert sample.get("/v1/runs?offset=1").json() == {"total": 1, "runs": [], "next": None}

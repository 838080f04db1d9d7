"""Nights and counts as flow runs: tasks, one progress bar, one summary, and how they end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from nightgrid.flows.attention import AttentionItem
from nightgrid.flows.count.settings import CountSettings
from nightgrid.flows.night.report import GameReport, NightReport
from nightgrid.flows.night.settings import NightSettings
from nightgrid.flows.runs import StoppedError, Watch
from nightgrid.flows.start import run_count
from nightgrid.workers.driver.progress import Progress
from nightgrid.workers.runs.status import cancel_run
from nightgrid.workers.settings import Settings
from tests.flows.prefect.conftest import ask, states

Night = Callable[..., NightSettings]
pytestmark = [pytest.mark.prefect, pytest.mark.timeout(300)]


@pytest.fixture(scope="module", autouse=True)
def _prefect() -> None:
    """Load Prefect here, because it would take every collecting process seconds."""
    global flows
    from nightgrid.flows.prefect import flows


def nightgrid(env: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nightgrid", *words],
        env=env,
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )


def progress(done: int, total: int = 10) -> Progress:
    return Progress(
        run_id="0" * 32,
        chunks_done=done,
        chunks_total=total,
        jobs_done=done,
        jobs_total=total,
        in_flight=0,
        failures=0,
        seconds=0.0,
    )


def test_a_served_flow_knows_the_types_of_its_parameters(
    source: Callable[[int], Path], night: Night
) -> None:
    """Given Prefect's copy by value of a served flow, Then parameters are valid."""
    import cloudpickle

    copy = cloudpickle.loads(cloudpickle.dumps(flows.nightly_flow))
    parameters = flows.night_parameters(night(source(1)))
    assert json.loads(json.dumps(parameters)) == parameters
    assert copy.validate_parameters(parameters) == parameters


def test_progress_is_shown_at_most_every_ten_seconds_and_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[float] = []
    now_s = 100.0

    def create(*, progress: float, **_: str) -> Any:
        shown.append(progress)
        return uuid4()

    monkeypatch.setattr(flows, "create_progress_artifact", create)
    monkeypatch.setattr(
        flows, "update_progress_artifact", lambda *, progress, **_: shown.append(progress)
    )
    bar = flows.ProgressArtifact("key", clock=lambda: now_s)
    for done, at in [(0, 100.0), (1, 109.9), (2, 110.0), (3, 111.0), (10, 112.0)]:
        now_s = at
        bar.show(progress(done))
    assert shown == [0.0, 20.0, 100.0]


def test_the_summary_names_failures_items_figures_and_places() -> None:
    item = AttentionItem(kind="poison", name="pips/2026-01-02/a", why="because")
    game = GameReport(
        game="pips",
        ask="count",
        poison=1,
        fetch_failures=("2026-01-02: timed out",),
        attention=(item,),
        paths={"results": "lake/results"},
    )
    page = flows.summary(NightReport(games=(game,)))
    for line in (
        "## pips",
        "- not fetched: 2026-01-02: timed out",
        "- pips: 1 poison\n    - pips/2026-01-02/a: because",
        "| poison | 1 |",
        "- results: `lake/results`",
    ):
        assert f"\n{line}\n" in page


@pytest.mark.long(
    short="tests/flows/prefect/test_schedule.py::test_a_schedule_runs_its_night_and_outlives_the_process"
)
def test_a_night_of_the_command_line_is_a_flow_run_only_if_there_is_work(
    source: Callable[[int], Path], night: Night, prefect: dict[str, str]
) -> None:
    settings = night(source(2))
    lake = settings.workers.lake
    words = ("nightly", "--source", settings.games[0].source, "--lake", lake, "--inline", "--json")
    first, idle = nightgrid(prefect, *words), nightgrid(prefect, *words)

    assert (first.returncode, idle.returncode) == (0, 0), first.stderr[-3000:]
    assert json.loads(first.stdout)["solved"] == 6
    assert json.loads(idle.stdout)["planned"] == 0
    assert states(prefect, lake) == ["COMPLETED"]
    (run,) = [run for run in ask(prefect, "flow_runs") if lake in str(run["parameters"])]
    assert f"Prefect's flow run {run['name']}, http" in first.stderr
    assert "INFO" not in first.stderr, "people are told what is our own"
    tasks = ask(prefect, "task_runs", flow_runs={"id": {"any_": [run["id"]]}})
    assert {task["name"] for task in tasks} == {"solve-pips", "aggregate-pips", "report-pips"}
    assert {task["state"]["type"] for task in tasks} == {"COMPLETED"}
    found = ask(prefect, "artifacts", artifacts={"flow_run_id": {"any_": [run["id"]]}})
    shown = {artifact["key"]: artifact["data"] for artifact in found}
    assert shown.keys() == {"nightly-progress", "nightly-summary"}
    assert float(shown["nightly-progress"]) == 100.0
    assert "6 puzzles, 6 solved, 0 unsolvable, 0 in quarantine" in shown["nightly-summary"]


@pytest.mark.long(
    short="tests/flows/test_start.py::test_a_count_with_nothing_to_do_goes_without_prefect_and_without_a_planner"
)
def test_a_count_is_one_flow_run_with_progress_and_summary(
    prefect: dict[str, str], tmp_path: Path
) -> None:
    lake = str(tmp_path / "counted")
    words = ("count", "pips:n=40,mix=easy,seed=4", "--lake", lake, "--inline", "--json")
    done = nightgrid(prefect, *words)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout)["statuses"] == {"solved": 40}
    assert states(prefect, lake) == ["COMPLETED"]
    (run,) = [run for run in ask(prefect, "flow_runs") if lake in str(run["parameters"])]
    found = ask(prefect, "artifacts", artifacts={"flow_run_id": {"any_": [run["id"]]}})
    assert {artifact["key"] for artifact in found} == {"count-progress", "count-summary"}


@pytest.mark.long(
    short="tests/flows/count/test_count.py::test_a_cancelled_count_continues_only_on_request"
)
def test_a_count_whose_run_is_cancelled_is_a_cancelled_flow_run(
    prefect: dict[str, str], tmp_path: Path
) -> None:
    spec, lake = "pips:n=40,mix=easy,seed=4", str(tmp_path / "cancelled")
    count = CountSettings(corpus=spec, executor="inline", workers=Settings(lake=lake))
    watch = Watch(on_progress=lambda progress: cancel_run(count.lake, progress.run_id))
    with pytest.raises(StoppedError):
        run_count(count, watch, prefect=False)
    done = nightgrid(prefect, "count", spec, "--lake", lake, "--inline", "--json")
    assert done.returncode == 130
    assert "the same command with --resume continues" in done.stderr
    assert "Traceback" not in done.stderr
    assert states(prefect, lake) == ["CANCELLED"]

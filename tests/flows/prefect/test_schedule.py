"""Scheduled nights run as documented, and invalid schedules are refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from nightgrid.flows.night.report import REPORT_PATH
from nightgrid.flows.night.settings import NightSettings
from tests.flows.nights import ROOT, results
from tests.flows.prefect.conftest import ask, end, post, states, wait_for

Night = Callable[..., NightSettings]
pytestmark = [pytest.mark.prefect, pytest.mark.timeout(300)]


def told(*words: str, **environ: str) -> tuple[int, str]:
    env = {name: text for name, text in os.environ.items() if name != "PREFECT_API_URL"}
    done = subprocess.run(
        [sys.executable, "-m", "nightgrid", "schedule", *words],
        env={**env, **environ},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "server", "code", "sentence"),
    [
        (["--cron", "at night"], None, 3, "--cron is 'at night'; expected five fields"),
        (["--source", "nowhere"], None, 3, "source 'nowhere' is not a folder"),
        ([], None, 3, "start one with `prefect server start` and set PREFECT_API_URL="),
        ([], "http://127.0.0.1:9/api", 1, "http://127.0.0.1:9/api does not answer"),
    ],
)
def test_an_invalid_schedule_is_refused_in_one_sentence(
    words: list[str], server: str | None, code: int, sentence: str, tmp_path: Path
) -> None:
    environ = {} if server is None else {"PREFECT_API_URL": server}
    if "--source" not in words:
        words = ["--source", ".", *words]
    found, said = told("--lake", str(tmp_path / "lake"), *words, **environ)
    assert found == code
    assert sentence in said
    assert said.count("\n") == 1


@pytest.mark.slow
def test_a_schedule_runs_its_night_and_outlives_the_process(
    source: Callable[[int], Path], night: Night, prefect: dict[str, str]
) -> None:
    """Given `nightgrid schedule`, When a run is triggered, Then its rows are in the lake."""
    settings = night(source(1))
    words = ("--source", settings.games[0].source, "--lake", settings.workers.lake)
    serving = subprocess.Popen(
        [sys.executable, "-m", "nightgrid", "schedule", *words, "--cron", "15 3 * * *"],
        env={**prefect, **settings.workers.environment()},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert serving.stderr is not None
    try:
        line = serving.stderr.readline()
        assert line.startswith(f"serving nightly at 03:15 UTC into {settings.workers.lake}, next")
        assert line.endswith(" 03:15 UTC\n")
        (deployment,) = [one for one in ask(prefect, "deployments") if one["name"] == "nightly"]
        run_now(prefect, deployment["id"])
        wait_for(lambda: "COMPLETED" in states(prefect, settings.workers.lake), serving)
    finally:
        end(serving, signal.SIGTERM)
        serving.stderr.close()
    assert serving.returncode == 0
    wait_for(lambda: is_gone(serving.pid))

    assert len(results(settings)) == 3
    page = settings.lake.read_bytes(REPORT_PATH).decode()
    assert page.count('<figure class="plate"') == 3
    (deployment,) = [one for one in ask(prefect, "deployments") if one["name"] == "nightly"]
    (schedule,) = deployment["schedules"]
    assert schedule["schedule"]["cron"] == "15 3 * * *"
    assert schedule["active"]
    assert not deployment["paused"]


@pytest.mark.long(
    short="tests/flows/prefect/test_schedule.py::test_a_schedule_runs_its_night_and_outlives_the_process"
)
def test_a_work_pool_runs_the_night_of_the_bundled_deployment(
    source: Callable[[int], Path], night: Night, prefect: dict[str, str], tmp_path: Path
) -> None:
    settings = night(source(1))
    wanted = yaml.safe_load((ROOT / "infra/prefect.yaml").read_text())
    (deployment,) = wanted["deployments"]
    deployment["name"] = "pooled"
    (game,) = deployment["parameters"]["games"]
    game["source"] = settings.games[0].source
    deployment["parameters"]["lake"] = settings.workers.lake
    file = tmp_path / "prefect.yaml"
    file.write_text(yaml.safe_dump(wanted))

    def run_prefect(*words: str) -> None:
        command = [sys.executable, "-m", "prefect", "--no-prompt", *words]
        done = subprocess.run(
            command, env=prefect, cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    run_prefect("work-pool", "create", "nightgrid", "--type", "process")
    run_prefect("deploy", "--prefect-file", str(file), "--all")
    (made,) = [one for one in ask(prefect, "deployments") if one["name"] == "pooled"]
    run_now(prefect, made["id"])
    worker = subprocess.Popen(
        [sys.executable, "-m", "prefect", "worker", "start", "--pool", "nightgrid"],
        env={**prefect, **settings.workers.environment()},
        cwd=tmp_path,
        start_new_session=True,
    )
    try:
        wait_for(lambda: "COMPLETED" in states(prefect, settings.workers.lake), worker)
    finally:
        end(worker, signal.SIGINT)
        wait_for(lambda: is_gone(worker.pid))
    assert len(results(settings)) == 3


def is_gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def run_now(env: dict[str, str], deployment: str) -> None:
    post(env, f"deployments/{deployment}/create_flow_run", {"state": {"type": "SCHEDULED"}})

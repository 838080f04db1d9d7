"""The night under Prefect: on a temporary server, on a running one, and on a schedule."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from nightgrid.flows.count.settings import CountSettings
from nightgrid.flows.night.page import REPORT_PATH
from nightgrid.flows.prefect import environment
from nightgrid.flows.runs import StoppedError, Watch
from nightgrid.flows.start import run_count
from nightgrid.workers.runs.status import cancel_run
from nightgrid.workers.settings import Settings
from tests.flows.nights import ROOT, in_a_process, results, run_one, said
from tests.warm_interpreter import PREFECT, started

pytestmark = [pytest.mark.prefect, pytest.mark.timeout(300)]
STEPS = ["fetch", "normalise", "plan", "solve", "aggregate", "report"]
START_S = 120.0


@pytest.fixture(scope="module", autouse=True)
def _prefect() -> None:
    """Load Prefect here: each process that collects the tests would take seconds for it."""
    global artifacts, flow_tasks
    from nightgrid.flows.prefect import artifacts
    from nightgrid.flows.prefect import tasks as flow_tasks


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """Share one folder, so that Prefect makes its database once."""
    return tmp_path_factory.mktemp("prefect")


@pytest.fixture(scope="module")
def api(home: Path) -> Iterator[str]:
    """Run a Prefect server of its own, as a machine that keeps one would."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    environment.prepare()
    env = {**os.environ, "PREFECT_HOME": str(home), "PREFECT_SERVER_API_PORT": port}
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1"]
    with (home / "server.log").open("wb") as log:
        server = subprocess.Popen([*command, "--port", port], env=env, stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{port}/api"
            wait_for(lambda: answers(f"{url}/health"), server)
            yield url
        finally:
            end(server, signal.SIGINT)


@pytest.fixture(scope="module")
def python(home: Path, api: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Have the interpreter run in forks of a process that has loaded Prefect for this server."""
    environment.prepare()
    place = tmp_path_factory.mktemp("warm") / "venv"
    with started(place, *PREFECT, PREFECT_HOME=str(home), PREFECT_API_URL=api) as folder:
        yield folder / "bin" / "python"


def nightgrid(python: Path, home: Path, api: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command line under this Prefect server."""
    env = {"PREFECT_HOME": str(home), "PREFECT_API_URL": api, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [str(python), "-m", "nightgrid.service.cli.app", *words],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )


def answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5).is_success
    except httpx.HTTPError:
        return False


def wait_for(is_so, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while not is_so():
        assert process.poll() is None, f"exited with {process.returncode}"
        assert time.monotonic() < deadline, f"not so within {START_S} s"
        time.sleep(0.1)


def wait_until(is_so) -> bool:
    """Give the server time for what it does after it has answered."""
    deadline = time.monotonic() + START_S
    while not (so := is_so()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return bool(so)


def end(process: subprocess.Popen[bytes], number: int) -> None:
    process.send_signal(number)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def ask(api: str, what: str, **query: Any) -> Any:
    answer = httpx.post(f"{api}/{what}/filter", json=query, timeout=30)
    answer.raise_for_status()
    return answer.json()


@pytest.mark.long(
    short="tests/flows/test_start.py::test_work_that_an_earlier_night_has_left_is_done_under_prefect"
)
def test_a_night_on_a_temporary_server_does_what_one_without_prefect_does(source, night, home):
    folder = source(2)
    plain, flow = night(folder, "plain"), night(folder, "flow")

    done = in_a_process(sys.executable, flow, "--prefect", PREFECT_HOME=str(home))
    answer = said(done)
    run_one(plain)

    assert answer["prefect"]
    assert answer["report"]["games"]["pips"]["solved"] == 6
    assert results(flow).equals(results(plain))
    assert "INFO" not in done.stderr, "what people are told is our own"


@pytest.mark.long(
    short="tests/flows/test_start.py::test_work_that_an_earlier_night_has_left_is_done_under_prefect"
)
def test_a_flow_run_of_a_deployment_leaves_the_report_of_the_night(
    source, night, api, home, python
):
    """Given no door above the flow, as a schedule and a work pool have none."""
    settings = night(source(1))
    flow = "import json, sys; from nightgrid.flows.prefect.tasks import nightly_flow;"
    program = f"{flow} nightly_flow(**json.loads(sys.argv[1]))"
    parameters = json.dumps(flow_tasks.night_parameters(settings))
    env = {"PREFECT_HOME": str(home), "PREFECT_API_URL": api, "PYTHONPATH": str(ROOT)}

    done = subprocess.run(
        [str(python), "-c", program, parameters],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )

    assert done.returncode == 0, done.stderr[-3000:]
    page = settings.lake.read_bytes(REPORT_PATH).decode()
    assert page.count('<figure class="plate">') == 3


@pytest.mark.long(
    short="tests/flows/test_start.py::test_work_that_an_earlier_night_has_left_is_done_under_prefect"
)
def test_a_night_whose_source_is_down_is_a_failed_flow_run(night, api, home, python):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    settings = night("x")
    words = ("nightly", "--source", url, "--lake", settings.workers.lake, "--inline", "--json")

    done = nightgrid(python, home, api, *words, "--to", "2025-08-18")

    assert done.returncode == 1, done.stderr[-3000:]
    assert json.loads(done.stdout)["source_failed"] is True
    assert "gave nothing: the date asked for failed" in done.stderr
    runs = [r for r in ask(api, "flow_runs") if r["parameters"]["lake"] == settings.workers.lake]
    assert [run["state"]["type"] for run in runs] == ["FAILED"]


@pytest.mark.long(
    short="tests/flows/test_start.py::test_work_that_an_earlier_night_has_left_is_done_under_prefect"
)
def test_a_night_on_a_running_server_is_six_task_runs_with_progress_and_summary(
    source, night, api, home
):
    settings = night(source(2))

    first = in_a_process(
        sys.executable, settings, "--prefect", PREFECT_HOME=str(home), PREFECT_API_URL=api
    )
    second = in_a_process(
        sys.executable, settings, "--prefect", PREFECT_HOME=str(home), PREFECT_API_URL=api
    )

    assert said(first)["report"]["games"]["pips"]["solved"] == 6
    assert said(second)["report"]["games"]["pips"]["planned"] == 0
    assert said(second)["prefect"] is False, "an idle night loads no flow engine"
    (run,) = [r for r in ask(api, "flow_runs") if r["parameters"]["lake"] == settings.workers.lake]
    assert run["state"]["type"] == "COMPLETED"
    tasks = ask(api, "task_runs", flow_runs={"id": {"any_": [run["id"]]}})
    tasks.sort(key=lambda task: task["start_time"])
    assert [task["name"].rsplit("-", 1)[0] for task in tasks] == STEPS
    assert {task["state"]["type"] for task in tasks} == {"COMPLETED"}
    found = ask(api, "artifacts", artifacts={"flow_run_id": {"any_": [run["id"]]}})
    worked = {artifact["key"]: artifact for artifact in found}
    assert worked.keys() == {artifacts.PROGRESS_KEY, artifacts.SUMMARY_KEY, artifacts.FIGURES_KEY}
    assert float(worked[artifacts.PROGRESS_KEY]["data"]) == 100.0
    assert (
        "6 puzzles, 6 solved, 0 unsolvable, 0 in quarantine"
        in worked[artifacts.SUMMARY_KEY]["data"]
    )
    figures = {
        row["figure"]: row["value"] for row in json.loads(worked[artifacts.FIGURES_KEY]["data"])
    }
    assert (figures["solved"], figures["already known"]) == ("6", "0")


@pytest.mark.long(
    short="tests/flows/test_start.py::test_work_that_an_earlier_night_has_left_is_done_under_prefect"
)
def test_old_flow_runs_of_ours_go_with_all_that_is_theirs_and_others_stay(
    source, night, api, home, python
):
    settings = night(source(1))

    def a_night(days: int, **environ: str) -> None:
        source(days)  # A night with nothing new is no flow run.
        said(
            in_a_process(
                python,
                settings,
                "--prefect",
                PREFECT_HOME=str(home),
                PREFECT_API_URL=api,
                **environ,
            )
        )

    a_night(1)
    (old,) = [r for r in ask(api, "flow_runs") if r["parameters"]["lake"] == settings.workers.lake]
    assert old["tags"] == [flow_tasks.TAG]
    stranger = {"flow_id": old["flow_id"], "tags": ["other"], "parameters": {"lake": ""}}
    other = httpx.post(
        f"{api}/flow_runs/", json={**stranger, "state": {"type": "COMPLETED"}}, timeout=60
    )
    other.raise_for_status()
    a_night(2, NIGHTGRID_FLOW_HISTORY_DAYS="0")
    kept = {run["id"] for run in ask(api, "flow_runs")}
    assert {old["id"], other.json()["id"]} <= kept
    a_night(3, NIGHTGRID_FLOW_HISTORY_DAYS="0.0000001")

    left = {run["id"]: run for run in ask(api, "flow_runs")}
    assert other.json()["id"] in left
    (new,) = [run for run in left.values() if run["tags"] == [flow_tasks.TAG]]
    assert new["id"] not in kept
    for what in ("task_runs", "artifacts"):
        of_runs = {row["flow_run_id"] for row in ask(api, what)}
        assert of_runs == {new["id"]}, what
    of_old = {"flow_run_id": {"any_": [old["id"]]}}
    assert wait_until(lambda: not ask(api, "logs", logs=of_old))


@pytest.mark.long(
    short="tests/flows/test_start.py::test_work_that_an_earlier_night_has_left_is_done_under_prefect"
)
def test_a_count_is_one_flow_run_of_four_task_runs_with_progress_and_distribution(
    api, home, python, tmp_path
):
    words = ("count", "pips:n=40,mix=easy,seed=4", "--lake", str(tmp_path / "counted"))

    done = nightgrid(python, home, api, *words, "--inline", "--json")

    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout)["statuses"] == {"solved": 40}
    (run,) = [r for r in ask(api, "flow_runs") if r["parameters"]["lake"] == words[-1]]
    assert run["state"]["type"] == "COMPLETED"
    tasks = ask(api, "task_runs", flow_runs={"id": {"any_": [run["id"]]}})
    tasks.sort(key=lambda task: task["start_time"])
    names = [task["name"].rsplit("-", 1)[0] for task in tasks]
    assert names == ["corpus", "plan", "solve", "report"]
    found = ask(api, "artifacts", artifacts={"flow_run_id": {"any_": [run["id"]]}})
    shown = {artifact["key"]: artifact for artifact in found}
    assert f"Prefect's flow run {run['name']}, http" in done.stderr
    keys = {
        artifacts.CORPUS_KEY,
        artifacts.COUNT_PROGRESS_KEY,
        artifacts.COUNT_SUMMARY_KEY,
        artifacts.COUNT_SPREAD_KEY,
    }
    assert shown.keys() == keys
    assert float(shown[artifacts.COUNT_PROGRESS_KEY]["data"]) == 100.0
    assert shown[artifacts.COUNT_PROGRESS_KEY]["description"].startswith("40 of 40 jobs")
    spread = json.loads(shown[artifacts.COUNT_SPREAD_KEY]["data"])
    assert sum(row["puzzles"] for row in spread) == 40


@pytest.mark.long(
    short="tests/flows/test_start.py::test_work_that_an_earlier_night_has_left_is_done_under_prefect"
)
def test_a_count_whose_run_is_cancelled_is_a_cancelled_flow_run(api, home, python, tmp_path):
    spec, lake = "pips:n=40,mix=easy,seed=4", str(tmp_path / "cancelled")
    count = CountSettings(corpus=spec, executor="inline", workers=Settings(lake=lake))
    watch = Watch(on_progress=lambda progress: cancel_run(count.lake, progress.run_id))
    with pytest.raises(StoppedError):
        run_count(count, watch, prefect=False)

    done = nightgrid(python, home, api, "count", spec, "--lake", lake, "--inline", "--json")

    assert done.returncode == 130
    assert "the same command with --resume goes on" in done.stderr
    assert "Traceback" not in done.stderr
    (run,) = [r for r in ask(api, "flow_runs") if r["parameters"]["lake"] == lake]
    assert run["state"]["type"] == "CANCELLED"
    assert "is cancelled" in run["state"]["message"]


@pytest.mark.long(
    short="tests/flows/test_start.py::test_work_that_an_earlier_night_has_left_is_done_under_prefect"
)
def test_a_night_over_several_games_is_one_flow_run_that_fails_with_any_of_them(
    source, night, api, home, python, tmp_path
):
    settings = night(source(1), "games")
    letters = str(tmp_path / "missing")

    done = in_a_process(
        python,
        settings,
        "--prefect",
        "--letters",
        letters,
        PREFECT_HOME=str(home),
        PREFECT_API_URL=api,
    )

    games = said(done)["report"]["games"]
    assert (games["pips"]["solved"], games["letterboxed"]["source_failed"]) == (3, True)
    (run,) = [r for r in ask(api, "flow_runs") if r["parameters"]["lake"] == settings.workers.lake]
    assert run["state"]["type"] == "FAILED"
    tasks = ask(api, "task_runs", flow_runs={"id": {"any_": [run["id"]]}})
    names = [f"{step}-{game}" for step in STEPS for game in ("pips", "letterboxed")]
    assert sorted(task["name"] for task in tasks) == sorted(names)
    failed = [task["name"] for task in tasks if task["state"]["type"] != "COMPLETED"]
    assert failed == ["fetch-letterboxed"]


@pytest.mark.long(
    short="tests/flows/prefect/test_deploy.py::test_what_is_worked_again_is_asked_of_every_night"
)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_schedule_outlives_the_process_that_serves_it(source, night, api, home, number):
    settings = night(source(1))
    env = {
        **os.environ,
        **settings.workers.environment(),
        "PREFECT_HOME": str(home),
        "PREFECT_API_URL": api,
        "PYTHONPATH": str(ROOT),
    }
    command = [
        sys.executable,
        "-m",
        "nightgrid.flows.prefect.deploy",
        "--source",
        settings.games[0].source,
    ]
    for earlier in ask(api, "deployments"):
        # While it writes for others, the server answers 503.
        at = f"{api}/deployments/{earlier['id']}"
        assert wait_until(lambda at=at: httpx.delete(at, timeout=60).status_code in (204, 404)), at
    serving = subprocess.Popen([*command, "--cron", "15 3 * * *"], env=env, start_new_session=True)
    try:
        wait_for(lambda: ask(api, "deployments"), serving)
    finally:
        end(serving, number)
    assert serving.returncode == 0
    with pytest.raises(ProcessLookupError):
        os.killpg(serving.pid, 0)

    (deployment,) = ask(api, "deployments")
    assert deployment["name"] == "nightly"
    assert deployment["parameters"]["lake"] == settings.workers.lake
    (schedule,) = deployment["schedules"]
    assert schedule["schedule"]["cron"] == "15 3 * * *"
    assert schedule["active"]
    assert not deployment["paused"]

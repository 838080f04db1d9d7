"""A Prefect server like that of a machine that keeps one."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from nightgrid.flows.prefect import server
from tests.flows.nights import ROOT

START_S = 120.0


@pytest.fixture(scope="session")
def prefect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Start a Prefect server; yield the environment of a process that uses it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    server.set_environment()
    home = tmp_path_factory.mktemp("prefect")
    env = {**os.environ, "PREFECT_HOME": str(home), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1"]
    with (home / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--port", port],
            env={**env, "PREFECT_SERVER_API_PORT": port},
            stdout=log,
            stderr=log,
        )
        try:
            url = f"http://127.0.0.1:{port}/api"
            wait_for(lambda: answers(f"{url}/health"), process)
            yield {**env, "PREFECT_API_URL": url, "PREFECT_RUNNER_POLL_FREQUENCY": "1"}
        finally:
            end(process, signal.SIGINT)


def answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5).is_success
    except httpx.HTTPError:
        return False


def wait_for(is_so: Callable[[], Any], process: subprocess.Popen[Any] | None = None) -> Any:
    deadline = time.monotonic() + START_S
    while not (found := is_so()):
        if process is not None:
            assert process.poll() is None, f"exited with {process.returncode}"
        assert time.monotonic() < deadline, f"not so within {START_S} s"
        time.sleep(0.1)
    return found


def end(process: subprocess.Popen[Any], number: int) -> None:
    process.send_signal(number)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def ask(env: dict[str, str], what: str, **query: Any) -> Any:
    """Ask the server for rows of a kind."""
    return post(env, f"{what}/filter", query).json()


def post(env: dict[str, str], path: str, body: dict[str, Any]) -> httpx.Response:
    """Post to the server; retry once on 503, its answer while its database is locked."""
    for _ in range(20):
        answer = httpx.post(f"{env['PREFECT_API_URL']}/{path}", json=body, timeout=30)
        if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:
            break
        time.sleep(0.5)
    answer.raise_for_status()
    return answer


def states(env: dict[str, str], lake: str) -> list[str]:
    """List how the flow runs over a lake ended."""
    runs = ask(env, "flow_runs")
    return [run["state"]["type"] for run in runs if lake in str(run["parameters"])]

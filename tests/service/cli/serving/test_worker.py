"""`nightgrid worker`: its first line, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path

import pytest

from nightgrid.service.cli.serving import worker as worker_module
from nightgrid.service.options.shared_options import SETTINGS_PREFIX, default_budget
from nightgrid.service.terminal import running
from nightgrid.solvers.algebra import Budget
from nightgrid.workers.cluster.server import server_binary
from nightgrid.workers.settings import Settings
from tests.service.scenes import environment


def test_without_a_setting_a_solve_has_the_budget_of_the_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.upper().startswith(SETTINGS_PREFIX)]:
        monkeypatch.delenv(name)
    assert default_budget() == Budget() == Settings().budget
    monkeypatch.setenv("NIGHTGRID_BUDGET_SECONDS", "7")
    assert default_budget().seconds == 7


@pytest.mark.parametrize(
    ("roles", "told"),
    [
        (("server", "batch", "interactive", "keeper"), "2 batch and 1 interactive processes"),
        (("server", "batch"), "2 batch processes"),
        (("server", "interactive", "keeper"), "1 interactive process"),
        (("server", "keeper"), "a keeper"),
    ],
)
def test_a_worker_says_what_it_runs(tmp_path: Path, roles: tuple[str, ...], told: str) -> None:
    settings = Settings(lake=str(tmp_path), batch_processes=2, interactive_processes=1)
    assert worker_module._processes(settings, roles) == told


def test_a_lone_keeper_waits_for_no_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    games: list[object] = []

    def warming_beside(names: object, _environment: object) -> AbstractContextManager[None]:
        games.append(names)
        return nullcontext()

    monkeypatch.setattr(worker_module, "warming_beside", warming_beside)
    settings = Settings(lake=str(tmp_path))
    with worker_module.preparing(settings, ("server", "keeper")):
        assert games == [()]
    assert "a keeper on" in capsys.readouterr().err


def test_a_part_of_a_cluster_starts_no_server(
    invoke: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given no server here, Then `--only` says which URL to set, and starts nothing."""
    monkeypatch.setattr(running, "SERVER_PATIENCE_S", 0.0)
    code, _, err = invoke("worker", "--only", "batch")
    assert code == 1
    assert "start `nightgrid worker` on this machine and lake, or name one server" in err
    assert "for all machines with NIGHTGRID_REDIS_URL" in err


@pytest.mark.cluster
def test_a_wrong_password_ends_a_worker_and_a_service_at_once(
    invoke: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s"
    options = ("--port", "0", "--unixsocket", str(path), "--requirepass", "secret", "--save", "")
    with subprocess.Popen([server_binary(), *options], stdout=subprocess.DEVNULL) as process:
        try:
            while not path.exists():
                time.sleep(0.01)
            for word, told in (("", "requires a password"), (":wrong@", "refuses the login")):
                monkeypatch.setenv("NIGHTGRID_REDIS_URL", f"unix://{word}{path}")
                for command in (("worker",), ("serve", "--no-workers", "--port", "0")):
                    code, _, err = invoke(*command)
                    assert (code, told in err) == (3, True), err
        finally:
            process.terminate()


@pytest.mark.cluster
@pytest.mark.long(
    short="tests/workers/cluster/test_supervisor.py::test_a_process_with_a_folder_of_its_own_joins_the_server_next_to_the_lake"
)
def test_a_second_worker_joins_the_server_of_the_first_and_status_shows_both(
    tmp_path: Path,
) -> None:
    """Given the commands of the how-to page, Then both workers serve one lake."""
    words = [sys.executable, "-m", "nightgrid.service.cli.app"]
    env = {**environment(), "NIGHTGRID_LAKE": str(tmp_path / "lake"), "NIGHTGRID_GAMES": ","}
    own = {**env, "NIGHTGRID_VAR_DIR": str(tmp_path / "own")}
    with ExitStack() as stack:

        def start(env: dict[str, str], *options: str) -> None:
            process = subprocess.Popen(
                [*words, "worker", *options], env=env, stderr=subprocess.DEVNULL
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)

        def workers() -> int:
            command = [*words, "status", "--json"]
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
            # There is no lake before the first worker has created it.
            return (
                0 if done.returncode else len(json.loads(done.stdout.splitlines()[-1])["serving"])
            )

        start(env, "--processes", "1")
        while workers() < 2:
            time.sleep(0.5)
        start(own, "--only", "batch", "--processes", "1")
        while workers() < 3:
            time.sleep(0.5)
    assert not (tmp_path / "own" / "server").exists(), "it starts no server"

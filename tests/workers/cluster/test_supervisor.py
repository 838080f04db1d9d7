"""The supervisor starts the server first, and tells what it starts again."""

import json
import os
import signal
from contextlib import contextmanager

import pytest

from nightgrid.solvers.errors import TransientError
from nightgrid.workers.broker.queues import BATCH
from nightgrid.workers.cluster import server, supervisor
from nightgrid.workers.cluster.child_processes import SERVER
from nightgrid.workers.cluster.supervisor import Supervisor
from nightgrid.workers.cluster.supervisor_state import LOCK
from nightgrid.workers.processes import locked
from tests.workers.conftest import quick_settings

pytestmark = pytest.mark.cluster


@pytest.fixture
def settings(tmp_path):
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield quick_settings(tmp_path)
    for number, handler in before.items():
        signal.signal(number, handler)


def server_pid(settings):
    state = json.loads((settings.side_dir / "supervisor.json").read_text())
    assert list(state["processes"]) == [SERVER], "no worker is started before it may be"
    return state["processes"][SERVER]["pid"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_server_answers_before_workers_may_be_started(settings, number):
    """Given kernels that are being compiled, When a signal comes, Then it is named."""
    looks = []

    @contextmanager
    def preparing():
        def ready():
            looks.append(server.is_up(settings))
            if len(looks) == 1:
                signal.raise_signal(number)
            return False

        yield ready
        assert not server.is_up(settings), "it ends before what was prepared is left"

    assert Supervisor(settings, (SERVER, BATCH)).run(preparing=preparing()) == number
    assert looks[0]


def test_a_server_that_is_killed_is_told_to_be_back(settings, capfd):
    pids = []

    @contextmanager
    def preparing():
        def ready():
            if not server.is_up(settings):
                return False
            pid = server_pid(settings)
            if not pids:
                os.kill(pid, signal.SIGKILL)
            elif pid != pids[0]:
                signal.raise_signal(signal.SIGTERM)
            pids.append(pid)
            return False

        yield ready

    Supervisor(settings, (SERVER, BATCH)).run(preparing=preparing())
    assert capfd.readouterr().err.splitlines() == [
        f"server {pids[0]} was killed by SIGKILL; it is started again",
        f"server {pids[-1]} is back: it answers again",
    ]


def test_ctrl_c_is_answered_before_workers_have_ended(settings, capfd, monkeypatch):
    monkeypatch.setattr(supervisor, "command_of", lambda *_: ["sleep", "600"])
    watched = Supervisor(settings, (BATCH,))
    write_state = watched._write_state

    def started():
        write_state()
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(watched, "_write_state", started)
    watched.run()
    seconds = min(settings.stop_seconds, settings.soft_shutdown_seconds)
    line = f"stopping: work in hand has {seconds:g} s to end, else it is handed back"
    assert capfd.readouterr().err.splitlines().count(line) == 1


def test_a_second_supervisor_is_refused_before_anything_is_prepared(settings, monkeypatch):
    monkeypatch.setattr(supervisor, "ENDING_SECONDS", 0.0)

    @contextmanager
    def preparing():
        raise AssertionError("the folder is not ours")
        yield

    held = locked(settings.side_dir, LOCK, "")
    with held, pytest.raises(TransientError, match="another supervisor"):
        Supervisor(settings, (SERVER,)).run(preparing=preparing())

"""Probes show progress: a running supervisor, and workers with heartbeats that take work."""

import os
import socket
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from nightgrid.workers.cluster import supervisor
from nightgrid.workers.cluster.probe import FRESH_S, beat_path, probe, write_beat
from nightgrid.workers.cluster.supervisor import ROLES, Supervisor
from nightgrid.workers.settings import Settings


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """A supervisor of living processes, and a way to make them refuse work."""
    settings = Settings(lake=str(tmp_path / "lake"), var_dir=tmp_path)
    watched = Supervisor(settings, ROLES)
    monkeypatch.setattr(supervisor, "BEAT_SECONDS", 0.0)
    heard, refusing = {"batch": {}, "interactive": {}}, {}
    monkeypatch.setattr(supervisor, "living_workers", lambda *_: heard)
    monkeypatch.setattr(supervisor, "refusals", lambda *_: refusing)
    for child in watched._children:
        child.process, child.worker = SimpleNamespace(pid=1), child.role
    for name in ROLES:
        watched._holds(name)
    yield watched, heard, refusing
    watched._held.close()


@pytest.fixture
def told(tmp_path, monkeypatch):
    """Messages to systemd's socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(tmp_path / "notify"))
        heard.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))

        def read():
            found = []
            while True:
                try:
                    found.append(heard.recv(100).decode())
                except BlockingIOError:
                    return found

        yield read


def test_workers_are_ready_when_all_have_heartbeats_and_refuse_nothing(tmp_path, watched, told):
    """Given a worker of another version, Then a rollout that waits for it does not continue."""
    of, heard, refusing = watched
    assert "has not gone round for 30 s" in probe(tmp_path, "live")
    of._beat()
    assert probe(tmp_path, "live") == ""
    assert probe(tmp_path, "ready") == ""
    refusing["batch"] = "another solver version"
    heard.pop("interactive")
    of._beat()
    assert probe(tmp_path, "ready").endswith(
        "batch sends no heartbeat to the server, or refuses work, and 1 more"
    )
    assert told() == ["WATCHDOG=1", "READY=1", "WATCHDOG=1"]
    refusing.clear()
    heard["interactive"] = {}
    of._beat()
    assert probe(tmp_path, "ready") == ""
    then = time.time() - FRESH_S - 1
    os.utime(beat_path(tmp_path), (then, then))
    assert probe(tmp_path, "live")
    assert probe(tmp_path, "ready")


def test_the_program_says_why_and_imports_nothing_that_takes_time(tmp_path):
    command = [sys.executable, "-X", "importtime", "-m", "nightgrid.workers.cluster.probe", "live"]
    env = {"NIGHTGRID_VAR_DIR": str(tmp_path)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"not live in {tmp_path}: the supervisor has")
    imported = {line.rsplit("|")[-1].strip() for line in done.stderr.splitlines()}
    assert not imported & {"pydantic", "redis", "celery", "numpy", "structlog"}
    write_beat(tmp_path)
    subprocess.run(command, env=env, check=True, capture_output=True)
